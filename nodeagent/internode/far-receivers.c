/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/internode/far-receivers.h"

#include <stdlib.h>
#include "nodeagent/base/util.h"
#include "nodeagent/internode/internal.h"
#include "nodeagent/internode/unproven.h"
#include "nodeagent/process/host.h"
#include "nodeagent/process/process.h"
#include "nodeagent/replay/comm/causes.h"
#include "nodeagent/replay/comm/comm.h"
#include "nodeagent/replay/comm/history.h"
#include "nodeagent/replay/comm/longest.h"
#include "nodeagent/replay/comm/sync.h"
#include "nodeagent/replay/tree/calltree.h"

enum { AT_ONCE = 1, SUM, CALL };

#define PLACES 8u /* where a sum may be */

/* ---- telling of sends ----------------------------------------------------------------------- */

void far_calls_tell(struct far_calls *f, const struct matching *m, struct match_send *told,
	const struct match_send *s)
{
	const struct process *p = matching_process(m, s->source);
	const struct traffic *t = p ? p->traffic : NULL;
	const enum matching_completes completes =
		t && s->path ? matching_completes(t, s) : COMPLETES_NONE;

	told->done_enter = internode_global(m->host, s->done_enter);
	told->done_leave = internode_global(m->host, s->done_leave);
	if (completes == COMPLETES_ONE || s->mode == MATCH_SEND_IN_PARTS)
		return;
	told->path = 0;
	if (completes == COMPLETES_NONE || s->done_leave == s->done_enter)
		return;
	told->mode |= MATCH_SEND_AMONG;
	if (f->n >= FAR_CALLS_MAX)
		return;
	*APPEND(f->at, f->n, f->cap) =
		(struct far_call){s->source, s->done_enter, s->done_leave, s->path};
	told->path = (uint32_t)f->n;
}

void far_calls_free(struct far_calls *f)
{
	free(f->at);
	*f = (struct far_calls){.n = 0};
}

/* ---- what is found --------------------------------------------------------------------------- */

/* What a receiver did while it was waited for, by its paths. */
struct far_dids {
	struct far_did {
		uint32_t path;
		uint64_t ticks;
	} at[FAR_DIDS];
	size_t n;
};

struct far_sum {
	uint64_t source, destination, bytes;
	uint32_t mode, path;
	uint64_t calls, ticks;
	struct far_dids did;
};

/* Of several the longest stay. */
static void add_did(void *arg, uint32_t path, uint64_t ticks)
{
	struct far_dids *d = arg;
	size_t i = 0, shortest = 0;

	while (i < d->n && d->at[i].path != path)
		i++;
	for (size_t k = 1; k < d->n; k++)
		shortest = d->at[k].ticks < d->at[shortest].ticks ? k : shortest;
	if (i < d->n)
		d->at[i].ticks += ticks;
	else if (i < FAR_DIDS)
		d->at[d->n++] = (struct far_did){path, ticks};
	else if (d->at[shortest].ticks < ticks)
		d->at[shortest] = (struct far_did){path, ticks};
}

/* The last ticks of a history. */
static void add_dids(
	struct far_dids *to, const struct histories *all, uint32_t history, uint64_t ticks)
{
	const struct traffic *whose;
	const struct history_part *at;
	size_t n = 0;

	at = all && history ? history_parts(all, history, &n, &whose) : NULL;
	if (at)
		history_share(at, n, ticks, add_did, to);
}

static bool is_like(const struct far_sum *a, const struct far_sum *b)
{
	return a->source == b->source && a->destination == b->destination && a->bytes == b->bytes &&
	       a->mode == b->mode && a->path == b->path;
}

/* NULL: there is no room. */
static struct far_sum *add_sum(struct far_receivers *f, const struct far_sum *like)
{
	uint64_t h = (like->source ^ like->bytes << 17) * 0x9e3779b97f4a7c15u;

	if (!f->sums)
		f->sums = xcalloc(FAR_SUMS_MAX, sizeof(*f->sums));
	h = (h ^ ((uint64_t)like->path << 32 | (uint32_t)like->destination)) * 0xd6e8feb86659fd93u;
	for (uint64_t i = 0; i < PLACES; i++) {
		struct far_sum *sum = &f->sums[((h ^ h >> 32) + i) % FAR_SUMS_MAX];

		if (!sum->calls)
			*sum = *like;
		if (!is_like(sum, like))
			continue;
		sum->ticks += sum->calls ? like->ticks : 0;
		sum->calls++;
		return sum;
	}
	return NULL;
}

