/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds what the host waited for: of all activities in the stream (or, if the call waits for
 * more, in the context) the activity that ended last before the wait did. Its record
 * may come before that of the wait or after it, so a wait is kept until something is
 * delivered that began later, and what has run lately is remembered.
 */
#include "nodeagent/replay/gpu/internal.h"

#include <stdlib.h>
#include <string.h>
#include "nodeagent/base/util.h"
#include "shm/fnv.h"

#define HOST_WAITS_MAX (1u << 16)
#define SLACK_NS       2000 /* the two ends are not measured by the same */

void gpu_waits_free(struct gpu *g)
{
	map64_free(&g->host_waits_by_key);
	free(g->host_waits);
	free(g->recent);
	free(g->pending);
}

static uint64_t slack(const struct gpu *g)
{
	return (uint64_t)(SLACK_NS * g->clock.ticks_per_ns);
}

static bool concerns(const struct gpu_placed *wait, uint32_t context, uint32_t stream)
{
	const struct gpu_activity *a = &wait->activity;

	return a->context == context &&
	       (a->detail == GPU_WAIT_CONTEXT || a->stream == GPU_NO_STREAM || a->stream == stream);
}

static void compare_wait(const struct gpu *g, struct gpu_placed *wait, const struct gpu_recent *r)
{
	if (!concerns(wait, r->context, r->stream) || r->to <= wait->from || r->from >= wait->to ||
		r->to > wait->to + slack(g) || r->to < wait->for_end)
		return;
	wait->for_what = r->what;
	wait->for_end = r->to;
}

static void settle_wait(struct gpu *g, size_t i)
{
	struct gpu_placed w = g->pending[i];

	g->n_pending--;
	memmove(&g->pending[i], &g->pending[i + 1], (g->n_pending - i) * sizeof(w));
	gpu_place(g, &w);
}

void gpu_waits_ran(struct gpu *g, const struct gpu_placed *w)
{
	const struct gpu_activity *a = &w->activity;
	struct gpu_recent *r;

	if (!g->recent)
		g->recent = xcalloc(GPU_RECENT, sizeof(*g->recent));
	r = &g->recent[g->n_recent++ % GPU_RECENT];
	*r = (struct gpu_recent){a->context, a->stream, gpu_what(a), w->from, w->to};
	for (size_t i = 0; i < g->n_pending;) {
		struct gpu_placed *wait = &g->pending[i];

		compare_wait(g, wait, r);
		if (concerns(wait, r->context, r->stream) && r->from > wait->to + slack(g))
			settle_wait(g, i);
		else
			i++;
	}
}

void gpu_waits_add(struct gpu *g, const struct gpu_placed *w)
{
	size_t n = g->n_recent < GPU_RECENT ? g->n_recent : GPU_RECENT;
	struct gpu_placed *wait;

	if (w->activity.detail == GPU_WAIT_STREAM_EVENT) { /* not the host */
		gpu_place(g, w);
		return;
	}
	if (!g->pending)
		g->pending = xmalloc(GPU_PENDING * sizeof(*g->pending));
	if (g->n_pending == GPU_PENDING)
		settle_wait(g, 0);
	wait = &g->pending[g->n_pending++];
	*wait = *w;
	for (size_t i = 0; i < n; i++)
		compare_wait(g, wait, &g->recent[i]);
}

void gpu_waits_end(struct gpu *g)
{
	while (g->n_pending)
		settle_wait(g, 0);
}

void gpu_waits_count(
	struct gpu *g, const struct node *path, uint32_t path_number, const struct gpu_placed *w)
{
	const struct gpu_activity *a = &w->activity;
	const uint64_t part[] = {path_number, (uint64_t)a->context << 32 | a->stream,
		(uint64_t)a->detail << 41 | w->for_what};
	uint64_t key = FNV_BEGIN;
	struct gpu_host_wait *h;
	uint32_t *known;

	if (a->detail == GPU_WAIT_STREAM_EVENT)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(part); i++) {
		key = (key ^ part[i]) * 0x9e3779b97f4a7c15u;
		key ^= key >> 29;
	}
	known = map64_find(&g->host_waits_by_key, key);
	if (!known && g->n_host_waits >= HOST_WAITS_MAX)
		return;
	if (!known) {
		map64_add(&g->host_waits_by_key, key, (uint32_t)g->n_host_waits);
		h = LIST_ADD(g, host_waits);
		*h = (struct gpu_host_wait){.path = path,
			.detail = a->detail,
			.context = a->context,
			.stream = a->stream,
			.what = w->for_what};
	} else {
		h = &g->host_waits[*known];
	}
	h->n++;
	h->ticks += w->to - w->from;
	if (w->to - w->from > h->max_ticks)
		h->max_ticks = w->to - w->from;
}

LIST_GETTER(gpu_host_waits, struct gpu, struct gpu_host_wait, host_waits)
