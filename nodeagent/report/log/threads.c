/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads: who created whom, and what each one did. In the node and rank logs threads
 * stand below the one that created them; in BASE_all.json single ones only where the job
 * ran on one node, the range of their times at each stack always.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "conf/conf.h"
#include "nodeagent/base/forest.h"
#include "nodeagent/base/map.h"
#include "nodeagent/report/log/internal.h"

#define THREAD_ROWS 200 /* more are not shown one by one */
#define INDENT_MAX  16

static uint64_t key_of(uint32_t rank, uint32_t number)
{
	return (uint64_t)rank << 32 | number;
}

/* From the last to the first, so that children are in the order of ended_threads[]. */
static void tree_of(struct forest *f, const struct profile *p)
{
	struct map64 place = {0};

	forest_init(f, p->n_ended_threads);
	for (size_t i = 0; i < p->n_ended_threads; i++)
		map64_add(&place, key_of(p->ended_threads[i].rank, p->ended_threads[i].number),
			(uint32_t)i);
	for (size_t i = p->n_ended_threads; i-- > 0;) {
		const struct profile_thread *e = &p->ended_threads[i];
		/* a thread is younger than its creator: there are no rings */
		const uint32_t *above = e->parent < e->number
						? map64_find(&place, key_of(e->rank, e->parent))
						: NULL;

		if (above)
			f->parent[i] = *above;
		forest_put_first(f, (uint32_t)i, (uint32_t)i);
	}
	map64_free(&place);
}

/* Several threads that are counted together have no number and no name. */
static char *thread_name(const struct row *row)
{
	const struct profile_thread *e = row->at;
	unsigned indent = 2 * (row->level < INDENT_MAX ? row->level : INDENT_MAX);

	if (e->number == PROFILE_NONE)
		return xasprintf("%" PRIu32 " other threads", e->threads);
	return xasprintf("%*s%s", (int)indent, "", e->name ? e->name : "");
}

static void write_counters(struct json *j, const char *key, const struct row *row)
{
	json_hwprof_thread(j, row->r, row->index, PROFILE_NONE);
}

ROW_VALUE(double, thread_overhead, profile_thread, report_overhead_s(row->r, at->calls))
/* Idle is who was there to work in the teams of others, and was in none. */
ROW_VALUE(bool, has_idle, profile_thread, at->team_parts && at->alive_ns > at->team_ns)
/* Files of earlier programs do not tell. */
ROW_VALUE(bool, has_waits, profile_thread, at->team_ns && (at->team_wait_ns || at->team_join_ns))
ROW_VALUE(uint64_t, thread_idle, profile_thread, at->alive_ns - at->team_ns)

enum { SEVERAL_RANKS = 1, WITH_TEAMS = 2, WITH_MESSAGES = 4 };

