/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/report/efficiency.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "nodeagent/base/util.h"
#include "nodeagent/profile/places.h"
#include "nodeagent/profile/profile.h"

const char *const efficiency_doubts[DOUBTS] = {
	[DOUBT_WINDOW] = "window",
	[DOUBT_KILLED] = "killed_ranks",
	[DOUBT_RANKS] = "missing_ranks",
	[DOUBT_JOBS] = "other_jobs",
	[DOUBT_CLOCK] = "clock",
	[DOUBT_THREADS] = "threads",
	[DOUBT_LOST] = "lost_calls",
	[DOUBT_PAUSED] = "unknown_s",
	[DOUBT_GPU] = "gpu_wait_s",
	[DOUBT_LOCKS] = "lock_wait_s",
};

bool efficiency_counts(const struct profile *p, const struct profile_rank_time *t)
{
	return !p->world_size || t->rank < PROFILE_UNRANKED;
}

const char *efficiency_host(const struct profile *p, uint32_t rank)
{
	return places_host(p, rank);
}

/* ---- the ranks --------------------------------------------------------------------------- */

struct member {
	const struct profile_rank_time *t;
	const char *host; /* "": not known */
	uint32_t ranks;	  /* that t is of; their sums are below */
	double outside_s; /* see struct efficiency */
};

ORDER_BY(by_host, struct member, ALPHABETIC(host) ?: ORDER(x->t->rank, y->t->rank))

static double s_of(uint64_t ns)
{
	return 1e-9 * (double)ns;
}

double efficiency_outside_mpi(const struct profile_rank_time *t)
{
	/* in ns, so that a rank without MPI has its window, and not a bit more */
	return s_of(profile_outside_mpi_ns(t));
}

static struct member *members_of(const struct profile *p, struct efficiency *e, size_t *n)
{
	struct member *m = xcalloc(p->n_rank_times + 1, sizeof(*m));
	const struct profile_rank_time *t = p->rank_times;

	*n = 0;
	for (size_t i = 0; i < p->n_rank_times; i++, t++) {
		const char *host;

		if (!efficiency_counts(p, t))
			continue;
		host = efficiency_host(p, t->rank);
		m[(*n)++] =
			(struct member){.t = t, .host = host ? host : "", .ranks = 1 + t->others};
		e->ranks += 1 + t->others;
		e->hybrid |= (t->flags & RANK_HAS_OPENMP) != 0;
		e->is_mpi |= (t->flags & RANK_LEFT_INIT) != 0;
	}
	qsort(m, *n, sizeof(*m), by_host);
	for (size_t i = 0; i < *n; i++)
		m[i].outside_s =
			e->hybrid ? efficiency_outside_mpi(m[i].t) : s_of(m[i].t->useful_ns);
	return m;
}

/* ---- doubts ------------------------------------------------------------------------------ */

static void add_doubt(
	struct efficiency *e, enum efficiency_doubt why, uint32_t rank, uint32_t ranks)
{
	if (!e->doubtful[why] || rank < e->doubtful_rank[why])
		e->doubtful_rank[why] = rank;
	e->doubtful[why] += ranks;
	e->doubts |= 1u << why;
}

static bool has_name(const struct profile *p, const char *name)
{
	return ANY(i, p->n_names, !strcmp(p->names[i], name));
}

/* With sessions of MPI and without MPI_Init, windows are the lives of processes. */
static bool has_sessions_only(const struct profile *p)
{
	return has_name(p, "MPI_Session_init") && !has_name(p, "MPI_Init") &&
	       !has_name(p, "MPI_Init_thread");
}

/* Of all ranks that t is of, as what is not 0 is the same of them (profile_rank_time.others). */
static void doubt_rank(struct efficiency *e, const struct profile *p,
	const struct profile_rank_time *t, bool sessions_only)
{
	const uint32_t both = RANK_LEFT_INIT | RANK_ENTERED_FINALIZE;
	const uint32_t of_mpi = RANK_HAS_MPI | RANK_OF_LAUNCHER;
	const uint32_t rank = profile_rank_shown(p, t->rank), ranks = 1 + t->others;

	if (profile_is_cut(t))
		add_doubt(e, DOUBT_KILLED, rank, ranks);
	else if ((t->flags & of_mpi) && (t->flags & both) != both && !sessions_only)
		add_doubt(e, DOUBT_WINDOW, rank, ranks);
	if (t->flags & RANK_THREADS_CUT)
		add_doubt(e, DOUBT_THREADS, rank, ranks);
	if (t->flags & RANK_LOST_CALLS)
		add_doubt(e, DOUBT_LOST, rank, ranks);
	if (t->all_unknown_ns)
		add_doubt(e, DOUBT_PAUSED, rank, ranks);
	if ((t->flags & RANK_HAS_GPU) && t->threads > ranks)
		add_doubt(e, DOUBT_GPU, rank, ranks);
	if (t->lock_wait_ns && t->threads > t->team_threads)
		add_doubt(e, DOUBT_LOCKS, rank, ranks);
}

