/* SPDX-License-Identifier: BSD-3-Clause */
/* Paths with a common beginning become a tree, in which frames that all share stand on a line. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "nodeagent/base/util.h"
#include "nodeagent/live/view.h"
#include "nodeagent/live/where/where.h"
#include "nodeagent/tool/top/viewer.h"
#include "nodeagent/tool/where/print.h"

#define TEXT_COLUMNS 44
#define INDENT_MOST  40

static void print_ranks(FILE *f, const struct where_ranks *r)
{
	char *text = where_ranks_words(r);

	fputs(text, f);
	free(text);
}

/* ---- one place ------------------------------------------------------------------------- */

static void print_missing(FILE *f, const struct where *w, const struct where_place *p, int indent)
{
	const struct where_comm *c = where_comm_of(w, p);
	struct where_ranks missing, unseen;

	if (!c)
		return;
	fprintf(f, "%*s  collective call %" PRIu32 " on %s of %" PRIu32 " ranks: ", 9 + indent, "",
		p->call, c->name[0] ? c->name : "a communicator", c->size);
	if (!where_missing(w, p, &missing)) {
		fprintf(f, "who has not come is not known\n");
		return;
	}
	if (!missing.n) {
		fprintf(f, "all have come\n");
		return;
	}
	fprintf(f, "%" PRIu64 " %s not come: ", where_count_ranks(&missing),
		one_or_many(where_count_ranks(&missing), "has", "have"));
	print_ranks(f, &missing);
	where_subtract_ranks(&unseen, &missing, &w->ranks);
	if (unseen.n) {
		fprintf(f, "; on no node that is seen: ");
		print_ranks(f, &unseen);
	}
	fputc('\n', f);
}

static void print_message(FILE *f, const struct where_wait *s)
{
	if (s->peer == WHERE_ANY)
		fprintf(f, " any rank");
	else
		fprintf(f, " rank %" PRIu32, s->peer);
	if (s->tag == WHERE_ANY)
		fprintf(f, ", any tag");
	else
		fprintf(f, ", tag %" PRIu32, s->tag);
	fprintf(f, ", on %s\n", s->comm[0] ? s->comm : "a communicator");
}

static void print_wait(FILE *f, const struct where_wait *s, int indent)
{
	static const struct {
		const char *calls, *requests, *one;
	} words[] = {
		[WHERE_SEND] = {"sends to", "sends to", "send to"},
		[WHERE_RECEIVE] = {"receives from", "receives from", "receive from"},
	};

	fprintf(f, "%*s  rank %" PRIu32, 9 + indent, "", s->rank);
	if (!s->n)
		fprintf(f, " %s", words[s->kind].calls);
	else if (s->n == 1)
		fprintf(f, " %s a %s", s->of == 1 ? "waits for" : "has open:", words[s->kind].one);
	else
		fprintf(f, " has open: %" PRIu32 " %s", s->n, words[s->kind].requests);
	print_message(f, s);
}

/* What the place's ranks wait for, and how many requests of each have no row. */
static void print_waits(FILE *f, const struct where *w, const struct where_place *p, int indent)
{
	uint64_t known = 0;

	for (size_t i = 0; p->in_mpi && !p->comm && i < w->n_waits; i++) {
		const struct where_wait *s = &w->waits[i];

		if (!where_has_rank(&p->ranks, s->rank) || s->since < p->since_least ||
			s->since > p->since_most)
			continue;
		print_wait(f, s, indent);
		known += s->n;
		if (i + 1 < w->n_waits && s[1].rank == s->rank)
			continue;
		if (s->n && known < s->of)
			fprintf(f, "%*s  and %" PRIu64 " other %s\n", 9 + indent, "", s->of - known,
				one_or_many(s->of - known, "request", "requests"));
		known = 0;
	}
}

static void print_lock(FILE *f, const struct where_place *p, int indent)
{
	if (!p->lock[0])
		return;
	if (p->holder[0])
		fprintf(f, "%*s  waits for %s, which %s %s\n", 9 + indent, "", p->lock, p->holder,
			p->had ? "got last" : "has");
	else
		fprintf(f, "%*s  waits for %s, which nobody is known to have\n", 9 + indent, "",
			p->lock);
}

static void print_place(FILE *f, const struct where *w, const struct where_place *p, int indent)
{
	if (p->ranks.n)
		print_ranks(f, &p->ranks);
	else if (p->processes == 1)
		fprintf(f, "process %" PRIu32, p->pid);
	else
		fprintf(f, "%" PRIu32 " processes", p->processes);
	fprintf(f, "   since %.1f s", 1e-9 * (double)p->since_least);
	if (p->since_most - p->since_least >= UINT64_C(100000000))
		fprintf(f, " to %.1f s", 1e-9 * (double)p->since_most);
	if (p->state == WHERE_STOPPED)
		fprintf(f, "   stopped by a signal");
	fputc('\n', f);
	print_lock(f, p, indent);
	print_missing(f, w, p, indent);
	print_waits(f, w, p, indent);
}

/* ---- the tree ------------------------------------------------------------------------------- */

struct leaf {
	const struct where_place *p;
	const char *rest; /* of its path, below what has been printed; empty: none */
};

ORDER_BY(by_path, struct leaf, strcmp(x->rest, y->rest) ?: ORDER(x->p->hash, y->p->hash))

static size_t frame_bytes(const char *rest)
{
	return (size_t)(strchrnul(rest, WHERE_FRAME_BEGINS) - rest);
}

