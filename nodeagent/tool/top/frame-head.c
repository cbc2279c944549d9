/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Each line is made of parts, which have a long and a brief form. The table says which of them
 * give way first where there is no room for all.
 */
#include "nodeagent/tool/top/frame-head.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include "nodeagent/base/table.h"
#include "nodeagent/base/units.h"
#include "nodeagent/base/util.h"
#include "nodeagent/live/view.h"
#include "nodeagent/tool/top/frame-tables.h"
#include "nodeagent/tool/top/shares.h"
#include "nodeagent/tool/top/viewer.h"

#define PROGRAM_BRIEF 16 /* columns */
#define STEPS_BRIEF   20
#define BETWEEN	      "  "
#define ONE	      UINT_MAX

struct head {
	const struct viewer *w;
	const struct live_view *v;
	const struct head_wish *wish;
};

/* A part that is one expression of h and brief. */
#define SAY(name, text)                                                                            \
	static char *name(const struct head *h, bool brief)                                        \
	{                                                                                          \
		return text;                                                                       \
	}

/* ---- what runs ----------------------------------------------------------------------------- */

SAY(say_tool, xstrdup("vftr top"))

static char *say_program(const struct head *h, bool brief)
{
	const char *name = h->v->program;

	return name[0] ? text_short(name, brief ? PROGRAM_BRIEF : LIVE_HOST_BYTES) : NULL;
}

SAY(say_job, h->v->job[0] ? xasprintf("job %s", h->v->job) : NULL)
SAY(say_session, strcmp(h->w->session, h->v->job) ? xasprintf("session %s", h->w->session) : NULL)

static char *say_elapsed(const struct head *h, bool brief)
{
	const uint64_t s = h->v->elapsed / 1000000000;

	return xasprintf(
		"%02" PRIu64 ":%02u:%02u", s / 3600, (unsigned)(s / 60 % 60), (unsigned)(s % 60));
}

static char *say_nodes(const struct head *h, bool brief)
{
	const uint32_t seen = h->v->n_all, all = h->w->agents;

	if (brief && seen == all)
		return xasprintf("%" PRIu32 " %s", all, one_or_many(all, "node", "nodes"));
	return xasprintf("%" PRIu32 "%s%" PRIu32 " %s", seen, brief ? "/" : " of ", all,
		one_or_many(all, "node", "nodes"));
}

static char *say_ranks(const struct head *h, bool brief)
{
	const uint32_t n = h->v->ranked;

	return n ? xasprintf("%" PRIu32 " %s", n, one_or_many(n, "rank", "ranks")) : NULL;
}

static char *say_processes(const struct head *h, bool brief)
{
	const uint32_t n = h->v->processes;

	return n == h->v->ranked && n
		       ? NULL
		       : xasprintf("%" PRIu32 " %s", n, one_or_many(n, "process", "processes"));
}

SAY(say_threads,
	xasprintf("%" PRIu32 " %s", h->v->threads, one_or_many(h->v->threads, "thread", "threads")))

static char *say_cost(const struct head *h, bool brief)
{
	const double cost = cost_percent(h->v);

	return isnan(cost) ? xstrdup("tracing ----") : xasprintf("tracing %.1f %%", cost);
}

SAY(say_held, h->wish->held ? xstrdup("held") : NULL)

/* All recording, by the user. */
static char *say_paused(const struct head *h, bool brief)
{
	const struct live_off *o = off_named(h->v, "");

	if (!o)
		return NULL;
	return brief ? xstrdup("paused")
		     : xasprintf("recording paused in %" PRIu32 " of %" PRIu32, o->functions,
			       h->v->processes);
}

/* ---- its main loop ------------------------------------------------------------------------- */

SAY(say_step, h->v->loop.n ? xasprintf("step %" PRIu64, h->v->loop.n) : NULL)
SAY(say_loop_rank, h->v->loop.n && h->v->loop.rank != LIVE_NO_RANK
			   ? xasprintf("of rank %" PRIu32, h->v->loop.rank)
			   : NULL)

static char *say_loop_name(const struct head *h, bool brief)
{
	const char *path = h->v->loop.text;
	char *name, *shown;

	if (!h->v->loop.n)
		return NULL;
	name = xasprintf(
		"%s%.*s", h->v->loop.between ? "between " : "", (int)path_name_bytes(path), path);
	shown = text_short(name, brief ? PROGRAM_BRIEF : LIVE_PATH_BYTES);
	free(name);
	return shown;
}

