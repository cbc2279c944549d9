/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * GPUs in the logs: each stream; each GPU of a node, whoever used it; what was moved
 * between host and GPUs, by copies and by unified memory.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "nodeagent/report/efficiency.h"
#include "nodeagent/report/gpu.h"
#include "nodeagent/report/log/internal.h"

#define MATRIX_MAX 16

bool gpu_is_whole_device(const struct profile_gpu_stream *s)
{
	return s->stream == PROFILE_NONE && s->context == PROFILE_NONE;
}

static char *stream_text(const struct profile_gpu_stream *s)
{
	return gpu_is_whole_device(s) ? xstrdup("all")
				      : xasprintf("%" PRIu32 ".%" PRIu32, s->context, s->stream);
}

ROW_VALUE(bool, is_stream, profile_gpu_stream, !gpu_is_whole_device(at))
ROW_VALUE(char *, stream_label, profile_gpu_stream, stream_text(at))
ROW_VALUE(double, stream_busy, profile_gpu_stream,
	gpu_percent(1e-9 * (double)at->busy_ns, row->r->p->runtime_s))
ROW_VALUE(uint64_t, stream_idle, profile_gpu_stream,
	at->span_ns > at->busy_ns ? at->span_ns - at->busy_ns : 0)

#define STREAM(title, json, type, member, ...)                                                     \
	COLUMN(title, json, type, struct profile_gpu_stream, member, ##__VA_ARGS__)

static const struct column stream_columns[] = {
	STREAM("Rank", "rank", RANK, rank),
	STREAM("Device", "device", COUNT, device),
	STREAM(NULL, "name", TEXT, name),
	STREAM(NULL, "context", COUNT, context, .where = is_stream),
	STREAM(NULL, "stream", COUNT, stream, .where = is_stream),
	COLUMN_GET("Stream", NULL, MADE, made, stream_label),
	STREAM("Activities", "activities", COUNT, calls),
	STREAM("Kernels", "kernels", COUNT, kernels),
	STREAM(NULL, "bytes", COUNT, bytes),
	STREAM("Busy[s]", "t_busy_s", SECONDS, busy_ns),
	COLUMN_GET("Busy[%]", NULL, REAL, real, stream_busy, .decimals = 1),
	STREAM("Compute[s]", "t_compute_s", SECONDS, kernel_ns),
	STREAM("Copy[s]", "t_copy_s", SECONDS, copy_ns),
	STREAM(NULL, "t_span_s", SECONDS, span_ns),
	COLUMN_GET("Idle between[s]", NULL, SECONDS, count, stream_idle),
	STREAM("Name", NULL, TEXT, name),
};

ROW_VALUE(bool, is_single, profile_gpu_stream, !at->others)

const struct list gpu_stream_list =
	LIST(stream_columns, gpu_streams, .title = "GPU devices and streams (context.stream)",
		.things = "streams", .shown = is_single);

ROW_VALUE(bool, is_stream_sum, profile_gpu_stream, at->others)
ROW_VALUE(const char *, stream_host, profile_gpu_stream, efficiency_host(row->r->p, at->rank))
ROW_VALUE(uint64_t, stream_entries, profile_gpu_stream, 1 + (uint64_t)at->others)
ROW_VALUE(const char *, stream_kind, profile_gpu_stream,
	gpu_is_whole_device(at) ? "devices" : "streams")

static const struct column stream_sum_columns[] = {
	COLUMN_GET("Node", "node", TEXT, text, stream_host),
	STREAM("First rank", "first_rank", RANK, rank),
	COLUMN_GET("Entries", "entries", COUNT, count, stream_entries),
	COLUMN_GET("Of", NULL, TEXT, text, stream_kind),
	STREAM("Activities", "activities", COUNT, calls),
	STREAM("Kernels", "kernels", COUNT, kernels),
	STREAM(NULL, "bytes", COUNT, bytes),
	STREAM("Busy[s]", "t_busy_s", SECONDS, busy_ns),
	STREAM("Compute[s]", "t_compute_s", SECONDS, kernel_ns),
	STREAM("Copy[s]", "t_copy_s", SECONDS, copy_ns),
};

const struct list gpu_stream_sum_list =
	LIST(stream_sum_columns, gpu_streams, .title = "The other GPU devices and streams by node",
		.things = "rows", .shown = is_stream_sum);

ROW_VALUE(char *, device_label, profile_gpu_device, gpu_label(row->r->p, at->uuid))
ROW_VALUE(char *, device_uuid, profile_gpu_device, gpu_uuid_text(at->uuid))
ROW_VALUE(const char *, device_host, profile_gpu_device, efficiency_host(row->r->p, at->rank))
ROW_VALUE(double, device_capability, profile_gpu_device, 0.1 * at->capability)
ROW_VALUE(double, device_busy, profile_gpu_device,
	gpu_percent(1e-9 * (double)at->busy_ns, row->r->p->runtime_s))

#define DEVICE(title, json, type, member)                                                          \
	COLUMN(title, json, type, struct profile_gpu_device, member)

static const struct column device_columns[] = {
	COLUMN_GET("GPU", NULL, MADE, made, device_label),
	COLUMN_GET(NULL, "uuid", MADE, made, device_uuid),
	DEVICE(NULL, "name", TEXT, name),
	COLUMN_GET("Host", "host", TEXT, text, device_host),
	DEVICE(NULL, "rank", RANK, rank),
	DEVICE(NULL, "device", COUNT, number),
	DEVICE("Processes", "processes", COUNT, processes),
	DEVICE(NULL, "multiprocessors", COUNT, multiprocessors),
	COLUMN_GET(NULL, "compute_capability", REAL, real, device_capability),
	DEVICE(NULL, "memory_bytes", COUNT, memory_bytes),
	DEVICE(NULL, "activities", COUNT, calls),
	DEVICE("Kernels", "kernels", COUNT, kernels),
	DEVICE(NULL, "bytes", COUNT, bytes),
	DEVICE("Busy[s]", "t_busy_s", SECONDS, busy_ns),
	COLUMN_GET("Busy[%]", NULL, REAL, real, device_busy, .decimals = 1),
	DEVICE("Compute[s]", "t_compute_s", SECONDS, kernel_ns),
	DEVICE("Copy[s]", "t_copy_s", SECONDS, copy_ns),
	DEVICE("Sum of processes[s]", "t_sum_of_processes_s", SECONDS, sum_ns),
	COLUMN_GET("UUID", NULL, MADE, made, device_uuid),
	DEVICE("Name", NULL, TEXT, name),
};

ROW_VALUE(bool, is_gpu, profile_gpu_device, !at->others)

const struct list gpu_device_list = LIST(device_columns, gpu_devices,
	.title = "GPUs of the nodes (rank.device of the first process)", .json = "gpus",
	.things = "GPUs", .shown = is_gpu, .json_shown = true);

ROW_VALUE(bool, is_gpu_sum, profile_gpu_device, at->others)
ROW_VALUE(uint64_t, gpu_count, profile_gpu_device, 1 + (uint64_t)at->others)

static const struct column device_sum_columns[] = {
	COLUMN_GET("Node", "node", TEXT, text, device_host),
	DEVICE("First rank", "first_rank", RANK, rank),
	COLUMN_GET("GPUs", "gpus", COUNT, count, gpu_count),
	DEVICE("Processes", "processes", COUNT, processes),
	DEVICE(NULL, "activities", COUNT, calls),
	DEVICE("Kernels", "kernels", COUNT, kernels),
	DEVICE(NULL, "bytes", COUNT, bytes),
	DEVICE("Busy[s]", "t_busy_s", SECONDS, busy_ns),
	DEVICE("Compute[s]", "t_compute_s", SECONDS, kernel_ns),
	DEVICE("Copy[s]", "t_copy_s", SECONDS, copy_ns),
	DEVICE("Sum of processes[s]", "t_sum_of_processes_s", SECONDS, sum_ns),
};

const struct list gpu_device_sum_list =
	LIST(device_sum_columns, gpu_devices, .title = "The other GPUs by node",
		.json = "gpus_by_node", .things = "nodes", .shown = is_gpu_sum, .json_shown = true);

/* ---- what was moved ----------------------------------------------------------------------- */

/* Faults and thrashing move nothing: they are counted. */
ROW_VALUE(bool, is_counted, profile_gpu_link,
	at->kind == GPU_MEMORY && at->detail >= GPU_MEMORY_HOST_FAULT)

static bool is_moved(const struct row *row)
{
	return !is_counted(row);
}

ROW_VALUE(char *, link_from, profile_gpu_link, gpu_label(row->r->p, at->from))
ROW_VALUE(char *, link_to, profile_gpu_link, gpu_label(row->r->p, at->to))
ROW_VALUE(char *, link_from_uuid, profile_gpu_link, gpu_uuid_text(at->from))
ROW_VALUE(char *, link_to_uuid, profile_gpu_link, gpu_uuid_text(at->to))
ROW_VALUE(const char *, link_name, profile_gpu_link, gpu_link_name(at))
ROW_VALUE(double, link_speed, profile_gpu_link, at->ns ? (double)at->bytes / (double)at->ns : NAN)

enum { MOVED = 1, COUNTED = 2 };

#define LINK(title, json, type, member, ...)                                                       \
	COLUMN(title, json, type, struct profile_gpu_link, member, ##__VA_ARGS__)

static const struct column link_columns[] = {
	COLUMN_GET("From", NULL, MADE, made, link_from, .only = MOVED),
	COLUMN_GET("GPU", NULL, MADE, made, link_from, .only = COUNTED),
	COLUMN_GET("To", NULL, MADE, made, link_to, .only = MOVED),
	COLUMN_GET(NULL, "from", MADE, made, link_from_uuid),
	COLUMN_GET(NULL, "to", MADE, made, link_to_uuid),
	COLUMN_GET(NULL, "name", TEXT, text, link_name),
	LINK("Transfers", "transfers", COUNT, calls, .only = MOVED),
	LINK("Events", NULL, COUNT, calls, .only = COUNTED),
	LINK("Bytes", "value", COUNT, bytes, .only = MOVED, .run = "Data[B]"),
	LINK("Number", NULL, COUNT, bytes, .only = COUNTED),
	LINK("t[s]", "t_s", SECONDS, ns),
	COLUMN_GET("GB/s", NULL, REAL, real, link_speed, .decimals = 2, .only = MOVED),
	COLUMN_GET("Activity", NULL, TEXT, text, link_name),
};

const struct list gpu_link_list =
	LIST(link_columns, gpu_links, .title = "GPU transfers (rank.device of the first process)",
		.json = "gpu_transfers", .things = "rows", .shown = is_moved);

static const struct list fault_list = LIST(link_columns, gpu_links,
	.title = "Unified memory: faults and thrashing", .things = "rows", .shown = is_counted);

/* ---- of large jobs: all that have no row ---------------------------------------------------- */

ROW_VALUE(bool, is_rest_counted, profile_gpu_link_rest,
	at->kind == GPU_MEMORY && at->detail >= GPU_MEMORY_HOST_FAULT)

static bool is_rest_moved(const struct row *row)
{
	return !is_rest_counted(row);
}

static const char *const link_ends[PROFILE_LINK_ENDS] = {
	[PROFILE_LINK_HOST] = "host",
	[PROFILE_LINK_GPU] = "GPU",
	[PROFILE_LINK_OTHER_GPU] = "another GPU",
};

static const char *link_rest_name(const struct row *row)
{
	const struct profile_gpu_link_rest *l = row->at;

	return gpu_link_name(&(struct profile_gpu_link){.kind = l->kind, .detail = l->detail});
}

ROW_VALUE(const char *, link_rest_from, profile_gpu_link_rest, link_ends[at->from])
ROW_VALUE(const char *, link_rest_to, profile_gpu_link_rest, link_ends[at->to])
ROW_VALUE(double, link_rest_speed, profile_gpu_link_rest,
	at->ns ? (double)at->bytes / (double)at->ns : NAN)

#define LINK_REST(title, json, type, member, ...)                                                  \
	COLUMN(title, json, type, struct profile_gpu_link_rest, member, ##__VA_ARGS__)

static const struct column link_rest_columns[] = {
	COLUMN_GET("From", "from", TEXT, text, link_rest_from, .only = MOVED),
	COLUMN_GET("At", NULL, TEXT, text, link_rest_from, .only = COUNTED),
	COLUMN_GET("To", "to", TEXT, text, link_rest_to, .only = MOVED),
	COLUMN_GET(NULL, "name", TEXT, text, link_rest_name),
	LINK_REST("Rows", "rows", COUNT, links),
	LINK_REST("Transfers", "transfers", COUNT, calls, .only = MOVED),
	LINK_REST("Events", NULL, COUNT, calls, .only = COUNTED),
	LINK_REST("Bytes", "value", COUNT, bytes, .only = MOVED, .run = "Data[B]"),
	LINK_REST("Number", NULL, COUNT, bytes, .only = COUNTED),
	LINK_REST("t[s]", "t_s", SECONDS, ns),
	COLUMN_GET("GB/s", NULL, REAL, real, link_rest_speed, .decimals = 2, .only = MOVED),
	COLUMN_GET("Activity", NULL, TEXT, text, link_rest_name),
};

const struct list gpu_link_rest_list =
	LIST(link_rest_columns, gpu_link_rests, .title = "The other GPU transfers by kind",
		.json = "other_gpu_transfers", .things = "rows", .shown = is_rest_moved);

static const struct list fault_rest_list = LIST(link_rest_columns, gpu_link_rests,
	.title = "Unified memory: the other faults and thrashing", .things = "rows",
	.shown = is_rest_counted);

/* ---- from GPU to GPU ------------------------------------------------------------------------ */

static bool is_between(const struct profile_gpu_link *l)
{
	return (l->kind == GPU_COPY && l->detail == GPU_COPY_PEER) ||
	       (l->kind == GPU_MEMORY && l->detail == GPU_MEMORY_ON_DEVICE);
}

static uint64_t bytes_between(const struct profile *p, const struct profile_gpu_device *from,
	const struct profile_gpu_device *to)
{
	uint64_t bytes = 0;

	EACH(const struct profile_gpu_link, l, p->gpu_links, p->n_gpu_links)
		if (is_between(l) && l->from[0] == from->uuid[0] && l->from[1] == from->uuid[1] &&
			l->to[0] == to->uuid[0] && l->to[1] == to->uuid[1])
			bytes += l->bytes;
	return bytes;
}

static void print_matrix(FILE *f, const struct report *r)
{
	const struct profile *p = r->p;
	size_t n = p->n_gpu_devices, pairs = 0;
	char *label[MATRIX_MAX];
	struct table *t;

	for (size_t i = 0; i < p->n_gpu_links; i++)
		pairs += is_between(&p->gpu_links[i]);
	if (!pairs || n < 2 || n > MATRIX_MAX)
		return;
	t = columns_begin(r);
	table_column(t, "From / to", TABLE_RIGHT);
	for (size_t i = 0; i < n; i++) {
		label[i] = gpu_label(p, p->gpu_devices[i].uuid);
		table_column(t, label[i], TABLE_RIGHT);
	}
	for (size_t i = 0; i < n; i++) {
		table_text(t, label[i]);
		for (size_t k = 0; k < n; k++)
			table_uint(t, bytes_between(p, &p->gpu_devices[i], &p->gpu_devices[k]));
	}
	columns_end(f, r, t, "Bytes from GPU to GPU", false);
	for (size_t i = 0; i < n; i++)
		free(label[i]);
}

void section_gpu_links(FILE *f, const struct report *r)
{
	columns_print(f, r, &gpu_link_list, MOVED);
	columns_print(f, r, &gpu_link_rest_list, MOVED);
	print_matrix(f, r);
	columns_print(f, r, &fault_list, COUNTED);
	columns_print(f, r, &fault_rest_list, COUNTED);
}
