/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * OpenMP in BASE_all.json: the parallel regions, and the tree of threads, this
 * only where the job ran on one node.
 */
#include <stdlib.h>

#include "nodeagent/json.h"
#include "nodeagent/report.h"

#define LEVELS_MAX 256 /* OpenMP's levels, as they are recorded */

static void write_regions(struct json *j, const struct report *r)
{
	const struct profile *p = r->p;

	json_array(j, "openmp");
	for (size_t i = 0; i < p->n_openmp; i++) {
		const struct profile_openmp *o = &p->openmp[i];
		uint32_t parent = r->parent[o->stack];

		json_object(j, NULL);
		json_uint(j, "id", r->id[o->stack]);
		json_string(j, "region", r->shown[p->stacks[o->stack].name]);
		json_string(j, "caller",
			parent == PROFILE_NONE ? NULL : r->shown[p->stacks[parent].name]);
		json_uint(j, "calls", o->calls);
		json_uint(j, "team_min", o->size_min);
		json_uint(j, "team_max", o->size_max);
		json_uint(j, "threads", o->threads);
		json_uint(j, "ranks", o->ranks);
		json_seconds(j, "t_wall_s", o->wall_ns);
		json_seconds(j, "t_busy_s", o->busy_ns);
		json_real(j, "balance_percent", report_balance(o));
		json_seconds(j, "t_start_s", o->start_ns);
		json_seconds(j, "t_barrier_s", o->barrier_ns);
		json_seconds(j, "t_wait_s", o->wait_ns);
		json_seconds(j, "t_join_s", o->join_ns);
		json_uint(j, "tasks", o->tasks);
		json_seconds(j, "t_tasks_s", o->task_ns);
		json_close(j);
	}
	json_close(j);
}

/* Numbers of the threads on the way from the root, its own last: of each level one. */
static void write_ancestors(struct json *j, const struct profile *p, uint32_t i)
{
	uint32_t up[LEVELS_MAX];
	unsigned n = 0;

	for (; i != PROFILE_NONE && n < LEVELS_MAX; i = p->openmp_threads[i].parent)
		up[n++] = p->openmp_threads[i].number;
	json_array(j, "ancestors");
	while (n--)
		json_uint(j, NULL, up[n]);
	json_close(j);
}

static void write_threads(struct json *j, const struct report *r)
{
	const struct profile *p = r->p;

	json_array(j, "openmp_threads");
	for (size_t i = 0; i < p->n_openmp_threads; i++) {
		const struct profile_openmp_thread *t = &p->openmp_threads[i];
		const char *at = t->threads;

		json_object(j, NULL);
		json_uint(j, "rank", profile_rank_shown(p, t->rank));
		json_uint(j, "level", t->level);
		json_uint(j, "thread_num", t->number);
		json_int(j, "parent", t->parent == PROFILE_NONE ? -1 : (int64_t)t->parent);
		write_ancestors(j, p, (uint32_t)i);
		json_uint(j, "teams", t->tasks);
		json_seconds(j, "t_s", t->ns);
		json_array(j, "threads");
		while (*at) {
			char *end;
			unsigned long number = strtoul(at, &end, 10);

			if (end == at)
				break;
			json_uint(j, NULL, number);
			at = end;
		}
		json_close(j);
		json_bool(j, "more_threads", t->more);
		json_close(j);
	}
	json_close(j);
}

void json_openmp(struct json *j, const struct report *r)
{
	if (r->p->n_openmp)
		write_regions(j, r);
	if (r->p->n_openmp_threads)
		write_threads(j, r);
}
