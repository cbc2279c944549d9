/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * GPUs in the logs and in BASE_all.json: Vftrace's CUDA table, by the call path that
 * started things; kernels and copies by name; how well the devices were used. Others are
 * in gpu-devices.c and gpu-calls.c.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "conf/conf.h"
#include "nodeagent/report/gpu.h"
#include "nodeagent/report/log/internal.h"

/* ---- by call path ------------------------------------------------------------------------- */

static const char *const kinds[GPU_KINDS] = {"kernel", "memcpy", "memset", "synchronization",
	"unified_memory", "overhead", "range", "call"};

static uint64_t ns_in(const struct row *row, enum gpu_column column)
{
	const struct profile_gpu *g = row->at;

	return gpu_column_of(g->kind) == column ? gpu_ns(row->r->p, g) : 0;
}

static void write_three(struct json *j, const char *key, const uint32_t n[3])
{
	json_array(j, key);
	for (int i = 0; i < 3; i++)
		json_uint(j, NULL, n[i]);
	json_close(j);
}

static void write_grid(struct json *j, const char *key, const struct row *row)
{
	const struct profile_gpu *g = row->at;

	write_three(j, key, g->grid);
}

static void write_block(struct json *j, const char *key, const struct row *row)
{
	const struct profile_gpu *g = row->at;

	write_three(j, key, g->block);
}

ROW_VALUE(const char *, path_raw, profile_gpu, gpu_name_of(row->r->p, at))
ROW_VALUE(const char *, path_name, profile_gpu, report_name(row->r, gpu_name_of(row->r->p, at)))
ROW_VALUE(const char *, path_cell, profile_gpu, report_cell(row->r, gpu_name_of(row->r->p, at)))
ROW_VALUE(bool, path_differs, profile_gpu, report_name_differs(row->r, gpu_name_of(row->r->p, at)))
ROW_VALUE(const char *, path_kind, profile_gpu, kinds[at->kind])
ROW_VALUE(uint64_t, path_cbid, profile_gpu, GPU_CBID(at->function))
ROW_VALUE(uint64_t, path_ns, profile_gpu, gpu_ns(row->r->p, at))
ROW_VALUE(uint64_t, path_to_device, profile_gpu, gpu_to_device(at))
ROW_VALUE(uint64_t, path_to_host, profile_gpu, gpu_to_host(at))
ROW_VALUE(bool, is_kernel, profile_gpu, at->kind == GPU_KERNEL)
ROW_VALUE(bool, has_occupancy, profile_gpu, at->kind == GPU_KERNEL && at->occupancy)
ROW_VALUE(double, path_occupancy, profile_gpu, 1e-3 * at->occupancy)
ROW_VALUE(const char *, path_bound, profile_gpu, gpu_bound_name(at->occupancy_bound))

static uint64_t path_compute(const struct row *row)
{
	return ns_in(row, GPU_COMPUTE);
}

static uint64_t path_memcpy(const struct row *row)
{
	return ns_in(row, GPU_MEMCPY);
}

static uint64_t path_other(const struct row *row)
{
	return ns_in(row, GPU_OTHER);
}

