/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * GPUs in the logs: each stream; each GPU of a node, whoever used it; what was moved
 * between host and GPUs, by copies and by unified memory.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "nodeagent/report-gpu.h"
#include "nodeagent/report.h"
#include "nodeagent/table.h"
#include "nodeagent/util.h"

#define MATRIX_MAX 16

static void cell_owned(struct table *t, char *text)
{
	table_text(t, text);
	free(text);
}

static bool is_device(const struct profile_gpu_stream *s)
{
	return s->stream == PROFILE_NONE && s->context == PROFILE_NONE;
}

void section_gpu_streams(FILE *f, const struct report *r)
{
	static const char *const titles[] = {"Rank", "Device", "Stream", "Activities", "Kernels",
		"Busy[s]", "Busy[%]", "Compute[s]", "Copy[s]", "Idle between[s]", "Name"};
	const struct profile *p = r->p;
	struct table *t;

	if (!p->n_gpu_streams)
		return;
	t = gpu_table(titles, ARRAY_SIZE(titles));
	for (size_t i = 0; i < p->n_gpu_streams && i < SECTION_ROWS; i++) {
		const struct profile_gpu_stream *s = &p->gpu_streams[i];

		table_uint(t, profile_rank_shown(p, s->rank));
		table_uint(t, s->device);
		cell_owned(t, is_device(s)
				      ? xstrdup("all")
				      : xasprintf("%" PRIu32 ".%" PRIu32, s->context, s->stream));
		table_uint(t, s->calls);
		table_uint(t, s->kernels);
		table_real(t, 0, 3, 1e-9 * (double)s->busy_ns);
		gpu_cell_percent(t, 1e-9 * (double)s->busy_ns, p->runtime_s);
		table_real(t, 0, 3, 1e-9 * (double)s->kernel_ns);
		table_real(t, 0, 3, 1e-9 * (double)s->copy_ns);
		table_real(t, 0, 3,
			s->span_ns > s->busy_ns ? 1e-9 * (double)(s->span_ns - s->busy_ns) : 0);
		table_text(t, s->name ? s->name : GPU_NOTHING);
	}
	gpu_table_end(t, f, "GPU devices and streams (context.stream)");
	section_more(f, p->n_gpu_streams, "streams");
}

void section_gpu_devices(FILE *f, const struct report *r)
{
	static const char *const titles[] = {"GPU", "Host", "Processes", "Kernels", "Busy[s]",
		"Busy[%]", "Compute[s]", "Copy[s]", "Sum of processes[s]", "UUID", "Name"};
	const struct profile *p = r->p;
	struct table *t;

	if (!p->n_gpu_devices)
		return;
	t = gpu_table(titles, ARRAY_SIZE(titles));
	for (size_t i = 0; i < p->n_gpu_devices && i < SECTION_ROWS; i++) {
		const struct profile_gpu_device *d = &p->gpu_devices[i];
		const char *host = gpu_host_name(p, d);

		cell_owned(t, gpu_label(p, d->uuid));
		table_text(t, host ? host : GPU_NOTHING);
		table_uint(t, d->processes);
		table_uint(t, d->kernels);
		table_real(t, 0, 3, 1e-9 * (double)d->busy_ns);
		gpu_cell_percent(t, 1e-9 * (double)d->busy_ns, p->runtime_s);
		table_real(t, 0, 3, 1e-9 * (double)d->kernel_ns);
		table_real(t, 0, 3, 1e-9 * (double)d->copy_ns);
		table_real(t, 0, 3, 1e-9 * (double)d->sum_ns);
		cell_owned(t, gpu_uuid_text(d->uuid));
		table_text(t, d->name ? d->name : GPU_NOTHING);
	}
	gpu_table_end(t, f, "GPUs of the nodes (rank.device of the first process)");
	section_more(f, p->n_gpu_devices, "GPUs");
}

/* ---- what was moved ----------------------------------------------------------------------- */

/* Faults and thrashing move nothing: they are counted. */
static bool is_counted(const struct profile_gpu_link *l)
{
	return l->kind == GPU_MEMORY && l->detail >= GPU_MEMORY_HOST_FAULT;
}

static void print_links(FILE *f, const struct report *r, bool counted)
{
	static const char *const titles[] = {
		"From", "To", "Transfers", "Bytes", "t[s]", "GB/s", "Activity"};
	static const char *const titles_counted[] = {"GPU", "Events", "Number", "t[s]", "Activity"};
	const struct profile *p = r->p;
	struct table *t = counted ? gpu_table(titles_counted, ARRAY_SIZE(titles_counted))
				  : gpu_table(titles, ARRAY_SIZE(titles));
	size_t n = 0;

	for (size_t i = 0; i < p->n_gpu_links; i++) {
		const struct profile_gpu_link *l = &p->gpu_links[i];

		if (is_counted(l) != counted || n++ >= SECTION_ROWS)
			continue;
		cell_owned(t, gpu_label(p, l->from));
		if (!counted)
			cell_owned(t, gpu_label(p, l->to));
		table_uint(t, l->calls);
		table_uint(t, l->bytes);
		table_real(t, 0, 3, 1e-9 * (double)l->ns);
		if (!counted && l->ns)
			table_real(t, 0, 2, (double)l->bytes / (double)l->ns);
		else if (!counted)
			table_text(t, GPU_NOTHING);
		table_text(t, gpu_link_name(l));
	}
	if (n) {
		gpu_table_end(t, f,
			counted ? "Unified memory: faults and thrashing"
				: "GPU transfers (rank.device of the first process)");
		section_more(f, n, "rows");
	} else {
		table_free(t);
	}
}

static bool is_between(const struct profile_gpu_link *l)
{
	return (l->kind == GPU_COPY && l->detail == GPU_COPY_PEER) ||
	       (l->kind == GPU_MEMORY && l->detail == GPU_MEMORY_ON_DEVICE);
}

static uint64_t bytes_between(const struct profile *p, const struct profile_gpu_device *from,
	const struct profile_gpu_device *to)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < p->n_gpu_links; i++) {
		const struct profile_gpu_link *l = &p->gpu_links[i];

		if (is_between(l) && l->from[0] == from->uuid[0] && l->from[1] == from->uuid[1] &&
			l->to[0] == to->uuid[0] && l->to[1] == to->uuid[1])
			bytes += l->bytes;
	}
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
	t = table_new(TABLE_FRAMED);
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
	gpu_table_end(t, f, "Bytes from GPU to GPU");
	for (size_t i = 0; i < n; i++)
		free(label[i]);
}

void section_gpu_links(FILE *f, const struct report *r)
{
	print_links(f, r, false);
	print_matrix(f, r);
	print_links(f, r, true);
}
