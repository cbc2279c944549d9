/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/profile/gpu-occupancy.h"

#include "shm/gpu.h"

#define THREADS_MAX    65536u /* of a block; more is nonsense */
#define REGISTER_UNIT  256u
#define SYSTEM_SHARED  1024u
#define SHARED_UNIT    128u
#define SHARED_UNIT_7X 256u

static uint64_t in_units(uint64_t n, uint64_t unit)
{
	return (n + unit - 1) / unit * unit;
}

/* Parts of a multiprocessor, each with registers of its own. */
static uint32_t quarters(uint32_t capability)
{
	return capability == 60 ? 2 : 4;
}

static uint64_t blocks_by_registers(const struct gpu_limits *l, uint64_t warps, uint32_t registers)
{
	uint32_t parts = quarters(l->capability);
	uint64_t of_warp = in_units((uint64_t)registers * l->warp_threads, REGISTER_UNIT);

	if (!of_warp)
		return UINT64_MAX;
	if (l->block_registers && of_warp * in_units(warps, parts) > l->block_registers)
		return 0;
	return l->registers / parts / of_warp * parts / warps;
}

static uint64_t blocks_by_shared(const struct gpu_limits *l, uint32_t shared_bytes)
{
	bool is_old = l->capability < 80;
	uint64_t bytes = in_units((uint64_t)shared_bytes + (is_old ? 0 : SYSTEM_SHARED),
		is_old ? SHARED_UNIT_7X : SHARED_UNIT);

	return bytes ? l->shared_bytes / bytes : UINT64_MAX;
}

struct gpu_occupancy gpu_occupancy(
	const struct gpu_limits *l, uint64_t threads, uint32_t registers, uint32_t shared_bytes)
{
	struct gpu_occupancy o = {0};
	uint64_t warps, most[GPU_BOUNDS], blocks = UINT64_MAX;

	if (!l->warp_threads || !l->warps || !l->blocks || !l->registers || !threads ||
		threads > THREADS_MAX || l->capability < 30)
		return o;
	warps = in_units(threads, l->warp_threads) / l->warp_threads;
	most[GPU_BOUND_WARPS] =
		l->block_threads && threads > l->block_threads ? 0 : l->warps / warps;
	most[GPU_BOUND_BLOCKS] = l->blocks;
	most[GPU_BOUND_REGISTERS] = blocks_by_registers(l, warps, registers);
	most[GPU_BOUND_SHARED] = blocks_by_shared(l, shared_bytes);
	for (enum gpu_bound b = GPU_BOUND_WARPS; b < GPU_BOUNDS; b++)
		if (most[b] < blocks) {
			blocks = most[b];
			o.bound = b;
		}
	o.blocks = (uint32_t)blocks;
	o.permille = (uint32_t)(blocks * warps * 1000 / l->warps);
	return o;
}
