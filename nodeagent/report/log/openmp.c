/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * OpenMP in the logs and in BASE_all.json: what each parallel region has cost and where its time
 * was lost, and the tree of threads that the teams made. Its places are named by the thread numbers
 * on the way to them: 0.2.1 is thread 1 of a team that thread 2 of a team of the initial thread has
 * made.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "nodeagent/base/forest.h"
#include "nodeagent/report/digest.h"
#include "nodeagent/report/log/internal.h"

#define LEVELS_MAX   256 /* OpenMP's levels, as they are recorded */
#define PLACE_ROWS   200 /* more are not shown one by one */
#define PLACE_DEPTH  32	 /* longer paths are cut */
#define INDENT_MAX   16
#define SERVED_SHOWN 8

static char *region_threads(const struct row *row)
{
	const struct profile_openmp *o = row->at;

	if (!o->size_max) /* no team was complete */
		return NULL;
	return o->size_min == o->size_max
		       ? xasprintf("%" PRIu32, o->size_max)
		       : xasprintf("%" PRIu32 "-%" PRIu32, o->size_min, o->size_max);
}

static uint64_t region_time(const struct profile *p, uint32_t i)
{
	return p->openmp[i].wall_ns;
}

/* Mean busy time of the threads in its teams, in percent of the greatest. */
ROW_VALUE(double, region_balance, profile_openmp,
	at->most_ns ? 100.0 * (double)at->average_ns / (double)at->most_ns : 100.0)
ROW_VALUE(uint64_t, region_wait, profile_openmp,
	at->barrier_ns < at->wait_ns ? at->wait_ns - at->barrier_ns : 0)

static bool has_slowest(const struct row *row)
{
	return ((const struct profile_openmp *)row->at)->slowest_stack;
}

/* Its number, and its path. */
static void put_slowest_stack(struct json *j, const char *key, const struct row *row)
{
	const uint32_t stack = ((const struct profile_openmp *)row->at)->slowest_stack - 1;
	char *path = report_path(row->r, stack);

	json_uint(j, key, row->r->id[stack]);
	json_string(j, "slowest_path", path);
	free(path);
}

