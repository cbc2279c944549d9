/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * GPUs in the logs: Vftrace's CUDA table, by the call path that started things;
 * kernels and copies by name; how well the devices were used. Others are in
 * section-gpu-devices.c and section-gpu-calls.c.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "conf/conf.h"
#include "nodeagent/report-gpu.h"
#include "nodeagent/report.h"
#include "nodeagent/table.h"
#include "nodeagent/util.h"

#define NAME_COLUMNS 60

struct table *gpu_table(const char *const *titles, size_t n)
{
	struct table *t = table_new(TABLE_FRAMED);

	for (size_t i = 0; i < n; i++)
		table_column(t, titles[i], TABLE_RIGHT);
	return t;
}

void gpu_table_end(struct table *t, FILE *f, const char *title)
{
	fprintf(f, "\n%s\n", title);
	table_print(t, f);
	table_free(t);
}

void gpu_cell_name(struct table *t, const struct report *r, const char *name)
{
	char *shown = gpu_shown(r, name), *cut = text_short(shown, NAME_COLUMNS);

	table_text(t, cut);
	free(cut);
	free(shown);
}

static void cell_range(struct table *t, uint64_t least, uint64_t most)
{
	char *text = least == most ? xasprintf("%" PRIu64, most)
				   : xasprintf("%" PRIu64 "-%" PRIu64, least, most);

	table_text(t, text);
	free(text);
}

void gpu_cell_us(struct table *t, uint64_t ns, uint64_t n)
{
	if (n)
		table_real(t, 0, 2, 1e-3 * (double)ns / (double)n);
	else
		table_text(t, GPU_NOTHING);
}

void gpu_cell_percent(struct table *t, double part, double whole)
{
	if (whole > 0)
		table_real(t, 0, 1, 100 * part / whole);
	else
		table_text(t, GPU_NOTHING);
}

/* ---- by call path ------------------------------------------------------------------------- */

static void print_paths(FILE *f, const struct report *r)
{
	static const char *const titles[] = {"STID", "cudaName", "CBID", "#Calls", "t_compute[s]",
		"t_memcpy[s]", "t_other[s]", "Host->Device[B]", "Device->Host[B]", "Started by"};
	const struct profile *p = r->p;
	struct table *t = gpu_table(titles, ARRAY_SIZE(titles));
	size_t n;
	uint32_t *order = gpu_sort(r, &n);

	for (size_t i = 0; i < n && i < SECTION_ROWS; i++) {
		const struct profile_gpu *g = &p->gpu[order[i]];
		enum gpu_column column = gpu_column_of(g->kind);

		section_cell_id(t, r, g->stack);
		gpu_cell_name(t, r, gpu_name_of(p, g));
		table_uint(t, GPU_CBID(g->function));
		table_uint(t, g->calls);
		for (int k = GPU_COMPUTE; k <= GPU_OTHER; k++)
			table_real(t, 0, 3, k == (int)column ? 1e-9 * (double)gpu_ns(p, g) : 0);
		table_uint(t, gpu_to_device(g));
		table_uint(t, gpu_to_host(g));
		section_cell_path(t, r, g->stack);
	}
	free(order);
	if (!n) {
		table_free(t);
		return;
	}
	gpu_table_end(t, f, "--Cuda Summary--");
	section_more(f, n, "entries");
}

/* ---- by name ------------------------------------------------------------------------------ */

static void cell_launch(struct table *t, const struct profile_gpu *g)
{
	char *text =
		xasprintf("%" PRIu32 "x%" PRIu32 "x%" PRIu32 "/%" PRIu32 "x%" PRIu32 "x%" PRIu32,
			g->grid[0], g->grid[1], g->grid[2], g->block[0], g->block[1], g->block[2]);

	table_uint(t, g->local_bytes);
	table_text(t, text);
	gpu_cell_percent(t, g->occupancy, g->occupancy ? 1000 : 0);
	table_text(t, g->occupancy ? gpu_bound_name(g->occupancy_bound) : GPU_NOTHING);
	free(text);
}

