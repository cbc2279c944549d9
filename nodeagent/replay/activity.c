/* SPDX-License-Identifier: BSD-3-Clause */
/* What a thread did lately, for those who waited for it. */
#include "nodeagent/replay/comm/comm.h"
#include "nodeagent/replay/internal.h"

/* A traffic_activity. */
static size_t tell_activity(
	void *ctx, uint64_t from, uint64_t to, activity_stretch *stretch, void *arg)
{
	const struct replay *r = ctx;
	struct activity_open open[DEPTH_MAX];
	size_t n = 0;

	for (const struct frame *f = r->base; f <= r->top && n < DEPTH_MAX; f++)
		if (f->node)
			open[n++] = (struct activity_open){f->node, f->since};
	return activity_walk(r->activity, open, n, r->now, from, to, stretch, arg);
}

bool replay_keeps_activity(const struct replay *r)
{
	return r->activity;
}

void replay_keep_activity(struct replay *r)
{
	r->activity = traffic_track_activity(r->track, tell_activity, r, r->now);
}