#define THREAD(title, json, type, member, ...)                                                     \
	COLUMN(title, json, type, struct profile_thread, member, ##__VA_ARGS__)

static const struct column thread_columns[] = {
	THREAD("Rank", "rank", RANK, rank, .only = SEVERAL_RANKS),
	THREAD("Thread", "thread", INDEX, number),
	THREAD("Created by", "parent", INDEX, parent),
	THREAD(NULL, "threads", COUNT, threads),
	COLUMN_GET("Name", NULL, MADE, made, thread_name, .left = true, .width = COLUMN_NAME),
	THREAD(NULL, "name", TEXT, name),
	THREAD(NULL, "tid", SIGNED, tid),
	THREAD("Calls", "calls", COUNT, calls),
	THREAD(NULL, "events", COUNT, records),
	THREAD(NULL, "lost", COUNT, lost_calls),
	THREAD(NULL, "t_start_s", SECONDS, start_ns),
	THREAD("t_alive[s]", "t_alive_s", SECONDS, alive_ns),
	THREAD("t_functions[s]", "t_functions_s", SECONDS, function_ns),
	COLUMN_GET("overhead[s]", NULL, REAL, real, thread_overhead),
	THREAD("Lost calls", NULL, COUNT, lost_calls),
	THREAD("Blocked[s]", "blocked_s", SECONDS, blocked_ns),
	THREAD("t_teams[s]", "t_teams_s", SECONDS, team_ns, .only = WITH_TEAMS),
	THREAD(NULL, "t_team_waits_s", SECONDS, team_wait_ns, .where = has_waits),
	THREAD(NULL, "t_team_joins_s", SECONDS, team_join_ns, .where = has_waits),
	COLUMN_GET("t_idle[s]", NULL, SECONDS, count, thread_idle, .only = WITH_TEAMS,
		.where = has_idle),
	THREAD("Sends", "sends", COUNT, sends, .only = WITH_MESSAGES),
	THREAD("Receives", "recvs", COUNT, receives, .only = WITH_MESSAGES),
	THREAD("Sent[B]", "bytes_sent", COUNT, bytes_sent, .only = WITH_MESSAGES),
	THREAD("Received[B]", "bytes_received", COUNT, bytes_received, .only = WITH_MESSAGES),
	COLUMN_GET(NULL, "counters", WRITTEN, write, write_counters),
};

static const struct list thread_list = LIST(thread_columns, ended_threads, .title = "Threads");

static bool have_messages(const struct profile *p)
{
	return ANY(
		i, p->n_ended_threads, p->ended_threads[i].sends || p->ended_threads[i].receives);
}

static bool have_teams(const struct profile *p)
{
	return ANY(i, p->n_ended_threads,
		p->ended_threads[i].team_ns || p->ended_threads[i].team_parts);
}

void section_threads(FILE *f, const struct report *r)
{
	const struct profile *p = r->p;
	unsigned asked = (r->log == REPORT_RANK ? 0 : SEVERAL_RANKS) |
			 (have_teams(p) ? WITH_TEAMS : 0) | (have_messages(p) ? WITH_MESSAGES : 0);
	struct forest tree;

	if (!p->n_ended_threads)
		return;
	if (r->log == REPORT_RANK && !strcmp(r->c->profile_table_threads, "none"))
		return;
	tree_of(&tree, p);
	columns_rest(f, columns_print_tree(f, r, &thread_list, asked, &tree, NULL, THREAD_ROWS),
		"thread", "threads");
	forest_done(&tree);
	section_hwprof_threads(f, r);
}

/* ---- what one did by call path ------------------------------------------------------------ */

ORDER_POINTERS_BY(by_time, struct profile_thread_stack, FALLING(excl_ns) ?: RISING(stack))

static double stack_percent(const struct row *row)
{
	const struct profile_thread_stack *s = row->at;
	double all = row->r->p->ended_threads[s->thread].alive_ns * 1e-9;

	return all > 0.0 ? 100.0 * (s->excl_ns * 1e-9) / all : 0.0;
}

static void write_stack_counters(struct json *j, const char *key, const struct row *row)
{
	const struct profile_thread_stack *s = row->at;

	json_hwprof_thread(j, row->r, s->thread, s->stack);
}

#define STACK(title, json, type, member)                                                           \
	COLUMN(title, json, type, struct profile_thread_stack, member)

static const struct column stack_columns[] = {
	STACK(NULL, "id", STACK_ID, stack),
	STACK("Calls", "calls", COUNT, calls),
	STACK("t_excl[s]", NULL, SECONDS, excl_ns),
	COLUMN_GET("t_excl[%]", NULL, REAL, real, stack_percent, .decimals = 1),
	STACK("t_incl[s]", "t_incl_s", SECONDS, incl_ns),
	STACK(NULL, "t_excl_s", SECONDS, excl_ns),
	STACK(NULL, "lost", COUNT, lost_calls),
	COLUMN_GET(NULL, "counters", WRITTEN, write, write_stack_counters),
	STACK("Function", NULL, FUNCTION, stack),
	STACK("Caller", NULL, CALLER, stack),
	STACK("STID", NULL, STACK_ID, stack),
};

static const struct list stack_list = LIST_OF(stack_columns, struct profile_thread_stack);

static void print_profile(FILE *f, const struct report *r, const struct profile_thread *e,
	const struct profile_thread_stack *stacks, size_t n)
{
	const struct profile_thread_stack **order = xmalloc(n * sizeof(*order) + 1);
	struct table *t = columns_table(r, &stack_list, 0);
	char *name = text_plain(e->name ? e->name : "");
	char *title = xasprintf("Runtime profile of thread %" PRIu32 " (%s)", e->number, name);

	for (size_t i = 0; i < n; i++)
		order[i] = &stacks[i];
	qsort(order, n, sizeof(*order), by_time);
	for (size_t i = 0; i < n; i++)
		columns_row(t, &stack_list, 0, &(struct row){.r = r, .at = order[i]});
	columns_end(f, r, t, title, false);
	section_hwprof_thread(f, r, order, n);
	free(title);
	free(name);
	free(order);
}

void section_thread_profiles(FILE *f, const struct report *r)
{
	const struct profile *p = r->p;
	size_t shown = 0;

	for (size_t i = 0, n; i < p->n_thread_stacks; i += n) {
		uint32_t thread = p->thread_stacks[i].thread;

		for (n = 0; i + n < p->n_thread_stacks && p->thread_stacks[i + n].thread == thread;)
			n++;
		if (shown++ < COLUMN_ROWS)
			print_profile(f, r, &p->ended_threads[thread], &p->thread_stacks[i], n);
	}
	columns_more(f, shown, "runtime profiles of threads");
}

/* ---- in JSON ------------------------------------------------------------------------------ */

static void write_stacks(struct json *j, const struct report *r, size_t *at, uint32_t thread)
{
	const struct profile *p = r->p;

	json_array(j, "stacks");
	for (; *at < p->n_thread_stacks && p->thread_stacks[*at].thread == thread; ++*at)
		columns_object(j, &stack_list, &(struct row){.r = r, .at = &p->thread_stacks[*at]});
	json_close(j);
}

void json_threads(struct json *j, const struct report *r)
{
	const struct profile *p = r->p;
	size_t at = 0;

	if (!p->n_ended_threads)
		return;
	json_array(j, "each_thread");
	for (uint32_t i = 0; i < p->n_ended_threads; i++) {
		json_object(j, NULL);
		columns_members(j, &thread_list,
			&(struct row){.r = r, .at = &p->ended_threads[i], .index = i});
		if (p->n_thread_stacks)
			write_stacks(j, r, &at, i);
		json_close(j);
	}
	json_close(j);
}

#define RANGE(json, type, member) COLUMN(NULL, json, type, struct profile_thread_range, member)

static const struct column range_columns[] = {
	RANGE("threads", COUNT, threads),
	RANGE("t_excl_thread_min_s", SECONDS, min_ns),
	RANGE("t_excl_thread_max_s", SECONDS, max_ns),
	RANGE("thread_min", COUNT, thread_min),
	RANGE("thread_min_rank", RANK, rank_min),
	RANGE("thread_max", COUNT, thread_max),
	RANGE("thread_max_rank", RANK, rank_max),
};

static const struct list range_list = LIST_OF(range_columns, struct profile_thread_range);

void json_thread_range(struct json *j, const struct report *r, uint32_t stack)
{
	const struct profile *p = r->p;
	const size_t from =
		LOWER_BOUND(i, 0, p->n_thread_ranges, p->thread_ranges[i].stack < stack);

	if (from < p->n_thread_ranges && p->thread_ranges[from].stack == stack)
		columns_members(
			j, &range_list, &(struct row){.r = r, .at = &p->thread_ranges[from]});
}