static void print_kernels(FILE *f, const struct report *r, const struct gpu_total *g, size_t n)
{
	static const char *const titles[] = {"#Calls", "t_total[s]", "t_min[us]", "t_avg[us]",
		"t_max[us]", "Latency[us]", "Blocks", "Threads/block", "Registers", "Shared[B]",
		"Local[B]", "Largest launch", "Occupancy[%]", "Bound by", "Kernel"};
	struct table *t = gpu_table(titles, ARRAY_SIZE(titles));

	for (size_t i = 0; i < n && i < SECTION_ROWS; i++, g++) {
		table_uint(t, g->calls);
		table_real(t, 0, 3, 1e-9 * (double)g->ns);
		gpu_cell_us(t, g->min_ns, 1);
		gpu_cell_us(t, g->ns, g->calls);
		gpu_cell_us(t, g->max_ns, 1);
		gpu_cell_us(t, g->latency_ns, g->started);
		cell_range(t, g->blocks_min, g->blocks_max);
		cell_range(t, g->threads_min, g->threads_max);
		table_uint(t, g->registers);
		table_uint(t, g->shared_bytes);
		cell_launch(t, g->largest);
		gpu_cell_name(t, r, g->name);
	}
	gpu_table_end(t, f, "GPU kernels");
	section_more(f, n, "kernels");
}

static void print_others(FILE *f, const struct report *r, const struct gpu_total *g, size_t n)
{
	static const char *const titles[] = {"Calls", "t_total[s]", "t_min[us]", "t_avg[us]",
		"t_max[us]", "Latency[us]", "Bytes", "GB/s", "Activity"};
	struct table *t = gpu_table(titles, ARRAY_SIZE(titles));

	for (size_t i = 0; i < n; i++, g++) {
		bool moves = g->ns && g->kind != GPU_WAIT && g->kind != GPU_OVERHEAD && g->bytes;

		table_uint(t, g->calls);
		table_real(t, 0, 3, 1e-9 * (double)g->ns);
		gpu_cell_us(t, g->min_ns, 1);
		gpu_cell_us(t, g->ns, g->calls);
		gpu_cell_us(t, g->max_ns, 1);
		gpu_cell_us(t, g->latency_ns, g->kind == GPU_WAIT ? 0 : g->started);
		table_uint(t, g->bytes);
		if (moves)
			table_real(t, 0, 2, (double)g->bytes / (double)g->ns);
		else
			table_text(t, GPU_NOTHING);
		gpu_cell_name(t, r, g->name);
	}
	gpu_table_end(t, f, "GPU copies, synchronisation and overhead");
}

/* ---- all of it --------------------------------------------------------------------------- */

static void print_efficiency(FILE *f, const struct report *r)
{
	struct gpu_efficiency e = gpu_efficiency(r->p);

	if (!e.devices)
		return;
	fputs("\nGPU efficiency (1: all devices compute all the time)\n", f);
	fprintf(f, "   Parallel efficiency:        %6.3f\n", e.parallel);
	fprintf(f, "      Load balance:            %6.3f\n", e.balance);
	fprintf(f, "      Communication:           %6.3f\n", e.communication);
	fprintf(f, "      Orchestration:           %6.3f\n", e.orchestration);
	fprintf(f, "   Host waited for GPUs:     %8.3f s, sum over threads\n", e.host_wait_s);
}

void section_gpu_times(FILE *f, const struct report *r)
{
	static const char *const labels[] = {"   Compute:", "   Memcpy:", "   Other:"};
	double s[ARRAY_SIZE(labels)] = {0};
	size_t n;
	uint32_t *order = gpu_sort(r, &n);

	for (size_t i = 0; i < n; i++) {
		const struct profile_gpu *g = &r->p->gpu[order[i]];

		s[gpu_column_of(g->kind)] += 1e-9 * (double)gpu_ns(r->p, g);
	}
	free(order);
	if (!n)
		return;
	section_seconds(f, "Total CUDA time:", s[GPU_COMPUTE] + s[GPU_MEMCPY] + s[GPU_OTHER]);
	for (size_t i = 0; i < ARRAY_SIZE(labels); i++)
		section_seconds(f, labels[i], s[i]);
}

bool report_has_gpu(const struct profile *p, const struct conf *c)
{
	return c->cuda_show_table && (p->n_gpu || p->n_gpu_streams);
}

void section_gpu(FILE *f, const struct report *r)
{
	struct gpu_total *totals;
	size_t n, kernels = 0, cuda;

	if (!report_has_gpu(r->p, r->c))
		return;
	totals = gpu_totals(r->p, &n);
	while (kernels < n && totals[kernels].kind == GPU_KERNEL)
		kernels++;
	for (cuda = kernels; cuda < n && totals[cuda].kind != GPU_RANGE;)
		cuda++;
	print_paths(f, r);
	section_gpu_ratios(f, r);
	if (kernels)
		print_kernels(f, r, totals, kernels);
	if (cuda > kernels)
		print_others(f, r, totals + kernels, cuda - kernels);
	section_gpu_waits(f, r);
	section_gpu_streams(f, r);
	section_gpu_devices(f, r);
	section_gpu_links(f, r);
	section_gpu_ranges(f, r, totals + cuda, n - cuda);
	print_efficiency(f, r);
	free(totals);
}
