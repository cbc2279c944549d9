/* SPDX-License-Identifier: BSD-3-Clause */
/* Waits in MPI, by the rank that came late: base/wait-kinds.h. */
#include "nodeagent/report/findings/internal.h"

#include <stdlib.h>

#include "nodeagent/base/wait-kinds.h"
#include "nodeagent/report/delays/delays.h"
#include "nodeagent/report/waits.h"

#define STANDS_OUT 1.5 /* times the mean of all ranks: one rank is to be named */

#define BY_CHAINS 1.25 /* times the waits for it: what goes back to a rank is told instead */

struct waited waited_for(const struct facts *facts, uint32_t rank)
{
	struct waited at = {.stack = PROFILE_NONE};
	struct waits w;

	waits_of(facts->p, WAITS_FOR_RANKS, rank, &w);
	at.s = s_of(w.ns);
	if (w.n_places) {
		at.stack = w.places[0].stack;
		at.here_s = s_of(w.places[0].ns);
		at.kind = wait_kind_name(w.places[0].kind);
	}
	waits_done(&w);
	return at;
}

struct latest latest_of(const struct profile *p)
{
	struct latest l = {{.rank = PROFILE_ELSEWHERE}, {.rank = PROFILE_ELSEWHERE}, 0};
	struct delays d;
	struct waits w;

	waits_of(p, WAITS_FOR_RANKS, WAITS_ALL, &w);
	delays_of(p, &d);
	delays_join(&d, &w);
	l.all_ns = w.ns;
	EACH(const struct wait_cause, c, w.causes, w.n_causes) {
		const struct late late = {c->rank, c->ns, c->cost_ns};

		if (c->rank == PROFILE_ELSEWHERE)
			continue;
		if (l.at_end.rank == PROFILE_ELSEWHERE)
			l.at_end = late;
		if (late.ns > l.direct.ns)
			l.direct = late;
	}
	waits_done(&w);
	delays_done(&d);
	return l;
}

char *waited_where(const struct facts *facts, const struct waited *w)
{
	char *path, *text;

	if (w->stack == PROFILE_NONE)
		return xstrdup("");
	path = short_path(facts->r, w->stack);
	text = part_in(w->here_s, w->s, path);
	free(path);
	return text;
}

void prove_waited(struct finding *f, const struct facts *facts, const struct waited *w)
{
	char *path;

	if (w->stack == PROFILE_NONE)
		return;
	path = report_path(facts->r, w->stack);
	prove_text(f, "wait_kind", w->kind);
	prove_text(f, "wait_path", path);
	prove_seconds(f, "wait_path_s", w->here_s);
	prove_seconds(f, "wait_s", w->s);
	free(path);
}

static bool stands_out(const struct facts *facts, const struct late *late, uint64_t all_ns)
{
	return late->rank != PROFILE_ELSEWHERE &&
	       (double)late->cost_ns * report_all_ranks(facts->p) >= STANDS_OUT * (double)all_ns;
}

static bool is_by_chains(const struct late *late)
{
	return (double)late->cost_ns > BY_CHAINS * (double)late->ns;
}

static bool is_told(const struct facts *facts, uint32_t rank)
{
	const struct finding *balance = found_by(facts, "load_balance");

	return balance && proven_count(balance, "rank") == profile_rank_shown(facts->p, rank);
}

double waits_back_to(const struct facts *facts, uint32_t rank)
{
	const struct late *late = &facts->latest.at_end;

	return late->rank == rank && is_by_chains(late) ? s_of(late->cost_ns) : 0.0;
}

char *waited_by_chains(const struct facts *facts, const struct waited *w)
{
	char *where = waited_where(facts, w);
	char *text = xasprintf(", %s for it%s, and the rest for ranks that wait for it",
		quantity_seconds(w->s).text, where);

	free(where);
	return text;
}

