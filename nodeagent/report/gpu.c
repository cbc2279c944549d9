/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/report/gpu.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "conf/conf.h"
#include "nodeagent/base/gpu-words.h"
#include "nodeagent/profile/gpu-occupancy.h"
#include "nodeagent/report/report.h"
#include "nodeagent/base/util.h"

bool gpu_is_cuda(const struct profile_gpu *g)
{
	return g->kind != GPU_RANGE;
}

uint64_t gpu_ns(const struct profile *p, const struct profile_gpu *g)
{
	return g->kind == GPU_API ? p->stacks[g->stack].incl_ns : g->ns;
}

const char *gpu_name_of(const struct profile *p, const struct profile_gpu *g)
{
	return g->kind == GPU_API ? p->names[p->stacks[g->stack].name] : g->name;
}

enum gpu_column gpu_column_of(uint32_t kind)
{
	switch (kind) {
	case GPU_KERNEL:
		return GPU_COMPUTE;
	case GPU_COPY:
	case GPU_SET:
		return GPU_MEMCPY;
	default:
		return GPU_OTHER;
	}
}

double gpu_us(uint64_t ns, uint64_t n)
{
	return n ? 1e-3 * (double)ns / (double)n : NAN;
}

double gpu_percent(double part, double whole)
{
	return whole > 0 ? 100 * part / whole : NAN;
}

uint64_t gpu_to_device(const struct profile_gpu *g)
{
	return (g->kind == GPU_COPY && g->detail == GPU_COPY_TO_DEVICE) ||
			       (g->kind == GPU_MEMORY && g->detail == GPU_MEMORY_TO_DEVICE)
		       ? g->bytes
		       : 0;
}

uint64_t gpu_to_host(const struct profile_gpu *g)
{
	return (g->kind == GPU_COPY && g->detail == GPU_COPY_TO_HOST) ||
			       (g->kind == GPU_MEMORY && g->detail == GPU_MEMORY_TO_HOST)
		       ? g->bytes
		       : 0;
}

struct gpu_efficiency gpu_efficiency(const struct profile *p)
{
	struct gpu_efficiency e = {0};
	double most_useful = 0, most_active = 0;

	EACH(const struct profile_gpu_device, d, p->gpu_devices, p->n_gpu_devices) {
		double useful = 1e-9 * (double)d->kernel_ns, active = 1e-9 * (double)d->busy_ns;

		e.devices += 1 + d->others;
		e.useful_s += useful;
		e.active_s += active;
		if (d->others) /* GPUs with the most are not in sums */
			continue;
		most_useful = useful > most_useful ? useful : most_useful;
		most_active = active > most_active ? active : most_active;
	}
	for (size_t i = 0; i < p->n_gpu; i++)
		if (p->gpu[i].kind == GPU_WAIT && p->gpu[i].detail != GPU_WAIT_STREAM_EVENT)
			e.host_wait_s += 1e-9 * (double)p->gpu[i].ns;
	if (!e.devices || !(p->runtime_s > 0))
		return e;
	e.parallel = e.useful_s / (p->runtime_s * e.devices);
	e.balance = most_useful > 0 ? e.useful_s / (most_useful * e.devices) : 0;
	e.communication = most_active > 0 ? most_useful / most_active : 0;
	e.orchestration = most_active / p->runtime_s;
	return e;
}

/* ---- order ------------------------------------------------------------------------------- */

static uint64_t key_time(const struct profile *p, const struct profile_gpu *g)
{
	return gpu_ns(p, g);
}

static uint64_t key_bytes(const struct profile *p, const struct profile_gpu *g)
{
	return gpu_to_device(g) + gpu_to_host(g);
}

static uint64_t key_cbid(const struct profile *p, const struct profile_gpu *g)
{
	return GPU_CBID(g->function);
}

static uint64_t key_calls(const struct profile *p, const struct profile_gpu *g)
{
	return g->calls;
}

static const struct {
	const char *column;
	uint64_t (*key)(const struct profile *p, const struct profile_gpu *g);
} columns[] = {
	{"time", key_time},
	{"memcpy", key_bytes},
	{"cbid", key_cbid},
	{"calls", key_calls},
};

/* gpu[] is sorted by stack, then kind. */
static bool is_shown(const struct profile *p, size_t i)
{
	const struct profile_gpu *g = &p->gpu[i];

	if (!gpu_is_cuda(g))
		return false;
	if (g->kind != GPU_API)
		return true;
	return !(i && g[-1].stack == g->stack && gpu_is_cuda(&g[-1]));
}

