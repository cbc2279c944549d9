/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/report/main-loop.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "nodeagent/base/util.h"
#include "nodeagent/profile/profile.h"

#define KINDS_APART  1.3 /* durations of two kinds differ by more than this factor */
#define KIND_STEPS   3
#define KIND_PART    12 /* of the steps, where they come at no regular distance */
#define SLOW_MADS    8.0
#define SLOW_LEAST_S 1e-3
#define TREND_STEPS  9 /* fewer have none */
#define IN_NS	     1e-9

/* ---- which loop -------------------------------------------------------------------------- */

struct choice {
	uint32_t stack, ranks;
	uint32_t chosen; /* by so many of them */
	unsigned depth;
	uint64_t ns;
	uint32_t log2; /* the greatest of its rows */
};

static unsigned depth_of(const struct profile *p, uint32_t stack)
{
	unsigned depth = 0;

	for (; stack < p->n_stacks && depth <= p->n_stacks; stack = p->stacks[stack].parent)
		depth++;
	return depth;
}

/* On most ranks, chosen by most, then the shallowest, then that with most time. */
static bool is_better(const struct choice *a, const struct choice *b)
{
	if (a->ranks != b->ranks)
		return a->ranks > b->ranks;
	if (a->chosen != b->chosen)
		return a->chosen > b->chosen;
	return a->depth != b->depth ? a->depth < b->depth : a->ns > b->ns;
}

/* The rows of one stack from i on; returns their end. */
static size_t read_choice(const struct profile *p, size_t i, struct choice *c)
{
	const uint32_t stack = p->iterations[i].stack;

	*c = (struct choice){.stack = stack, .depth = depth_of(p, stack)};
	for (; i < p->n_iterations && p->iterations[i].stack == stack; i++) {
		const struct profile_iteration *q = &p->iterations[i];

		c->ns += q->ns;
		c->ranks = MAX(c->ranks, q->ranks);
		c->chosen = MAX(c->chosen, q->ranks - q->others);
		c->log2 = MAX(c->log2, q->log2);
	}
	return i;
}

/* ---- its steps --------------------------------------------------------------------------- */

/* What the rows of one step add up to. */
struct sums {
	uint64_t calls, ns, mpi_ns, least_ns, most_ns, most_at, busy_ns;
	uint64_t wait_ns, off_ns, busy_off_ns, busy_queued_ns, busy_asleep_ns;
	uint32_t ranks, most_rank, busy_rank, busy_stack;
};

static void add_row(struct sums *s, const struct profile_iteration *q)
{
	if (!s->calls || q->least_ns < s->least_ns)
		s->least_ns = q->least_ns;
	if (!s->calls || q->most_ns > s->most_ns) {
		s->most_ns = q->most_ns;
		s->most_at = q->most_at;
		s->most_rank = q->most_rank;
	}
	if (!s->calls || q->busy_ns > s->busy_ns) {
		s->busy_ns = q->busy_ns;
		s->busy_rank = q->busy_rank;
		s->busy_off_ns = q->busy_off_ns;
		s->busy_queued_ns = q->busy_queued_ns;
		s->busy_asleep_ns = q->busy_asleep_ns;
		s->busy_stack = q->busy_stack;
	}
	s->ranks = MAX(s->ranks, q->ranks);
	s->calls += q->calls;
	s->ns += q->ns;
	s->mpi_ns += q->mpi_ns;
	s->wait_ns += q->wait_ns;
	s->off_ns += q->off_ns;
}

static struct loop_step step_of(const struct profile *p, const struct sums *s, uint64_t first)
{
	const double calls = (double)s->calls, each = calls / s->ranks;

	return (struct loop_step){.first = first,
		.n = (s->calls + s->ranks - 1) / s->ranks,
		.ranks = s->ranks,
		.mean = IN_NS * (double)s->ns / calls,
		.least = IN_NS * (double)s->least_ns,
		.most = IN_NS * (double)s->most_ns,
		.at = s->most_at,
		.rank = profile_rank_shown(p, s->most_rank),
		.mpi = s->ns ? (double)s->mpi_ns / (double)s->ns : 0.0,
		.busy = IN_NS * (double)(s->ns - s->mpi_ns) / calls,
		.busiest = IN_NS * (double)s->busy_ns / each,
		.by = profile_rank_shown(p, s->busy_rank),
		.wait = IN_NS * (double)s->wait_ns / calls,
		.off = IN_NS * (double)s->off_ns / calls,
		.by_off = IN_NS * (double)s->busy_off_ns / each,
		.by_queued = IN_NS * (double)s->busy_queued_ns / each,
		.by_asleep = IN_NS * (double)s->busy_asleep_ns / each,
		.stack = s->busy_stack};
}