static void doubt_jobs(struct efficiency *e, uint32_t others)
{
	if (!others)
		return;
	add_doubt(e, DOUBT_JOBS, 0, others);
}

/* ---- numbers ----------------------------------------------------------------------------- */

static double span_s(int64_t begin_ns, int64_t end_ns)
{
	return 1e-9 * ((double)end_ns - (double)begin_ns);
}

struct span {
	int64_t begin, end;
};

static const struct span empty_span = {INT64_MAX, INT64_MIN};

static void widen_span(struct span *s, int64_t begin, int64_t end)
{
	s->begin = begin < s->begin ? begin : s->begin;
	s->end = end > s->end ? end : s->end;
}

/*
 * Of all nodes by the clock that they share; else that of the node with the longest one.
 * Members are sorted by their hosts.
 */
static void find_window(struct efficiency *e, const struct member *m, size_t n)
{
	struct span all = empty_span, node = empty_span;
	uint64_t error = 0;
	double longest = 0.0;
	bool is_common = true;

	for (size_t i = 0; i < n; i++) {
		const struct profile_rank_time *t = m[i].t;

		if (!i || strcmp(m[i].host, m[i - 1].host)) {
			node = empty_span;
			e->nodes++;
		}
		is_common &= t->error_ns != UINT64_MAX;
		error = t->error_ns > error ? t->error_ns : error;
		widen_span(&node, t->begin_ns, t->end_ns);
		widen_span(&all, t->begin_ns, t->end_ns);
		longest = fmax(longest, span_s(node.begin, node.end));
	}
	e->window_s = is_common || e->nodes < 2 ? span_s(all.begin, all.end) : longest;
	e->window_error_s = is_common && e->nodes > 1 ? 2.0 * s_of(error) : 0.0;
	if (!is_common && e->nodes > 1)
		add_doubt(e, DOUBT_CLOCK, 0, 1);
}

static void add_up(struct efficiency *e, const struct profile *p, const struct member *m, size_t n)
{
	const bool sessions_only = has_sessions_only(p);
	double sum = 0.0, all = 0.0, node = 0.0, node_max = 0.0;
	uint32_t node_ranks = 0, ones = 0;

	for (size_t i = 0; i < n; i++) {
		const struct profile_rank_time *t = m[i].t;

		doubt_rank(e, p, t, sessions_only);
		if (!i || strcmp(m[i].host, m[i - 1].host)) {
			node = 0.0;
			node_ranks = 0;
		}
		sum += m[i].outside_s;
		node += m[i].outside_s;
		node_ranks += m[i].ranks;
		if (i + 1 == n || strcmp(m[i].host, m[i + 1].host))
			node_max = fmax(node_max, node / node_ranks);
		if (m[i].ranks == 1 && (!ones++ || m[i].outside_s > e->outside_max_s)) {
			e->outside_max_s = m[i].outside_s;
			e->rank_max = profile_rank_shown(p, t->rank);
		}
		all += s_of(e->hybrid ? t->team_useful_ns : t->useful_ns);
		e->threads += e->hybrid ? t->team_threads : m[i].ranks;
		if (m[i].ranks == 1)
			e->useful_max_s = fmax(
				e->useful_max_s, s_of(e->hybrid ? t->team_most_ns : t->useful_ns));
	}
	e->outside_s = sum / e->ranks;
	e->all_useful_s = all;
	e->useful_s = all / e->threads;
	e->in_nodes = node_max / e->outside_max_s;
	e->between_nodes = e->outside_s / node_max;
}

static void make_factors(struct efficiency *e)
{
	e->parallel = e->useful_s / e->window_s;
	e->load_balance = e->outside_s / e->outside_max_s;
	e->communication = e->outside_max_s / e->window_s;
	e->openmp = e->openmp_balance = e->openmp_communication = NAN;
	if (!e->hybrid)
		return;
	e->openmp = e->parallel / (e->outside_s / e->window_s);
	e->openmp_balance = e->useful_s / e->useful_max_s / e->load_balance;
	e->openmp_communication = e->useful_max_s / e->outside_max_s;
}