void far_receiver_found(struct far_receivers *f, const struct match_send *s,
	const struct match_receive *r, uint64_t error, const struct histories *all)
{
	struct far_sum *sum;
	const uint32_t mode = s->mode & ~(uint32_t)MATCH_SEND_AMONG;
	/* another agent may say any time */
	const int64_t late = (int64_t)(r->enter - s->done_enter);
	const int64_t lasted = (int64_t)(s->done_leave - s->done_enter);
	const int64_t wait = late < lasted ? late : lasted;

	if (error > INT64_MAX || wait <= 0)
		return;
	if ((int64_t)(r->enter - s->done_leave) > (int64_t)error) {
		if (mode == MATCH_SEND_STANDARD && (!f->some_at_once || f->at_once < s->bytes)) {
			f->some_at_once = true;
			f->at_once = s->bytes;
		}
		return;
	}
	if (!s->path || wait <= (int64_t)error)
		return;
	if (s->mode & MATCH_SEND_AMONG) {
		if (f->n_calls < FAR_CALLS_MAX)
			*LIST_ADD(f, calls) = (struct far_wait){s->source, r->destination, s->bytes,
				(uint64_t)wait, mode, s->path, r->history};
		return;
	}
	sum = add_sum(f, &(struct far_sum){.source = s->source,
				 .destination = r->destination,
				 .bytes = s->bytes,
				 .mode = mode,
				 .path = s->path,
				 .ticks = (uint64_t)wait});
	if (sum)
		add_dids(&sum->did, all, r->history, (uint64_t)wait);
}

/* ---- answers --------------------------------------------------------------------------------- */

static const struct histories *histories_of(const struct matching *m)
{
	return m->host->sync ? causes_histories(sync_causes(m->host->sync)) : NULL;
}

static void put_head(struct words *to, unsigned kind, uint64_t source, uint64_t destination,
	uint64_t how, uint64_t bytes)
{
	words_put(to, kind);
	words_put(to, source);
	words_put(to, destination);
	words_put(to, how);
	words_put(to, bytes);
}

static void put_dids(const struct matching *m, uint64_t destination, const struct far_dids *did,
	struct far_telling *paths, struct words *to)
{
	const struct process *p = matching_process(m, destination);
	const size_t count = to->n;

	words_put(to, 0);
	for (size_t i = 0; p && p->traffic && i < did->n; i++) {
		const uint32_t path = far_tell_path(
			paths, m->host, p, traffic_path_node(p->traffic, did->at[i].path));

		if (!path)
			continue;
		words_put(to, path);
		words_put(to, clocks_ns(&m->host->clocks, did->at[i].ticks));
		to->at[count]++;
	}
}

void far_receivers_put(struct far_receivers *f, const struct matching *m, struct far_telling *paths,
	struct words *to)
{
	const struct clocks *clocks = &m->host->clocks;

	if (f->some_at_once) {
		words_put(to, AT_ONCE);
		words_put(to, f->at_once);
	}
	for (size_t i = 0; f->sums && i < FAR_SUMS_MAX; i++) {
		const struct far_sum *s = &f->sums[i];

		if (!s->calls)
			continue;
		put_head(to, SUM, s->source, s->destination, (uint64_t)s->mode << 32 | s->path,
			s->bytes);
		words_put(to, s->calls);
		words_put(to, clocks_ns(clocks, s->ticks));
		put_dids(m, s->destination, &s->did, paths, to);
	}
	EACH(const struct far_wait, w, f->calls, f->n_calls) {
		struct far_dids did = {.n = 0};

		add_dids(&did, histories_of(m), w->history, w->ticks);
		put_head(to, CALL, w->source, w->destination, (uint64_t)w->mode << 32 | w->number,
			w->bytes);
		words_put(to, clocks_ns(clocks, w->ticks));
		put_dids(m, w->destination, &did, paths, to);
	}
	far_receivers_free(f);
}

/* Of the part of an answer that begins there, which is one of ours. */
static size_t words_of(const struct words *of, size_t at)
{
	switch (of->at[at]) {
	case SUM:
		return 8 + 2 * of->at[at + 7];
	case CALL:
		return 7 + 2 * of->at[at + 6];
	default:
		return 2;
	}
}

size_t far_answer_part(const struct words *of, size_t at, size_t most)
{
	size_t n = 0;

	while (at + n < of->n && n + words_of(of, at + n) <= most)
		n += words_of(of, at + n);
	return n;
}

void far_receivers_free(struct far_receivers *f)
{
	free(f->sums);
	free(f->calls);
	*f = (struct far_receivers){.sums = NULL};
}

/* ---- taking answers -------------------------------------------------------------------------- */

struct answer {
	struct unproven_send of;
	const struct process *p; /* NULL: it is not here */
	uint32_t mode, path;	 /* path: or a number in far_calls */
	uint64_t calls;
	struct longest_wait w;
};