#define REGION(title, json, type, member, ...)                                                     \
	COLUMN(title, json, type, struct profile_openmp, member, ##__VA_ARGS__)

static const struct column region_columns[] = {
	REGION(NULL, "id", STACK_ID, stack),
	REGION(NULL, "region", FUNCTION, stack),
	REGION(NULL, "caller", CALLER, stack),
	REGION("Calls", "calls", COUNT, calls),
	COLUMN_GET("Threads", NULL, MADE, made, region_threads),
	REGION(NULL, "team_min", COUNT, size_min),
	REGION(NULL, "team_max", COUNT, size_max),
	REGION(NULL, "threads", COUNT, threads),
	REGION(NULL, "ranks", COUNT, ranks),
	REGION("t_wall[s]", "t_wall_s", SECONDS, wall_ns),
	REGION("Busy[s]", "t_busy_s", SECONDS, busy_ns),
	COLUMN_GET("Balance[%]", "balance_percent", REAL, real, region_balance, .decimals = 1),
	REGION("Start[s]", "t_start_s", SECONDS, start_ns, .spare = true),
	REGION("Barrier[s]", "t_barrier_s", SECONDS, barrier_ns),
	COLUMN_GET("Wait[s]", NULL, SECONDS, count, region_wait, .spare = true),
	REGION(NULL, "t_wait_s", SECONDS, wait_ns),
	REGION("Join[s]", "t_join_s", SECONDS, join_ns),
	REGION("Tasks", "tasks", COUNT, tasks, .spare = true),
	REGION("t_tasks[s]", "t_tasks_s", SECONDS, task_ns, .spare = true),
	REGION(NULL, "slowest_rank", RANK, slowest_rank, .where = has_slowest),
	REGION(NULL, "slowest_thread", COUNT, slowest_thread, .where = has_slowest),
	COLUMN_GET(NULL, "slowest_id", WRITTEN, write, put_slowest_stack, .where = has_slowest),
	REGION(NULL, "t_slowest_s", SECONDS, slowest_ns, .where = has_slowest),
	REGION(NULL, "t_beyond_s", SECONDS, beyond_ns, .where = has_slowest),
	REGION("Region", NULL, FUNCTION, stack),
	REGION("Caller", NULL, CALLER, stack),
	REGION("STID", NULL, STACK_ID, stack),
};

static uint32_t *regions_by_id(const struct report *r)
{
	const struct profile *p = r->p;
	struct sort_key *keys = xcalloc(p->n_openmp, sizeof(*keys));

	for (uint32_t i = 0; i < p->n_openmp; i++)
		keys[i] = (struct sort_key){r->id[p->openmp[i].stack], 0, i};
	return sort_by_key(keys, p->n_openmp, true);
}

static const struct list region_list = LIST(region_columns, openmp,
	.title = "OpenMP parallel regions", .sum = true, .json = "openmp",
	.json_order = regions_by_id, .things = "parallel regions", .weight = region_time);

static void print_regions(FILE *f, const struct report *r)
{
	const struct profile *p = r->p;
	uint32_t *order = sort_falling(p, p->n_openmp, region_time);
	uint32_t threads = 0;

	for (size_t i = 0; i < p->n_openmp && i < COLUMN_ROWS; i++)
		threads = MAX(threads, p->openmp[order[i]].size_max);
	free(order);
	columns_print(f, r, &region_list, 0);
	if (threads > 1 && !digest_of(r).frames_show_idle)
		fputs("Between them threads are idle, which is part of the exclusive time of "
		      "init.\n",
			f);
}

/* ---- the tree of threads --------------------------------------------------------- */

static char *place_name(const struct row *row)
{
	const struct profile *p = row->r->p;
	uint32_t i = row->index;
	uint32_t up[PLACE_DEPTH];
	unsigned n = 0,
		 indent = 2 * (p->openmp_threads[i].level < INDENT_MAX ? p->openmp_threads[i].level
								       : INDENT_MAX);
	char *text = xmalloc(2 * INDENT_MAX + PLACE_DEPTH * 12 + 8), *to = text;

	for (; i != PROFILE_NONE && n < PLACE_DEPTH; i = p->openmp_threads[i].parent)
		up[n++] = p->openmp_threads[i].number;
	to += sprintf(to, "%*s%s", (int)indent, "", i == PROFILE_NONE ? "" : "...");
	while (n--)
		to += sprintf(to, "%" PRIu32 "%s", up[n], n ? "." : "");
	return text;
}

/* The first threads by their numbers, the others by how many they are. */
static char *place_served(const struct row *row)
{
	const struct profile_openmp_thread *e = row->at;
	const char *rest = e->threads;
	size_t shown = 0, more = 0;

	for (; *rest && shown < SERVED_SHOWN; shown++) {
		rest += strspn(rest, " ");
		rest += strcspn(rest, " ");
	}
	for (const char *at = rest; *at; at += strcspn(at, " ")) {
		at += strspn(at, " ");
		more += *at != '\0';
	}
	return more || e->more ? xasprintf("%.*s and %s%zu more", (int)(rest - e->threads),
					 e->threads, e->more ? "over " : "", more)
			       : xstrdup(e->threads);
}

/* Numbers of the threads on the way from the root, its own last: of each level one. */
static void write_ancestors(struct json *j, const char *key, const struct row *row)
{
	const struct profile *p = row->r->p;
	uint32_t up[LEVELS_MAX];
	unsigned n = 0;

	for (uint32_t i = row->index; i != PROFILE_NONE && n < LEVELS_MAX;
		i = p->openmp_threads[i].parent)
		up[n++] = p->openmp_threads[i].number;
	json_array(j, key);
	while (n--)
		json_uint(j, NULL, up[n]);
	json_close(j);
}

static void write_served(struct json *j, const char *key, const struct row *row)
{
	const struct profile_openmp_thread *e = row->at;

	json_array(j, key);
	for (const char *at = e->threads; *at;) {
		char *end;
		unsigned long number = strtoul(at, &end, 10);

		if (end == at)
			break;
		json_uint(j, NULL, number);
		at = end;
	}
	json_close(j);
}

ROW_VALUE(bool, has_parent, profile_openmp_thread, at->parent != PROFILE_NONE)

enum { SEVERAL_RANKS = 1 };

#define PLACE(title, json, type, member, ...)                                                      \
	COLUMN(title, json, type, struct profile_openmp_thread, member, ##__VA_ARGS__)

static const struct column place_columns[] = {
	PLACE("Rank", "rank", RANK, rank, .only = SEVERAL_RANKS),
	COLUMN_GET("Thread", NULL, MADE, made, place_name, .left = true),
	PLACE("Level", "level", COUNT, level),
	PLACE(NULL, "thread_num", COUNT, number),
	PLACE(NULL, "parent", INDEX, parent),
	COLUMN_GET(NULL, "ancestors", WRITTEN, write, write_ancestors),
	PLACE("Teams", "teams", COUNT, tasks),
	PLACE("t_total[s]", "t_s", SECONDS, ns, .log_where = has_parent),
	COLUMN_GET("Served by threads", NULL, MADE, made, place_served, .left = true),
	COLUMN_GET(NULL, "threads", WRITTEN, write, write_served),
	PLACE(NULL, "more_threads", BOOL, more),
};

static const struct list place_list =
	LIST(place_columns, openmp_threads, .title = "OpenMP threads", .json = "openmp_threads");

struct by_number {
	uint32_t level, number, index;
};

ORDER_BY(by_number, struct by_number, RISING(level) ?: RISING(number) ?: RISING(index))

static void tree_of(struct forest *tree, const struct profile *p)
{
	size_t n = p->n_openmp_threads;
	struct by_number *order = xmalloc(n * sizeof(*order));

	forest_init(tree, n);
	for (uint32_t i = 0; i < n; i++) {
		const struct profile_openmp_thread *t = &p->openmp_threads[i];

		tree->parent[i] = t->parent; /* FOREST_NONE is PROFILE_NONE, too */
		order[i] = (struct by_number){t->level, t->number, i};
	}
	qsort(order, n, sizeof(*order), by_number);
	while (n--)
		forest_put_first(tree, order[n].index, order[n].index);
	free(order);
}

static void print_places(FILE *f, const struct report *r)
{
	unsigned asked = r->log == REPORT_RANK ? 0 : SEVERAL_RANKS;
	struct forest tree;

	if (!r->p->n_openmp_threads)
		return;
	tree_of(&tree, r->p);
	columns_rest(f, columns_print_tree(f, r, &place_list, asked, &tree, NULL, PLACE_ROWS),
		"place", "places");
	forest_done(&tree);
}

bool report_has_openmp(const struct profile *p, const struct conf *c)
{
	return p->n_openmp;
}

/* A summary has no single threads. */
void section_openmp(FILE *f, const struct report *r)
{
	print_regions(f, r);
	if (r->log != REPORT_SUMMARY)
		print_places(f, r);
}

void json_openmp(struct json *j, const struct report *r)
{
	if (r->p->n_openmp)
		columns_json(j, r, &region_list);
	if (r->p->n_openmp_threads)
		columns_json(j, r, &place_list);
}
