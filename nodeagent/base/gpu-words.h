/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of copies, waits and migrations of GPUs, by their detail in shm/gpu.h. */
#ifndef VFTR_NODEAGENT_BASE_GPU_WORDS_H
#define VFTR_NODEAGENT_BASE_GPU_WORDS_H

#include <stdint.h>

/* "memcpy HtoD": enum gpu_copy; other values have the name of the first. */
const char *gpu_copy_name(uint32_t detail);
/* "stream synchronize": enum gpu_wait */
const char *gpu_wait_name(uint32_t detail);
/* "unified memory DtoH": enum gpu_memory */
const char *gpu_memory_name(uint32_t detail);

#endif
