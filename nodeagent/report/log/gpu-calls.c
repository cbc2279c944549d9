/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * GPUs in the logs, from the host's side: what it waited for, how many copies it made for
 * its kernels, ranges of NVTX, and the numbers of CUDA's functions.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "nodeagent/base/gpu-words.h"
#include "nodeagent/report/gpu.h"
#include "nodeagent/report/log/internal.h"

/* ---- waits -------------------------------------------------------------------------------- */

static uint64_t wait_key(const struct profile *p, uint32_t i)
{
	return p->gpu_waits[i].ns;
}

static char *stream_text(const struct profile_gpu_wait *w)
{
	if (w->stream == PROFILE_NONE)
		return xasprintf("%" PRIu32 ".all", w->context);
	return xasprintf("%" PRIu32 ".%" PRIu32, w->context, w->stream);
}

ROW_VALUE(const char *, wait_kind, profile_gpu_wait, gpu_wait_name(at->detail))
ROW_VALUE(double, wait_mean, profile_gpu_wait, gpu_us(at->ns, at->calls))
ROW_VALUE(char *, wait_stream, profile_gpu_wait, stream_text(at))
ROW_VALUE(bool, has_stream, profile_gpu_wait, at->stream != PROFILE_NONE)
ROW_VALUE(const char *, wait_for, profile_gpu_wait,
	at->name[0] ? report_name(row->r, at->name) : NULL)
ROW_VALUE(const char *, wait_for_text, profile_gpu_wait,
	at->name[0] ? report_cell(row->r, at->name) : "(nothing)")

#define WAIT(title, json, type, member, ...)                                                       \
	COLUMN(title, json, type, struct profile_gpu_wait, member, ##__VA_ARGS__)

static const struct column wait_columns[] = {
	WAIT("STID", "id", STACK_ID, stack),
	COLUMN_GET(NULL, "kind", TEXT, text, wait_kind),
	WAIT(NULL, "context", COUNT, context),
	WAIT(NULL, "stream", COUNT, stream, .where = has_stream),
	COLUMN_GET(NULL, "waited_for", TEXT, text, wait_for),
	WAIT("#Calls", "calls", COUNT, calls),
	WAIT(NULL, "ranks", COUNT, ranks),
	WAIT("t_wait[s]", "t_s", SECONDS, ns),
	COLUMN_GET("t_avg[us]", NULL, REAL, real, wait_mean, .decimals = 2),
	WAIT("t_max[us]", "t_max_s", US, max_ns),
	COLUMN_GET("Stream", NULL, MADE, made, wait_stream),
	COLUMN_GET("Kind", NULL, TEXT, text, wait_kind),
	COLUMN_GET("Waited for", NULL, TEXT, text, wait_for_text),
	WAIT("Waiting in", NULL, PATH, stack),
};

const struct list gpu_wait_list =
	LIST(wait_columns, gpu_waits, .title = "Host waits for the GPU (context.stream)",
		.json = "gpu_host_waits", .things = "waits", .weight = wait_key);

/* ---- copies for kernels ------------------------------------------------------------------- */

static enum ratio_kind ratio_kind(const struct profile_gpu *g)
{
	if (g->kind == GPU_KERNEL)
		return RATIO_KERNEL;
	if (g->kind != GPU_COPY)
		return RATIO_OTHER;
	return g->detail == GPU_COPY_TO_DEVICE ? RATIO_IN : RATIO_OUT;
}

void section_gpu_ratios(FILE *f, const struct report *r)
{
	struct ratio_item *items = xcalloc(r->p->n_gpu + 1, sizeof(*items));

	for (size_t i = 0; i < r->p->n_gpu; i++) {
		const struct profile_gpu *g = &r->p->gpu[i];

		items[i] = (struct ratio_item){ratio_kind(g), r->parent[g->stack], g->calls,
			g->ranks, g->calls_min, g->calls_max,
			g->kind == GPU_KERNEL ? xstrdup(report_cell(r, g->name)) : NULL};
	}
	section_ratio(f, r, "CUDA ratio of memcpy / kernel calls", items, r->p->n_gpu);
}

/* ---- numbers of functions ----------------------------------------------------------------- */

static const char *const interfaces[] = {[1] = "driver", [2] = "runtime"};

struct function {
	uint32_t number;
	const char *name;
};

ORDER_BY(by_number, struct function, RISING(number))

ROW_VALUE(uint64_t, function_cbid, function, GPU_CBID(at->number))
ROW_VALUE(const char *, function_interface, function, interfaces[GPU_INTERFACE(at->number)])

static const struct column function_columns[] = {
	COLUMN_GET("CBID", NULL, COUNT, count, function_cbid),
	COLUMN_GET("Interface", NULL, TEXT, text, function_interface, .left = true),
	COLUMN("Name", NULL, TEXT, struct function, name, .left = true),
};

static const struct list function_list =
	LIST_OF(function_columns, struct function, .title = "CUDA functions");

void section_gpu_functions(FILE *f, const struct report *r)
{
	const struct profile *p = r->p;
	struct function *all;
	size_t n = 0, kept = 0;

	if (!report_has_gpu(p, r->c))
		return;
	all = xcalloc(p->n_gpu + 1, sizeof(*all));
	for (size_t i = 0; i < p->n_gpu; i++) {
		uint32_t number = p->gpu[i].function, interface = GPU_INTERFACE(number);

		if (interface < ARRAY_SIZE(interfaces) && interfaces[interface])
			all[n++] =
				(struct function){number, r->cell[p->stacks[p->gpu[i].stack].name]};
	}
	qsort(all, n, sizeof(*all), by_number);
	for (size_t i = 0; i < n; i++)
		if (!i || all[i].number != all[kept - 1].number)
			all[kept++] = all[i];
	columns_print_of(f, r, &function_list, 0, all, kept);
	free(all);
}
