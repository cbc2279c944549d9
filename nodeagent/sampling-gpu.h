/* SPDX-License-Identifier: BSD-3-Clause */
/* Streams of GPUs as tracks of the sampling file, beside those of threads. */
#ifndef VFTR_NODEAGENT_SAMPLING_GPU_H
#define VFTR_NODEAGENT_SAMPLING_GPU_H

#include <stdint.h>
#include "nodeagent/vfd-types.h"

struct process;
struct sampling_gpu;

/* NULL if the process is not sampled. */
struct sampling_gpu *sampling_gpu_new(struct process *p);
/* Where something that ran stands in the file. lane VFD_NONE: it does not. */
struct sampling_gpu_place {
	uint32_t lane, stack;
	uint64_t ticks; /* of its enter */
};

/*
 * Something ran in stream number `stream` of this process (counted by the caller, from
 * 0; title: its name, used when it is new) from tick to tick. what: the same for all
 * that has this name.
 */
struct sampling_gpu_place sampling_gpu_ran(struct sampling_gpu *g, uint32_t stream, const char *title, uint64_t what,
	const char *name, uint64_t from, uint64_t to);
/* What stands at `l->to_...' was started by a call; only its id is still missing. */
void sampling_gpu_launched(struct sampling_gpu *g, const struct vfd_launch *l);
/* Before the process ends in the file. NULL is nothing. */
void sampling_gpu_end(struct sampling_gpu *g, uint64_t ticks);

#endif
