/* SPDX-License-Identifier: BSD-3-Clause */
/* The members of BASE_all.json about GPUs, where there were any. */
#include <stdlib.h>

#include "nodeagent/json.h"
#include "nodeagent/report-gpu.h"
#include "nodeagent/report.h"
#include "nodeagent/util.h"

static const char *const kinds[GPU_KINDS] = {
	"kernel", "memcpy", "memset", "synchronization", "unified_memory", "overhead"};

static void write_entry(struct json *j, const struct report *r, const struct profile_gpu *g)
{
	char *shown = gpu_shown(r, g->name);

	json_object(j, NULL);
	json_uint(j, "id", r->id[g->stack]);
	json_string(j, "name", shown);
	json_string(j, "kind", kinds[g->kind]);
	json_uint(j, "cbid", GPU_CBID(g->function));
	json_uint(j, "calls", g->calls);
	json_uint(j, "ranks", g->ranks);
	json_seconds(j, "t_s", g->ns);
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

void json_gpu(struct json *j, const struct report *r)
{
	const struct profile *p = r->p;
	struct gpu_efficiency e;

	if (!p->n_gpu && !p->n_gpu_streams)
		return;
	json_array(j, "gpu");
	for (size_t i = 0; i < p->n_gpu; i++)
		write_entry(j, r, &p->gpu[i]);
	json_close(j);
	write_streams(j, p, "gpu_devices", true);
	write_streams(j, p, "gpu_streams", false);
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
