/* SPDX-License-Identifier: BSD-3-Clause */
/* Streams of GPUs as tracks of the sampling file, beside those of threads. */
#ifndef VFTR_NODEAGENT_SAMPLING_GPU_H
#define VFTR_NODEAGENT_SAMPLING_GPU_H

#include <stdint.h>

struct process;
struct sampling_gpu;

/* NULL if the process is not sampled. */
struct sampling_gpu *sampling_gpu_new(struct process *p);
/*
 * Something ran in stream number `stream` of this process (counted by the caller, from
 * 0; title: its name, used when it is new) from tick to tick. what: the same for all
 * that has this name.
 */
void sampling_gpu_ran(struct sampling_gpu *g, uint32_t stream, const char *title, uint64_t what,
	const char *name, uint64_t from, uint64_t to);
/* Before the process ends in the file. NULL is nothing. */
void sampling_gpu_end(struct sampling_gpu *g, uint64_t ticks);

#endif
