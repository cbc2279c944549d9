/* SPDX-License-Identifier: BSD-3-Clause */
/* Waits for other ranks or threads: where, and for whom. In the summary of layout run and in JSON.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "nodeagent/base/units.h"
#include "nodeagent/base/wait-kinds.h"
#include "nodeagent/report/delays/delays.h"
#include "nodeagent/report/efficiency.h"
#include "nodeagent/report/log/internal.h"
#include "nodeagent/report/waits.h"

#define PLACES_SHOWN	 10 /* JSON has all */
#define CAUSES_SHOWN	 5
#define LATE_SHOWN	 2 /* ranks or threads in one line */
#define ACTIVITY_COLUMNS 30

/* Bit of columns: clocks of nodes differ, or some calls stand for others. */
#define WITH_ERRORS   1u
#define WITH_ACTIVITY 2u /* some row has one: of who holds a lock none is known */

/* ---- in the log -------------------------------------------------------------------------- */

static double percent_of_all(const struct row *row, uint64_t ns)
{
	return row->r->excl_s > 0.0 ? 1e-7 * (double)ns / row->r->excl_s : 0.0;
}

static char *rank_text(const struct profile *p, uint32_t rank)
{
	return rank == PROFILE_ELSEWHERE ? xstrdup("others")
					 : xasprintf("rank %" PRIu32, profile_rank_shown(p, rank));
}

/* "thread 0.3": of rank 0; thread: 1 + its number, or 0: of several. */
static char *thread_text(const struct profile *p, uint32_t rank, uint32_t thread)
{
	const uint32_t shown = profile_rank_shown(p, rank);

	if (rank == PROFILE_ELSEWHERE)
		return xstrdup("others");
	return thread ? xasprintf("thread %" PRIu32 ".%" PRIu32, shown, thread - 1)
		      : xasprintf("threads of rank %" PRIu32, shown);
}

static double share_of(const struct wait_place *at, const struct profile_wait *q)
{
	return at->ns ? 100.0 * (double)q->ns / (double)at->ns : 0.0;
}

/* "thread 0.3 98 % in work" */
static char *late_thread(const struct report *r, const struct wait_place *at)
{
	const struct profile_wait *q = at->late[0];
	char *thread = thread_text(r->p, q->late, q->late_thread), *text;
	const char *function = waits_function(r, q->late_stack);

	text = xasprintf("%s %.0f %%%s%s", thread, share_of(at, q), function ? " in " : "",
		function ? function : "");
	free(thread);
	return text;
}

/* "rank 3 41 %, rank 1 30 %" */
static char *place_late(const struct row *row)
{
	const struct wait_place *at = row->at;
	char *text;

	if (wait_is_of_threads(at->kind))
		return late_thread(row->r, at);
	text = xstrdup("");
	for (size_t i = 0; i < at->n_late && i < LATE_SHOWN; i++) {
		char *rank = rank_text(row->r->p, at->late[i]->late);

		text = xappend(
			text, "%s%s %.0f %%", i ? ", " : "", rank, share_of(at, at->late[i]));
		free(rank);
	}
	return text;
}

/* "update_row<update 61 %": what late ranks did most of the time; "": not known. */
static char *activity_text(const struct row *row, const struct wait_activity *a, uint64_t of_ns)
{
	char *path, *text;

	if (a->ns <= 0.0)
		return xstrdup("");
	path = report_short_path(row->r, a->stack, 2, ACTIVITY_COLUMNS);
	text = xasprintf("%s %.0f %%", path, 100.0 * a->ns / (double)of_ns);
	free(path);
	return text;
}

static char *place_activity(const struct row *row)
{
	const struct wait_place *at = row->at;

	return activity_text(row, &at->most, at->ns);
}

static char *cause_activity(const struct row *row)
{
	const struct wait_cause *at = row->at;

	return activity_text(row, &at->activity, at->ns);
}

ROW_VALUE(const char *, place_title, wait_place, wait_kind_title(at->kind))
ROW_VALUE(double, place_percent, wait_place, percent_of_all(row, at->ns))