bool look_late_rank(const struct facts *facts, struct finding *f)
{
	const struct late late = facts->latest.at_end;
	const uint64_t all_ns = facts->latest.all_ns;
	const uint32_t ranks = report_all_ranks(facts->p);
	struct waited w;
	struct culprit c;
	char *where;

	if (!late.ns || facts->is_cut || !stands_out(facts, &late, all_ns) ||
		is_told(facts, late.rank))
		return false;
	w = waited_for(facts, late.rank);
	c = culprit_of(facts, late.rank, ranks);
	where = is_by_chains(&late) ? waited_by_chains(facts, &w) : waited_where(facts, &w);
	f->seconds = is_by_chains(&late) ? s_of(late.cost_ns) : w.s;
	finding_say(f, "Rank %" PRIu32 " makes the others wait %s%s.",
		profile_rank_shown(facts->p, late.rank), amount_of(facts, f->seconds).text, where);
	prove_rank(f, facts->p, late.rank);
	prove_waited(f, facts, &w);
	prove_seconds(f, "cost_s", s_of(late.cost_ns));
	prove_ratio(f, "share", f->seconds / s_of(all_ns));
	if (c.stack != PROFILE_NONE && c.mean_s > 0.0 &&
		(c.own_s - c.mean_s) * ranks >= CULPRIT_PART * f->seconds) {
		char *path = short_path(facts->r, c.stack);

		finding_say(f,
			"Rank %" PRIu32 " makes the others wait %s%s: it spends %.1f times the "
			"mean in %s.",
			profile_rank_shown(facts->p, late.rank), amount_of(facts, f->seconds).text,
			where, c.own_s / c.mean_s, path);
		prove_stack(f, facts->r, c.stack);
		prove_work(f, "t_max_s", c.own_s, "t_avg_s", c.mean_s);
		free(path);
	}
	free(where);
	return true;
}

bool look_waits(const struct facts *facts, struct finding *f)
{
	const struct late late = facts->latest.direct;
	const uint64_t all_ns = facts->latest.all_ns;
	struct waited w;
	char *where;

	if (!all_ns || facts->is_cut || stands_out(facts, &facts->latest.at_end, all_ns))
		return false;
	w = waited_for(facts, WAITS_ALL);
	where = waited_where(facts, &w);
	f->seconds = w.s;
	if (late.rank == PROFILE_ELSEWHERE)
		finding_say(
			f, "Ranks wait %s for each other%s.", amount_of(facts, w.s).text, where);
	else
		finding_say(f,
			"Ranks wait %s for each other%s, for changing ranks; %.0f %% of all waits "
			"are for rank %" PRIu32 ".",
			amount_of(facts, w.s).text, where, 100.0 * (double)late.ns / (double)all_ns,
			profile_rank_shown(facts->p, late.rank));
	free(where);
	prove_waited(f, facts, &w);
	if (late.rank != PROFILE_ELSEWHERE) {
		prove_count(f, "rank", profile_rank_shown(facts->p, late.rank));
		prove_ratio(f, "share", (double)late.ns / (double)all_ns);
	}
	return true;
}

/* "MPI_Recv<collect", where one of the messages was received that lay there; NULL: not known. */
static char *other_receive(const struct facts *facts, const struct wait_place *at)
{
	for (size_t i = 0; i < at->n_late; i++)
		if (at->late[i]->late_stack)
			return short_path(facts->r, at->late[i]->late_stack - 1);
	return NULL;
}

static void say_order(const struct facts *facts, struct finding *f, const struct wait_place *at)
{
	const struct waited most = {.s = f->seconds,
		.stack = at->stack,
		.here_s = s_of(at->ns),
		.kind = wait_kind_name(at->kind)};
	const uint32_t late = at->late[0]->late;
	char *where = waited_where(facts, &most), *other = other_receive(facts, at);

	finding_say(f, "Ranks wait %s for messages while earlier ones lie there%s%s%s%s.",
		amount_of(facts, f->seconds).text, where, other ? ": receive those of " : "",
		other ?: "", other ? " before" : "");
	prove_waited(f, facts, &most);
	if (late != PROFILE_ELSEWHERE)
		prove_count(f, "rank", profile_rank_shown(facts->p, late));
	if (other)
		prove_text(f, "there_path", other);
	free(where);
	free(other);
}

bool look_wrong_order(const struct facts *facts, struct finding *f)
{
	const struct wait_place *most = NULL;
	struct waits w;
	uint64_t ns = 0;

	waits_of(facts->p, WAITS_FOR_RANKS, WAITS_ALL, &w);
	for (size_t i = 0; i < w.n_places; i++) {
		if (w.places[i].kind != WAIT_WRONG_ORDER)
			continue;
		ns += w.places[i].ns;
		most = most ?: &w.places[i];
	}
	if (ns && !facts->is_cut) {
		f->seconds = s_of(ns);
		say_order(facts, f, most);
	}
	waits_done(&w);
	return f->seconds > 0.0;
}