#define PATH(title, json, type, member, ...)                                                       \
	COLUMN(title, json, type, struct profile_gpu, member, ##__VA_ARGS__)

static const struct column path_columns[] = {
	PATH("STID", "id", STACK_ID, stack),
	COLUMN_GET("cudaName", NULL, TEXT, text, path_cell),
	COLUMN_GET(NULL, "name", TEXT, text, path_name),
	COLUMN_GET(NULL, "linker_name", TEXT, text, path_raw, .where = path_differs),
	COLUMN_GET(NULL, "kind", TEXT, text, path_kind),
	COLUMN_GET("CBID", "cbid", COUNT, count, path_cbid),
	PATH("#Calls", "calls", COUNT, calls),
	PATH(NULL, "calls_min", COUNT, calls_min),
	PATH(NULL, "calls_max", COUNT, calls_max),
	PATH(NULL, "ranks", COUNT, ranks),
	COLUMN_GET(NULL, "t_s", SECONDS, count, path_ns),
	COLUMN_GET("t_compute[s]", NULL, SECONDS, count, path_compute),
	COLUMN_GET("t_memcpy[s]", NULL, SECONDS, count, path_memcpy),
	COLUMN_GET("t_other[s]", NULL, SECONDS, count, path_other),
	PATH(NULL, "t_min_s", SECONDS, min_ns),
	PATH(NULL, "t_max_s", SECONDS, max_ns),
	PATH(NULL, "bytes", COUNT, bytes),
	COLUMN_GET("Host->Device[B]", "bytes_to_device", COUNT, count, path_to_device),
	COLUMN_GET("Device->Host[B]", "bytes_to_host", COUNT, count, path_to_host),
	PATH("Started by", NULL, PATH, stack),
	PATH(NULL, "t_latency_s", SECONDS, latency_ns),
	PATH(NULL, "with_latency", COUNT, started),
	PATH(NULL, "registers", COUNT, registers, .where = is_kernel),
	PATH(NULL, "shared_bytes", COUNT, shared_bytes, .where = is_kernel),
	PATH(NULL, "blocks_min", COUNT, blocks_min, .where = is_kernel),
	PATH(NULL, "blocks_max", COUNT, blocks_max, .where = is_kernel),
	PATH(NULL, "block_threads_min", COUNT, threads_min, .where = is_kernel),
	PATH(NULL, "block_threads_max", COUNT, threads_max, .where = is_kernel),
	COLUMN_GET(NULL, "grid", WRITTEN, write, write_grid, .where = is_kernel),
	COLUMN_GET(NULL, "block", WRITTEN, write, write_block, .where = is_kernel),
	PATH(NULL, "local_bytes", COUNT, local_bytes, .where = is_kernel),
	COLUMN_GET(NULL, "occupancy", REAL, real, path_occupancy, .where = has_occupancy),
	COLUMN_GET(NULL, "occupancy_bound", TEXT, text, path_bound, .where = has_occupancy),
};

static const struct list path_list = LIST(path_columns, gpu, .title = "--Cuda Summary--",
	.sum = true, .things = "entries", .order = gpu_sort);

/* ---- by name ------------------------------------------------------------------------------ */

static char *range_text(uint64_t least, uint64_t most)
{
	return least == most ? xasprintf("%" PRIu64, most)
			     : xasprintf("%" PRIu64 "-%" PRIu64, least, most);
}

static char *launch_text(const struct profile_gpu *g)
{
	return xasprintf("%" PRIu32 "x%" PRIu32 "x%" PRIu32 "/%" PRIu32 "x%" PRIu32 "x%" PRIu32,
		g->grid[0], g->grid[1], g->grid[2], g->block[0], g->block[1], g->block[2]);
}

static bool moves(const struct gpu_total *g)
{
	return g->ns && g->kind != GPU_WAIT && g->kind != GPU_OVERHEAD && g->bytes;
}

ROW_VALUE(const char *, total_name, gpu_total, report_cell(row->r, at->name))
ROW_VALUE(double, total_mean, gpu_total, gpu_us(at->ns, at->calls))
ROW_VALUE(double, total_latency, gpu_total,
	gpu_us(at->latency_ns, at->kind == GPU_WAIT ? 0 : at->started))
ROW_VALUE(char *, total_blocks, gpu_total, range_text(at->blocks_min, at->blocks_max))
ROW_VALUE(char *, total_threads, gpu_total, range_text(at->threads_min, at->threads_max))
ROW_VALUE(uint64_t, total_local, gpu_total, at->largest->local_bytes)
ROW_VALUE(char *, total_launch, gpu_total, launch_text(at->largest))
ROW_VALUE(bool, total_has_occupancy, gpu_total, at->largest->occupancy)
ROW_VALUE(double, total_occupancy, gpu_total, gpu_percent(at->largest->occupancy, 1000))
ROW_VALUE(const char *, total_bound, gpu_total, gpu_bound_name(at->largest->occupancy_bound))
ROW_VALUE(double, total_speed, gpu_total, moves(at) ? (double)at->bytes / (double)at->ns : NAN)

#define TOTAL(title, type, member, ...)                                                            \
	COLUMN(title, NULL, type, struct gpu_total, member, ##__VA_ARGS__)

static const struct column kernel_columns[] = {
	TOTAL("#Calls", COUNT, calls),
	TOTAL("t_total[s]", SECONDS, ns),
	TOTAL("t_min[us]", US, min_ns),
	COLUMN_GET("t_avg[us]", NULL, REAL, real, total_mean, .decimals = 2),
	TOTAL("t_max[us]", US, max_ns),
	COLUMN_GET("Latency[us]", NULL, REAL, real, total_latency, .decimals = 2),
	COLUMN_GET("Blocks", NULL, MADE, made, total_blocks),
	COLUMN_GET("Threads/block", NULL, MADE, made, total_threads),
	TOTAL("Registers", COUNT, registers, .spare = true),
	TOTAL("Shared[B]", COUNT, shared_bytes, .spare = true),
	COLUMN_GET("Local[B]", NULL, COUNT, count, total_local, .spare = true),
	COLUMN_GET("Largest launch", NULL, MADE, made, total_launch, .spare = true),
	COLUMN_GET("Occupancy[%]", NULL, REAL, real, total_occupancy, .decimals = 1,
		.where = total_has_occupancy),
	COLUMN_GET("Bound by", NULL, TEXT, text, total_bound, .where = total_has_occupancy),
	COLUMN_GET("Kernel", NULL, TEXT, text, total_name),
};

static const struct list kernel_list = LIST_OF(
	kernel_columns, struct gpu_total, .title = "GPU kernels", .sum = true, .things = "kernels");

static const struct column other_columns[] = {
	TOTAL("Calls", COUNT, calls),
	TOTAL("t_total[s]", SECONDS, ns),
	TOTAL("t_min[us]", US, min_ns),
	COLUMN_GET("t_avg[us]", NULL, REAL, real, total_mean, .decimals = 2),
	TOTAL("t_max[us]", US, max_ns),
	COLUMN_GET("Latency[us]", NULL, REAL, real, total_latency, .decimals = 2),
	TOTAL("Bytes", COUNT, bytes, .run = "Data[B]"),
	COLUMN_GET("GB/s", NULL, REAL, real, total_speed, .decimals = 2),
	COLUMN_GET("Activity", NULL, TEXT, text, total_name),
};

static const struct list other_list = LIST_OF(other_columns, struct gpu_total,
	.title = "GPU copies, synchronisation and overhead", .sum = true);

static const struct column range_columns[] = {
	TOTAL("#Calls", COUNT, calls),
	TOTAL("t_total[s]", SECONDS, ns),
	TOTAL("t_min[us]", US, min_ns),
	COLUMN_GET("t_avg[us]", NULL, REAL, real, total_mean, .decimals = 2),
	TOTAL("t_max[us]", US, max_ns),
	COLUMN_GET("Range", NULL, TEXT, text, total_name),
};

static const struct list range_list = LIST_OF(range_columns, struct gpu_total,
	.title = "NVTX ranges, from one call to another", .things = "ranges");

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
	columns_print(f, r, &path_list, 0);
	section_gpu_ratios(f, r);
	columns_print_of(f, r, &kernel_list, 0, totals, kernels);
	columns_print_of(f, r, &other_list, 0, totals + kernels, cuda - kernels);
	columns_print(f, r, &gpu_wait_list, 0);
	columns_print(f, r, &gpu_stream_list, 0);
	columns_print(f, r, &gpu_stream_sum_list, 0);
	columns_print(f, r, &gpu_device_list, 0);
	columns_print(f, r, &gpu_device_sum_list, 0);
	section_gpu_links(f, r);
	columns_print_of(f, r, &range_list, 0, totals + cuda, n - cuda);
	print_efficiency(f, r);
	free(totals);
}

/* ---- in JSON ------------------------------------------------------------------------------ */

/* Calls that have nothing else to show, as in the log; and ranges. */
static void write_entries(struct json *j, const struct report *r)
{
	const struct profile *p = r->p;
	bool *shown = xcalloc(p->n_gpu + 1, sizeof(*shown));
	size_t n;
	uint32_t *order = gpu_sort(r, &n);

	for (size_t i = 0; i < n; i++)
		shown[order[i]] = true;
	free(order);
	json_array(j, "gpu");
	for (size_t i = 0; i < p->n_gpu; i++)
		if (shown[i] || !gpu_is_cuda(&p->gpu[i]))
			columns_object(j, &path_list, &(struct row){.r = r, .at = &p->gpu[i]});
	json_close(j);
	free(shown);
}

static void write_streams(struct json *j, const struct report *r, const char *key,
	const struct list *list, bool devices)
{
	const struct profile *p = r->p;

	json_array(j, key);
	for (size_t i = 0; i < p->n_gpu_streams; i++) {
		const struct row row = {.r = r, .at = &p->gpu_streams[i]};

		if (gpu_is_whole_device(row.at) == devices && list->shown(&row))
			columns_object(j, list, &row);
	}
	json_close(j);
}

static void write_all_streams(struct json *j, const struct report *r)
{
	const struct profile *p = r->p;

	write_streams(j, r, "gpu_devices", &gpu_stream_list, true);
	write_streams(j, r, "gpu_streams", &gpu_stream_list, false);
	if (!ANY(i, p->n_gpu_streams, p->gpu_streams[i].others))
		return;
	write_streams(j, r, "gpu_devices_by_node", &gpu_stream_sum_list, true);
	write_streams(j, r, "gpu_streams_by_node", &gpu_stream_sum_list, false);
}

void json_gpu(struct json *j, const struct report *r)
{
	const struct profile *p = r->p;
	struct gpu_efficiency e;

	if (!p->n_gpu && !p->n_gpu_streams)
		return;
	write_entries(j, r);
	write_all_streams(j, r);
	columns_json(j, r, &gpu_device_list);
	if (ANY(i, p->n_gpu_devices, p->gpu_devices[i].others))
		columns_json(j, r, &gpu_device_sum_list);
	columns_json(j, r, &gpu_link_list);
	if (p->n_gpu_link_rests)
		columns_json(j, r, &gpu_link_rest_list);
	columns_json(j, r, &gpu_wait_list);
	e = gpu_efficiency(p);
	json_object(j, "gpu_efficiency");
	json_uint(j, "devices", e.devices);
	json_real(j, "parallel", e.parallel);
	json_real(j, "load_balance", e.balance);
	json_real(j, "communication", e.communication);
	json_real(j, "orchestration", e.orchestration);
	json_real(j, "useful_s", e.useful_s);
	json_real(j, "active_s", e.active_s);
	json_real(j, "host_wait_s", e.host_wait_s);
	json_close(j);
}
