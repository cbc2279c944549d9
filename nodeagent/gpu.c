/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/gpu.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "nodeagent/agent.h"
#include "nodeagent/calltree.h"
#include "nodeagent/gpu-clock.h"
#include "nodeagent/map64.h"
#include "nodeagent/process.h"
#include "nodeagent/sampling-gpu.h"
#include "nodeagent/util.h"

#define CALLS_FIRST    4096u
#define CALLS_MAX      (1u << 20) /* a power of two */
#define ACTIVITIES_MAX (1u << 18)
#define NAMES_MAX      (1u << 16)
#define STREAMS_MAX    1024u
#define DEVICE_MOST    65536u /* intervals: its streams come one after the other */
#define NAMES_BYTES    (64u << 20)
#define DEVICES_MAX    1024u
#define SUMS_MAX       (1u << 20)
#define PATH_MAX_DEPTH (DEPTH_MAX + 2)

struct call {
	uint32_t number, function;
	const struct node *path; /* NULL: free */
	uint64_t since;
};

/* An activity whose call has not been read, in ticks. */
struct waiting {
	struct gpu_activity activity;
	uint64_t from, to;
};

struct gpu {
	struct process *process;
	bool used;
	struct calltree *paths;
	struct call *calls; /* by number modulo n_calls, which is a power of two */
	size_t n_calls;
	uint64_t calls_added, calls_seen; /* until the last look at those that wait */
	struct waiting *waiting;
	size_t n_waiting, cap_waiting;
	struct gpu_sum *sums;
	size_t n_sums, cap_sums;
	struct map64 paths_by_node, sums_by_key;
	uint32_t n_paths;
	struct gpu_stream *streams; /* devices among them */
	size_t n_streams, cap_streams;
	char **names;
	size_t n_names, cap_names;
	char **devices;
	size_t n_devices, cap_devices;
	size_t names_bytes; /* of all */
	struct gpu_clock clock;
	struct sampling_gpu *sampled; /* or NULL */
	uint32_t requested, completed;
	uint64_t dropped, without_call, too_many;
};

struct gpu *gpu_new(struct process *p)
{
	struct gpu *g = xcalloc(1, sizeof(*g));

	g->process = p;
	return g;
}

static void free_texts(char **texts, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(texts[i]);
	free(texts);
}

void gpu_free(struct gpu *g)
{
	if (!g)
		return;
	for (size_t i = 0; i < g->n_streams; i++) {
		gpu_busy_free(&g->streams[i].busy);
		gpu_busy_free(&g->streams[i].computing);
		gpu_busy_free(&g->streams[i].copying);
	}
	free_texts(g->names, g->n_names);
	free_texts(g->devices, g->n_devices);
	map64_free(&g->paths_by_node);
	map64_free(&g->sums_by_key);
	if (g->paths)
		calltree_free(g->paths);
	free(g->calls);
	free(g->waiting);
	free(g->sums);
	free(g->streams);
	free(g);
}

bool gpu_is_used(const struct gpu *g)
{
	return g && g->used;
}

struct node *gpu_root(struct gpu *g)
{
	if (!g->paths)
		g->paths = calltree_new();
	return calltree_root(g->paths);
}

/* ---- calls ------------------------------------------------------------------------------- */

/* The same path in a tree of our own, as the thread's may be gone when it is needed. */
static const struct node *keep_path(struct gpu *g, const struct node *frame)
{
	uint64_t keys[PATH_MAX_DEPTH];
	struct node *at = gpu_root(g);
	size_t n = 0;

	for (; frame->parent && n < PATH_MAX_DEPTH; frame = frame->parent)
		if (!key_is_shell(frame->key)) /* a team of OpenMP whose place is not known */
			keys[n++] = frame->key;
	while (n--)
		at = calltree_child(g->paths, at, NULL, keys[n]);
	return at;
}

static void grow_calls(struct gpu *g)
{
	size_t n = g->n_calls ? 4 * g->n_calls : CALLS_FIRST;
	struct call *old = g->calls, *calls = xcalloc(n, sizeof(*calls));

	for (size_t i = 0; i < g->n_calls; i++)
		if (old[i].path)
			calls[old[i].number & (n - 1)] = old[i];
	free(old);
	g->calls = calls;
	g->n_calls = n;
}

void gpu_call(
	struct gpu *g, const struct node *frame, uint32_t function, uint32_t number, uint64_t since)
{
	struct call *c;