/* Rows of ranks that took fewer calls together are added to the runs of the others. */
static void read_steps(const struct profile *p, const struct choice *c, struct main_loop *l)
{
	const size_t runs = (size_t)1 << 24;
	struct sums *s = NULL;
	size_t cap = 0, n = 0;

	EACH(const struct profile_iteration, q, p->iterations, p->n_iterations) {
		uint64_t run;

		if (q->stack != c->stack)
			continue;
		run = q->run >> (c->log2 - q->log2);
		if (run >= runs)
			continue;
		while (cap <= run) {
			s = xrealloc(s, (cap ? 2 * cap : 64) * sizeof(*s));
			memset(s + cap, 0, (cap ? cap : 64) * sizeof(*s));
			cap = cap ? 2 * cap : 64;
		}
		add_row(&s[run], q);
		if (run >= n)
			n = run + 1;
	}
	l->steps = xcalloc(n + 1, sizeof(*l->steps));
	for (size_t i = 0; i < n; i++)
		if (s[i].calls) {
			l->steps[l->n_steps++] = step_of(p, &s[i], (uint64_t)i << c->log2);
			l->sum += IN_NS * (double)s[i].ns;
			l->mpi += IN_NS * (double)s[i].mpi_ns;
		}
	free(s);
}

/* ---- numbers ----------------------------------------------------------------------------- */

ORDER_BY(by_value, double, (*x > *y) - (*x < *y))

/* Of sorted values; part: 0.5 is the median. */
static double quantile(const double *v, size_t n, double part)
{
	const double at = part * (double)(n - 1);
	const size_t i = (size_t)at;

	return i + 1 < n ? v[i] + (at - (double)i) * (v[i + 1] - v[i]) : v[n - 1];
}

static double median_of(double *v, size_t n)
{
	qsort(v, n, sizeof(*v), by_value);
	return quantile(v, n, 0.5);
}

static double median_between(const struct main_loop *l, size_t from, size_t to, double *v)
{
	for (size_t i = from; i < to; i++)
		v[i - from] = l->steps[i].mean;
	return median_of(v, to - from);
}

/* The median of the last third against that of the first one. */
static void find_growth(struct main_loop *l, double *v)
{
	const size_t third = l->n_steps / 3;
	double apart;

	if (l->n_steps < TREND_STEPS || l->median <= 0.0)
		return;
	l->growth = median_between(l, l->n_steps - third, l->n_steps, v) -
		    median_between(l, 0, third, v);
	apart = (double)(l->steps[l->n_steps - third].first - l->steps[0].first);
	l->trend = 100.0 / apart * l->growth / l->median;
}

/* ---- kinds ------------------------------------------------------------------------------- */

/* Borders between kinds: the greatest of what is more than KINDS_APART. v: sorted. */
static unsigned find_borders(const double *v, size_t n, double *border)
{
	double apart[LOOP_KINDS - 1];
	unsigned found = 0;

	for (size_t i = 1; i < n; i++) {
		const double factor = v[i - 1] > 0.0 ? v[i] / v[i - 1] : 1.0;
		unsigned k = found;

		if (factor <= KINDS_APART || (k == LOOP_KINDS - 1 && factor <= apart[k - 1]))
			continue;
		k = found < LOOP_KINDS - 1 ? found++ : found - 1;
		for (; k && apart[k - 1] < factor; k--) {
			apart[k] = apart[k - 1];
			border[k] = border[k - 1];
		}
		apart[k] = factor;
		border[k] = v[i];
	}
	qsort(border, found, sizeof(*border), by_value);
	return found;
}

static struct loop_kind kind_of(const struct main_loop *l, unsigned kind, double *v)
{
	struct loop_kind k = {.n = 0};
	uint64_t last = 0;
	bool regular = true;

	EACH(const struct loop_step, s, l->steps, l->n_steps) {
		if (s->kind != kind)
			continue;
		v[k.n] = s->mean;
		if (!k.n)
			k.first = s->first;
		else if (k.n == 1)
			k.every = s->first - last;
		else
			regular = regular && s->first - last == k.every;
		last = s->first;
		k.n++;
	}
	k.median = median_of(v, k.n);
	if (!regular || k.n < 3)
		k.every = 0;
	return k;
}

static void find_kinds(struct main_loop *l, const double *sorted, double *v)
{
	double border[LOOP_KINDS - 1];
	unsigned order[LOOP_KINDS], n = find_borders(sorted, l->n_steps, border);

	for (size_t i = 0; i < l->n_steps; i++)
		while (l->steps[i].kind < n && l->steps[i].mean >= border[l->steps[i].kind])
			l->steps[i].kind++;
	for (unsigned i = 0; i <= n; i++) {
		struct loop_kind k = kind_of(l, i, v);
		unsigned at = l->n_kinds++;

		for (; at && l->kinds[at - 1].n < k.n; at--) {
			l->kinds[at] = l->kinds[at - 1];
			order[at] = order[at - 1];
		}
		l->kinds[at] = k;
		order[at] = i;
	}
	for (size_t i = 0; i < l->n_steps; i++) {
		unsigned at = 0;

		while (order[at] != l->steps[i].kind)
			at++;
		l->steps[i].kind = at;
	}
}

