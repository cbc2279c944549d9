/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Theoretical occupancy of a kernel: the share of the warps that a multiprocessor can hold
 * which it does hold when it is full of blocks of this kernel. A block takes warps, a slot,
 * registers and shared memory; the one that runs out first is the limit. The rules are
 * those of NVIDIA's occupancy calculator (cuda_occupancy.h of the toolkit, and "Compute
 * Capabilities" in its programming guide): registers are given to warps in units of 256
 * out of each quarter of a multiprocessor (half, with compute capability 6.0), shared memory
 * to blocks in units of 128 bytes, of which the system takes 1 KiB; before 8.0, in units of
 * 256 bytes, and the system takes none. All of the shared memory is assumed to be available,
 * the cache having the rest.
 */
#ifndef VFTR_NODEAGENT_PROFILE_GPU_OCCUPANCY_H
#define VFTR_NODEAGENT_PROFILE_GPU_OCCUPANCY_H

#include <stdint.h>

struct gpu_limits;

/* The limit, also if the block does not fit; the first of several equal ones. */
enum gpu_bound {
	GPU_BOUND_UNKNOWN = 0,
	GPU_BOUND_WARPS,
	GPU_BOUND_BLOCKS,
	GPU_BOUND_REGISTERS,
	GPU_BOUND_SHARED,
	GPU_BOUNDS
};

struct gpu_occupancy {
	uint32_t permille; /* 0: not known, or the block does not fit */
	uint32_t blocks;   /* on a multiprocessor at once */
	enum gpu_bound bound;
};

/* threads: of a block; registers: of a thread; shared_bytes: of a block, static and dynamic. */
struct gpu_occupancy gpu_occupancy(
	const struct gpu_limits *l, uint64_t threads, uint32_t registers, uint32_t shared_bytes);

#endif
