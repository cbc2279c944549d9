/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers about GPUs that logs and JSON share (gpu.c). */
#ifndef VFTR_NODEAGENT_REPORT_GPU_H
#define VFTR_NODEAGENT_REPORT_GPU_H

#include <stdbool.h>
#include <stdint.h>
#include "nodeagent/profile/profile.h"
#include "shm/gpu.h"

struct report;

/* False for ranges of the program (NVTX). */
bool gpu_is_cuda(const struct profile_gpu *g);
/* Time of an entry; for calls that started no activity, the host's time in the call. */
uint64_t gpu_ns(const struct profile *p, const struct profile_gpu *g);
const char *gpu_name_of(const struct profile *p, const struct profile_gpu *g);
/* The one of Vftrace's three columns for a kind. */
enum gpu_column { GPU_COMPUTE, GPU_MEMCPY, GPU_OTHER };
enum gpu_column gpu_column_of(uint32_t kind);
/* Bytes to the device, and back, of one entry. */
uint64_t gpu_to_device(const struct profile_gpu *g);
uint64_t gpu_to_host(const struct profile_gpu *g);
/* The number of a function of CUDA's runtime or driver interface. */
#define GPU_CBID(function) ((function)&0xffffff)

/*
 * Efficiencies, in parts of 1; useful: a kernel runs; active: any activity runs. Over
 * the G GPUs that were used and the run time T: parallel efficiency sum(useful)/(T*G) = load
 * balance sum/(most*G) * communication most/most active * orchestration most active/T.
 */
struct gpu_efficiency {
	uint32_t devices;
	double parallel, balance, communication, orchestration;
	double useful_s, active_s;
	double host_wait_s; /* time in which host threads waited for GPUs */
};
struct gpu_efficiency gpu_efficiency(const struct profile *p);

/*
 * Indices of the CUDA entries of gpu[] in the order of cuda.sort_table; calls only if their
 * function started no activity. The caller frees.
 */
uint32_t *gpu_sort(const struct report *r, size_t *n);

/* The sum of all entries of one kind and name, without calls. */
struct gpu_total {
	const char *name;		   /* of an entry */
	const struct profile_gpu *largest; /* entry with the launch of the most threads */
	uint32_t kind, registers, shared_bytes, threads_min, threads_max;
	uint64_t calls, ns, min_ns, max_ns, bytes, started, latency_ns, blocks_min, blocks_max;
};
/* By kind, then falling time; the caller frees. */
struct gpu_total *gpu_totals(const struct profile *p, size_t *n);

/* "registers": name of an enum gpu_bound. */
const char *gpu_bound_name(uint32_t bound);
/* "GPU-9e0a...": as nvidia-smi prints it; "host" for none; the caller frees. */
char *gpu_uuid_text(const uint64_t uuid[2]);
/* "0.1": the lowest rank that used the GPU, and its number there; the caller frees. */
char *gpu_label(const struct profile *p, const uint64_t uuid[2]);
/* The host of a GPU, or NULL. */
const char *gpu_host_name(const struct profile *p, const struct profile_gpu_device *d);
/* "memcpy HtoD", "unified memory DtoH" ... */
const char *gpu_link_name(const struct profile_gpu_link *l);

/* ns / n in us; NaN for n = 0. part in percent of whole; NaN for whole = 0. */
double gpu_us(uint64_t ns, uint64_t n);
double gpu_percent(double part, double whole);

#endif
