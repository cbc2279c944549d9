/* SPDX-License-Identifier: BSD-3-Clause */
/* What iterations were long for, and how well ranks were used in them. */
#include "nodeagent/report/main-loop.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "nodeagent/base/units.h"
#include "nodeagent/base/util.h"
#include "nodeagent/report/columns.h"
#include "nodeagent/report/report.h"

#define CAUSE_PART 0.5 /* of what an iteration took longer: a smaller one is no cause */

/* ---- parts of a step ------------------------------------------------------------------------ */

enum part { MEAN, WAIT, TRANSFER, OFF, WORK, BUSIEST, BY_OFF, MOST, PARTS };

/* Of one iteration, in seconds. */
static double part_of(const struct loop_step *s, enum part part)
{
	switch (part) {
	case MEAN:
		return s->mean;
	case WAIT:
		return s->wait;
	case TRANSFER:
		return fmax(0.0, s->mean * s->mpi - s->wait);
	case OFF:
		return s->off;
	case WORK:
		return fmax(0.0, s->busy - s->off);
	case BUSIEST:
		return s->busiest;
	case BY_OFF:
		return s->by_off;
	default:
		return s->most;
	}
}

ORDER_BY(by_value, double, (*x > *y) - (*x < *y))

struct usual {
	double of[PARTS]; /* medians */
};

/* Of the steps of one kind, or of all. v: room for as many values as there are steps. */
static struct usual usual_of(const struct main_loop *l, bool all, unsigned kind, double *v)
{
	struct usual u;

	for (enum part k = 0; k < PARTS; k++) {
		size_t n = 0;

		for (size_t i = 0; i < l->n_steps; i++)
			if (all || l->steps[i].kind == kind)
				v[n++] = part_of(&l->steps[i], k);
		qsort(v, n, sizeof(*v), by_value);
		u.of[k] = n % 2 ? v[n / 2] : n ? (v[n / 2 - 1] + v[n / 2]) / 2.0 : 0.0;
	}
	return u;
}

static double above_usual(const struct loop_step *s, const struct usual *u, enum part part)
{
	return fmax(0.0, part_of(s, part) - u->of[part]);
}

/* What is above the median of a step is due to those of its parts that are, in their proportion. */
static void divide_excess(struct main_loop *l, const struct usual *u)
{
	struct loop_excess *to = &l->parts;
	double all = 0.0;

	EACH(const struct loop_step, s, l->steps, l->n_steps) {
		const double wait = above_usual(s, u, WAIT), transfer = above_usual(s, u, TRANSFER),
			     off = above_usual(s, u, OFF), work = above_usual(s, u, WORK),
			     sum = wait + transfer + off + work,
			     each = sum > 0.0 ? above_usual(s, u, MEAN) * (double)s->n / sum : 0.0;

		to->wait += each * wait;
		to->transfer += each * transfer;
		to->off += each * off;
		to->work += each * work;
		all += each * sum;
	}
	if (all <= 0.0)
		return;
	to->wait /= all;
	to->transfer /= all;
	to->off /= all;
	to->work /= all;
}

/* ---- causes --------------------------------------------------------------------------------- */

/* The rank with most time outside of MPI comes first: for it the others wait. */
static void find_cause(struct loop_step *s, const struct usual *u)
{
	const double least = CAUSE_PART * above_usual(s, u, MOST),
		     busiest = above_usual(s, u, BUSIEST), off = above_usual(s, u, BY_OFF),
		     transfer = above_usual(s, u, TRANSFER), wait = above_usual(s, u, WAIT);

	s->cause = busiest > least    ? off > CAUSE_PART * busiest ? LOOP_OFF_CPU : LOOP_WORK
		   : transfer > least ? LOOP_TRANSFER
		   : wait > least     ? LOOP_WAIT
				      : LOOP_UNKNOWN;
	s->cause_s = s->cause == LOOP_OFF_CPU	 ? off
		     : s->cause == LOOP_WORK	 ? busiest
		     : s->cause == LOOP_TRANSFER ? transfer
		     : s->cause == LOOP_WAIT	 ? wait
						 : 0.0;
}

