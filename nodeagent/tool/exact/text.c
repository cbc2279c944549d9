/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "nodeagent/base/table.h"
#include "nodeagent/base/util.h"
#include "nodeagent/tool/exact/exact.h"

#define PATH_COLUMNS 60

static double percent_of(double part, double all)
{
	return all > 0.0 ? 100.0 * part / all : 0.0;
}

static void put_path(const struct exact *x, struct table *t, uint32_t path)
{
	char *text = paths_text(x->run->paths, path);

	table_text(t, text);
	free(text);
}

static void column_of_paths(struct table *t, const char *title)
{
	table_column(t, title, TABLE_LEFT);
	table_most(t, PATH_COLUMNS, TEXT_BOTH_ENDS);
}

static void put_rank(const struct exact *x, struct table *t, uint32_t line)
{
	const struct causal_rank *rank = &x->run->ranks[line];

	table_uint(t, (uint64_t)rank->number);
	table_text(t, rank->host ? rank->host : "");
}

static void tell_rest(size_t n, size_t shown, double ns)
{
	if (n > shown)
		printf("And %zu %s with %.3f s.\n", n - shown,
			one_or_many(n - shown, "row", "rows"), 1e-9 * ns);
}

static size_t shown_of(const struct exact_request *r, size_t n)
{
	return r->most && n > r->most ? r->most : n;
}

/* ---- the critical path ------------------------------------------------------------------------
 */

static void print_efficiency(const struct exact *x)
{
	const struct exact_efficiency e = exact_efficiency(x);
	const double lock_wait = causal_totals(x->run->c)->lock_wait;
	char *doubts = exact_doubts(x);

	printf("%s: %" PRIu32 ", window %.6f s; without the time of messages it would be %.6f "
	       "s\n",
		x->run->without_mpi ? "Processes" : "Ranks", causal_totals(x->run->c)->lines,
		e.window_s, e.ideal_s);
	if (isfinite(e.load_balance) && exact_has_factors(x))
		printf("%s efficiency %.1f %% = load balance %.1f %% x serialisation %.1f %% "
		       "x transfer %.1f %%\n",
			exact_has_openmp(x) ? "MPI parallel" : "Parallel", 100.0 * e.parallel,
			100.0 * e.load_balance, 100.0 * e.serialisation, 100.0 * e.transfer);
	if (lock_wait > 0)
		printf("%s waited for locks and threads for %.6f s.\n",
			x->run->without_mpi ? "Their first threads" : "Ranks", 1e-9 * lock_wait);
	if (doubts)
		printf("Estimated: %s.\n", doubts);
	free(doubts);
}

static void print_path(const struct exact *x, const struct exact_request *r)
{
	const struct causal_totals *totals = causal_totals(x->run->c);
	const double all = (double)(totals->end - totals->begin);
	size_t n, shown;
	const struct causal_row *rows = causal_rows(x->run->c, CAUSAL_PATH, &n);
	struct table *t = table_new(TABLE_FRAMED);
	double rest = 0;

	printf("\nCritical path: where the time of the window went\n");
	table_column(t, "t[s]", TABLE_RIGHT);
	table_column(t, "%", TABLE_RIGHT);
	table_column(t, "Rank", TABLE_RIGHT);
	table_column(t, "Node", TABLE_LEFT);
	column_of_paths(t, "Call Path");
	shown = shown_of(r, n);
	for (size_t i = 0; i < n; i++) {
		if (i >= shown) {
			rest += rows[i].ns;
			continue;
		}
		table_real(t, 0, 6, 1e-9 * rows[i].ns);
		table_real(t, 0, 1, percent_of(rows[i].ns, all));
		put_rank(x, t, rows[i].line);
		put_path(x, t, rows[i].path);
	}
	table_print(t, stdout);
	table_free(t);
	tell_rest(n, shown, rest);
}

/* ---- waits --------------------------------------------------------------------------------------
 */

/* "solve<step": functions of one name are told apart by their caller. */
static char *with_caller(const struct paths *p, uint32_t path)
{
	const uint32_t caller = path ? paths_caller(p, path) : 0;

	return xasprintf("%s%s%s", paths_function(p, path), caller ? "<" : "",
		caller ? paths_function(p, caller) : "");
}

/* "rank 3", "thread 3.1", "rank 3 in solve<step" */
static char *late_one(const struct exact *x, enum causal_rows which, const struct causal_row *row)
{
	const int rank = x->run->ranks[row->line].number;
	char *where, *text;

	if (which == CAUSAL_THREAD_LATE)
		return xasprintf("thread %d.%" PRIu32, rank, row->other);
	if (row->other == CAUSAL_NONE)
		return xasprintf("rank %d", rank);
	where = with_caller(x->run->paths, row->other);
	text = xasprintf("rank %d in %s", rank, where);
	free(where);
	return text;
}

/* "rank 3 41 %": the first row of a kind and path. */
static char *main_row(const struct exact *x, enum causal_rows which, const struct exact_wait *w)
{
	size_t n;
	const struct causal_row *rows = causal_rows(x->run->c, which, &n);

	for (size_t i = 0; i < n; i++) {
		char *late, *text;

		if (rows[i].kind != w->kind || rows[i].path != w->path)
			continue;
		late = late_one(x, which, &rows[i]);
		text = xasprintf("%s %.0f %%", late, percent_of(rows[i].ns, w->ns));
		free(late);
		return text;
	}
	return xstrdup("");
}

