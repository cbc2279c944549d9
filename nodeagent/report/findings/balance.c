/* SPDX-License-Identifier: BSD-3-Clause */
/* One rank, or the ranks of one node, have more work than the others, which wait for them. */
#include "nodeagent/report/findings/internal.h"

#include <stdlib.h>

#define WAITS_EXPLAIN 0.5 /* of what an imbalance costs: then it was waited there */
#define HANDS_OUT     0.1 /* a rank with less of the mean work is there for something else */

/* By stack; the caller frees. */
static uint64_t *samples_of(const struct profile *p)
{
	uint64_t *own = xcalloc(p->n_stacks + 1, sizeof(*own));

	for (size_t i = 0; i < p->n_stack_samples; i++)
		own[p->stack_samples[i].stack] = p->stack_samples[i].own;
	return own;
}

struct culprit culprit_of(const struct facts *facts, uint32_t rank, uint32_t ranks)
{
	struct culprit c = {.stack = PROFILE_NONE};
	uint64_t *samples = samples_of(facts->p);
	double most = 0.0;

	for (uint32_t i = 0; i < facts->p->n_stacks; i++) {
		const struct profile_stack *s = &facts->p->stacks[i];
		const double own_s = s_of(s->excl_max_ns);
		const double mean_s = s_of(s->excl_ns) / MAX(ranks, s->ranks);

		if (s->rank_max != rank || own_s - mean_s <= most ||
			digest_part(facts->r, i) != DIGEST_COMPUTING ||
			(s->estimated && digest_is_chance(1e9 * (own_s - mean_s), 1e9 * own_s,
						 s->excl_ns, samples[i])))
			continue;
		most = own_s - mean_s;
		c = (struct culprit){.stack = i, .own_s = own_s, .mean_s = mean_s};
	}
	free(samples);
	return c;
}

static const struct profile_rank_time *times_of(const struct profile *p, uint32_t shown)
{
	return FIND(x, p->rank_times, p->n_rank_times,
		!x->others && profile_rank_shown(p, x->rank) == shown);
}

/* The time outside of MPI, as efficiency.c has it. */
static double outside_of(const struct efficiency *e, const struct profile_rank_time *t)
{
	return e->hybrid ? efficiency_outside_mpi(t) : s_of(t->useful_ns);
}

/* Those that have more than half of what the slowest one has beyond the mean. */
struct slow {
	uint32_t ranks;	 /* that have a row of their own */
	uint32_t likely; /* all, by the means of those that are added up */
	bool is_bound; /* there may be more than `ranks': those that are added up do not tell it */
};

static struct slow count_slow(const struct facts *facts)
{
	const struct efficiency *e = &facts->e;
	const double limit = 0.5 * (e->outside_s + e->outside_max_s);
	struct slow slow = {0};

	EACH(const struct profile_rank_time, t, facts->p->rank_times, facts->p->n_rank_times) {
		const uint32_t ranks = 1 + t->others;

		if (!efficiency_counts(facts->p, t))
			continue;
		slow.is_bound |= t->others;
		if (outside_of(e, t) / ranks < limit)
			continue;
		slow.likely += ranks;
		slow.ranks += !t->others;
	}
	/* if not all ranks with the most time are slow, none of the others is */
	slow.is_bound &= slow.ranks >= PROFILE_EXTREMES;
	return slow;
}

static const struct profile_rank_time *least_of(const struct facts *facts)
{
	const struct profile_rank_time *least = NULL;

	EACH(const struct profile_rank_time, t, facts->p->rank_times, facts->p->n_rank_times)
		if (efficiency_counts(facts->p, t) && !t->others &&
			(!least || outside_of(&facts->e, t) < outside_of(&facts->e, least)))
			least = t;
	return least;
}

/* "Rank 5 has", "Rank 5 and 2 more have" */
static char *who_has(uint32_t rank, struct slow slow)
{
	return slow.ranks > 1 ? xasprintf("Rank %" PRIu32 " and %s%" PRIu32 " more have", rank,
					slow.is_bound ? "at least " : "", slow.ranks - 1)
			      : xasprintf("Rank %" PRIu32 " has", rank);
}

/* What would be won is not what was waited for: "; others wait 2.4 s for rank 5 in MPI_Barrier".
 * back_s: waits_back_to(). */
