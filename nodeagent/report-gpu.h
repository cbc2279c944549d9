/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers about GPUs that logs and JSON share (report-gpu.c). */
#ifndef VFTR_NODEAGENT_REPORT_GPU_H
#define VFTR_NODEAGENT_REPORT_GPU_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include "nodeagent/profile.h"
#include "shm/gpu.h"

struct report;
struct table;

/* Ranges of the program are no CUDA. */
bool gpu_is_cuda(const struct profile_gpu *g);
/* Of a call of the interface that started nothing the time is the host's, in the call. */
uint64_t gpu_ns(const struct profile *p, const struct profile_gpu *g);
const char *gpu_name_of(const struct profile *p, const struct profile_gpu *g);
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
 * the G GPUs that were used and the run time T: parallel efficiency sum(useful)/(T*G) = load
 * balance sum/(most*G) * communication most/most active * orchestration most active/T.
 */
struct gpu_efficiency {
	uint32_t devices;
	double parallel, balance, communication, orchestration;
	double useful_s, active_s;
	double host_wait_s; /* in which host threads waited for GPUs */
};
struct gpu_efficiency gpu_efficiency(const struct profile *p);

/*
 * Indices into gpu[] in the order of cuda.sort_table, of all that is CUDA; of calls those
 * only that have nothing else to show. The caller frees.
 */
uint32_t *gpu_sort(const struct report *r, size_t *n);
/* As people read it; the caller frees. */
char *gpu_shown(const struct report *r, const char *name);

/* All entries of one kind and name, whatever started them; calls are not among them. */
struct gpu_total {
	const char *name;		   /* of an entry */
	const struct profile_gpu *largest; /* that with the launch of the most threads */
	uint32_t kind, registers, shared_bytes, threads_min, threads_max;
	uint64_t calls, ns, min_ns, max_ns, bytes, started, latency_ns, blocks_min, blocks_max;
};
/* By kind, then falling time; the caller frees. */
struct gpu_total *gpu_totals(const struct profile *p, size_t *n);

/* "registers": what bounds the occupancy (enum gpu_bound). */
const char *gpu_bound_name(uint32_t bound);
/* "GPU-9e0a...": as nvidia-smi prints it; "host" for none; the caller frees. */
char *gpu_uuid_text(const uint64_t uuid[2]);
/* "0.1": the least rank that has used it, and its number there; the caller frees. */
char *gpu_label(const struct profile *p, const uint64_t uuid[2]);
/* Where it is, or NULL. */
const char *gpu_host_name(const struct profile *p, const struct profile_gpu_device *d);
/* "stream synchronize" ... */
const char *gpu_wait_name(uint32_t detail);
/* "memcpy HtoD", "unified memory DtoH" ... */
const char *gpu_link_name(const struct profile_gpu_link *l);

/* Parts of section_gpu(): section-gpu-devices.c, section-gpu-calls.c. */
void section_gpu_devices(FILE *f, const struct report *r);
void section_gpu_streams(FILE *f, const struct report *r);
void section_gpu_links(FILE *f, const struct report *r);
void section_gpu_waits(FILE *f, const struct report *r);
void section_gpu_ratios(FILE *f, const struct report *r);
void section_gpu_ranges(FILE *f, const struct report *r, const struct gpu_total *g, size_t n);
/* Cells and tables that they share. */
#define GPU_NOTHING "----"
struct table *gpu_table(const char *const *titles, size_t n);
void gpu_table_end(struct table *t, FILE *f, const char *title);
void gpu_cell_name(struct table *t, const struct report *r, const char *name);
/* ns / n in us */
void gpu_cell_us(struct table *t, uint64_t ns, uint64_t n);
void gpu_cell_percent(struct table *t, double part, double whole);

#endif
