/* SPDX-License-Identifier: BSD-3-Clause */
/* The part of NVTX's binary interface (version 3) that nvtx.c uses; abi-check.c compares it
 * with NVTX's headers. */
#ifndef VFTR_CUPTI_NVTX_ABI_H
#define VFTR_CUPTI_NVTX_ABI_H

#include <stddef.h>
#include <stdint.h>

enum { NVTX_MODULE_CORE = 1, NVTX_MODULE_CUDA = 2, NVTX_MODULE_CUDART = 4, NVTX_MODULE_CORE2 = 5 };
enum {
	NVTX_MARK_EX = 1,
	NVTX_MARK = 2,
	NVTX_MARK_WIDE = 3,
	NVTX_START_EX = 4,
	NVTX_START = 5,
	NVTX_START_WIDE = 6,
	NVTX_END = 7,
	NVTX_PUSH_EX = 8,
	NVTX_PUSH = 9,
	NVTX_PUSH_WIDE = 10,
	NVTX_POP = 11,
	NVTX_NAME_THREAD = 14,
	NVTX_NAME_THREAD_WIDE = 15
};
enum {
	NVTX_DOMAIN_MARK = 1,
	NVTX_DOMAIN_START = 2,
	NVTX_DOMAIN_END = 3,
	NVTX_DOMAIN_PUSH = 4,
	NVTX_DOMAIN_POP = 5,
	NVTX_DOMAIN_STRING = 10,
	NVTX_DOMAIN_STRING_WIDE = 11,
	NVTX_DOMAIN_CREATE = 12,
	NVTX_DOMAIN_CREATE_WIDE = 13
};
/* Of the driver interface, and of the runtime interface. */
enum { NVTX_CUDA_NAME_STREAM = 5, NVTX_CUDA_NAME_STREAM_WIDE = 6 };
enum {
	NVTX_CUDART_NAME_DEVICE = 1,
	NVTX_CUDART_NAME_DEVICE_WIDE = 2,
	NVTX_CUDART_NAME_STREAM = 3,
	NVTX_CUDART_NAME_STREAM_WIDE = 4
};
enum { NVTX_MESSAGE_ASCII = 1, NVTX_MESSAGE_WIDE = 2, NVTX_MESSAGE_REGISTERED = 3 };
#define NVTX_TABLE_CALLBACKS 1

struct nvtx_attributes {
	uint16_t version, size;
	uint32_t category;
	int32_t color_type;
	uint32_t color;
	int32_t payload_type, reserved;
	uint64_t payload;
	int32_t message_type;
	const void *message;
};

typedef void nvtx_function(void);

struct nvtx_callbacks {
	size_t bytes;
	int (*functions)(uint32_t module, nvtx_function ****table, unsigned *n);
};

typedef const void *nvtx_tables(uint32_t table);

_Static_assert(offsetof(struct nvtx_attributes, message) == 40, "layout of NVTX");

#endif