static char *who_waits(
	const struct facts *facts, uint32_t rank, const struct waited *w, double back_s)
{
	char *where = back_s > 0.0 ? waited_by_chains(facts, w) : waited_where(facts, w);
	char *text = xasprintf("; others wait %s %s rank %" PRIu32 "%s",
		quantity_seconds(back_s > 0.0 ? back_s : w->s).text,
		back_s > 0.0 ? "because of" : "for", profile_rank_shown(facts->p, rank), where);

	free(where);
	return text;
}

void prove_work(
	struct finding *f, const char *own_key, double own_s, const char *mean_key, double mean_s)
{
	prove_seconds(f, own_key, own_s);
	prove_seconds(f, mean_key, mean_s);
	prove_ratio(f, "ratio", mean_s > 0.0 ? own_s / mean_s : NAN);
}

static void say_slowest(
	const struct facts *facts, struct finding *f, uint32_t rank, struct slow slow)
{
	const struct efficiency *e = &facts->e;
	const struct culprit c = culprit_of(facts, rank, e->ranks);
	const struct waited w = waited_for(facts, rank);
	const double back_s = waits_back_to(facts, rank);
	/* what is known of waits explains it */
	const bool has_waits = fmax(w.s, back_s) >= WAITS_EXPLAIN * f->seconds;
	char *waits = has_waits ? who_waits(facts, rank, &w, back_s) : xstrdup("");
	char *who = who_has(profile_rank_shown(facts->p, rank), slow);

	if (c.stack != PROFILE_NONE && c.mean_s > 0.0 &&
		c.own_s - c.mean_s >= CULPRIT_PART * (e->outside_max_s - e->outside_s)) {
		char *path = short_path(facts->r, c.stack);

		finding_say(f,
			"%s more work than the others, which costs %s: it spends %.1f times the "
			"mean in %s%s.",
			who, amount_of(facts, f->seconds).text, c.own_s / c.mean_s, path, waits);
		prove_stack(f, facts->r, c.stack);
		prove_work(f, "t_max_s", c.own_s, "t_avg_s", c.mean_s);
		free(path);
	} else {
		finding_say(f,
			"%s more work than the others, which costs %s: it works %.2f x the mean%s.",
			who, amount_of(facts, f->seconds).text, e->outside_max_s / e->outside_s,
			waits);
	}
	if (has_waits)
		prove_waited(f, facts, &w);
	if (has_waits && back_s > 0.0)
		prove_seconds(f, "cost_s", back_s);
	free(waits);
	free(who);
}

/* Most ranks are as slow as the slowest one: it is the one with the least work that stands out. */
static void say_least(const struct facts *facts, struct finding *f)
{
	const struct profile_rank_time *t = least_of(facts);
	const double of_mean = outside_of(&facts->e, t) / facts->e.outside_s;
	const uint32_t rank = profile_rank_shown(facts->p, t->rank);
	const struct amount costs = amount_of(facts, f->seconds);

	if (of_mean < HANDS_OUT)
		finding_say(f,
			"Rank %" PRIu32
			" has next to no work, %.1f %% of the mean, as one that hands it "
			"out to the others; this costs %s.",
			rank, 100 * of_mean, costs.text);
	else
		finding_say(f,
			"Rank %" PRIu32
			" has less work than the others, %.2f x the mean, which costs %s.",
			rank, of_mean, costs.text);
	prove_count(f, "rank_least", profile_rank_shown(facts->p, t->rank));
	prove_seconds(f, "least_s", outside_of(&facts->e, t));
}

/* Of a run whose ranks have no times of their own: the function that digest.h names. */
static bool look_at_function(const struct facts *facts, struct finding *f)
{
	const struct digest_imbalance *im = &facts->d.imbalance;
	double mean_s;

	if (im->name == PROFILE_NONE || !im->sum_ns)
		return false;
	mean_s = s_of(im->sum_ns) / im->members;
	f->seconds = (s_of(im->max_ns) - mean_s) * im->members;
	finding_say(f,
		"Rank %" PRIu32 " has more work than the others, which costs %s: it spends "
		"%s%.1f times the mean in %s.",
		im->rank, amount_of(facts, f->seconds).text, im->is_bound ? "at least " : "",
		s_of(im->max_ns) / mean_s, facts->r->cell[im->name]);
	prove_count(f, "rank", im->rank);
	prove_text(f, "function", facts->r->shown[im->name]);
	prove_work(f, "t_max_s", s_of(im->max_ns), "t_avg_s", mean_s);
	return true;
}