#define PLACE(title, json, type, member, ...)                                                      \
	COLUMN(title, json, type, struct wait_place, member, ##__VA_ARGS__)

static const struct column place_columns[] = {
	COLUMN_GET("Kind", NULL, TEXT, text, place_title, .left = true),
	PLACE("t[s]", NULL, SECONDS, ns),
	PLACE("+-[s]", NULL, SECONDS, error_ns, .only = WITH_ERRORS),
	COLUMN_GET("%", NULL, REAL, real, place_percent, .decimals = 1),
	PLACE("Calls", NULL, COUNT, calls),
	PLACE("Waited in", NULL, PATH, stack, .left = true),
	COLUMN_GET("For", NULL, MADE, made, place_late, .left = true),
	COLUMN_GET("Which was in ~", NULL, MADE, made, place_activity, .left = true, .spare = true,
		.only = WITH_ACTIVITY),
};
static const struct list place_list = LIST_OF(place_columns, struct wait_place);

ROW_VALUE(char *, cause_rank, wait_cause,
	at->is_thread ? thread_text(row->r->p, at->rank, at->thread)
		      : rank_text(row->r->p, at->rank))
ROW_VALUE(const char *, cause_node, wait_cause, efficiency_host(row->r->p, at->rank))
ROW_VALUE(double, cause_percent, wait_cause, percent_of_all(row, at->ns))
ROW_VALUE(const char *, cause_title, wait_cause, wait_kind_title(at->kind))
ROW_VALUE(bool, cause_is_rank, wait_cause, !at->is_thread)

#define CAUSE(title, json, type, member, ...)                                                      \
	COLUMN(title, json, type, struct wait_cause, member, ##__VA_ARGS__)

static const struct column cause_columns[] = {
	COLUMN_GET("Who", NULL, MADE, made, cause_rank, .left = true),
	COLUMN_GET("Node", NULL, TEXT, text, cause_node, .left = true, .spare = true),
	CAUSE("Cost[s]", NULL, SECONDS, cost_ns, .mark = cause_is_rank),
	CAUSE("t[s]", NULL, SECONDS, ns),
	COLUMN_GET("%", NULL, REAL, real, cause_percent, .decimals = 1),
	CAUSE("Calls", NULL, COUNT, calls),
	COLUMN_GET("Most", NULL, TEXT, text, cause_title, .left = true),
	CAUSE("of these in", NULL, PATH, stack, .left = true),
	COLUMN_GET("It was in ~", NULL, MADE, made, cause_activity, .left = true,
		.only = WITH_ACTIVITY),
};
static const struct list cause_list = LIST_OF(cause_columns, struct wait_cause);

/* The first `most` of n records of this size, below a title that was printed. */
static void print_first(FILE *f, const struct report *r, const struct list *l, unsigned asked,
	const void *records, size_t n, size_t most)
{
	struct table *t = columns_table(r, l, asked);

	for (size_t i = 0; i < n && i < most; i++)
		columns_row(t, l, asked,
			&(struct row){.r = r, .at = (const char *)records + i * l->size});
	columns_close(f, r, t);
}

static size_t rows_shown(uint64_t most, size_t n)
{
	return most && most < n ? (size_t)most : n;
}

struct sum {
	const char *what;
	uint64_t ns;
	const char *of; /* what it is a part of ... */
	uint64_t of_ns; /* ... which may be 0 */
};

static void print_sum(FILE *f, const struct report *r, const struct sum *s)
{
	fprintf(f, "%s: %s", s->what, quantity_seconds(1e-9 * (double)s->ns).text);
	if (s->of_ns)
		fprintf(f, ", %.0f %% of %s", 100.0 * (double)s->ns / (double)s->of_ns, s->of);
	if (r->excl_s > 0.0)
		fprintf(f, ", %.1f %% of all", 1e-7 * (double)s->ns / r->excl_s);
	fputc('\n', f);
}

/* Of causes that are not shown. */
static void print_causes_rest(FILE *f, const struct waits *w, size_t shown)
{
	size_t threads = 0;

	for (size_t i = shown; i < w->n_causes; i++)
		threads += w->causes[i].is_thread;
	if (threads && threads < w->n_causes - shown)
		columns_rest(f, w->n_causes - shown, "", "ranks and threads");
	else
		columns_rest(f, w->n_causes - shown, threads ? "thread" : "rank",
			threads ? "threads" : "ranks");
}

static void print_waits(
	FILE *f, const struct report *r, const struct waits *w, uint64_t places, uint64_t causes)
{
	const size_t n_places = rows_shown(places, w->n_places),
		     n_causes = rows_shown(causes, w->n_causes);
	const struct sum ranks = {
		"Waiting for other ranks", w->rank_ns, "the time in MPI", w->mpi_ns};
	const struct sum locks = {
		r->p->n_locks ? "Waiting for other threads" : "Waiting for threads that had a lock",
		w->ns - w->rank_ns, r->p->n_locks ? "all waits for threads" : "all waits for locks",
		w->lock_ns};

	if (ranks.ns) {
		print_sum(f, r, &ranks);
		print_sampled(f, r->p);
		print_compared(f, r->p);
	}
	print_waits_missing(f, r->p);
	if (locks.ns)
		print_sum(f, r, &locks);
	print_first(f, r, &place_list,
		(w->error_ns ? WITH_ERRORS : 0) |
			(ANY(i, n_places, w->places[i].most.ns > 0.0) ? WITH_ACTIVITY : 0),
		w->places, w->n_places, n_places);
	columns_rest(f, w->n_places - n_places, "place", "places");
	fputs("\nWho made others wait\n", f);
	print_first(f, r, &cause_list,
		ANY(i, n_causes, w->causes[i].activity.ns > 0.0) ? WITH_ACTIVITY : 0, w->causes,
		w->n_causes, n_causes);
	print_causes_rest(f, w, n_causes);
}

/* late: as of waits_of(). */
static void find_waits(const struct profile *p, uint32_t late, struct waits *w, struct delays *d)
{
	waits_of(p, WAITS_FOR_BOTH, late, w);
	delays_of(p, d);
	delays_join(d, w);
}

void section_waits(FILE *f, const struct report *r)
{
	struct waits w;
	struct delays d;

	if (!r->run || !r->p->n_waits)
		return;
	find_waits(r->p, WAITS_ALL, &w, &d);
	fputc('\n', f);
	print_waits(f, r, &w, PLACES_SHOWN, CAUSES_SHOWN);
	waits_done(&w);
	delays_done(&d);
}

void waits_print(FILE *f, const struct report *r, uint32_t late, uint64_t most)
{
	struct waits w;
	struct delays d;

	find_waits(r->p, late, &w, &d);
	if (w.ns) {
		print_waits(f, r, &w, most, most);
	} else {
		fputs("No call is known to have waited for another rank or thread.\n", f);
		print_waits_missing(f, r->p);
	}
	waits_done(&w);
	delays_done(&d);
}

/* ---- in JSON ----------------------------------------------------------------------------- */

static void put_rank(struct json *j, const struct report *r, uint32_t rank)
{
	if (rank == PROFILE_ELSEWHERE)
		json_string(j, "rank", NULL);
	else
		json_uint(j, "rank", profile_rank_shown(r->p, rank));
}

/* "thread", "id" and "path" of one that is waited for by its own rank, as far as known; or where
 * the message was received that lay there. */
static void put_thread(struct json *j, const struct report *r, const struct profile_wait *q)
{
	const bool is_order = q->kind == WAIT_WRONG_ORDER;
	char *path;

	if (q->late_thread)
		json_uint(j, "thread", q->late_thread - 1);
	if (!q->late_stack)
		return;
	path = report_path(r, q->late_stack - 1);
	json_uint(j, is_order ? "there_id" : "id", r->id[q->late_stack - 1]);
	json_string(j, is_order ? "there_path" : "path", path);
	free(path);
}

static void write_for(struct json *j, const char *key, const struct row *row)
{
	const struct wait_place *at = row->at;

	json_array(j, key);
	for (size_t i = 0; i < at->n_late; i++) {
		json_object(j, NULL);
		put_rank(j, row->r, at->late[i]->late);
		put_thread(j, row->r, at->late[i]);
		json_uint(j, "calls", at->late[i]->calls);
		json_real(j, "t_s", 1e-9 * (double)at->late[i]->ns);
		json_real(j, "error_s", 1e-9 * (double)at->late[i]->error_ns);
		json_real(j, "share", at->ns ? (double)at->late[i]->ns / (double)at->ns : 0.0);
		json_close(j);
	}
	json_close(j);
}

/* Estimates: of the waits that were looked at. */
static void write_causes(struct json *j, const char *key, const struct row *row)
{
	const struct wait_place *at = row->at;

	json_array(j, key);
	EACH(const struct wait_activity, a, at->activities, at->n_activities) {
		char *path = report_path(row->r, a->stack);

		json_object(j, NULL);
		put_rank(j, row->r, a->late);
		json_uint(j, "id", row->r->id[a->stack]);
		json_string(j, "path", path);
		json_real(j, "share", at->ns ? a->ns / (double)at->ns : 0.0);
		json_bool(j, "estimated", true);
		json_close(j);
		free(path);
	}
	json_close(j);
}

ROW_VALUE(const char *, place_name, wait_place, wait_kind_name(at->kind))
ROW_VALUE(uint64_t, cause_thread, wait_cause, at->thread - 1)
ROW_VALUE(bool, cause_has_thread, wait_cause, at->thread)
ROW_VALUE(const char *, cause_name, wait_cause, wait_kind_name(at->kind))

static const struct column json_place_columns[] = {
	COLUMN_GET(NULL, "kind", TEXT, text, place_name),
	PLACE(NULL, "id", STACK_ID, stack),
	PLACE(NULL, "path", PATH, stack),
	PLACE(NULL, "calls", COUNT, calls),
	PLACE(NULL, "t_s", SECONDS, ns),
	PLACE(NULL, "error_s", SECONDS, error_ns),
	COLUMN_GET(NULL, "for", WRITTEN, write, write_for),
	COLUMN_GET(NULL, "causes", WRITTEN, write, write_causes),
};
static const struct list json_place_list = LIST_OF(json_place_columns, struct wait_place);

/* The greatest of what a late rank did; null: not known. */
static void write_activity(struct json *j, const char *key, const struct row *row)
{
	const struct wait_cause *at = row->at;
	char *path;

	if (at->activity.ns <= 0.0) {
		json_string(j, key, NULL);
		return;
	}
	path = report_path(row->r, at->activity.stack);
	json_object(j, key);
	json_string(j, "path", path);
	json_real(j, "share", at->activity.ns / (double)at->ns);
	json_bool(j, "estimated", true);
	json_close(j);
	free(path);
}

ROW_VALUE(double, delay_cost, delay, 1e-9 * at->cost_ns)
ROW_VALUE(double, delay_direct, delay, 1e-9 * at->direct_ns)
ROW_VALUE(double, delay_own, delay, 1e-9 * at->own_ns)
ROW_VALUE(bool, delay_has_stack, delay, at->stack != PROFILE_NONE)

#define DELAY(json, type, member, ...) COLUMN(NULL, json, type, struct delay, member, ##__VA_ARGS__)

static const struct column delay_columns[] = {
	DELAY("id", STACK_ID, stack, .where = delay_has_stack),
	DELAY("path", PATH, stack, .where = delay_has_stack),
	COLUMN_GET(NULL, "cost_s", REAL, real, delay_cost),
	COLUMN_GET(NULL, "direct_s", REAL, real, delay_direct),
	COLUMN_GET(NULL, "own_s", REAL, real, delay_own),
};
static const struct list delay_list = LIST_OF(delay_columns, struct delay);

static void write_delays(struct json *j, const char *key, const struct row *row)
{
	const struct wait_cause *at = row->at;

	json_array(j, key);
	for (size_t i = 0; i < at->n_delays; i++) {
		const struct row one = {.r = row->r, .at = &at->delays[i]};

		columns_object(j, &delay_list, &one);
	}
	json_close(j);
}

static double direct_s(const struct row *row)
{
	const struct wait_cause *at = row->at;
	double ns = at->n_delays ? 0.0 : (double)at->ns;

	for (size_t i = 0; i < at->n_delays; i++)
		ns += at->delays[i].direct_ns;
	return 1e-9 * ns;
}

/* Of the call path to which most goes back. */
static bool has_path(const struct row *row)
{
	const struct wait_cause *at = row->at;

	return at->n_delays && at->delays->stack != PROFILE_NONE;
}

ROW_VALUE(double, own_s, wait_cause, at->n_delays ? 1e-9 * at->delays->own_ns : NAN)

static void write_path(struct json *j, const char *key, const struct row *row)
{
	const struct wait_cause *at = row->at;
	char *path = has_path(row) ? report_path(row->r, at->delays->stack) : NULL;

	json_string(j, key, path);
	free(path);
}

static const struct column json_cause_columns[] = {
	CAUSE(NULL, "rank", RANK, rank),
	COLUMN_GET(NULL, "thread", COUNT, count, cause_thread, .where = cause_has_thread),
	COLUMN_GET(NULL, "node", TEXT, text, cause_node),
	COLUMN_GET(NULL, "path", WRITTEN, write, write_path),
	CAUSE(NULL, "cost_s", SECONDS, cost_ns),
	COLUMN_GET(NULL, "direct_s", REAL, real, direct_s),
	COLUMN_GET(NULL, "own_s", REAL, real, own_s),
	CAUSE(NULL, "calls", COUNT, calls),
	CAUSE(NULL, "t_s", SECONDS, ns),
	COLUMN_GET(NULL, "most_kind", TEXT, text, cause_name),
	CAUSE(NULL, "most_path", PATH, stack),
	CAUSE(NULL, "most_s", SECONDS, most_ns),
	COLUMN_GET(NULL, "activity", WRITTEN, write, write_activity),
	COLUMN_GET(NULL, "paths", WRITTEN, write, write_delays),
};
static const struct list json_cause_list = LIST_OF(json_cause_columns, struct wait_cause);

#define PAIR(json, type, member) COLUMN(NULL, json, type, struct profile_wait_pair, member)

ROW_VALUE(uint64_t, pair_ranks, profile_wait_pair, (uint64_t)1 << at->log2)

static const struct column pair_columns[] = {
	PAIR("rank", RANK, rank),
	PAIR("for", RANK, late),
	COLUMN_GET(NULL, "ranks", COUNT, count, pair_ranks),
	PAIR("calls", COUNT, calls),
	PAIR("t_s", SECONDS, ns),
};
static const struct list pair_list = LIST(pair_columns, wait_pairs, .json = "wait_matrix");

void json_waits(struct json *j, const struct report *r)
{
	if (r->p->n_waits)
		waits_json(j, r, WAITS_ALL);
	if (r->p->n_wait_pairs)
		columns_json(j, r, &pair_list);
}

void waits_json(struct json *j, const struct report *r, uint32_t late)
{
	struct waits w;
	struct delays d;

	find_waits(r->p, late, &w, &d);
	json_array(j, "waits");
	for (size_t i = 0; i < w.n_places; i++)
		columns_object(j, &json_place_list, &(struct row){.r = r, .at = &w.places[i]});
	json_close(j);
	json_array(j, "delays");
	for (size_t i = 0; i < w.n_causes; i++)
		columns_object(j, &json_cause_list, &(struct row){.r = r, .at = &w.causes[i]});
	json_close(j);
	json_waits_missing(j, r->p);
	waits_done(&w);
	delays_done(&d);
}