	if (!number)
		return;
	g->used = true;
	while (!g->n_calls || (g->calls[number & (g->n_calls - 1)].path &&
				      g->calls[number & (g->n_calls - 1)].number != number &&
				      g->n_calls < CALLS_MAX))
		grow_calls(g);
	c = &g->calls[number & (g->n_calls - 1)];
	*c = (struct call){number, function, keep_path(g, frame), since};
	g->calls_added++;
}

static const struct call *find_call(const struct gpu *g, uint32_t number)
{
	const struct call *c = g->n_calls && number ? &g->calls[number & (g->n_calls - 1)] : NULL;

	return c && c->path && c->number == number ? c : NULL;
}

/* ---- sums -------------------------------------------------------------------------------- */

static uint32_t path_number(struct gpu *g, const struct node *path)
{
	uint32_t *known = map64_find(&g->paths_by_node, (uintptr_t)path);

	if (known)
		return *known;
	map64_add(&g->paths_by_node, (uintptr_t)path, g->n_paths);
	return g->n_paths++;
}

#define KIND_SHIFT 28

static struct gpu_sum *sum_of(
	struct gpu *g, const struct node *path, const struct gpu_activity *a, uint32_t function)
{
	uint32_t what = a->kind == GPU_KERNEL ? a->name : a->detail;
	uint64_t key = (uint64_t)path_number(g, path) << 32 | a->kind << KIND_SHIFT | what;
	uint32_t *known = map64_find(&g->sums_by_key, key);

	if (known)
		return &g->sums[*known];
	if (g->n_sums >= SUMS_MAX)
		return NULL;
	map64_add(&g->sums_by_key, key, (uint32_t)g->n_sums);
	g->sums = grow(g->sums, g->n_sums, &g->cap_sums, sizeof(*g->sums));
	g->sums[g->n_sums] = (struct gpu_sum){.path = path,
		.kind = a->kind,
		.detail = a->kind == GPU_KERNEL ? 0 : a->detail,
		.name = a->kind == GPU_KERNEL ? a->name : 0,
		.function = function,
		.min_ticks = UINT64_MAX,
		.blocks_min = UINT64_MAX,
		.threads_min = UINT64_MAX};
	return &g->sums[g->n_sums++];
}

static void range(uint64_t *least, uint64_t *most, uint64_t value)
{
	if (value < *least)
		*least = value;
	if (value > *most)
		*most = value;
}

static void count(struct gpu *g, const struct waiting *w, const struct call *c)
{
	const struct gpu_activity *a = &w->activity;
	struct gpu_sum *s = sum_of(g, c ? c->path : gpu_root(g), a, c ? c->function : 0);

	if (!s) {
		g->too_many++;
		return;
	}
	s->n++;
	s->bytes += a->bytes;
	s->ticks += w->to - w->from;
	range(&s->min_ticks, &s->max_ticks, w->to - w->from);
	if (c && w->from > c->since) {
		s->started++;
		s->latency += w->from - c->since;
	}
	if (a->kind == GPU_KERNEL) {
		s->registers = a->registers > s->registers ? a->registers : s->registers;
		s->shared_bytes =
			a->shared_bytes > s->shared_bytes ? a->shared_bytes : s->shared_bytes;
		range(&s->blocks_min, &s->blocks_max,
			(uint64_t)a->grid[0] * a->grid[1] * a->grid[2]);
		range(&s->threads_min, &s->threads_max,
			(uint64_t)a->block[0] * a->block[1] * a->block[2]);
	}
}

static struct gpu_stream *stream_of(
	struct gpu *g, uint32_t device, uint32_t context, uint32_t stream)
{
	for (size_t i = g->n_streams; i--;)
		if (g->streams[i].device == device && g->streams[i].context == context &&
			g->streams[i].stream == stream)
			return &g->streams[i];
	if (g->n_streams >= STREAMS_MAX)
		return NULL;
	g->streams = grow(g->streams, g->n_streams, &g->cap_streams, sizeof(*g->streams));
	g->streams[g->n_streams] = (struct gpu_stream){
		.device = device, .context = context, .stream = stream, .first = UINT64_MAX};
	if (stream == GPU_NO_STREAM)
		g->streams[g->n_streams].busy.most = g->streams[g->n_streams].computing.most =
			g->streams[g->n_streams].copying.most = DEVICE_MOST;
	return &g->streams[g->n_streams++];
}

