/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The part of CUPTI's binary interface that is used here, in declarations of our own, so
 * that building needs nothing of the CUDA toolkit. Records are declared up to
 * the last member that is read: later versions of CUPTI only add members behind
 * these, and a record is never walked by its size. abi-check.c compares all of
 * it with the toolkit's headers, where they are installed.
 */
#ifndef VFTR_CUPTI_ABI_H
#define VFTR_CUPTI_ABI_H

#include <stddef.h>
#include <stdint.h>

#define CUPTI_OK	   0
#define CUPTI_BUSY	   39 /* another tool has subscribed */
#define CUPTI_LIMIT	   12 /* ... or ended a buffer: no more records in it */
#define CUPTI_FLUSH_FORCED 1u
#define CUPTI_HAS_MIG	   18 /* first version of the API whose devices have members for MIG */

enum cupti_domain { DOMAIN_DRIVER = 1, DOMAIN_RUNTIME = 2, DOMAIN_NVTX = 5 };

enum cupti_site { SITE_ENTER = 0, SITE_EXIT = 1 };

enum cupti_kind {
	KIND_COPY = 1,
	KIND_SET = 2,
	KIND_DEVICE = 8,
	KIND_CONTEXT = 9,
	KIND_KERNEL = 10, /* concurrent ones */
	KIND_OVERHEAD = 17,
	KIND_PEER_COPY = 22,
	KIND_MEMORY = 25, /* counters of unified memory */
	KIND_WAIT = 38,
};

/* First argument of a callback for an API is the domain, then the function's number. */
struct cupti_call {
	uint32_t site;
	const char *function;
	const void *parameters;
	void *result;
	const char *symbol;
	void *context;
	uint32_t context_id;
	uint64_t *data;
	uint32_t correlation;
};

struct cupti_record {
	uint32_t kind;
};

struct cupti_kernel {
	uint32_t kind;
	uint8_t cache[2];
	uint16_t registers;
	uint32_t partitioned[2];
	uint64_t start, end, completed;
	uint32_t device, context, stream;
	int32_t grid[3], block[3];
	int32_t static_shared, dynamic_shared;
	uint32_t local_per_thread, local_total;
	uint32_t correlation;
	int64_t grid_id;
	const char *name;
};

struct cupti_copy {
	uint32_t kind;
	uint8_t direction, from, to, flags;
	uint64_t bytes, start, end;
	uint32_t device, context, stream, correlation;
};

struct cupti_peer_copy {
	uint32_t kind;
	uint8_t direction, from, to, flags;
	uint64_t bytes, start, end;
	uint32_t device, context, stream;
	uint32_t from_device, from_context, to_device, to_context;
	uint32_t correlation;
};

struct cupti_set {
	uint32_t kind, value;
	uint64_t bytes, start, end;
	uint32_t device, context, stream, correlation;
};

struct cupti_wait {
	uint32_t kind, type;
	uint64_t start, end;
	uint32_t correlation, context, stream, event;
};

struct cupti_memory {
	uint32_t kind, counter;
	uint64_t value, start, end, address;
	uint32_t from, to, stream, process;
};

struct cupti_overhead {
	uint32_t kind, type, object;
	uint32_t object_id[3];
	uint64_t start, end;
};

struct cupti_device {
	uint32_t kind, flags;
	uint64_t bandwidth, memory;
	uint32_t constant_memory, cache, warp_threads, clock, copy_engines;
	uint32_t multiprocessors, instructions;
	/* of one multiprocessor ... */
	uint32_t warps, blocks, shared_bytes, registers;
	/* ... and of one block */
	uint32_t block_registers, block_shared_bytes, block_threads;
	uint32_t block_size[3], grid_size[3];
	uint32_t major, minor, id, ecc;
	uint8_t uuid[16];
	const char *name;
	/* from CUPTI_HAS_MIG on */
	uint8_t visible, is_mig, reserved[6];
	uint32_t instance, compute_instance;
	uint8_t mig_uuid[16];
};

struct cupti_context {
	uint32_t kind, id, device;
	uint16_t interface, default_stream;
};

struct cupti_memory_config {
	uint32_t scope, counter, device, enable;
};

typedef void cupti_on_call(
	void *context, uint32_t domain, uint32_t function, const struct cupti_call *call);
typedef void cupti_on_request(uint8_t **buffer, size_t *bytes, size_t *records_max);
typedef void cupti_on_complete(
	void *context, uint32_t stream, uint8_t *buffer, size_t bytes, size_t valid);

_Static_assert(offsetof(struct cupti_call, correlation) == 64, "layout of CUPTI");
_Static_assert(offsetof(struct cupti_kernel, start) == 16, "layout of CUPTI");
_Static_assert(offsetof(struct cupti_kernel, name) == 104, "layout of CUPTI");
_Static_assert(offsetof(struct cupti_copy, correlation) == 44, "layout of CUPTI");
_Static_assert(offsetof(struct cupti_peer_copy, correlation) == 60, "layout of CUPTI");
_Static_assert(offsetof(struct cupti_set, correlation) == 44, "layout of CUPTI");
_Static_assert(offsetof(struct cupti_wait, correlation) == 24, "layout of CUPTI");
_Static_assert(offsetof(struct cupti_memory, from) == 40, "layout of CUPTI");
_Static_assert(offsetof(struct cupti_overhead, start) == 24, "layout of CUPTI");
_Static_assert(offsetof(struct cupti_device, uuid) == 120, "layout of CUPTI");
_Static_assert(offsetof(struct cupti_device, name) == 136, "layout of CUPTI");
_Static_assert(offsetof(struct cupti_device, mig_uuid) == 160, "layout of CUPTI");
_Static_assert(offsetof(struct cupti_context, default_stream) == 14, "layout of CUPTI");

#endif
