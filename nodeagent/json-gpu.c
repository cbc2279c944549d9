/* SPDX-License-Identifier: BSD-3-Clause */
/* The members of BASE_all.json about GPUs, where there were any. */
#include <stdlib.h>

#include "nodeagent/json.h"
#include "nodeagent/report-gpu.h"
#include "nodeagent/report.h"
#include "nodeagent/util.h"

static const char *const kinds[GPU_KINDS] = {"kernel", "memcpy", "memset", "synchronization",
	"unified_memory", "overhead", "range", "call"};

static void write_three(struct json *j, const char *name, const uint32_t n[3])
{
	json_array(j, name);
	for (int i = 0; i < 3; i++)
		json_uint(j, NULL, n[i]);
	json_close(j);
}

static void write_entry(struct json *j, const struct report *r, const struct profile_gpu *g)
{
	char *shown = gpu_shown(r, gpu_name_of(r->p, g));

	json_object(j, NULL);
	json_uint(j, "id", r->id[g->stack]);
	json_string(j, "name", shown);
	json_string(j, "kind", kinds[g->kind]);
	json_uint(j, "cbid", GPU_CBID(g->function));
	json_uint(j, "calls", g->calls);
	json_uint(j, "calls_min", g->calls_min);
	json_uint(j, "calls_max", g->calls_max);
	json_uint(j, "ranks", g->ranks);
	json_seconds(j, "t_s", gpu_ns(r->p, g));
	json_seconds(j, "t_min_s", g->min_ns);
	json_seconds(j, "t_max_s", g->max_ns);
	json_uint(j, "bytes", g->bytes);
	json_uint(j, "bytes_to_device", gpu_to_device(g));
	json_uint(j, "bytes_to_host", gpu_to_host(g));
	json_seconds(j, "t_latency_s", g->latency_ns);
	json_uint(j, "with_latency", g->started);
	if (g->kind == GPU_KERNEL) {
		json_uint(j, "registers", g->registers);
		json_uint(j, "shared_bytes", g->shared_bytes);
		json_uint(j, "blocks_min", g->blocks_min);
		json_uint(j, "blocks_max", g->blocks_max);
		json_uint(j, "block_threads_min", g->threads_min);
		json_uint(j, "block_threads_max", g->threads_max);
		write_three(j, "grid", g->grid);
		write_three(j, "block", g->block);
		json_uint(j, "local_bytes", g->local_bytes);
		if (g->occupancy) {
			json_real(j, "occupancy", 1e-3 * g->occupancy);
			json_string(j, "occupancy_bound", gpu_bound_name(g->occupancy_bound));
		}
	}
	json_close(j);
	free(shown);
}

static void write_stream(
	struct json *j, const struct profile *p, const struct profile_gpu_stream *s)
{
	bool device = s->stream == PROFILE_NONE && s->context == PROFILE_NONE;

	json_object(j, NULL);
	json_uint(j, "rank", profile_rank_shown(p, s->rank));
	json_uint(j, "device", s->device);
	json_string(j, "name", s->name);
	if (!device) {
		json_uint(j, "context", s->context);
		json_uint(j, "stream", s->stream);
	}
	json_uint(j, "activities", s->calls);
	json_uint(j, "kernels", s->kernels);
	json_uint(j, "bytes", s->bytes);
	json_seconds(j, "t_busy_s", s->busy_ns);
	json_seconds(j, "t_compute_s", s->kernel_ns);
	json_seconds(j, "t_copy_s", s->copy_ns);
	json_seconds(j, "t_span_s", s->span_ns);
	json_close(j);
}

static void write_streams(struct json *j, const struct profile *p, const char *name, bool devices)
{
	json_array(j, name);
	for (size_t i = 0; i < p->n_gpu_streams; i++) {
		const struct profile_gpu_stream *s = &p->gpu_streams[i];

		if ((s->stream == PROFILE_NONE && s->context == PROFILE_NONE) == devices)
			write_stream(j, p, s);
	}
	json_close(j);
}

static void write_uuid(struct json *j, const char *name, const uint64_t uuid[2])
{
	char *text = gpu_uuid_text(uuid);

	json_string(j, name, text);
	free(text);
}

static void write_gpu(struct json *j, const struct profile *p, const struct profile_gpu_device *d)
{
	json_object(j, NULL);
	write_uuid(j, "uuid", d->uuid);
	json_string(j, "name", d->name);
	json_string(j, "host", gpu_host_name(p, d));
	json_uint(j, "rank", profile_rank_shown(p, d->rank));
	json_uint(j, "device", d->number);
	json_uint(j, "processes", d->processes);
	json_uint(j, "multiprocessors", d->multiprocessors);
	json_real(j, "compute_capability", 0.1 * d->capability);
	json_uint(j, "memory_bytes", d->memory_bytes);
	json_uint(j, "activities", d->calls);
	json_uint(j, "kernels", d->kernels);
	json_uint(j, "bytes", d->bytes);
	json_seconds(j, "t_busy_s", d->busy_ns);
	json_seconds(j, "t_compute_s", d->kernel_ns);
	json_seconds(j, "t_copy_s", d->copy_ns);
	json_seconds(j, "t_sum_of_processes_s", d->sum_ns);
	json_close(j);
}

static void write_link(struct json *j, const struct profile_gpu_link *l)
{
	json_object(j, NULL);
	write_uuid(j, "from", l->from);
	write_uuid(j, "to", l->to);
	json_string(j, "name", gpu_link_name(l));
	json_uint(j, "transfers", l->calls);
	json_uint(j, "value", l->bytes);
	json_seconds(j, "t_s", l->ns);
	json_close(j);
}

static void write_wait(struct json *j, const struct report *r, const struct profile_gpu_wait *w)
{
	char *shown = gpu_shown(r, w->name);

	json_object(j, NULL);
	json_uint(j, "id", r->id[w->stack]);
	json_string(j, "kind", gpu_wait_name(w->detail));
	json_uint(j, "context", w->context);
	if (w->stream != PROFILE_NONE)
		json_uint(j, "stream", w->stream);
	json_string(j, "waited_for", w->name[0] ? shown : NULL);
	json_uint(j, "calls", w->calls);
	json_uint(j, "ranks", w->ranks);
	json_seconds(j, "t_s", w->ns);
	json_seconds(j, "t_max_s", w->max_ns);
	json_close(j);
	free(shown);
}

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
			write_entry(j, r, &p->gpu[i]);
	json_close(j);
	free(shown);
}

void json_gpu(struct json *j, const struct report *r)
{
	const struct profile *p = r->p;
	struct gpu_efficiency e;

	if (!p->n_gpu && !p->n_gpu_streams)
		return;
	write_entries(j, r);
	write_streams(j, p, "gpu_devices", true);
	write_streams(j, p, "gpu_streams", false);
	json_array(j, "gpus");
	for (size_t i = 0; i < p->n_gpu_devices; i++)
		write_gpu(j, p, &p->gpu_devices[i]);
	json_close(j);
	json_array(j, "gpu_transfers");
	for (size_t i = 0; i < p->n_gpu_links; i++)
		write_link(j, &p->gpu_links[i]);
	json_close(j);
	json_array(j, "gpu_host_waits");
	for (size_t i = 0; i < p->n_gpu_waits; i++)
		write_wait(j, r, &p->gpu_waits[i]);
	json_close(j);
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