static void occupy(struct gpu_stream *s, const struct waiting *w)
{
	uint32_t kind = w->activity.kind;

	if (!s)
		return;
	s->n++;
	s->kernels += kind == GPU_KERNEL;
	s->bytes += w->activity.bytes;
	gpu_busy_add(&s->busy, w->from, w->to);
	gpu_busy_add(kind == GPU_KERNEL ? &s->computing : &s->copying, w->from, w->to);
	if (w->from < s->first)
		s->first = w->from;
	if (w->to > s->last)
		s->last = w->to;
}

/* ---- packets ----------------------------------------------------------------------------- */

/* Those whose call is known by now, or (all) those that will never have one. */
static void place_waiting(struct gpu *g, bool all)
{
	size_t kept = 0;

	for (size_t i = 0; i < g->n_waiting; i++) {
		const struct call *c = find_call(g, g->waiting[i].activity.call);

		if (!c && !all) {
			g->waiting[kept++] = g->waiting[i];
			continue;
		}
		g->without_call += !c;
		count(g, &g->waiting[i], c);
	}
	g->n_waiting = kept;
	g->calls_seen = g->calls_added;
}

static bool is_sane(const struct gpu_activity *a)
{
	static const uint32_t details[GPU_KINDS] = {[GPU_KERNEL] = 1,
		[GPU_COPY] = GPU_COPIES,
		[GPU_SET] = 1,
		[GPU_WAIT] = GPU_WAITS,
		[GPU_MEMORY] = GPU_MEMORIES,
		[GPU_OVERHEAD] = 1u << 16};

	return a->kind < GPU_KINDS && a->detail < details[a->kind] && a->name <= NAMES_MAX;
}

/* In the sampling file; a stream's number there is its place in streams[]. */
static void draw(struct gpu *g, const struct gpu_stream *s, const struct waiting *w)
{
	const struct gpu_activity *a = &w->activity;
	uint32_t what = a->kind == GPU_KERNEL ? a->name : a->detail;
	const struct gpu_sum named = {.kind = a->kind, .detail = a->detail, .name = a->name};
	char title[64];

	if (!s || !g->process->sampled)
		return;
	if (!g->sampled)
		g->sampled = sampling_gpu_new(g->process);
	snprintf(title, sizeof(title), "GPU %" PRIu32 " stream %" PRIu32 ".%" PRIu32, s->device,
		s->context, s->stream);
	sampling_gpu_ran(g->sampled, (uint32_t)(s - g->streams), title,
		(uint64_t)a->kind << 32 | what, gpu_sum_name(g, &named), w->from, w->to);
}

static void take(struct gpu *g, const struct gpu_activity *a)
{
	struct waiting w = {.activity = *a};
	struct gpu_stream *s;
	const struct call *c;

	/* a start of 0 is CUPTI's for a time that could not be had */
	w.from = a->start ? gpu_clock_ticks(&g->clock, a->start) : g->clock.ticks;
	w.to = a->end > a->start && a->start ? gpu_clock_ticks(&g->clock, a->end) : w.from;
	if (w.to < w.from)
		w.to = w.from;
	if (a->kind == GPU_KERNEL || a->kind == GPU_COPY || a->kind == GPU_SET) {
		occupy(stream_of(g, a->device, GPU_NO_STREAM, GPU_NO_STREAM), &w);
		s = stream_of(g, a->device, a->context, a->stream);
		occupy(s, &w);
		draw(g, s, &w);
	}
	c = find_call(g, a->call);
	if (c || !a->call) {
		count(g, &w, c);
		return;
	}
	if (g->n_waiting >= ACTIVITIES_MAX)
		place_waiting(g, true);
	g->waiting = grow(g->waiting, g->n_waiting, &g->cap_waiting, sizeof(*g->waiting));
	g->waiting[g->n_waiting++] = w;
}

bool gpu_packet(struct gpu *g, const struct wire_gpu *m, const void *data)
{
	struct gpu_activity a;

	if (m->n > GPU_BATCH || m->head.text_bytes != m->n * sizeof(a))
		return false;
	g->used = true;
	/* packets of several threads may overtake each other */
	g->requested = m->requested > g->requested ? m->requested : g->requested;
	g->completed = m->completed > g->completed ? m->completed : g->completed;
	g->dropped = m->dropped > g->dropped ? m->dropped : g->dropped;
	if (m->gpu_ns)
		gpu_clock_pair(
			&g->clock, &g->process->agent->clocks, m->head.ticks, m->width, m->gpu_ns);
	for (uint32_t i = 0; i < m->n; i++) {
		memcpy(&a, (const char *)data + i * sizeof(a), sizeof(a));
		if (!is_sane(&a))
			return false;
		take(g, &a);
	}
	if (g->n_waiting && g->calls_seen != g->calls_added)
		place_waiting(g, false);
	return true;
}

