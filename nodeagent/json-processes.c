/* SPDX-License-Identifier: BSD-3-Clause */
/* Single processes in BASE_all.json: only where the job ran on one node. */
#include "nodeagent/json.h"
#include "nodeagent/process-tree.h"
#include "nodeagent/report.h"

#define NOTHING (-1)

static const char *const ends[] = {
	[PROCESS_RUNNING] = "running",
	[PROCESS_EXITED] = "exited",
	[PROCESS_KILLED] = "killed",
	[PROCESS_EXECED] = "exec",
};

static void write_process(
	struct json *j, const struct profile *p, const struct process_tree *t, size_t i)
{
	const struct profile_process *q = &p->processes[i];
	uint32_t parent = t->forest.parent[i];

	json_object(j, NULL);
	json_uint(j, "rank", profile_rank_shown(p, q->rank));
	json_int(j, "pid", q->pid);
	json_int(j, "parent_pid", q->parent_pid);
	json_int(j, "parent",
		parent == PROFILE_NONE ? NOTHING
				       : (int64_t)profile_rank_shown(p, p->processes[parent].rank));
	json_uint(j, "life", t->life[i]);
	json_string(j, "executable", q->executable);
	json_real(j, "t_start_s", q->started_s);
	json_real(j, "runtime_s", q->runtime_s);
	json_string(j, "end", ends[q->end]);
	if (q->end == PROCESS_EXITED)
		json_int(j, "status", q->exit_status);
	if (q->end == PROCESS_KILLED)
		json_int(j, "signal", q->exit_status);
	json_uint(j, "threads", q->threads);
	json_uint(j, "events", q->records);
	json_uint(j, "calls", q->calls);
	json_uint(j, "lost", q->lost_calls);
	json_seconds(j, "blocked_s", q->blocked_ns);
	json_close(j);
}

void json_processes(struct json *j, const struct report *r)
{
	const struct profile *p = r->p;
	struct process_tree tree;

	if (!p->n_processes)
		return;
	process_tree_init(&tree, p);
	json_array(j, "each_process");
	for (uint32_t i = tree.forest.first; i != FOREST_NONE; i = forest_next(&tree.forest, i))
		write_process(j, p, &tree, i);
	json_close(j);
	process_tree_done(&tree);
}
