/* SPDX-License-Identifier: BSD-3-Clause */
/* What of NVTX's binary interface (version 3) nvtx.c uses; abi-check.c compares it. */
#ifndef VFTR_CUPTI_NVTX_ABI_H
#define VFTR_CUPTI_NVTX_ABI_H

#include <stddef.h>
#include <stdint.h>

enum { NVTX_MODULE_CORE = 1, NVTX_MODULE_CORE2 = 5 };
enum { NVTX_PUSH_EX = 8, NVTX_PUSH = 9, NVTX_PUSH_WIDE = 10, NVTX_POP = 11 };
enum {
	NVTX_DOMAIN_PUSH = 4,
	NVTX_DOMAIN_POP = 5,
	NVTX_DOMAIN_STRING = 10,
	NVTX_DOMAIN_CREATE = 12
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
