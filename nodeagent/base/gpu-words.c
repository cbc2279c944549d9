/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/base/gpu-words.h"

#include "shm/gpu.h"

static const char *const copies[GPU_COPIES] = {
	"memcpy", "memcpy HtoD", "memcpy DtoH", "memcpy DtoD", "memcpy HtoH", "memcpy PtoP"};
static const char *const waits[GPU_WAITS] = {"synchronize", "event synchronize",
	"stream waits for event", "stream synchronize", "context synchronize"};
static const char *const memories[GPU_MEMORIES] = {"unified memory", "unified memory HtoD",
	"unified memory DtoH", "unified memory DtoD", "host page faults", "GPU page faults",
	"unified memory thrashing"};

const char *gpu_copy_name(uint32_t detail)
{
	return copies[detail < GPU_COPIES ? detail : 0];
}

const char *gpu_wait_name(uint32_t detail)
{
	return waits[detail < GPU_WAITS ? detail : 0];
}

const char *gpu_memory_name(uint32_t detail)
{
	return memories[detail < GPU_MEMORIES ? detail : 0];
}
