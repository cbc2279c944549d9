/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/replay/gpu/internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "nodeagent/clock/ticks.h"
#include "nodeagent/replay/tree/calltree.h"
#include "nodeagent/base/util.h"

#define CALLS_FIRST    4096u
#define CALLS_MAX      (1u << 20) /* a power of two */
#define ACTIVITIES_MAX (1u << 18)
#define WAITING_SHARE  16u /* of those that wait, so many calls are worth a look at all */
#define LINKS_MAX      4096u
#define DEVICE_MOST    65536u /* intervals: its streams come one after the other */
#define SUMS_MAX       (1u << 20)
#define PATH_MAX_DEPTH (DEPTH_MAX + 2)

struct gpu *gpu_new(struct clocks *clocks)
{
	struct gpu *g = xcalloc(1, sizeof(*g));

	g->clocks = clocks;
	return g;
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
	gpu_names_free(g);
	gpu_waits_free(g);
	map64_free(&g->paths_by_node);
	map64_free(&g->sums_by_key);
	if (g->paths)
		calltree_free(g->paths);
	free(g->calls);
	free(g->waiting);
	free(g->sums);
	free(g->streams);
	free(g->links);
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

/* Copies a path to a tree of our own, as the thread's may be freed when it is needed. */
static const struct node *keep_path(struct gpu *g, const struct node *frame)
{
	uint64_t keys[PATH_MAX_DEPTH];
	struct node *at = gpu_root(g);
	size_t n = 0;

	for (; frame->parent && n < PATH_MAX_DEPTH; frame = frame->parent)
		if (!key_is_orphan(frame->key)) /* a team of OpenMP whose place is not known */
			keys[n++] = frame->key;
	while (n--)
		at = calltree_child(g->paths, at, NULL, keys[n]);
	return at;
}

static void grow_calls(struct gpu *g)
{
	size_t n = g->n_calls ? 4 * g->n_calls : CALLS_FIRST;
	struct gpu_call *old = g->calls, *calls = xcalloc(n, sizeof(*calls));

	for (size_t i = 0; i < g->n_calls; i++)
		if (old[i].path)
			calls[old[i].number & (n - 1)] = old[i];
	free(old);
	g->calls = calls;
	g->n_calls = n;
}

static struct gpu_call *find_call(const struct gpu *g, uint32_t number)
{
	struct gpu_call *c = g->n_calls && number ? &g->calls[number & (g->n_calls - 1)] : NULL;

	return c && c->path && c->number == number ? c : NULL;
}

/* ---- sums -------------------------------------------------------------------------------- */

static uint32_t path_number(struct gpu *g, const struct node *path)
{
	return *map64_at(&g->paths_by_node, (uintptr_t)path, (uint32_t)g->paths_by_node.n);
}

#define KIND_SHIFT 28

static struct gpu_sum *sum_of(
	struct gpu *g, const struct node *path, const struct gpu_activity *a, uint32_t function)
{
	bool named = a->kind == GPU_KERNEL || a->kind == GPU_RANGE;
	uint32_t what = (named ? a->name : a->detail) & ((1u << KIND_SHIFT) - 1);
	uint64_t key = (uint64_t)path_number(g, path) << 32 | a->kind << KIND_SHIFT | what;
	uint32_t *known = map64_find(&g->sums_by_key, key);

	if (known)
		return &g->sums[*known];
	if (g->n_sums >= SUMS_MAX)
		return NULL;
	map64_add(&g->sums_by_key, key, (uint32_t)g->n_sums);
	*LIST_ADD(g, sums) = (struct gpu_sum){.path = path,
		.kind = a->kind,
		.detail = named ? 0 : a->detail,
		.name = named ? a->name : 0,
		.function = function,
		.min_ticks = UINT64_MAX,
		.blocks_min = UINT64_MAX,
		.threads_min = UINT64_MAX};
	return &g->sums[g->n_sums - 1];
}

static void widen_range(uint64_t *least, uint64_t *most, uint64_t value)
{
	if (value < *least)
		*least = value;
	if (value > *most)
		*most = value;
}

uint64_t gpu_product(const uint32_t n[3])
{
	unsigned __int128 all = (unsigned __int128)n[0] * n[1] * n[2];

	return all < UINT64_MAX ? (uint64_t)all : UINT64_MAX;
}

static void count_kernel(struct gpu_sum *s, const struct gpu_activity *a)
{
	uint64_t blocks = gpu_product(a->grid), threads = gpu_product(a->block);

	if (!s->largest.grid[0] || (unsigned __int128)blocks * threads >
					   (unsigned __int128)gpu_product(s->largest.grid) *
						   gpu_product(s->largest.block))
		s->largest = *a;
	s->registers = a->registers > s->registers ? a->registers : s->registers;
	s->shared_bytes = a->shared_bytes > s->shared_bytes ? a->shared_bytes : s->shared_bytes;
	widen_range(&s->blocks_min, &s->blocks_max, blocks);
	widen_range(&s->threads_min, &s->threads_max, threads);
}

static void count_activity(struct gpu *g, const struct gpu_placed *w, const struct gpu_call *c)
{
	const struct gpu_activity *a = &w->activity;
	const struct node *path = c ? c->path : gpu_root(g);
	struct gpu_sum *s = sum_of(g, path, a, c ? c->function : 0);

	if (!s) {
		g->too_many++;
		return;
	}
	s->n++;
	s->bytes += a->bytes;
	s->ticks += w->to - w->from;
	widen_range(&s->min_ticks, &s->max_ticks, w->to - w->from);
	if (c && w->from > c->since) {
		s->started++;
		s->latency += w->from - c->since;
	}
	if (a->kind == GPU_KERNEL)
		count_kernel(s, a);
	if (a->kind == GPU_WAIT)
		gpu_waits_count(g, path, path_number(g, path), w);
	if (c && c->track != VFD_NONE && w->drawn.track != VFD_NONE)
		gpu_draw_launch(g, w, c);
}

/* A call of the interface: it may start nothing. Ranges start in calls of another one. */
static void count_call(struct gpu *g, const struct node *path, uint32_t function)
{
	const struct gpu_activity a = {.kind = GPU_API, .detail = function};
	struct gpu_sum *s = NULL;

	if (GPU_INTERFACE(function) != GPU_INTERFACE_NVTX)
		s = sum_of(g, path, &a, function);
	if (!s)
		return;
	s->n++;
	s->min_ticks = 0;
}

void gpu_call(
	struct gpu *g, const struct node *frame, uint32_t function, uint32_t number, uint64_t since)
{
	struct gpu_call *c;

