/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The head of BASE_all.json, the summary for programs: vftr-profile(5). A member that
 * changes its meaning or goes needs a new version; new members do not.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "nodeagent/profile/first-end.h"
#include "nodeagent/profile/prune.h"
#include "nodeagent/report/log/internal.h"

#define FORMAT	"vftr-profile"
#define VERSION 1

/* Calls of functions that are in no row, by profile.exclude or profile.depth, are apart. */
static void write_calls(struct json *j, const struct profile *p)
{
	uint64_t shown = 0;

	for (size_t i = 0; i < p->n_stacks; i++)
		shown += p->stacks[i].calls;
	shown = MIN(shown, p->calls);
	json_uint(j, "calls", shown);
	if (shown < p->calls)
		json_uint(j, "calls_left_out", p->calls - shown);
}

static void write_run(struct json *j, const struct report *r)
{
	const struct profile *p = r->p;
	uint64_t ranks = p->ranks ? p->ranks : 1;
	char run[17];

	json_string(j, "format", FORMAT);
	json_uint(j, "version", VERSION);
	json_string(j, "package", "vftr " VFTR_VERSION);
	if (p->run && p->run != PROFILE_RUNS_MIXED) {
		snprintf(run, sizeof(run), "%016" PRIx64, p->run);
		json_string(j, "run", run);
	}
	json_string(j, "application", p->application);
	json_array(j, "executables");
	for (size_t i = 0; i < p->n_executables; i++)
		json_string(j, NULL, p->executables[i]);
	json_close(j);
	json_int(j, "start_s", p->start_s);
	json_int(j, "end_s", p->end_s);
	json_uint(j, "ranks", report_ranks(p));
	json_uint(j, "processes", p->ranks);
	json_uint(j, "unranked", p->unranked);
	if (profile_other_ranks(p))
		json_uint(j, "other_ranks", profile_other_ranks(p));
	json_uint(j, "threads", p->threads);
	json_uint(j, "nodes", p->n_agents);
	json_real(j, "runtime_s", p->runtime_s);
	json_seconds(j, "overhead_s", (p->hook_ns_total + p->blocked_ns) / ranks);
	json_seconds(j, "hooks_s", p->hook_ns_total / ranks);
	json_uint(j, "events", p->records);
	write_calls(j, p);
	json_uint(j, "lost", p->lost_calls);
	json_uint(j, "lost_processes", p->lost_processes);
	json_seconds(j, "blocked_s", p->blocked_ns);
}

ROW_VALUE(char *, dead_end, profile_process, report_end(at))
ROW_VALUE(bool, has_signal, profile_process, at->end == PROCESS_KILLED && at->exit_status > 0)

#define DEAD(json, type, member, ...)                                                              \
	COLUMN(NULL, json, type, struct profile_process, member, ##__VA_ARGS__)

static const struct column dead_columns[] = {
	DEAD("rank", RANK, rank),
	DEAD("pid", SIGNED, pid),
	DEAD("executable", TEXT, executable),
	COLUMN_GET(NULL, "end", MADE, made, dead_end),
	DEAD("signal", SIGNED, exit_status, .where = has_signal),
	DEAD("runtime_s", REAL, runtime_s),
	DEAD("events", COUNT, records),
	DEAD("calls", COUNT, calls),
	DEAD("lost", COUNT, lost_calls),
};

static const struct list dead_list = LIST(dead_columns, dead, .json = "dead");

static void write_deaths(struct json *j, const struct report *r)
{
	json_array(j, "dead_ranks");
	for (size_t i = 0; i < r->p->n_dead; i++)
		json_uint(j, NULL, profile_rank_shown(r->p, r->p->dead[i].rank));
	json_close(j);
	if (r->p->dead_more)
		json_uint(j, "dead_more", r->p->dead_more);
	columns_json(j, r, &dead_list);
}

/* Rows of call paths that were added up, and their time. */
static void write_pruned(struct json *j, const struct profile *p)
{
	const struct pruned_rows sum = pruned_rows(p);

	if (!p->n_pruned)
		return;
	json_object(j, "pruned");
	json_uint(j, "call_paths", p->pruned->paths);
	json_seconds(j, "below_s", p->pruned->below_ns);
	json_uint(j, "rows", sum.n);
	json_seconds(j, "rows_s", sum.excl_ns);
	json_close(j);
}

void json_head(struct json *j, const struct report *r)
{
	write_run(j, r);
	write_pruned(j, r->p);
	write_deaths(j, r);
	json_first_end(j, r->p);
}

void json_warnings(struct json *j, const struct report *r)
{
	char *first_end = first_end_sentence(r->p);

	json_array(j, "warnings");
	if (first_end)
		json_string(j, NULL, first_end);
	free(first_end);
	for (size_t i = 0; i < r->p->n_warnings; i++)
		json_string(j, NULL, r->p->warnings[i]);
	json_close(j);
}