static const char *const cause_names[LOOP_CAUSES] = {
	[LOOP_UNKNOWN] = "unknown",
	[LOOP_WORK] = "work",
	[LOOP_OFF_CPU] = "off_cpu",
	[LOOP_WAIT] = "wait",
	[LOOP_TRANSFER] = "transfer",
};

const char *loop_cause_name(enum loop_cause cause)
{
	return cause_names[cause];
}

static char *text_of_work(const struct report *r, const struct loop_step *s)
{
	const struct quantity longer = quantity_seconds(s->cause_s);
	char *in = s->stack ? report_short_path(r, s->stack - 1, 1, COLUMN_NAME) : NULL;
	char *text = xasprintf("rank %" PRIu32 " worked %s longer%s%s", s->by, longer.text,
		in ? " in " : "", in ?: "");

	free(in);
	return text;
}

/* A thread that sleeps needs another remedy than one that has to wait for a CPU. */
static char *text_of_off(const struct report *r, const struct loop_step *s)
{
	const bool slept = s->by_asleep > s->by_queued, queued = !slept && s->by_queued > 0.0;
	const double off = slept ? s->by_asleep : queued ? s->by_queued : s->by_off;
	char *in = s->stack ? report_short_path(r, s->stack - 1, 1, COLUMN_NAME) : NULL;
	char *text = xasprintf("rank %" PRIu32 " %s %.0f %%%s%s", s->by,
		slept	 ? "slept or was blocked"
		: queued ? "waited for a CPU"
			 : "was not running",
		s->most > 0.0 ? 100.0 * fmin(1.0, off / s->most) : 0.0, in ? " in " : "", in ?: "");

	free(in);
	return text;
}

char *loop_cause_text(const struct report *r, const struct main_loop *l, const struct loop_step *s)
{
	switch (s->cause) {
	case LOOP_WORK:
		return text_of_work(r, s);
	case LOOP_OFF_CPU:
		return text_of_off(r, s);
	case LOOP_WAIT:
		return xasprintf("waits %s longer", quantity_seconds(s->cause_s).text);
	case LOOP_TRANSFER:
		return xasprintf("in MPI%s %s longer", l->has_waits ? ", not for a late rank," : "",
			quantity_seconds(s->cause_s).text);
	default:
		return NULL;
	}
}

/* ---- efficiencies --------------------------------------------------------------------------- */

struct times {
	double busy, busiest, all;
};

static void add_times(struct times *t, const struct loop_step *s)
{
	t->busy += s->busy * (double)s->n;
	t->busiest += s->busiest * (double)s->n;
	t->all += fmax(s->mean, s->busiest) * (double)s->n;
}

static struct loop_efficiency efficiency_of(const struct times *t)
{
	return (struct loop_efficiency){.parallel = t->all > 0.0 ? t->busy / t->all : 1.0,
		.balance = t->busiest > 0.0 ? t->busy / t->busiest : 1.0,
		.communication = t->all > 0.0 ? t->busiest / t->all : 1.0};
}

static void find_efficiencies(struct main_loop *l)
{
	struct times all = {.busy = 0.0}, of[LOOP_KINDS] = {{.busy = 0.0}};

	EACH(struct loop_step, s, l->steps, l->n_steps) {
		struct times own = {.busy = 0.0};

		add_times(&own, s);
		add_times(&of[s->kind], s);
		add_times(&all, s);
		s->efficiency = efficiency_of(&own);
	}
	for (unsigned i = 0; i < l->n_kinds; i++)
		l->kinds[i].efficiency = efficiency_of(&of[i]);
	l->efficiency = efficiency_of(&all);
}

void main_loop_explain(struct main_loop *l)
{
	double *v = xcalloc(l->n_steps + 1, sizeof(*v));
	struct usual of[LOOP_KINDS], all = usual_of(l, true, 0, v);

	for (unsigned i = 0; i < l->n_kinds; i++)
		of[i] = loop_kind_is_usual(l, &l->kinds[i]) ? usual_of(l, false, i, v) : all;
	find_efficiencies(l);
	divide_excess(l, &all);
	for (size_t i = 0; i < l->n_slow; i++) {
		struct loop_step *s = &l->steps[l->slow[i]];

		find_cause(s, &of[s->kind]);
	}
	free(v);
}