	if (!number)
		return;
	g->used = true;
	while (!g->n_calls || (g->calls[number & (g->n_calls - 1)].path &&
				      g->calls[number & (g->n_calls - 1)].number != number &&
				      g->n_calls < CALLS_MAX))
		grow_calls(g);
	c = &g->calls[number & (g->n_calls - 1)];
	*c = (struct gpu_call){number, function, keep_path(g, frame), since, VFD_NONE, 0};
	count_call(g, c->path, function);
	g->calls_added++;
}

void gpu_call_sampled(struct gpu *g, uint32_t number, uint32_t track, uint32_t stack)
{
	struct gpu_call *c = find_call(g, number);

	if (c) {
		c->track = track;
		c->stack = stack;
	}
}

static struct gpu_stream *stream_of(
	struct gpu *g, uint32_t device, uint32_t context, uint32_t stream)
{
	struct gpu_stream *s;

	for (size_t i = g->n_streams; i--;)
		if (g->streams[i].device == device && g->streams[i].context == context &&
			g->streams[i].stream == stream)
			return &g->streams[i];
	if (g->n_streams >= GPU_STREAMS_MAX)
		return NULL;
	s = LIST_ADD(g, streams);
	*s = (struct gpu_stream){
		.device = device, .context = context, .stream = stream, .first = UINT64_MAX};
	if (stream == GPU_NO_STREAM)
		s->busy.most = s->computing.most = s->copying.most = DEVICE_MOST;
	return s;
}

static void occupy_stream(struct gpu_stream *s, const struct gpu_placed *w)
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

static void count_link(struct gpu *g, const struct gpu_placed *w)
{
	const struct gpu_activity *a = &w->activity;
	uint32_t from = a->device, to = a->device;
	struct gpu_link *l = g->links, *end = g->links + g->n_links;

	if (a->kind == GPU_MEMORY || a->detail == GPU_COPY_PEER) {
		from = a->from;
		to = a->to;
	} else if (a->detail == GPU_COPY_TO_DEVICE) {
		from = GPU_NO_DEVICE;
	} else if (a->detail == GPU_COPY_TO_HOST) {
		to = GPU_NO_DEVICE;
	} else if (a->detail == GPU_COPY_ON_HOST) {
		from = to = GPU_NO_DEVICE;
	}
	while (l < end &&
		(l->from != from || l->to != to || l->kind != a->kind || l->detail != a->detail))
		l++;
	if (l == end) {
		if (g->n_links >= LINKS_MAX)
			return;
		l = LIST_ADD(g, links);
		*l = (struct gpu_link){a->kind, a->detail, from, to, 0, 0, 0};
	}
	l->n++;
	l->bytes += a->bytes;
	l->ticks += w->to - w->from;
}

/* ---- packets ----------------------------------------------------------------------------- */

/* Places activities whose call is known by now, or (all) will never be known. */
static void place_waiting(struct gpu *g, bool all)
{
	size_t kept = 0;

	for (size_t i = 0; i < g->n_waiting; i++) {
		const struct gpu_call *c = find_call(g, g->waiting[i].activity.call);

		if (!c && !all) {
			g->waiting[kept++] = g->waiting[i];
			continue;
		}
		g->without_call += !c;
		count_activity(g, &g->waiting[i], c);
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
		[GPU_OVERHEAD] = 1u << 16,
		[GPU_RANGE] = 1};

	return a->kind < GPU_KINDS && a->detail < details[a->kind] && a->name <= GPU_NAMES_MAX;
}

/* A process has done nothing before it began, nor anything in the future. */
static uint64_t in_life(const struct gpu *g, uint64_t ticks)
{
	const uint64_t now = clocks_ticks(g->clocks);

	if (ticks < g->begin)
		ticks = g->begin;
	return ticks < now ? ticks : now;
}

/* a start of 0 is CUPTI's for a time that could not be had */
static void to_ticks(const struct gpu *g, struct gpu_placed *w)
{
	const struct gpu_activity *a = &w->activity;

	if (a->kind == GPU_RANGE) {
		w->from = a->start;
		w->to = a->end;
	} else {
		w->from = a->start ? gpu_clock_ticks(&g->clock, a->start) : g->clock.ticks;
		w->to = a->end > a->start && a->start ? gpu_clock_ticks(&g->clock, a->end)
						      : w->from;
	}
	w->from = in_life(g, w->from);
	w->to = in_life(g, w->to);
	if (w->to < w->from)
		w->to = w->from;
}

void gpu_place(struct gpu *g, const struct gpu_placed *w)
{
	const struct gpu_call *c = find_call(g, w->activity.call);

	if (c || !w->activity.call) {
		count_activity(g, w, c);
		return;
	}
	if (g->n_waiting >= ACTIVITIES_MAX)
		place_waiting(g, true);
	*LIST_ADD(g, waiting) = *w;
}

static void take_activity(struct gpu *g, const struct gpu_activity *a)
{
	struct gpu_placed w = {.activity = *a, .drawn = {.track = VFD_NONE}};
	struct gpu_stream *s;

	to_ticks(g, &w);
	if (a->kind == GPU_KERNEL || a->kind == GPU_COPY || a->kind == GPU_SET) {
		occupy_stream(stream_of(g, a->device, GPU_NO_STREAM, GPU_NO_STREAM), &w);
		s = stream_of(g, a->device, a->context, a->stream);
		occupy_stream(s, &w);
		gpu_draw(g, s, &w);
		gpu_waits_ran(g, &w);
	}
	if (a->kind == GPU_RANGE)
		gpu_draw_range(g, &w);
	if (a->kind == GPU_COPY || a->kind == GPU_MEMORY)
		count_link(g, &w);
	if (a->kind == GPU_WAIT)
		gpu_waits_add(g, &w);
	else
		gpu_place(g, &w);
}

bool gpu_packet(struct gpu *g, uint64_t begin, const struct wire_gpu *m, const void *data)
{
	struct gpu_activity a;

	if (m->n > GPU_BATCH || m->head.text_bytes != m->n * sizeof(a))
		return false;
	g->used = true;
	g->begin = begin;
	/* packets of several threads may overtake each other */
	g->requested = m->requested > g->requested ? m->requested : g->requested;
	g->completed = m->completed > g->completed ? m->completed : g->completed;
	g->dropped = m->dropped > g->dropped ? m->dropped : g->dropped;
	if (m->gpu_ns)
		gpu_clock_pair(&g->clock, g->clocks, m->head.ticks, m->width, m->gpu_ns);
	for (uint32_t i = 0; i < m->n; i++) {
		memcpy(&a, (const char *)data + i * sizeof(a), sizeof(a));
		if (!is_sane(&a))
			return false;
		take_activity(g, &a);
	}
	if (g->n_waiting && g->calls_added - g->calls_seen > g->n_waiting / WAITING_SHARE)
		place_waiting(g, false);
	return true;
}

void gpu_end(struct gpu *g, uint64_t ticks)
{
	if (!g->used)
		return;
	gpu_waits_end(g);
	place_waiting(g, true);
	gpu_draw_end(g, ticks);
}

char *gpu_loss(const struct gpu *g, unsigned i)
{
	const struct {
		uint64_t n;
		const char *before, *behind;
	} losses[] = {
		{g->dropped, "CUPTI had no room for ", " activities of GPUs, which are missing"},
		{g->requested > g->completed ? g->requested - g->completed : 0, "",
			" buffers with activities of GPUs were not delivered when it ended; what "
			"was in them is missing"},
		{g->without_call, "of ",
			" activities of GPUs the call that started them is not known; they stand "
			"at init"},
		{g->too_many, "", " activities of GPUs at more call paths than are kept (1048576)"},
	};

	for (size_t k = 0; k < ARRAY_SIZE(losses); k++)
		if (losses[k].n && !i--)
			return xasprintf(
				"%s%" PRIu64 "%s", losses[k].before, losses[k].n, losses[k].behind);
	return NULL;
}

/* ---- for the profile ---------------------------------------------------------------------- */

LIST_GETTER(gpu_sums, struct gpu, struct gpu_sum, sums)
LIST_GETTER(gpu_streams, struct gpu, struct gpu_stream, streams)
LIST_GETTER(gpu_links, struct gpu, struct gpu_link, links)
