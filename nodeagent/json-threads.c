/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads in BASE_all.json: single ones only where the job ran on one node, the
 * range of their times at each stack always.
 */
#include "nodeagent/json.h"
#include "nodeagent/report.h"

#define NOTHING (-1)

static void write_stacks(struct json *j, const struct report *r, size_t *at, uint32_t thread)
{
	const struct profile *p = r->p;

	json_array(j, "stacks");
	for (; *at < p->n_thread_stacks && p->thread_stacks[*at].thread == thread; ++*at) {
		const struct profile_thread_stack *s = &p->thread_stacks[*at];

		json_object(j, NULL);
		json_uint(j, "id", r->id[s->stack]);
		json_uint(j, "calls", s->calls);
		json_seconds(j, "t_incl_s", s->incl_ns);
		json_seconds(j, "t_excl_s", s->excl_ns);
		json_uint(j, "lost", s->lost_calls);
		json_hwprof_thread(j, r, thread, s->stack);
		json_close(j);
	}
	json_close(j);
}

void json_thread_range(struct json *j, const struct report *r, uint32_t stack)
{
	const struct profile *p = r->p;
	size_t from = 0, to = p->n_thread_ranges;
	const struct profile_thread_range *t;

	while (from < to) {
		size_t middle = (from + to) / 2;

		if (p->thread_ranges[middle].stack < stack)
			from = middle + 1;
		else
			to = middle;
	}
	if (from == p->n_thread_ranges || p->thread_ranges[from].stack != stack)
		return;
	t = &p->thread_ranges[from];
	json_uint(j, "threads", t->threads);
	json_seconds(j, "t_excl_thread_min_s", t->min_ns);
	json_seconds(j, "t_excl_thread_max_s", t->max_ns);
	json_uint(j, "thread_min", t->thread_min);
	json_uint(j, "thread_min_rank", profile_rank_shown(p, t->rank_min));
	json_uint(j, "thread_max", t->thread_max);
	json_uint(j, "thread_max_rank", profile_rank_shown(p, t->rank_max));
}

void json_threads(struct json *j, const struct report *r)
{
	const struct profile *p = r->p;
	size_t at = 0;

	if (!p->n_each)
		return;
	json_array(j, "each_thread");
	for (size_t i = 0; i < p->n_each; i++) {
		const struct profile_thread *t = &p->each[i];

		json_object(j, NULL);
		json_uint(j, "rank", profile_rank_shown(p, t->rank));
		json_int(j, "thread", t->number == PROFILE_NONE ? NOTHING : (int64_t)t->number);
		json_int(j, "parent", t->parent == PROFILE_NONE ? NOTHING : (int64_t)t->parent);
		json_uint(j, "threads", t->threads);
		json_string(j, "name", t->name);
		json_int(j, "tid", t->tid);
		json_uint(j, "calls", t->calls);
		json_uint(j, "events", t->records);
		json_uint(j, "lost", t->lost_calls);
		json_seconds(j, "t_start_s", t->start_ns);
		json_seconds(j, "t_alive_s", t->alive_ns);
		json_seconds(j, "t_functions_s", t->function_ns);
		json_seconds(j, "blocked_s", t->blocked_ns);
		json_seconds(j, "t_teams_s", t->team_ns);
		json_uint(j, "sends", t->sends);
		json_uint(j, "recvs", t->receives);
		json_uint(j, "bytes_sent", t->bytes_sent);
		json_uint(j, "bytes_received", t->bytes_received);
		json_hwprof_thread(j, r, (uint32_t)i, PROFILE_NONE);
		if (p->n_thread_stacks)
			write_stacks(j, r, &at, (uint32_t)i);
		json_close(j);
	}
	json_close(j);
}
