/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * GPUs in the logs, from the host's side: what it waited for, how many copies it made for
 * its kernels, ranges of NVTX, and the numbers of CUDA's functions.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "nodeagent/report-gpu.h"
#include "nodeagent/report.h"
#include "nodeagent/table.h"
#include "nodeagent/util.h"

/* ---- waits -------------------------------------------------------------------------------- */

static uint64_t wait_key(const struct profile *p, uint32_t i)
{
	return p->gpu_waits[i].ns;
}

void section_gpu_waits(FILE *f, const struct report *r)
{
	static const char *const titles[] = {"STID", "#Calls", "t_wait[s]", "t_avg[us]",
		"t_max[us]", "Stream", "Kind", "Waited for", "Waiting in"};
	const struct profile *p = r->p;
	struct table *t;
	uint32_t *order;

	if (!p->n_gpu_waits)
		return;
	t = gpu_table(titles, ARRAY_SIZE(titles));
	order = sort_falling(p, p->n_gpu_waits, wait_key);
	for (size_t i = 0; i < p->n_gpu_waits && i < SECTION_ROWS; i++) {
		const struct profile_gpu_wait *w = &p->gpu_waits[order[i]];
		char *stream = w->stream == PROFILE_NONE
				       ? xasprintf("%" PRIu32 ".all", w->context)
				       : xasprintf("%" PRIu32 ".%" PRIu32, w->context, w->stream);

		section_cell_id(t, r, w->stack);
		table_uint(t, w->calls);
		table_real(t, 0, 3, 1e-9 * (double)w->ns);
		gpu_cell_us(t, w->ns, w->calls);
		gpu_cell_us(t, w->max_ns, 1);
		table_text(t, stream);
		table_text(t, gpu_wait_name(w->detail));
		gpu_cell_name(t, r, w->name[0] ? w->name : "(nothing)");
		section_cell_path(t, r, w->stack);
		free(stream);
	}
	free(order);
	gpu_table_end(t, f, "Host waits for the GPU (context.stream)");
	section_more(f, p->n_gpu_waits, "waits");
}

/* ---- copies for kernels ------------------------------------------------------------------- */

/* Calls of one process: mean, least, most, of those that made any. */
struct per_rank {
	uint64_t calls, ranks, min, max;
};

static void add(struct per_rank *to, const struct profile_gpu *g)
{
	to->calls += g->calls;
	to->ranks = g->ranks > to->ranks ? g->ranks : to->ranks;
	to->min += g->calls_min;
	to->max += g->calls_max;
}

static double mean(const struct per_rank *n)
{
	return n->ranks ? (double)n->calls / (double)n->ranks : 0;
}

static void print_calls(
	FILE *f, const char *label, const char *name, const struct per_rank *n, uint64_t kernels)
{
	fprintf(f, "      %-8s avg %10.2f  min %8" PRIu64 "  max %8" PRIu64, label, mean(n), n->min,
		n->max);
	if (name)
		fprintf(f, "  %s\n", name);
	else
		fprintf(f, "  %.4g for each kernel\n", (double)n->calls / (double)kernels);
}

struct caller {
	uint32_t stack;
	struct per_rank in, out;
	uint64_t kernels;
};

/* gpu[] is by stack, so what one caller has started lies apart. */
static void look_at(const struct report *r, struct caller *c)
{
	for (size_t i = 0; i < r->p->n_gpu; i++) {
		const struct profile_gpu *g = &r->p->gpu[i];

		if (r->parent[g->stack] != c->stack)
			continue;
		if (g->kind == GPU_KERNEL)
			c->kernels += g->calls;
		else if (g->kind == GPU_COPY && g->detail == GPU_COPY_TO_DEVICE)
			add(&c->in, g);
		else if (g->kind == GPU_COPY)
			add(&c->out, g);
	}
}

static void print_caller(FILE *f, const struct report *r, const struct caller *c)
{
	const struct profile *p = r->p;

	fprintf(f, "   %s\n", r->cell[p->stacks[c->stack].name]);
	print_calls(f, "in", NULL, &c->in, c->kernels);
	print_calls(f, "out", NULL, &c->out, c->kernels);
	for (size_t i = 0; i < p->n_gpu; i++) {
		struct per_rank n = {0};
		char *shown, *cut;

		if (p->gpu[i].kind != GPU_KERNEL || r->parent[p->gpu[i].stack] != c->stack)
			continue;
		add(&n, &p->gpu[i]);
		shown = gpu_shown(r, p->gpu[i].name);
		cut = text_short(shown, 60);
		print_calls(f, "kernel", cut, &n, 0);
		free(cut);
		free(shown);
	}
}

void section_gpu_ratios(FILE *f, const struct report *r)
{
	const struct profile *p = r->p;
	bool *seen = xcalloc(p->n_stacks + 1, sizeof(*seen));
	unsigned n = 0;

	for (size_t i = 0; i < p->n_gpu && n < SECTION_ROWS; i++) {
		struct caller c = {.stack = r->parent[p->gpu[i].stack]};

		if (p->gpu[i].kind != GPU_COPY || c.stack == PROFILE_NONE || seen[c.stack])
			continue;
		seen[c.stack] = true;
		look_at(r, &c);
		if (!c.kernels)
			continue;
		if (!n++)
			fputs("\nCUDA ratio of memcpy / kernel calls\n", f);
		print_caller(f, r, &c);
	}
	free(seen);
}

/* ---- ranges ------------------------------------------------------------------------------- */

void section_gpu_ranges(FILE *f, const struct report *r, const struct gpu_total *g, size_t n)
{
	static const char *const titles[] = {
		"#Calls", "t_total[s]", "t_min[us]", "t_avg[us]", "t_max[us]", "Range"};
	struct table *t;

	if (!n)
		return;
	t = gpu_table(titles, ARRAY_SIZE(titles));
	for (size_t i = 0; i < n && i < SECTION_ROWS; i++, g++) {
		table_uint(t, g->calls);
		table_real(t, 0, 3, 1e-9 * (double)g->ns);
		gpu_cell_us(t, g->min_ns, 1);
		gpu_cell_us(t, g->ns, g->calls);
		gpu_cell_us(t, g->max_ns, 1);
		gpu_cell_name(t, r, g->name);
	}
	gpu_table_end(t, f, "NVTX ranges, from one call to another");
	section_more(f, n, "ranges");
}

/* ---- numbers of functions ----------------------------------------------------------------- */

static const char *const interfaces[] = {[1] = "driver", [2] = "runtime"};

struct function {
	uint32_t number;
	const char *name;
};

static int by_number(const void *a, const void *b)
{
	const struct function *x = a, *y = b;

	return x->number < y->number ? -1 : x->number > y->number;
}

void section_gpu_functions(FILE *f, const struct report *r)
{
	static const char *const titles[] = {"CBID", "Interface", "Name"};
	const struct profile *p = r->p;
	struct function *all;
	struct table *t;
	size_t n = 0;

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
	t = table_new(TABLE_FRAMED);
	for (size_t i = 0; i < ARRAY_SIZE(titles); i++)
		table_column(t, titles[i], i ? TABLE_LEFT : TABLE_RIGHT);
	for (size_t i = 0; i < n; i++) {
		if (i && all[i].number == all[i - 1].number)
			continue;
		table_uint(t, GPU_CBID(all[i].number));
		table_text(t, interfaces[GPU_INTERFACE(all[i].number)]);
		table_text(t, all[i].name);
	}
	if (n)
		gpu_table_end(t, f, "CUDA functions");
	else
		table_free(t);
	free(all);
}