static uint64_t get_ticks(struct words_in *in, const struct host *host)
{
	const uint64_t ns = words_get(in);

	in->bad |= ns > (uint64_t)INT64_MAX / 4;
	return in->bad ? 0 : internode_error_ticks(host, ns, 0) - 1;
}

/* The number of a history: far_history(). */
static uint32_t get_dids(struct words_in *in, struct matching *m)
{
	struct history_part at[FAR_DIDS];
	const uint64_t n = words_get(in);
	size_t kept = 0;

	in->bad |= n > FAR_DIDS;
	for (uint64_t i = 0; i < n && !in->bad; i++) {
		const uint64_t told = words_get(in), ticks = get_ticks(in, m->host);
		const uint32_t path =
			told <= UINT32_MAX ? far_path_number(&m->far, (uint32_t)told) : 0;

		if (path)
			at[kept++] = (struct history_part){.ticks = ticks, .path = path};
	}
	if (kept)
		at[kept - 1].ends = true;
	return in->bad ? 0 : far_keep(&m->far, at, kept);
}

static struct answer get_answer(struct words_in *in, struct matching *m, bool sum)
{
	struct answer a = {.of = {.source = words_get(in), .far = true}, .calls = 1};
	const uint64_t destination = words_get(in), how = words_get(in);

	a.mode = (uint32_t)(how >> 32);
	a.path = (uint32_t)how;
	a.of.bytes = words_get(in);
	if (sum)
		a.calls = words_get(in);
	a.w = (struct longest_wait){.path = a.path,
		.kind = WAIT_LATE_RECEIVER,
		.ticks = get_ticks(in, m->host),
		.about = {.from = destination, .to = a.of.source}};
	a.w.about.history = get_dids(in, m);
	a.p = matching_process(m, a.of.source);
	in->bad |= (a.mode != MATCH_SEND_STANDARD && a.mode != MATCH_SEND_SYNCHRONOUS) ||
		   !a.calls || a.calls > UINT32_MAX || !a.w.ticks;
	if (a.p && !a.p->traffic)
		a.p = NULL;
	if (a.p)
		a.w.late = matching_rank(a.p, destination, a.of.source);
	if (a.p && a.w.late == UINT32_MAX)
		a.w.late = matching_late_job(m, destination, a.p->traffic);
	/* of one wait */
	a.w.error = m->clock_bound <= (uint64_t)INT64_MAX / (a.calls + 1) ? m->clock_bound * a.calls
									  : 0;
	return a;
}

static void take_sum(struct matching *m, struct answer *a)
{
	if (a->mode == MATCH_SEND_STANDARD)
		unproven_add(matching_unproven(m), &a->of, &a->w, a->calls);
	else
		traffic_wait_elsewhere(a->p->traffic, a->path,
			&(struct node_wait){.kind = WAIT_LATE_RECEIVER,
				.late = a->w.late,
				.calls = a->calls,
				.ticks = a->w.ticks,
				.error = a->w.error});
	matching_causes(m, a->p->traffic, &a->w); /* of waits that do not count nobody asks */
}

static void take_call(const struct far_calls *f, struct matching *m, struct answer *a)
{
	const struct far_call *call = a->path && a->path <= f->n ? &f->at[a->path - 1] : NULL;
	struct longest_wait *kept;

	if (!call || call->source != a->of.source)
		return;
	a->w.enter = call->enter;
	a->w.path = call->path;
	a->w.ticks = MIN(a->w.ticks, call->leave - call->enter);
	if (a->mode == MATCH_SEND_STANDARD) {
		unproven_add_among(matching_unproven(m), m, &a->of, &a->w);
		return;
	}
	kept = longest_add(matching_longest(m), a->p->traffic, &a->w);
	if (kept)
		matching_causes(m, a->p->traffic, kept);
}

const char *far_calls_answer(
	const struct far_calls *f, struct matching *m, const uint64_t *words, size_t n)
{
	struct words_in in = {.at = words, .n = n};

	while (in.n && !in.bad) {
		const uint64_t kind = words_get(&in);
		struct answer a;

		if (kind == AT_ONCE) {
			unproven_at_once(matching_unproven(m), true, words_get(&in));
			continue;
		}
		if (kind != SUM && kind != CALL)
			return "waits for receivers of an unknown kind";
		a = get_answer(&in, m, kind == SUM);
		if (in.bad || !a.p)
			continue;
		if (kind == SUM)
			take_sum(m, &a);
		else
			take_call(f, m, &a);
	}
	return in.bad ? "waits for receivers that contradict themselves" : NULL;
}