bool efficiency_of(const struct profile *p, struct efficiency *e)
{
	struct member *m;
	bool is_known;
	size_t n;

	*e = (struct efficiency){.is_job = p->world_size};
	m = members_of(p, e, &n);
	is_known = e->ranks && (p->world_size || e->ranks == 1);
	if (is_known) {
		find_window(e, m, n);
		is_known = e->window_s > 0.0;
	}
	if (is_known) {
		add_up(e, p, m, n);
		make_factors(e);
		if (p->world_size > e->ranks) {
			add_doubt(e, DOUBT_RANKS, 0, p->world_size - e->ranks);
		}
		doubt_jobs(e, profile_other_ranks(p));
	}
	free(m);
	return is_known;
}

struct efficiency_additive efficiency_additive(const struct efficiency *e)
{
	const double node_max_s = e->in_nodes * e->outside_max_s;

	return (struct efficiency_additive){
		.process = e->outside_s / e->window_s,
		.balance = 1.0 - (e->outside_max_s - e->outside_s) / e->window_s,
		.in_nodes = 1.0 - (e->outside_max_s - node_max_s) / e->window_s,
		.between_nodes = 1.0 - (node_max_s - e->outside_s) / e->window_s,
		.communication = e->outside_max_s / e->window_s,
		.thread = e->hybrid ? 1.0 - (e->outside_s - e->useful_s) / e->window_s : NAN,
	};
}

double efficiency_offload(const struct profile *p)
{
	double host = 0.0, gpu = 0.0;

	EACH(const struct profile_rank_time, t, p->rank_times, p->n_rank_times) {
		if (!efficiency_counts(p, t) || !(t->flags & RANK_HAS_GPU))
			continue;
		host += s_of(t->useful_ns) + s_of(t->openmp_wait_ns) + s_of(t->openmp_idle_ns) +
			s_of(t->lock_wait_ns);
		gpu += s_of(t->gpu_wait_ns);
	}
	return host / (host + gpu);
}

double efficiency_scaling(const struct efficiency *e, const struct efficiency *reference, bool weak)
{
	const bool is_known = reference->all_useful_s > 0.0 && e->all_useful_s > 0.0;
	const double work = is_known ? reference->all_useful_s / e->all_useful_s : NAN;

	return weak ? work * e->threads / reference->threads : work;
}

/* ---- words ------------------------------------------------------------------------------- */

char *efficiency_sentence(const struct efficiency *e, enum efficiency_doubt why)
{
	static const struct {
		const char *one, *many; /* behind "rank 3", "rank 3 and 2 more" */
	} of_ranks[DOUBTS] = {
		[DOUBT_WINDOW] = {"was not seen to leave MPI_Init or to enter MPI_Finalize",
			"were not seen to leave MPI_Init or to enter MPI_Finalize"},
		[DOUBT_KILLED] = {"was cut off, and counts until then",
			"were cut off, and count until then"},
		[DOUBT_THREADS] = {"had threads that did other work beyond its window",
			"had threads that did other work beyond their windows"},
		[DOUBT_LOST] = {"has calls that were not recorded",
			"have calls that were not recorded"},
		[DOUBT_PAUSED] = {"was not recorded all the time",
			"were not recorded all the time"},
		[DOUBT_GPU] = {"has threads, whose waits for GPUs count for the first one",
			"have threads, whose waits for GPUs count for the first one"},
		[DOUBT_LOCKS] = {"waited for threads whose work does not count",
			"waited for threads whose work does not count"},
	};
	const uint32_t n = e->doubtful[why], rank = e->doubtful_rank[why];

	if (why == DOUBT_RANKS)
		return xasprintf("the data of %" PRIu32 " %s are missing", n,
			one_or_many(n, "rank", "ranks"));
	if (why == DOUBT_JOBS)
		return xasprintf("%" PRIu32 " %s not count", n,
			one_or_many(
				n, "rank of another MPI job does", "ranks of other MPI jobs do"));
	if (why == DOUBT_CLOCK)
		return xstrdup("the clocks of the nodes were not compared");
	if (!e->is_job)
		return xasprintf("the process %s", of_ranks[why].one);
	if (n == 1)
		return xasprintf("rank %" PRIu32 " %s", rank, of_ranks[why].one);
	return xasprintf(
		"rank %" PRIu32 " and %" PRIu32 " more %s", rank, n - 1, of_ranks[why].many);
}
