/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Processes in the node log and, where the job ran on one node, in BASE_all.json: who started whom,
 * how long each one ran and how it ended, what it recorded and lost. Lives of one process, which
 * exec separates, follow each other.
 */
#include <inttypes.h>
#include <string.h>

#include "nodeagent/profile/process-tree.h"
#include "nodeagent/report/log/internal.h"

#define INDENT_MAX     16
#define PROCESS_ROWS   1000 /* more are not shown one by one */
#define PROGRAMS_SHOWN 8

static char *executable_text(const struct row *row)
{
	const struct profile_process *q = row->at;
	const struct process_tree *tree = row->more;
	const char *path = q->executable ? q->executable : "unknown";
	const char *slash = strrchr(path, '/');
	unsigned indent = 2 * (row->level < INDENT_MAX ? row->level : INDENT_MAX);

	return xasprintf("%*s%s%s", (int)indent, "", tree->life[row->index] ? "exec " : "",
		slash && slash[1] ? slash + 1 : path);
}

static uint64_t process_life(const struct row *row)
{
	const struct process_tree *tree = row->more;

	return tree->life[row->index];
}

/* The process's number, as printed. */
static uint64_t process_parent(const struct row *row)
{
	const struct process_tree *tree = row->more;
	uint32_t parent = tree->forest.parent[row->index];

	return parent == PROFILE_NONE
		       ? PROFILE_NONE
		       : profile_rank_shown(row->r->p, row->r->p->processes[parent].rank);
}

static const char *const ends[] = {
	[PROCESS_RUNNING] = "running",
	[PROCESS_EXITED] = "exited",
	[PROCESS_KILLED] = "killed",
	[PROCESS_EXECED] = "exec",
};

ROW_VALUE(bool, has_parent_pid, profile_process, at->parent_pid > 0)
ROW_VALUE(bool, has_cpu, profile_process, at->cpu_ns)
ROW_VALUE(bool, has_exited, profile_process, at->end == PROCESS_EXITED)
ROW_VALUE(bool, was_killed, profile_process, at->end == PROCESS_KILLED)
ROW_VALUE(char *, process_end, profile_process, report_end(at))
ROW_VALUE(const char *, process_end_word, profile_process, ends[at->end])

enum { WITH_CLOSED = 1, WITH_OPEN = 2, WITH_CPU = 4 };

#define PROCESS(title, json, type, member, ...)                                                    \
	COLUMN(title, json, type, struct profile_process, member, ##__VA_ARGS__)

static const struct column process_columns[] = {
	PROCESS("Rank", "rank", RANK, rank),
	PROCESS("PID", "pid", SIGNED, pid),
	PROCESS("Parent", "parent_pid", SIGNED, parent_pid, .log_where = has_parent_pid,
		.spare = true),
	COLUMN_GET(NULL, "parent", INDEX, count, process_parent),
	COLUMN_GET(NULL, "life", COUNT, count, process_life),
	COLUMN_GET("Executable", NULL, MADE, made, executable_text, .left = true,
		.width = COLUMN_NAME),
	PROCESS(NULL, "executable", TEXT, executable),
	PROCESS("Threads", NULL, COUNT, threads),
	PROCESS("Start[s]", "t_start_s", REAL, started_s),
	PROCESS("Runtime[s]", "runtime_s", REAL, runtime_s),
	PROCESS("CPU[s]", "cpu_s", SECONDS, cpu_ns, .only = WITH_CPU, .where = has_cpu),
	PROCESS("Queued[s]", "queued_s", SECONDS, queued_ns, .only = WITH_CPU, .where = has_cpu),
	COLUMN_GET(NULL, "end", TEXT, text, process_end_word),
	PROCESS(NULL, "status", SIGNED, exit_status, .where = has_exited),
	PROCESS(NULL, "signal", SIGNED, exit_status, .where = was_killed),
	PROCESS(NULL, "threads", COUNT, threads),
	PROCESS("Records", "events", COUNT, records, .spare = true),
	PROCESS("Calls", "calls", COUNT, calls),
	PROCESS("Lost calls", "lost", COUNT, lost_calls),
	PROCESS("Blocked[s]", "blocked_s", SECONDS, blocked_ns),
	PROCESS("Rings[MiB]", NULL, MIB, ring_bytes, .spare = true),
	PROCESS("Closed by outer exit", NULL, COUNT, closed_frames, .only = WITH_CLOSED),
	PROCESS("Open at end", NULL, COUNT, open_frames, .only = WITH_OPEN),
	COLUMN_GET("End", NULL, MADE, made, process_end),
};

static const struct list process_list = LIST(process_columns, processes, .title = "Processes");

/* Columns that have something to show. */
static unsigned columns_asked(const struct report *r)
{
	const struct profile *p = r->p;
	unsigned asked = 0;

	for (size_t i = 0; i < p->n_processes; i++) {
		asked |= p->processes[i].closed_frames ? WITH_CLOSED : 0;
		asked |= p->processes[i].open_frames ? WITH_OPEN : 0;
		asked |= r->run && p->processes[i].cpu_ns ? WITH_CPU : 0;
	}
	return asked;
}

static const char *program_of(const struct profile_process *q)
{
	const char *slash = q->executable ? strrchr(q->executable, '/') : NULL;

	return slash && slash[1] ? slash + 1 : q->executable;
}

/* A profile of one program is what most expect. */
static void print_programs(FILE *f, const struct profile *p)
{
	const char *seen[PROGRAMS_SHOWN];
	bool more = false;
	size_t n = 0;

	for (size_t k = 0; k < p->n_processes; k++) {
		const char *name = program_of(&p->processes[k]);
		size_t i = 0;

		while (name && i < n && strcmp(name, seen[i]))
			i++;
		if (name && i == n && n < PROGRAMS_SHOWN)
			seen[n++] = name;
		else if (name && i == n)
			more = true;
	}
	if (n < 2)
		return;
	fputs("Several programs ran:", f);
	for (size_t i = 0; i < n; i++)
		section_text(f, i ? ", " : " ", seen[i], "");
	fprintf(f, "%s\n", more ? " and others" : "");
}

static void print_incomplete(FILE *f, const struct profile *p)
{
	EACH(const struct profile_process, q, p->processes, p->n_processes) {
		if (!q->quarantined)
			continue;
		fprintf(f, "The data of rank %" PRIu32 " (pid %d) are not complete: ",
			profile_rank_shown(p, q->rank), (int)q->pid);
		section_text(f, "", q->quarantined, "\n");
	}
}

void section_processes(FILE *f, const struct report *r)
{
	const struct profile *p = r->p;
	struct process_tree tree;
	size_t left;

	process_tree_init(&tree, p);
	left = columns_print_tree(
		f, r, &process_list, columns_asked(r), &tree.forest, &tree, PROCESS_ROWS);
	process_tree_done(&tree);
	columns_rest(f, left, "process", "processes");
	print_programs(f, p);
	print_incomplete(f, p);
}

void json_processes(struct json *j, const struct report *r)
{
	struct process_tree tree;

	if (!r->p->n_processes)
		return;
	process_tree_init(&tree, r->p);
	json_array(j, "each_process");
	for (uint32_t i = tree.forest.first; i != FOREST_NONE; i = forest_next(&tree.forest, i))
		columns_object(j, &process_list,
			&(struct row){
				.r = r, .at = &r->p->processes[i], .index = i, .more = &tree});
	json_close(j);
	process_tree_done(&tree);
}