static char *say_step_time(const struct head *h, bool brief)
{
	const struct live_loop *l = &h->v->loop;

	if (!l->n || !l->n_took)
		return NULL;
	return xstrdup(quantity_seconds(1e-9 * (double)l->took[l->n_took - 1]).text);
}

/* From 0 to the longest of them. */
static char *say_steps(const struct head *h, bool brief)
{
	static const char *const bars[] = {
		"\u2581", "\u2582", "\u2583", "\u2584", "\u2585", "\u2586", "\u2587", "\u2588"};
	static const char *const plain[] = {"_", ".", ":", "-", "=", "+", "*", "#"};
	const struct live_loop *l = &h->v->loop;
	const size_t n = brief && l->n_took > STEPS_BRIEF ? STEPS_BRIEF : l->n_took;
	char bar[LIVE_STEPS_MAX * 3 + 1], *end = bar;
	uint64_t most = 1;

	if (!l->n || !n)
		return NULL;
	for (size_t i = l->n_took - n; i < l->n_took; i++)
		most = l->took[i] > most ? l->took[i] : most;
	for (size_t i = l->n_took - n; i < l->n_took; i++) {
		const size_t level = (size_t)(7.5 * (double)l->took[i] / (double)most);

		end = stpcpy(end, h->wish->ascii ? plain[level] : bars[level]);
	}
	return xasprintf("last %zu %s", n, bar);
}

/* ---- efficiency and rates ------------------------------------------------------------------- */

static char *say_efficiency(const struct head *h, bool brief)
{
	const struct live_view *v = h->v;
	const bool known = v->interval && v->processes && v->share_most;
	const double all = v->processes, most = (double)v->share_most;

	if (!known)
		return xstrdup(brief ? "efficiency ----" : "efficiency now ----");
	return xasprintf(brief ? "efficiency %.0f %% (LB %.0f, comm %.0f)"
			       : "efficiency now %.0f %% (load balance %.0f, communication %.0f)",
		1e-4 * (double)v->share / all, 100 * (double)v->share / all / most, 1e-4 * most);
}

static char *say_rate(const struct head *h, const char *what, uint64_t n)
{
	char text[SHORT_BYTES];

	short_count(text, rate_of(n, h->v->interval));
	return xasprintf("%s %s/s", what, text);
}

static char *say_messages(const struct head *h, bool brief)
{
	char n[SHORT_BYTES], bytes[SHORT_BYTES];

	if (!h->v->messages)
		return NULL;
	short_count(n, rate_of(h->v->messages_now, h->v->interval));
	short_count(bytes, rate_of(h->v->bytes_now, h->v->interval));
	return xasprintf(brief ? "msgs %s/s %sB/s" : "messages %s/s  %sB/s", n, bytes);
}

SAY(say_calls, say_rate(h, "calls", h->v->calls_now))
SAY(say_records, say_rate(h, "records", h->v->records))
SAY(say_lost, h->v->lost_calls ? xasprintf("lost %" PRIu64, h->v->lost_calls) : NULL)

/* The share of a CPU that the agents' looks take, on the node where it is most. */
static char *say_looks(const struct head *h, bool brief)
{
	const struct live_view *v = h->v;
	double most = 0;

	for (size_t i = 0; i < v->n_nodes; i++)
		most = fmax(most, percent_of(v->nodes[i].look, v->nodes[i].interval));
	return xasprintf("looks %.1f %%", most);
}

/* ---- shares ---------------------------------------------------------------------------------- */

/* What is nothing gives way first. */
static char *say_share(const struct head *h, bool brief, const char *what, uint64_t ns)
{
	const double percent = percent_of(ns, thread_time(h->v->classes));

	return brief && percent < 0.5 ? NULL : xasprintf("%s %.0f %%", what, percent);
}

SAY(say_useful, say_share(h, false, "useful", h->v->classes[LIVE_USEFUL]))

static char *say_mpi(const struct head *h, bool brief)
{
	const uint64_t *of = h->v->classes, all = thread_time(of);

	return xasprintf(brief ? "MPI %.0f %% (wait %.0f)" : "MPI %.0f %% (waiting %.0f)",
		percent_of(of[LIVE_MPI], all), percent_of(of[LIVE_MPI_WAIT], all));
}

SAY(say_openmp, say_share(h, brief, "OpenMP",
			h->v->classes[LIVE_OPENMP_WAIT] + h->v->classes[LIVE_OPENMP_IDLE]))
SAY(say_io, say_share(h, brief, "I/O", h->v->classes[LIVE_IO]))
SAY(say_locks, h->v->classes[LIVE_LOCK_WAIT]
		       ? say_share(h, brief, "lock wait", h->v->classes[LIVE_LOCK_WAIT])
		       : NULL)