uint32_t *gpu_sort(const struct report *r, size_t *n)
{
	const struct profile *p = r->p;
	struct sort_key *keys = xcalloc(p->n_gpu, sizeof(*keys));
	uint64_t (*key)(const struct profile *p, const struct profile_gpu *g) = NULL;

	*n = 0;
	for (size_t k = 0; k < ARRAY_SIZE(columns); k++)
		if (!strcmp(r->c->cuda_sort_table_column, columns[k].column))
			key = columns[k].key;
	for (uint32_t i = 0; i < p->n_gpu; i++)
		if (is_shown(p, i))
			keys[(*n)++] = (struct sort_key){.key = key ? key(p, &p->gpu[i]) : 0,
				.id = r->id[p->gpu[i].stack],
				.i = i};
	return sort_by_key(keys, *n, r->c->cuda_sort_table_ascending);
}

/* ---- totals ------------------------------------------------------------------------------ */

ORDER_POINTERS_BY(by_name, struct profile_gpu, RISING(kind) ?: ALPHABETIC(name))

ORDER_BY(by_time, struct gpu_total, RISING(kind) ?: FALLING(ns) ?: ALPHABETIC(name))

static double launch_threads(const struct profile_gpu *g)
{
	double n = 1;

	for (int i = 0; i < 3; i++)
		n *= (double)g->grid[i] * g->block[i];
	return n;
}

static void add_gpu(struct gpu_total *t, const struct profile_gpu *g)
{
	if (!t->largest || launch_threads(g) > launch_threads(t->largest))
		t->largest = g;
	t->calls += g->calls;
	t->ns += g->ns;
	t->bytes += g->bytes;
	t->started += g->started;
	t->latency_ns += g->latency_ns;
	LEAST(t, g, min_ns);
	LEAST(t, g, threads_min);
	LEAST(t, g, blocks_min);
	MOST(t, g, max_ns);
	MOST(t, g, threads_max);
	MOST(t, g, blocks_max);
	MOST(t, g, registers);
	MOST(t, g, shared_bytes);
}

struct gpu_total *gpu_totals(const struct profile *p, size_t *n)
{
	const struct profile_gpu **sorted = xcalloc(p->n_gpu, sizeof(*sorted));
	struct gpu_total *t = xcalloc(p->n_gpu, sizeof(*t));
	size_t n_sorted = 0;

	*n = 0;
	for (size_t i = 0; i < p->n_gpu; i++)
		if (p->gpu[i].kind != GPU_API)
			sorted[n_sorted++] = &p->gpu[i];
	qsort(sorted, n_sorted, sizeof(*sorted), by_name);
	for (size_t i = 0; i < n_sorted; i++) {
		const struct profile_gpu *g = sorted[i];

		if (!*n || by_name(&sorted[i - 1], &sorted[i])) {
			t[(*n)++] = (struct gpu_total){.name = g->name,
				.kind = g->kind,
				.min_ns = UINT64_MAX,
				.threads_min = UINT32_MAX,
				.blocks_min = UINT64_MAX};
		}
		add_gpu(&t[*n - 1], g);
	}
	qsort(t, *n, sizeof(*t), by_time);
	free(sorted);
	return t;
}

/* ---- words ------------------------------------------------------------------------------- */

const char *gpu_bound_name(uint32_t bound)
{
	static const char *const names[GPU_BOUNDS] = {
		"unknown", "warps", "blocks", "registers", "shared memory"};

	return names[bound < GPU_BOUNDS ? bound : 0];
}

const char *gpu_link_name(const struct profile_gpu_link *l)
{
	return l->kind == GPU_COPY ? gpu_copy_name(l->detail) : gpu_memory_name(l->detail);
}

/* ---- GPUs -------------------------------------------------------------------------------- */

static const struct profile_gpu_device *device_of(const struct profile *p, const uint64_t uuid[2])
{
	return FIND(x, p->gpu_devices, p->n_gpu_devices,
		x->uuid[0] == uuid[0] && x->uuid[1] == uuid[1] && !x->others);
}

char *gpu_uuid_text(const uint64_t uuid[2])
{
	if (!uuid[0] && !uuid[1])
		return xstrdup("host");
	if (uuid[0] == UINT64_MAX)
		return xasprintf("unknown-%" PRIx64, uuid[1]);
	return xasprintf("GPU-%08" PRIx64 "-%04" PRIx64 "-%04" PRIx64 "-%04" PRIx64 "-%012" PRIx64,
		uuid[0] >> 32, uuid[0] >> 16 & 0xffff, uuid[0] & 0xffff, uuid[1] >> 48,
		uuid[1] & 0xffffffffffff);
}

char *gpu_label(const struct profile *p, const uint64_t uuid[2])
{
	const struct profile_gpu_device *d = device_of(p, uuid);
	char *text = gpu_uuid_text(uuid);

	if (!d)
		return text;
	free(text);
	return xasprintf("%" PRIu32 ".%" PRIu32, profile_rank_shown(p, d->rank), d->number);
}
