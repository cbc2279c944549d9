/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads in OTF2 that the program has made itself, not OpenMP for it: each is created by
 * another one when it began, and ends when it was seen to end. Nobody records who joins it.
 */
#include <stdlib.h>

#include "nodeagent/export/otf2.h"
#include "nodeagent/base/util.h"

struct otf2_plain {
	struct change {
		uint64_t time;
		uint32_t thread;
		bool ends;
	} * changes;
	size_t n, cap, at;
	bool *made;	      /* by thread */
	uint32_t *contingent; /* by process: from 0, or EXPORT_NONE */
};

ORDER_BY(by_time, struct change, RISING(time) ?: RISING(thread) ?: ORDER(x->ends, y->ends))

static const struct vfd_thread *recorded(const struct exporter *x, const struct export_thread *t)
{
	size_t n;

	return &vfd_threads(x->files[t->file], &n)[t->track];
}

/* A worker is OpenMP's; so is who was in a team that is not in this part of the file. */
static bool is_plain(const struct otf2 *f, uint32_t i)
{
	const struct export_thread *t = &f->x->threads[i];
	const struct vfd_thread *r = recorded(f->x, t);
	const enum otf2_part part = otf2_part(f, i);

	return !t->stream && t->number && r->track != VFD_NONE && part != OTF2_WORKER &&
	       (!r->openmp || part == OTF2_MASTER);
}

/* The thread of the same process with that number, EXPORT_NONE: it is not in the trace. */
static uint32_t creator_of(const struct exporter *x, const struct export_thread *t)
{
	const struct export_process *p = &x->processes[t->process];
	const uint32_t number = recorded(x, t)->creator;

	for (uint32_t i = p->first_thread; i < p->first_thread + p->threads; i++)
		if (x->threads[i].number == number)
			return i;
	return EXPORT_NONE;
}

static bool in_span(const struct exporter *x, int64_t ns)
{
	const struct vfd_span *s = &x->options->span;

	return (!s->from_set || ns >= s->from) && (!s->to_set || ns < s->to);
}

static void add_change(struct otf2_plain *p, uint64_t time, uint32_t thread, bool ends)
{
	*APPEND(p->changes, p->n, p->cap) = (struct change){time, thread, ends};
}

void otf2_plain_find(struct otf2 *f)
{
	const struct exporter *x = f->x;
	struct otf2_plain *p = f->plain = xcalloc(1, sizeof(*p));

	p->made = xcalloc(x->n_threads, sizeof(*p->made));
	p->contingent = xmalloc(x->n_processes * sizeof(*p->contingent));
	for (size_t i = 0; i < x->n_processes; i++)
		p->contingent[i] = EXPORT_NONE;
	for (uint32_t i = 0; i < x->n_threads; i++) {
		const struct export_thread *t = &x->threads[i];
		const struct vfd_thread *r = recorded(x, t);

		if (!is_plain(f, i))
			continue;
		p->made[i] = true;
		if (p->contingent[t->process] == EXPORT_NONE)
			p->contingent[t->process] = f->n_plain++;
		if (in_span(x, r->start))
			add_change(p, t->start, i, false);
		if (r->end > r->start && in_span(x, r->end))
			add_change(p, t->end, i, true);
	}
	if (p->n)
		qsort(p->changes, p->n, sizeof(*p->changes), by_time);
}

static void put(struct otf2 *f, const struct change *c)
{
	const struct export_thread *t = &f->x->threads[c->thread];
	const uint32_t comm = f->first_plain + f->plain->contingent[t->process];
	const uint32_t creator = c->ends ? EXPORT_NONE : creator_of(f->x, t);

	if (creator != EXPORT_NONE) {
		OTF2_CALL(f, thread_create, f->writers[creator], NULL, c->time, comm, t->number);
		f->events[creator]++;
	}
	if (c->ends)
		OTF2_CALL(f, thread_end, f->writers[c->thread], NULL, c->time, comm, UINT64_MAX);
	else
		OTF2_CALL(f, thread_begin, f->writers[c->thread], NULL, c->time, comm, t->number);
	f->events[c->thread]++;
}

/* A thread ends after all that happened in it at that time, and begins before it. */
void otf2_plain_until(struct otf2 *f, uint64_t time)
{
	struct otf2_plain *p = f->plain;

	for (; p->at < p->n; p->at++) {
		const struct change *c = &p->changes[p->at];

		if (c->time > time || (c->ends && c->time == time && time != UINT64_MAX))
			return;
		put(f, c);
	}
}

static uint32_t define_contingent(struct otf2 *f, struct OTF2_GlobalDefWriter_struct *to,
	uint32_t process, const uint32_t *place, uint64_t *list, uint32_t group, uint32_t name)
{
	const struct export_process *p = &f->x->processes[process];
	uint32_t n = 0;

	for (uint32_t i = p->first_thread; i < p->first_thread + p->threads; i++)
		if (place[i] != EXPORT_NONE)
			list[n++] = place[i];
	OTF2_CALL(f, group, to, group, 0, OUR_COMM_GROUP, OUR_BY_PTHREAD, 0, n, list);
	OTF2_CALL(f, comm, to, f->first_plain + f->plain->contingent[process], name, group,
		OUR_NONE, 0);
	return group + 1;
}

uint32_t otf2_plain_define(struct otf2 *f, struct OTF2_GlobalDefWriter_struct *to, uint32_t group,
	uint32_t (*string)(void *ctx, const char *text), void *ctx)
{
	const struct exporter *x = f->x;
	const struct otf2_plain *p = f->plain;
	uint32_t *place, name, n = 0;
	uint64_t *list;

	if (!f->n_plain)
		return group;
	name = string(ctx, "threads of the program");
	list = xcalloc(x->n_threads, sizeof(*list));
	place = xcalloc(x->n_threads, sizeof(*place));
	for (uint32_t i = 0; i < x->n_threads; i++) {
		const struct export_thread *t = &x->threads[i];
		/* who made the others is one of them */
		const bool first = !t->number && p->contingent[t->process] != EXPORT_NONE;

		place[i] = first || p->made[i] ? n : EXPORT_NONE;
		if (place[i] != EXPORT_NONE)
			list[n++] = i;
	}
	OTF2_CALL(f, group, to, group++, name, OUR_COMM_LOCATIONS, OUR_BY_PTHREAD, 0, n, list);
	for (uint32_t i = 0; i < x->n_processes && export_goes_on(f->x); i++)
		if (p->contingent[i] != EXPORT_NONE)
			group = define_contingent(f, to, i, place, list, group, name);
	free(list);
	free(place);
	return group;
}

void otf2_plain_free(struct otf2 *f)
{
	if (!f->plain)
		return;
	free(f->plain->changes);
	free(f->plain->made);
	free(f->plain->contingent);
	free(f->plain);
}
