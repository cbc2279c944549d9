/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Numbers about GPUs that logs and JSON share, out of gpu[] of a profile (gpu.c). Texts that the
 * caller does not free belong to the profile or are static.
 */
#ifndef VFTR_NODEAGENT_REPORT_GPU_H
#define VFTR_NODEAGENT_REPORT_GPU_H

#include <stdbool.h>
#include <stdint.h>
#include "nodeagent/profile/profile.h"
#include "shm/gpu.h"

struct report;

/* False for ranges of the program (NVTX). */
bool gpu_is_cuda(const struct profile_gpu *g);
/* Time of an entry, ns: of a call (GPU_API) the host's inclusive time in it, else on the GPU. */
uint64_t gpu_ns(const struct profile *p, const struct profile_gpu *g);
/* Raw name of an entry: of a call its function, else the activity. */
const char *gpu_name_of(const struct profile *p, const struct profile_gpu *g);
/* Which one of Vftrace's three columns a kind belongs to. */
enum gpu_column { GPU_COMPUTE, GPU_MEMCPY, GPU_OTHER };
enum gpu_column gpu_column_of(uint32_t kind);
/* Bytes that one entry has moved to the device, and back. */
uint64_t gpu_to_device(const struct profile_gpu *g);
uint64_t gpu_to_host(const struct profile_gpu *g);
/* The number of a function of CUDA's runtime or driver interface. */
#define GPU_CBID(function) ((function)&0xffffff)

/*
 * Efficiencies, from 0 to 1. useful: time in which a kernel runs; active: in which any activity
 * runs. Over the G GPUs that were used and the run time T: parallel efficiency sum(useful)/(T*G) =
 * load balance sum/(most*G) * communication most/most active * orchestration most active/T. All are
 * 0 if no GPU was used or T is not known.
 */
struct gpu_efficiency {
	uint32_t devices;
	double parallel, balance, communication, orchestration;
	double useful_s, active_s; /* sums over GPUs */
	double host_wait_s;	   /* time in which host threads waited for GPUs, summed */
};
struct gpu_efficiency gpu_efficiency(const struct profile *p);

/*
 * The *n indices of the CUDA entries of gpu[] in the order of cuda.sort_table; of calls only those
 * that have started no activity. The caller frees.
 */
uint32_t *gpu_sort(const struct report *r, size_t *n);

/* The sum of all entries of one kind and name, without calls. */
struct gpu_total {
	const char *name;
	const struct profile_gpu *largest; /* the entry with the launch of the most threads */
	uint32_t kind, registers, shared_bytes, threads_min, threads_max;
	uint64_t calls, ns, min_ns, max_ns, bytes, started, latency_ns, blocks_min, blocks_max;
};
/* The *n sums by kind, then falling time; the caller frees. */
struct gpu_total *gpu_totals(const struct profile *p, size_t *n);

/* "registers": name of an enum gpu_bound. */
const char *gpu_bound_name(uint32_t bound);
/* "GPU-9e0a...": a UUID as nvidia-smi prints it; "host" of zeros; the caller frees. */
char *gpu_uuid_text(const uint64_t uuid[2]);
/*
 * "0.1": the lowest rank that used the GPU, and the GPU's number there; gpu_uuid_text() of one that
 * is not in gpu_devices[]. The caller frees.
 */
char *gpu_label(const struct profile *p, const uint64_t uuid[2]);
/* "memcpy HtoD", "unified memory DtoH" ... */
const char *gpu_link_name(const struct profile_gpu_link *l);

/* gpu_us(): ns / n in us; NAN for n = 0. gpu_percent(): part in percent of whole; NAN for whole =
 * 0. */
double gpu_us(uint64_t ns, uint64_t n);
double gpu_percent(double part, double whole);

#endif
