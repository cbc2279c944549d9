/* SPDX-License-Identifier: BSD-3-Clause */
/* All launches of a file are kept, and both ends of each sorted by time: they are far fewer
 * than calls. */
#include <stdlib.h>

#include "nodeagent/base/util.h"
#include "nodeagent/trace/read/internal.h"
#include "nodeagent/trace/records.h"

struct launch_end {
	int64_t time;
	uint32_t launch; /* in all[] */
	bool is_start;
};

struct launches {
	uint32_t file;
	struct vfd_launch *all;
	struct launch_end *ends;
	size_t n, cap, next;
};

static bool fits(const struct vfd_filter *filter, int64_t time)
{
	return (!filter->from_set || time >= filter->from) &&
	       (!filter->to_set || time < filter->to);
}

static uint32_t known_stack(const struct vfd_file *f, uint32_t track, uint32_t stack)
{
	const size_t n = f->tracks[track].n_stacks;

	return stack < n ? stack : (uint32_t)n;
}

static void add_block(struct launches *l, struct vfd_file *f, const struct read_block *b,
	const unsigned char *payload, const struct vfd_filter *filter,
	bool (*wanted)(const void *ctx, const struct vfd_file *f, uint32_t track), const void *ctx)
{
	struct varint_reader r = {payload, payload + b->bytes, false};
	struct vfd_launch one, last = {.time = (int64_t)b->time};

	for (uint32_t i = 0; i < b->records && r.at < r.end && vfd_launch_get(&r, &one, &last);
		i++) {
		if (one.track >= f->n_threads || one.to_track >= f->n_threads ||
			!wanted(ctx, f, one.track) || !wanted(ctx, f, one.to_track))
			continue;
		one.time = reader_time(f, (uint64_t)one.time);
		one.start = reader_time(f, (uint64_t)one.start);
		if (!fits(filter, one.time) || !fits(filter, one.start) || l->n > UINT32_MAX / 4)
			continue;
		one.stack = known_stack(f, one.track, one.stack);
		one.to_stack = known_stack(f, one.to_track, one.to_stack);
		*APPEND(l->all, l->n, l->cap) = one;
	}
}

ORDER_BY(by_time, struct launch_end, RISING(time) ?: RISING(launch) ?: RISING(is_start))

struct launches *launches_new(struct vfd_file *f, uint32_t file, const struct vfd_filter *filter,
	bool (*wanted)(const void *ctx, const struct vfd_file *f, uint32_t track), const void *ctx)
{
	struct launches *l;
	unsigned char *buf;

	if (!f->facts.launches)
		return NULL;
	l = xcalloc(1, sizeof(*l));
	l->file = file;
	buf = xmalloc(VFD_BLOCK_MAX);
	for (size_t i = 0; i < f->n_blocks; i++)
		if (f->blocks[i].kind == VFD_BLOCK_LAUNCHES && reader_load(f, &f->blocks[i], buf))
			add_block(l, f, &f->blocks[i], buf, filter, wanted, ctx);
	free(buf);
	if (!l->n) {
		launches_free(l);
		return NULL;
	}
	l->ends = xmalloc(2 * l->n * sizeof(*l->ends));
	for (size_t i = 0; i < l->n; i++) {
		l->ends[2 * i] = (struct launch_end){l->all[i].time, (uint32_t)i, false};
		l->ends[2 * i + 1] = (struct launch_end){l->all[i].start, (uint32_t)i, true};
	}
	qsort(l->ends, 2 * l->n, sizeof(*l->ends), by_time);
	return l;
}

void launches_free(struct launches *l)
{
	if (!l)
		return;
	free(l->all);
	free(l->ends);
	free(l);
}

bool launches_next(struct launches *l, struct vfd_event *e)
{
	const struct launch_end *end;
	const struct vfd_launch *launch;

	if (l->next == 2 * l->n)
		return false;
	end = &l->ends[l->next++];
	launch = &l->all[end->launch];
	*e = (struct vfd_event){.kind = end->is_start ? VFD_STARTED : VFD_LAUNCH,
		.file = l->file,
		.track = end->is_start ? launch->to_track : launch->track,
		.stack = end->is_start ? launch->to_stack : launch->stack,
		.time = end->time,
		.launch = launch};
	return true;
}

void launches_progress(const struct launches *l, uint64_t *done, uint64_t *all)
{
	/* some thousand of them are a block */
	*done += l->next / 4096;
	*all += 2 * l->n / 4096;
}