/* With one rank on each node, nodes are ranks. */
static bool has_node_balance(const struct efficiency *e)
{
	return e->nodes > 1 && e->nodes < e->ranks;
}

bool look_load_balance(const struct facts *facts, struct finding *f)
{
	const struct efficiency *e = &facts->e;
	const struct profile_rank_time *t;
	struct slow slow;
	double part;

	if (!facts->has_efficiency)
		return look_at_function(facts, f);
	if (facts->is_cut || e->ranks < 2 || !(e->outside_max_s > 0.0))
		return false;
	part = has_node_balance(e) ? e->in_nodes : e->load_balance;
	f->seconds = e->ranks * e->outside_max_s * (1.0 - part);
	t = times_of(facts->p, e->rank_max);
	slow = count_slow(facts);
	if (!t)
		return false;
	prove_rank(f, facts->p, t->rank);
	prove_count(f, "ranks", e->ranks);
	prove_count(f, "slow_ranks", slow.ranks);
	prove_seconds(f, "useful_max_s", e->outside_max_s);
	prove_seconds(f, "useful_s", e->outside_s);
	prove_ratio(f, has_node_balance(e) ? "load_balance_in_nodes" : "load_balance", part);
	if (slow.likely > e->ranks / 2 && e->ranks > 2)
		say_least(facts, f);
	else
		say_slowest(facts, f, t->rank, slow);
	prove_doubts(f, facts);
	return true;
}

/* ---- nodes -------------------------------------------------------------------------------- */

struct of_host {
	const char *host;
	double sum_s;
	uint32_t ranks;
};

ORDER_BY(by_host, struct of_host, ALPHABETIC(host))

/* The node whose ranks have the greatest mean. */
static struct of_host slowest_node(const struct facts *facts)
{
	const struct profile *p = facts->p;
	struct of_host *at = xcalloc(p->n_rank_times + 1, sizeof(*at)), slowest = {.host = NULL};
	size_t n = 0;

	EACH(const struct profile_rank_time, t, p->rank_times, p->n_rank_times) {
		const char *host = efficiency_host(p, t->rank);

		if (efficiency_counts(p, t) && host)
			at[n++] = (struct of_host){host, outside_of(&facts->e, t), 1 + t->others};
	}
	qsort(at, n, sizeof(*at), by_host);
	for (size_t i = 0; i < n; i++) {
		if (i && !by_host(&at[i], &at[i - 1])) {
			at[i].sum_s += at[i - 1].sum_s;
			at[i].ranks += at[i - 1].ranks;
		}
		if (i + 1 < n && !by_host(&at[i], &at[i + 1]))
			continue;
		if (!slowest.host || at[i].sum_s / at[i].ranks > slowest.sum_s / slowest.ranks)
			slowest = at[i];
	}
	free(at);
	return slowest;
}

bool look_node_balance(const struct facts *facts, struct finding *f)
{
	const struct efficiency *e = &facts->e;
	struct of_host node;
	double mean_s;

	if (!facts->has_efficiency || facts->is_cut || !has_node_balance(e) ||
		!(e->outside_s > 0.0))
		return false;
	node = slowest_node(facts);
	if (!node.host)
		return false;
	mean_s = node.sum_s / node.ranks;
	f->seconds = e->ranks * (mean_s - e->outside_s);
	finding_say(f,
		"Node %s has more work than the others, which costs %s: its %" PRIu32
		" %s %.2f x the mean of all ranks.",
		node.host, amount_of(facts, f->seconds).text, node.ranks,
		one_or_many(node.ranks, "rank works", "ranks work"), mean_s / e->outside_s);
	prove_text(f, "node", node.host);
	prove_count(f, "ranks", node.ranks);
	prove_work(f, "node_useful_s", mean_s, "useful_s", e->outside_s);
	prove_ratio(f, "load_balance_between_nodes", e->between_nodes);
	prove_doubts(f, facts);
	return true;
}