/* ---- slow iterations ----------------------------------------------------------------------- */

/* Of the longest calls of the steps of one kind, or of all: what is usual. */
struct usual {
	double median, mad;
};

static struct usual usual_of(const struct main_loop *l, bool all, unsigned kind, double *v)
{
	struct usual u;
	size_t n = 0;

	for (size_t i = 0; i < l->n_steps; i++)
		if (all || l->steps[i].kind == kind)
			v[n++] = l->steps[i].most;
	u.median = median_of(v, n);
	for (size_t i = 0; i < n; i++)
		v[i] = fabs(v[i] - u.median);
	u.mad = median_of(v, n);
	return u;
}

static bool is_slow(const struct loop_step *s, const struct usual *u)
{
	const double above = s->most - u->median;

	return above > SLOW_LEAST_S && above > SLOW_MADS * u->mad;
}

/* A kind of few steps is none: these are compared with all. */
static void find_slow(struct main_loop *l, double *v)
{
	struct usual of[LOOP_KINDS];

	for (unsigned i = 0; i < l->n_kinds; i++)
		of[i] = usual_of(l, !loop_kind_is_usual(l, &l->kinds[i]), i, v);
	l->slow = xcalloc(l->n_steps + 1, sizeof(*l->slow));
	for (size_t i = 0; i < l->n_steps; i++) {
		size_t k = l->n_slow;

		if (!is_slow(&l->steps[i], &of[l->steps[i].kind]))
			continue;
		for (; k && l->steps[l->slow[k - 1]].most < l->steps[i].most; k--)
			l->slow[k] = l->slow[k - 1];
		l->slow[k] = i;
		l->n_slow++;
	}
}

/* ------------------------------------------------------------------------------------------ */

static void measure_loop(struct main_loop *l)
{
	double *sorted = xcalloc(l->n_steps, sizeof(*sorted));
	double *v = xcalloc(l->n_steps, sizeof(*v));

	l->least = INFINITY;
	for (size_t i = 0; i < l->n_steps; i++) {
		const struct loop_step *s = &l->steps[i];

		sorted[i] = s->mean;
		l->least = fmin(l->least, s->least);
		l->most = fmax(l->most, s->most);
		l->n = MAX(l->n, s->first + s->n);
	}
	l->mpi = l->sum > 0.0 ? l->mpi / l->sum : 0.0;
	l->sum /= l->ranks;
	qsort(sorted, l->n_steps, sizeof(*sorted), by_value);
	l->median = quantile(sorted, l->n_steps, 0.5);
	l->p90 = quantile(sorted, l->n_steps, 0.9);
	l->p99 = quantile(sorted, l->n_steps, 0.99);
	for (size_t i = 0; i < l->n_steps; i++)
		l->excess += fmax(0.0, l->steps[i].mean - l->median) * (double)l->steps[i].n;
	find_growth(l, v);
	find_kinds(l, sorted, v);
	find_slow(l, v);
	main_loop_explain(l);
	free(sorted);
	free(v);
}

bool loop_kind_is_usual(const struct main_loop *l, const struct loop_kind *k)
{
	return k->n >= KIND_STEPS && (k->every || k->n * KIND_PART >= l->n_steps);
}

double loop_usual_s(const struct main_loop *l, const struct loop_step *s)
{
	const struct loop_kind *k = &l->kinds[s->kind];

	return loop_kind_is_usual(l, k) ? k->median : l->median;
}

static bool has_waits(const struct profile *p)
{
	return ANY(i, p->n_rank_times, p->rank_times[i].flags & RANK_HAS_WAITS);
}

/* Its call is nothing that is repeated, but stands between what is. */
static bool is_call_of_mpi(const struct profile *p, uint32_t stack)
{
	return !strncmp(p->names[p->stacks[stack].name], "MPI_", 4);
}

bool main_loop_of(const struct profile *p, struct main_loop *l)
{
	struct choice best = {0}, c;

	for (size_t i = 0; i < p->n_iterations;) {
		i = read_choice(p, i, &c);
		if (c.chosen && (!best.ranks || is_better(&c, &best)))
			best = c;
	}
	if (!best.ranks)
		return false;
	*l = (struct main_loop){.stack = best.stack,
		.ranks = best.ranks,
		.per_step = (uint64_t)1 << best.log2,
		.has_waits = has_waits(p),
		.is_separated = is_call_of_mpi(p, best.stack)};
	read_steps(p, &best, l);
	measure_loop(l);
	return true;
}

void main_loop_done(struct main_loop *l)
{
	free(l->steps);
	free(l->slow);
}
