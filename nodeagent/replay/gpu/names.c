/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of kernels and streams, and what devices are, as the process has told. */
#include "nodeagent/base/gpu-words.h"
#include "nodeagent/replay/gpu/internal.h"

#include <stdlib.h>
#include <string.h>
#include "nodeagent/base/util.h"

#define NAMES_BYTES	 (64u << 20)
#define STREAM_NAMES_MAX 4096u

void gpu_names_free(struct gpu *g)
{
	for (size_t i = 0; i < g->n_names; i++)
		free(g->names[i]);
	for (size_t i = 0; i < g->n_devices; i++)
		free(g->devices[i].name);
	for (size_t i = 0; i < g->n_stream_names; i++)
		free(g->stream_names[i].name);
	free(g->names);
	free(g->devices);
	free(g->stream_names);
}

static void set_text(struct gpu *g, char **to, const char *text)
{
	if (g->names_bytes > NAMES_BYTES)
		return;
	g->names_bytes += strlen(text) - (*to ? strlen(*to) : 0);
	free(*to);
	*to = xstrdup(text);
}

bool gpu_name(struct gpu *g, const struct wire_about *m, const char *text)
{
	if (m->object != WIRE_GPU_KERNEL_NAME || !m->number || m->number > GPU_NAMES_MAX)
		return false;
	while (g->n_names <= m->number) {
		*LIST_ADD(g, names) = NULL;
	}
	set_text(g, &g->names[m->number], text);
	return true;
}

static struct gpu_device *device_at(struct gpu *g, uint32_t device)
{
	while (g->n_devices <= device) {
		*LIST_ADD(g, devices) = (struct gpu_device){0};
	}
	return &g->devices[device];
}

void gpu_device_told(struct gpu *g, const struct wire_gpu_device *m, const char *text)
{
	struct gpu_device *d;

	if (m->device >= GPU_DEVICES_MAX)
		return;
	g->used = true;
	d = device_at(g, m->device);
	memcpy(d->uuid, m->uuid, sizeof(d->uuid));
	d->memory_bytes = m->memory_bytes;
	d->multiprocessors = m->multiprocessors;
	d->limits = m->limits;
	if (text[0])
		set_text(g, &d->name, text);
}

void gpu_stream_told(struct gpu *g, const struct wire_gpu_stream *m, const char *text)
{
	struct gpu_stream_name *s;

	if (m->context == GPU_NO_STREAM) {
		if (m->device < GPU_DEVICES_MAX)
			set_text(g, &device_at(g, m->device)->name, text);
		return;
	}
	for (size_t i = 0; i < g->n_stream_names; i++) {
		s = &g->stream_names[i];
		if (s->context == m->context && s->stream == m->stream) {
			set_text(g, &s->name, text);
			return;
		}
	}
	if (g->n_stream_names >= STREAM_NAMES_MAX)
		return;
	s = LIST_ADD(g, stream_names);
	*s = (struct gpu_stream_name){.context = m->context, .stream = m->stream};
	set_text(g, &s->name, text);
}

const struct gpu_device *gpu_device(const struct gpu *g, uint32_t device)
{
	return device < g->n_devices ? &g->devices[device] : NULL;
}

const char *gpu_device_name(const struct gpu *g, uint32_t device)
{
	return device < g->n_devices ? g->devices[device].name : NULL;
}

const char *gpu_stream_name(const struct gpu *g, uint32_t context, uint32_t stream)
{
	for (size_t i = 0; i < g->n_stream_names; i++)
		if (g->stream_names[i].context == context && g->stream_names[i].stream == stream)
			return g->stream_names[i].name;
	return NULL;
}

/* ---- names of activities ------------------------------------------------------------------ */

static const char *const overheads[] = {"CUDA compiler", "CUPTI buffer flush",
	"CUPTI instrumentation", "CUPTI resource", "CUPTI other"};

static const char *told(const struct gpu *g, uint32_t number, const char *otherwise)
{
	return number < g->n_names && g->names[number] ? g->names[number] : otherwise;
}

const char *gpu_what_name(const struct gpu *g, uint64_t what)
{
	uint32_t number = (uint32_t)what, last = ARRAY_SIZE(overheads) - 1;

	if (!what)
		return "";
	switch ((what & ~GPU_WHAT) >> 32) {
	case GPU_KERNEL:
		return told(g, number, "(unknown kernel)");
	case GPU_COPY:
		return gpu_copy_name(number);
	case GPU_SET:
		return "memset";
	case GPU_WAIT:
		return gpu_wait_name(number);
	case GPU_MEMORY:
		return gpu_memory_name(number);
	case GPU_RANGE:
		return told(g, number, "(range)");
	case GPU_API:
		return "call";
	default:
		return overheads[number < last ? number : last];
	}
}

const char *gpu_sum_name(const struct gpu *g, const struct gpu_sum *s)
{
	const struct gpu_activity a = {.kind = s->kind, .detail = s->detail, .name = s->name};

	return gpu_what_name(g, gpu_what(&a));
}
