/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers about GPUs that logs and JSON share (report-gpu.c). */
#ifndef VFTR_NODEAGENT_REPORT_GPU_H
#define VFTR_NODEAGENT_REPORT_GPU_H

#include <stdint.h>
#include "nodeagent/profile.h"
#include "shm/gpu.h"

struct report;

/* Where a kind belongs in Vftrace's three columns. */
enum gpu_column { GPU_COMPUTE, GPU_MEMCPY, GPU_OTHER };
enum gpu_column gpu_column_of(uint32_t kind);
/* Bytes to the device, and back, of one entry. */
uint64_t gpu_to_device(const struct profile_gpu *g);
uint64_t gpu_to_host(const struct profile_gpu *g);
/* The number of a function of CUDA's runtime or driver interface. */
#define GPU_CBID(function) ((function)&0xffffff)

/*
 * Efficiencies, in parts of 1; useful: a kernel runs; active: anything does. Over
 * the G devices that processes have used, each counted once for each process, and the
 * run time T: parallel efficiency sum(useful)/(T*G) = load balance sum/(most*G) *
 * communication most/most active * orchestration most active/T.
 */
struct gpu_efficiency {
	uint32_t devices;
	double parallel, balance, communication, orchestration;
	double useful_s, active_s;
	double host_wait_s; /* in which host threads waited for GPUs */
};
struct gpu_efficiency gpu_efficiency(const struct profile *p);

/* Indices into gpu[] in the order of cuda.sort_table. The caller frees. */
uint32_t *gpu_sort(const struct report *r);
/* As people read it; the caller frees. */
char *gpu_shown(const struct report *r, const char *name);

/* All entries of one kind and name, whatever started them. */
struct gpu_total {
	const char *name; /* of an entry */
	uint32_t kind, registers, shared_bytes, threads_min, threads_max;
	uint64_t calls, ns, min_ns, max_ns, bytes, started, latency_ns, blocks_min, blocks_max;
};
/* By kind, then falling time; the caller frees. */
struct gpu_total *gpu_totals(const struct profile *p, size_t *n);

#endif
