/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Records are differences to the one before. A reader keeps all of them, and both
 * ends of each sorted by time: they are far fewer than calls.
 */
#include "nodeagent/vfd-launch.h"

#include <stdlib.h>

#include "nodeagent/util.h"
#include "nodeagent/vfd-reader.h"

unsigned char *vfd_launch_put(
	unsigned char *to, const struct vfd_launch *l, struct vfd_launch *last)
{
	to = varint_put(to, l->id - last->id);
	to = varint_put(to, l->kind);
	to = varint_put(to, l->lane);
	to = varint_put(to, l->stack);
	to = varint_put(to, zigzag(l->time - last->time));
	to = varint_put(to, l->to_lane);
	to = varint_put(to, l->to_stack);
	to = varint_put(to, zigzag(l->start - l->time));
	to = varint_put(to, l->bytes);
	*last = *l;
	return to;
}

/* Modulo 2^64: the numbers may be anything. */
static int64_t after(int64_t time, uint64_t difference)
{
	return (int64_t)((uint64_t)time + (uint64_t)unzigzag(difference));
}

/* False: there is none that makes sense. */
static bool get(struct varint_reader *r, struct vfd_launch *l, struct vfd_launch *last)
{
	uint64_t kind;

	l->id = last->id + varint_get(r);
	kind = varint_get(r);
	l->lane = varint_get32(r);
	l->stack = varint_get32(r);
	l->time = after(last->time, varint_get(r));
	l->to_lane = varint_get32(r);
	l->to_stack = varint_get32(r);
	l->start = after(l->time, varint_get(r));
	l->bytes = varint_get(r);
	if (r->bad || kind >= VFD_LAUNCH_KINDS || l->time < 0 || l->start < 0)
		return false;
	l->kind = (enum vfd_launch_kind)kind;
	*last = *l;
	return true;
}

/* ---- reading ------------------------------------------------------------------------ */

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

static uint32_t known_stack(const struct vfd_file *f, uint32_t lane, uint32_t stack)
{
	const size_t n = f->lanes[lane].n_stacks;

	return stack < n ? stack : (uint32_t)n;
}

static void add_block(struct launches *l, struct vfd_file *f, const struct read_block *b,
	const unsigned char *payload, const struct vfd_filter *filter,
	bool (*wanted)(const void *ctx, const struct vfd_file *f, uint32_t lane), const void *ctx)
{
	struct varint_reader r = {payload, payload + b->bytes, false};
	struct vfd_launch one, last = {.time = (int64_t)b->time};

	for (uint32_t i = 0; i < b->records && r.at < r.end && get(&r, &one, &last); i++) {
		if (one.lane >= f->n_threads || one.to_lane >= f->n_threads ||
			!wanted(ctx, f, one.lane) || !wanted(ctx, f, one.to_lane))
			continue;
		one.time = reader_time(f, (uint64_t)one.time);
		one.start = reader_time(f, (uint64_t)one.start);
		if (!fits(filter, one.time) || !fits(filter, one.start) || l->n > UINT32_MAX / 4)
			continue;
		one.stack = known_stack(f, one.lane, one.stack);
		one.to_stack = known_stack(f, one.to_lane, one.to_stack);
		l->all = grow(l->all, l->n, &l->cap, sizeof(*l->all));
		l->all[l->n++] = one;
	}
}

static int by_time(const void *a, const void *b)
{
	const struct launch_end *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	if (x->launch != y->launch)
		return x->launch < y->launch ? -1 : 1;
	return (int)x->is_start - (int)y->is_start;
}

struct launches *launches_new(struct vfd_file *f, uint32_t file, const struct vfd_filter *filter,
	bool (*wanted)(const void *ctx, const struct vfd_file *f, uint32_t lane), const void *ctx)
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
		.lane = end->is_start ? launch->to_lane : launch->lane,
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