static char **text_at(char ***texts, size_t *n, size_t *cap, size_t i)
{
	while (*n <= i) {
		*texts = grow(*texts, *n, cap, sizeof(**texts));
		(*texts)[(*n)++] = NULL;
	}
	return &(*texts)[i];
}

bool gpu_name(struct gpu *g, const struct wire_about *m, const char *text)
{
	char **to;

	if (m->object == WIRE_GPU_KERNEL_NAME && m->number && m->number <= NAMES_MAX)
		to = text_at(&g->names, &g->n_names, &g->cap_names, m->number);
	else if (m->object == WIRE_GPU_DEVICE_NAME && m->number < DEVICES_MAX)
		to = text_at(&g->devices, &g->n_devices, &g->cap_devices, m->number);
	else
		return m->object == WIRE_GPU_DEVICE_NAME;
	if (g->names_bytes > NAMES_BYTES)
		return true;
	g->names_bytes += strlen(text);
	free(*to);
	*to = xstrdup(text);
	return true;
}

static void say_losses(const struct gpu *g)
{
	struct agent *a = g->process->agent;
	const char *who = process_name(g->process);

	if (g->dropped)
		agent_warn(a, false,
			"%s: CUPTI had no room for %" PRIu64
			" activities of GPUs, which are missing",
			who, g->dropped);
	if (g->requested > g->completed)
		agent_warn(a, false,
			"%s: %" PRIu32
			" buffers with activities of GPUs were not delivered when it "
			"ended; what was in them is missing",
			who, g->requested - g->completed);
	if (g->without_call)
		agent_warn(a, false,
			"%s: of %" PRIu64 " activities of GPUs the call that started them is not "
			"known; they stand at init",
			who, g->without_call);
	if (g->too_many)
		agent_warn(a, false, "%s: %" PRIu64 " activities of GPUs at too many call paths",
			who, g->too_many);
}

void gpu_end(struct gpu *g)
{
	if (!g->used)
		return;
	place_waiting(g, true);
	sampling_gpu_end(g->sampled, g->process->end_ticks);
	g->sampled = NULL;
	say_losses(g);
}

/* ---- for the profile ---------------------------------------------------------------------- */

const struct gpu_sum *gpu_sums(const struct gpu *g, size_t *n)
{
	*n = g->n_sums;
	return g->sums;
}

const struct gpu_stream *gpu_streams(const struct gpu *g, size_t *n)
{
	*n = g->n_streams;
	return g->streams;
}

const char *gpu_device_name(const struct gpu *g, uint32_t device)
{
	return device < g->n_devices ? g->devices[device] : NULL;
}

static const char *const copies[GPU_COPIES] = {
	"memcpy", "memcpy HtoD", "memcpy DtoH", "memcpy DtoD", "memcpy HtoH", "memcpy PtoP"};
static const char *const waits[GPU_WAITS] = {"synchronize", "event synchronize",
	"stream waits for event", "stream synchronize", "context synchronize"};
static const char *const memories[GPU_MEMORIES] = {"unified memory", "unified memory HtoD",
	"unified memory DtoH", "unified memory DtoD", "host page faults", "GPU page faults",
	"unified memory thrashing"};
static const char *const overheads[] = {"CUDA compiler", "CUPTI buffer flush",
	"CUPTI instrumentation", "CUPTI resource", "CUPTI other"};

const char *gpu_sum_name(const struct gpu *g, const struct gpu_sum *s)
{
	size_t last = ARRAY_SIZE(overheads) - 1;

	switch (s->kind) {
	case GPU_KERNEL:
		return s->name < g->n_names && g->names[s->name] ? g->names[s->name]
								 : "(unknown kernel)";
	case GPU_COPY:
		return copies[s->detail];
	case GPU_SET:
		return "memset";
	case GPU_WAIT:
		return waits[s->detail];
	case GPU_MEMORY:
		return memories[s->detail];
	default:
		return overheads[s->detail < last ? s->detail : last];
	}
}