/* far: clocks of several nodes have errors */
static void put_wait(const struct exact *x, struct table *t, const struct exact_wait *w,
	bool all_ranks, bool far)
{
	const struct causal_totals *totals = causal_totals(x->run->c);
	const bool threads = wait_is_of_threads(w->kind);
	char *late = all_ranks ? main_row(x, threads ? CAUSAL_THREAD_LATE : CAUSAL_LATE, w)
			       : xstrdup("");
	char *cause = all_ranks ? main_row(x, threads ? CAUSAL_THREAD_CAUSES : CAUSAL_CAUSES, w)
				: xstrdup("");

	table_text(t, wait_kind_title(w->kind));
	table_real(t, 0, 6, 1e-9 * w->ns);
	if (far)
		table_real(t, 0, 6, 1e-9 * w->error);
	table_real(t, 0, 1, percent_of(w->ns, totals->waits + totals->thread_waits));
	table_uint(t, w->calls);
	table_real(t, 0, 6, 1e-9 * (double)w->longest);
	put_path(x, t, w->path);
	if (all_ranks) {
		table_text(t, late);
		table_text(t, cause);
	}
	free(late);
	free(cause);
}

static struct table *table_of_waits(bool all_ranks, bool far)
{
	struct table *t = table_new(TABLE_FRAMED);

	table_column(t, "Kind", TABLE_LEFT);
	table_column(t, "t[s]", TABLE_RIGHT);
	if (far)
		table_column(t, "+-[s]", TABLE_RIGHT);
	table_column(t, "%", TABLE_RIGHT);
	table_column(t, "Calls", TABLE_RIGHT);
	table_column(t, "Longest[s]", TABLE_RIGHT);
	column_of_paths(t, "Waited in");
	if (all_ranks) {
		table_column(t, "Most For", TABLE_LEFT);
		table_column(t, "Most Because of", TABLE_LEFT);
	}
	return t;
}

static void print_waits(const struct exact *x, const struct exact_request *r)
{
	const struct causal_totals *totals = causal_totals(x->run->c);
	size_t n, shown;
	struct exact_wait *waits = exact_waits(x, r, &n);
	struct table *t;
	double rest = 0, error = 0;

	putchar('\n');
	if (totals->mpi > 0 || !(totals->thread_waits > 0))
		printf("Waits: %.6f of %.6f s in MPI (%.1f %%)\n", 1e-9 * totals->waits,
			1e-9 * totals->mpi, percent_of(totals->waits, totals->mpi));
	if (totals->thread_waits > 0)
		printf("Threads waited for threads that had a lock, or what is like it: %.6f s\n",
			1e-9 * totals->thread_waits);
	if (totals->unresolved)
		printf("Not counted: %" PRIu64 " of %.6f s, each shorter than the error of the "
		       "clocks\n",
			totals->unresolved, 1e-9 * totals->unresolved_ns);
	for (size_t i = 0; i < n; i++)
		error += waits[i].error;
	t = table_of_waits(r->rank<0, error> 0);
	shown = shown_of(r, n);
	for (size_t i = 0; i < n; i++)
		if (i < shown)
			put_wait(x, t, &waits[i], r->rank<0, error> 0);
		else
			rest += waits[i].ns;
	table_print(t, stdout);
	table_free(t);
	tell_rest(n, shown, rest);
	free(waits);
}

static void print_costs(const struct exact *x, const struct exact_request *r)
{
	const double all = causal_totals(x->run->c)->waits;
	size_t n, shown;
	const struct causal_row *rows = causal_rows(x->run->c, CAUSAL_COSTS, &n);
	struct table *t = table_new(TABLE_FRAMED);
	double rest = 0, *means = exact_means(x);

	if (!n && causal_totals(x->run->c)->thread_waits > 0) { /* that is told by these */
		table_free(t);
		free(means);
		return;
	}
	printf("\nWho made others wait: waits of all that go back to what a rank did\n");
	table_column(t, "Cost[s]", TABLE_RIGHT);
	table_column(t, "%", TABLE_RIGHT);
	table_column(t, "Direct[s]", TABLE_RIGHT);
	table_column(t, "Own[s]", TABLE_RIGHT);
	table_column(t, "Rank", TABLE_RIGHT);
	table_column(t, "Node", TABLE_LEFT);
	column_of_paths(t, "Call Path");
	shown = shown_of(r, n);
	for (size_t i = 0; i < n; i++) {
		if (i >= shown) {
			rest += rows[i].ns;
			continue;
		}
		table_real(t, 0, 6, 1e-9 * rows[i].ns);
		table_real(t, 0, 1, percent_of(rows[i].ns, all));
		table_real(t, 0, 6, 1e-9 * rows[i].direct);
		table_real(t, 0, 6, 1e-9 * exact_excess(x, means, rows[i].path, rows[i].line));
		put_rank(x, t, rows[i].line);
		put_path(x, t, rows[i].path);
	}
	table_print(t, stdout);
	table_free(t);
	tell_rest(n, shown, rest);
	free(means);
}

void exact_print(const struct exact *x, const struct exact_request *r)
{
	print_efficiency(x);
	if (r->path)
		print_path(x, r);
	if (!r->waits)
		return;
	print_waits(x, r);
	print_costs(x, r);
}