SAY(say_gpu, say_share(h, brief, "GPU wait", h->v->classes[LIVE_GPU_WAIT]))

/* Lies in the others. */
SAY(say_off_cpu, say_share(h, brief, "of all this off CPU", h->v->classes[LIVE_OFF_CPU]))

/* ---- the ranks that work most ---------------------------------------------------------------- */

static char *say_rank(const struct head *h, size_t i, bool brief)
{
	const struct live_rank *r = &h->v->ranks[i];
	char number[16] = "-";

	if (i >= h->v->n_ranks)
		return NULL;
	if (r->rank != LIVE_NO_RANK)
		snprintf(number, sizeof(number), "%" PRIu32, r->rank);
	return xasprintf("%srank %s on %s %.0f %%",
		i	? ""
		: brief ? "most useful: "
			: "most useful time: ",
		number, host_of(h->v, r->agent) ?: "?", percent_of(r->first_useful, r->interval));
}

SAY(say_first, say_rank(h, 0, brief))
SAY(say_second, say_rank(h, 1, brief))
SAY(say_third, say_rank(h, 2, brief))

/* ---- the table ------------------------------------------------------------------------------- */

/* The lower number gives way first. */
static const struct part {
	enum head_line line;
	char *(*say)(const struct head *h, bool brief); /* NULL: nothing */
	unsigned brief, out;				/* ONE: it has one form */
} parts[] = {
	{HEAD_JOB, say_tool, ONE, 1},
	{HEAD_JOB, say_program, 6, 11},
	{HEAD_JOB, say_job, ONE, 7},
	{HEAD_JOB, say_session, ONE, 3},
	{HEAD_JOB, say_elapsed, ONE, 9},
	{HEAD_JOB, say_nodes, 4, 8},
	{HEAD_JOB, say_ranks, ONE, 10},
	{HEAD_JOB, say_processes, ONE, 5},
	{HEAD_JOB, say_threads, ONE, 2},
	{HEAD_JOB, say_cost, ONE, 12},
	{HEAD_JOB, say_paused, 1, 13},
	{HEAD_JOB, say_held, ONE, 13},
	{HEAD_LOOP, say_step, ONE, 7},
	{HEAD_LOOP, say_loop_rank, ONE, 2},
	{HEAD_LOOP, say_loop_name, 3, 5},
	{HEAD_LOOP, say_step_time, ONE, 6},
	{HEAD_LOOP, say_steps, 1, 4},
	{HEAD_EFFICIENCY, say_efficiency, 3, 8},
	{HEAD_EFFICIENCY, say_calls, ONE, 4},
	{HEAD_EFFICIENCY, say_records, ONE, 1},
	{HEAD_EFFICIENCY, say_messages, 5, 6},
	{HEAD_EFFICIENCY, say_lost, ONE, 7},
	{HEAD_EFFICIENCY, say_looks, ONE, 2},
	{HEAD_SHARES, say_useful, ONE, 12},
	{HEAD_SHARES, say_mpi, 6, 11},
	{HEAD_SHARES, say_openmp, 1, 8},
	{HEAD_SHARES, say_io, 2, 9},
	{HEAD_SHARES, say_locks, 2, 9},
	{HEAD_SHARES, say_gpu, 3, 10},
	{HEAD_SHARES, say_off_cpu, 4, 7},
	{HEAD_MOST, say_first, 3, 4},
	{HEAD_MOST, say_second, ONE, 2},
	{HEAD_MOST, say_third, ONE, 1},
};

#define PRESSURE_MOST 14

/* All parts of the line that have not given way. */
static char *join_parts(enum head_line line, const struct head *h, unsigned pressure)
{
	char *text = NULL;

	EACH(const struct part, p, parts, ARRAY_SIZE(parts)) {
		char *more;

		if (p->line != line || p->out <= pressure)
			continue;
		more = p->say(h, p->brief <= pressure);
		if (!more)
			continue;
		text = xappend(text, "%s%s", text ? BETWEEN : "", more);
		free(more);
	}
	return text;
}

char *frame_head_text(enum head_line line, const struct viewer *w, const struct live_view *v,
	const struct head_wish *wish)
{
	const struct head h = {w, v, wish};
	char *text = join_parts(line, &h, 0);

	for (unsigned pressure = 1; text && wish->width && pressure < PRESSURE_MOST; pressure++) {
		char *less;

		if (text_columns(text) <= wish->width)
			break;
		less = join_parts(line, &h, pressure);
		if (!less)
			break;
		free(text);
		text = less;
	}
	return text;
}
