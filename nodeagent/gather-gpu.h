/* SPDX-License-Identifier: BSD-3-Clause */
/* What GPUs did on its way into a profile; used by gather.c. */
#ifndef VFTR_NODEAGENT_GATHER_GPU_H
#define VFTR_NODEAGENT_GATHER_GPU_H

#include <stddef.h>
#include <stdint.h>

struct agent;
struct process;
struct profile;

/* place() gives the node of the union tree below `parent` for the key of a frame. */
void gather_gpu_add(struct agent *a, const struct process *p, uint32_t rank, struct profile *out,
	uint32_t (*place)(void *ctx, uint32_t parent, uint64_t key), void *ctx);

/*
 * The GPUs themselves, and what they moved (gather-devices.c): all[i] is
 * out->processes[i]; those of one UUID are one GPU.
 */
void gather_gpu_devices(struct agent *a, struct process *const *all, size_t n, struct profile *out);

/* Sorts one of the lists of a profile, by its offset there, and adds what has one key. */
void gather_gpu_combine(struct profile *p, size_t array);

/* Node i of the union tree is stack id[i]. */
void gather_gpu_store(struct profile *p, const uint32_t *id);

#endif
