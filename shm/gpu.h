/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * GPUs: the messages about them from a process to the agent, and the interface in
 * the process between libvftrace and the part for a vendor, a library of its own
 * (libvftrace-cupti.so for CUDA; others would offer the same table).
 *
 * Calls into the GPU's interface are frames of regions in the ring of the
 * calling thread. Inside of such a frame a record GPU_CALL (shm/record.h) gives
 * the number by which activities name the call that has started them. The
 * activities themselves come long after, on threads of the vendor's library: they
 * travel on the socket, many in a packet.
 */
#ifndef VFTR_SHM_GPU_H
#define VFTR_SHM_GPU_H

#include <stdbool.h>
#include <stdint.h>
#include "shm/wire.h"

/* ---- on the socket ------------------------------------------------------------------- */

enum gpu_kind {
	GPU_KERNEL = 0,
	GPU_COPY,
	GPU_SET,
	GPU_WAIT,     /* the host waits for the GPU */
	GPU_MEMORY,   /* unified memory: pages that moved, faults */
	GPU_OVERHEAD, /* time of the vendor's library itself */
	GPU_RANGE,    /* a range of the program, from one call to another one, on any thread */
	GPU_API,      /* a call of the interface; only in the agent: no activity is of this kind */
	GPU_KINDS
};

/* detail of GPU_COPY */
enum gpu_copy {
	GPU_COPY_UNKNOWN = 0,
	GPU_COPY_TO_DEVICE,
	GPU_COPY_TO_HOST,
	GPU_COPY_ON_DEVICE,
	GPU_COPY_ON_HOST,
	GPU_COPY_PEER,
	GPU_COPIES
};

/* detail of GPU_MEMORY */
enum gpu_memory {
	GPU_MEMORY_OTHER = 0,
	GPU_MEMORY_TO_DEVICE,
	GPU_MEMORY_TO_HOST,
	GPU_MEMORY_ON_DEVICE,
	GPU_MEMORY_HOST_FAULT,
	GPU_MEMORY_DEVICE_FAULT,
	GPU_MEMORY_THRASHING,
	GPU_MEMORIES
};

/* detail of GPU_WAIT */
enum gpu_wait {
	GPU_WAIT_UNKNOWN = 0,
	GPU_WAIT_EVENT,
	GPU_WAIT_STREAM_EVENT, /* a stream waits, the host does not */
	GPU_WAIT_STREAM,
	GPU_WAIT_CONTEXT,
	GPU_WAITS
};

#define GPU_NO_STREAM UINT32_MAX
#define GPU_NO_DEVICE UINT32_MAX

/* Interfaces, function >> 24 of a GPU_CALL record; the lower 24 bits: the function's number. */
#define GPU_INTERFACE(function) ((function) >> 24)
#define GPU_INTERFACE_NVTX	5u

struct gpu_activity {
	/* ns, by the GPU's clock as the vendor's library gives it; of a range, ticks */
	uint64_t start, end;
	uint64_t bytes; /* of a copy, set, or migration; number of faults */
	uint32_t kind, detail;
	uint32_t name; /* of a kernel or range: number of its NAME, 0: unknown */
	uint32_t call; /* number in a GPU_CALL record, 0: none */
	uint32_t device, context, stream;
	uint32_t grid[3], block[3];
	uint32_t registers, shared_bytes;
	uint32_t local_bytes; /* of a kernel, for each thread */
	/* of copies between devices, and of unified memory; GPU_NO_DEVICE: the host */
	uint32_t from, to;
	uint32_t reserved;
};

#define GPU_BATCH 150u /* at most so many in a packet */

/*
 * WIRE_GPU: activities, buffers and clocks. The clocks were read together:
 * the GPU's showed `gpu_ns` within `width` ticks before head.ticks.
 */
struct wire_gpu {
	struct wire_head head;
	uint64_t gpu_ns;
	uint32_t width;
	uint32_t n;		       /* struct gpu_activity behind this */
	uint32_t requested, completed; /* CUPTI's buffers so far */
	uint64_t dropped;	       /* activities for which there was no room, so far */
};

/* Objects of WIRE_GPU_NAME, whose text names kernel or range `number` (from 1), or the thread
 * with this tid. */
enum wire_gpu_object { WIRE_GPU_KERNEL_NAME, WIRE_GPU_THREAD_NAME };

/* Limits of one multiprocessor (SM): they bound how many blocks run on it at once. */
struct gpu_limits {
	uint32_t capability; /* 10 * major + minor of its compute capability */
	uint32_t warp_threads, warps, blocks, registers, shared_bytes;
	uint32_t block_registers, block_threads; /* the most of one block */
};

/* WIRE_GPU_DEVICE: a device, by its number in the process. Text: its name. */
struct wire_gpu_device {
	struct wire_head head;
	uint8_t uuid[16]; /* all 0: not known */
	uint64_t memory_bytes;
	uint32_t device, multiprocessors;
	struct gpu_limits limits;
};

/* WIRE_GPU_STREAM: the name of a stream; or (stream GPU_NO_STREAM) the device of a context. */
struct wire_gpu_stream {
	struct wire_head head;
	uint32_t device; /* GPU_NO_DEVICE: the one of its context */
	uint32_t context, stream, reserved;
	/* text: its name */
};

_Static_assert(sizeof(struct gpu_activity) == 104, "a format");
_Static_assert(sizeof(struct wire_gpu) == 48, "a format");
_Static_assert(sizeof(struct wire_gpu_device) == 80, "a format");
_Static_assert(sizeof(struct wire_gpu_stream) == 32, "a format");
_Static_assert(GPU_BATCH * sizeof(struct gpu_activity) <= WIRE_TEXT_MAX, "packets are too small");

/* ---- the interface in the process --------------------------------------------------------- */

#define GPU_SEAM_VERSION 3u

struct gpu_part;

/* Functions that libvftrace offers to a part. Any thread may call them; errno is kept. */
struct gpu_host {
	uint32_t version;
	/* True if this process records now: it is attached, and not paused. */
	bool (*active)(void);
	/* Number of forks so far. State of a part from another generation belongs to the parent. */
	uint32_t (*generation)(void);
	/* A frame of this name (at most `most` bytes) begins, or ends (exit != 0). */
	void (*call)(bool exit, const char *name, uint64_t most);
	/* Inside of that frame: activities name the call by `number`; function: GPU_INTERFACE(). */
	void (*number)(uint32_t function, uint32_t number);
	/* Sends a message of this file to the agent. m->ticks 0 stands for now; it is 0 afterwards.
	 * False: the process is not traced, or the agent gave no sign for shm.block_most_s; then
	 * the process goes on untraced, and later calls return false at once. */
	bool (*send)(struct wire_head *m, uint64_t fixed, const void *data, uint64_t bytes);
	uint64_t (*ticks)(void);
	/* A sentence for the user, in the logs. */
	void (*note)(const char *text);
	/* Hands over a part that was not loaded by libvftrace. */
	void (*use)(const struct gpu_part *part);
};

/* Functions that a part offers. A part is never unloaded. */
struct gpu_part {
	uint32_t version;
	const char *name;
	/* Called once; the host table stays valid. A part that fails says so by note(). */
	void (*begin)(const struct gpu_host *host);
	/* The process ends: send all that is still in buffers now. May be called again. */
	void (*flush)(void);
};

/* Exported functions: a part has vftrace_gpu_part(), libvftrace has vftrace_gpu_host(). */
typedef const struct gpu_part *gpu_part_function(void);
typedef const struct gpu_host *gpu_host_function(void);

#endif