static bool same_frame(const struct leaf *a, const struct leaf *b)
{
	const size_t n = frame_bytes(a->rest);

	return n && n == frame_bytes(b->rest) && !memcmp(a->rest, b->rest, n);
}

static void skip_frames(struct leaf *l, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		l[i].rest += frame_bytes(l[i].rest);
		l[i].rest += *l[i].rest != '\0';
	}
}

/* The frames that all of these share, which are one at least. The caller frees. */
static char *take_common(struct leaf *l, size_t n)
{
	char *text = xstrdup("");

	do {
		text = xappend(
			text, "%s%.*s", text[0] ? " > " : "", (int)frame_bytes(l->rest), l->rest);
		skip_frames(l, n);
		for (size_t i = 0; i < n; i++)
			if (!same_frame(l, &l[i]))
				return text;
	} while (true);
}

static void print_level(FILE *f, const struct where *w, struct leaf *l, size_t n, int indent);

static void print_group(FILE *f, const struct where *w, struct leaf *l, size_t n, int indent)
{
	const int deeper = indent < INDENT_MOST ? indent + 1 : indent;
	char *text = take_common(l, n);
	uint64_t threads = 0;
	size_t here = 0;

	for (size_t i = 0; i < n; i++) {
		threads += l[i].p->threads;
		here += !l[i].rest[0];
	}
	fprintf(f, "%7" PRIu64 "  %*s", threads, indent, "");
	if (n == 1) {
		fprintf(f, "%-*s  ", TEXT_COLUMNS - indent, text);
		print_place(f, w, l->p, indent);
	} else {
		fprintf(f, "%s\n", text);
	}
	free(text);
	if (n == 1)
		return;
	qsort(l, n, sizeof(*l), by_path); /* those that end here come first */
	for (size_t i = 0; i < here; i++) {
		fprintf(f, "%7" PRIu32 "  %*s%-*s  ", l[i].p->threads, deeper, "",
			TEXT_COLUMNS - deeper, "(here)");
		print_place(f, w, l[i].p, deeper);
	}
	print_level(f, w, l + here, n - here, deeper);
}

/* Sorted by path; none ends above. */
static void print_level(FILE *f, const struct where *w, struct leaf *l, size_t n, int indent)
{
	for (size_t i = 0, k; i < n; i = k) {
		for (k = i + 1; k < n && same_frame(&l[i], &l[k]); k++)
			;
		print_group(f, w, l + i, k - i, indent);
	}
}

static void print_tree(FILE *f, const struct where *w)
{
	struct leaf *l = xmalloc((w->n_places + 1) * sizeof(*l));
	size_t n = 0;

	for (size_t i = 0; i < w->n_places; i++)
		if (w->places[i].path[0])
			l[n++] = (struct leaf){&w->places[i], w->places[i].path};
	qsort(l, n, sizeof(*l), by_path);
	print_level(f, w, l, n, 0);
	free(l);
}

/* ---- the whole ------------------------------------------------------------------------------ */

static void print_head(FILE *f, const struct viewer *w, const struct live_view *v)
{
	const struct where *here = w->where;

	fprintf(f, "session %s   %" PRIu32 " of %" PRIu32 " %s   %" PRIu32 " %s   %" PRIu32 " %s\n",
		w->session, here->nodes, w->agents, one_or_many(w->agents, "node", "nodes"),
		here->processes, one_or_many(here->processes, "process", "processes"),
		here->threads, one_or_many(here->threads, "thread", "threads"));
	for (size_t i = 0; i < v->n_missing; i++)
		fprintf(f, "missing: agent %" PRIu32 " %s: %s\n", v->missing[i].agent,
			v->missing[i].host, v->missing[i].why == LIVE_GONE ? "ended" : "no answer");
}

static void print_locked(FILE *f, const struct where_locked *l)
{
	fprintf(f, "deadlock: thread %" PRIu32 " of ", l->thread);
	if (l->rank == WHERE_NO_RANK)
		fprintf(f, "process %" PRIu32, l->pid);
	else
		fprintf(f, "rank %" PRIu32, l->rank);
	if (l->of == 1) {
		fprintf(f, " waits for %s, which it has itself\n", l->lock);
		return;
	}
	for (uint32_t i = 0; i < l->of; i++)
		fprintf(f, "%s waits for %s, which thread %" PRIu32 " has", i ? ", which" : "",
			l[i].lock, l[(i + 1) % l->of].thread);
	fputc('\n', f);
}

static void print_hang(FILE *f, const struct where *w, bool all_seen)
{
	char *cycle = where_cycle_text(w);

	for (size_t i = 0; i < w->n_locked; i += w->locked[i].of)
		if (where_is_locked(&w->locked[i], WHERE_HANGS_LEAST))
			print_locked(f, &w->locked[i]);
	if (cycle) {
		fprintf(f, "deadlock: %s\n", cycle);
	} else if (all_seen && where_all_wait(w, WHERE_HANGS_LEAST)) {
		fprintf(f, "all threads wait in MPI: nobody is left to go on, unless a message is "
			   "on its way\n");
	}
	free(cycle);
}

void where_text(FILE *f, const struct viewer *w, const struct live_view *v)
{
	const struct where *here = w->where;

	print_head(f, w, v);
	print_hang(f, here, !v->n_absent && here->nodes >= w->agents);
	print_tree(f, here);
	if (here->places_cut)
		fprintf(f, "left out: %" PRIu32 " %s at %" PRIu32 " other %s\n", here->threads_cut,
			one_or_many(here->threads_cut, "thread", "threads"), here->places_cut,
			one_or_many(here->places_cut, "place", "places"));
}
