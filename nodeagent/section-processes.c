/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Processes in the node log: who started whom, how long each one ran and how it
 * ended, what it recorded and lost. Lives of one process, which exec separates,
 * follow each other.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "nodeagent/process-tree.h"
#include "nodeagent/report.h"
#include "nodeagent/table.h"
#include "nodeagent/util.h"

#define EXECUTABLE_COLUMNS 60
#define INDENT_MAX	   16
#define PROCESS_ROWS	   1000 /* more are not shown one by one */
#define PROGRAMS_SHOWN	   8

/* What a row is made of. */
struct row {
	const struct profile *p;
	const struct profile_process *q;
	uint32_t level, life;
};

static void cell_rank(struct table *t, const struct row *r)
{
	table_uint(t, profile_rank_shown(r->p, r->q->rank));
}

static void cell_pid(struct table *t, const struct row *r)
{
	table_real(t, 0, 0, r->q->pid);
}

static void cell_parent(struct table *t, const struct row *r)
{
	if (r->q->parent_pid > 0)
		table_real(t, 0, 0, r->q->parent_pid);
	else
		table_text(t, "----");
}

static void cell_executable(struct table *t, const struct row *r)
{
	const char *path = r->q->executable ? r->q->executable : "unknown";
	const char *slash = strrchr(path, '/');
	unsigned indent = 2 * (r->level < INDENT_MAX ? r->level : INDENT_MAX);
	char *text = xasprintf("%*s%s%s", (int)indent, "", r->life ? "exec " : "",
		slash && slash[1] ? slash + 1 : path);
	char *cell = text_short(text, EXECUTABLE_COLUMNS);

	table_text(t, cell);
	free(cell);
	free(text);
}

static void cell_threads(struct table *t, const struct row *r)
{
	table_uint(t, r->q->threads);
}

static void cell_start(struct table *t, const struct row *r)
{
	table_real(t, 0, 3, r->q->started_s);
}

static void cell_runtime(struct table *t, const struct row *r)
{
	table_real(t, 0, 3, r->q->runtime_s);
}

static void cell_records(struct table *t, const struct row *r)
{
	table_uint(t, r->q->records);
}

static void cell_calls(struct table *t, const struct row *r)
{
	table_uint(t, r->q->calls);
}

static void cell_lost(struct table *t, const struct row *r)
{
	table_uint(t, r->q->lost_calls);
}

static void cell_blocked(struct table *t, const struct row *r)
{
	table_real(t, 0, 3, r->q->blocked_ns * 1e-9);
}

static void cell_rings(struct table *t, const struct row *r)
{
	table_real(t, 0, 2, r->q->ring_bytes / 1048576.0);
}

static void cell_closed(struct table *t, const struct row *r)
{
	table_uint(t, r->q->closed_frames);
}

static void cell_open(struct table *t, const struct row *r)
{
	table_uint(t, r->q->open_frames);
}

static void cell_end(struct table *t, const struct row *r)
{
	char *end = report_end(r->q);

	table_text(t, end);
	free(end);
}

enum { COLUMN_CLOSED = 1, COLUMN_OPEN };

static const struct {
	const char *title;
	void (*cell)(struct table *t, const struct row *r);
	int only; /* where there is something to show */
} columns[] = {
	{"Rank", cell_rank, 0},
	{"PID", cell_pid, 0},
	{"Parent", cell_parent, 0},
	{"Executable", cell_executable, 0},
	{"Threads", cell_threads, 0},
	{"Start[s]", cell_start, 0},
	{"Runtime[s]", cell_runtime, 0},
	{"Records", cell_records, 0},
	{"Calls", cell_calls, 0},
	{"Lost calls", cell_lost, 0},
	{"Blocked[s]", cell_blocked, 0},
	{"Rings[MiB]", cell_rings, 0},
	{"Closed by outer exit", cell_closed, COLUMN_CLOSED},
	{"Open at end", cell_open, COLUMN_OPEN},
	{"End", cell_end, 0},
};

static bool wanted(const struct profile *p, size_t column)
{
	uint64_t sum = 0;

	for (size_t k = 0; columns[column].only && k < p->n_processes; k++)
		sum += columns[column].only == COLUMN_OPEN ? p->processes[k].open_frames
							   : p->processes[k].closed_frames;
	return !columns[column].only || sum;
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
	for (size_t i = 0; i < n; i++) {
		char *name = text_plain(seen[i]);

		fprintf(f, "%s %s", i ? "," : "", name);
		free(name);
	}
	fprintf(f, "%s\n", more ? " and others" : "");
}

static void print_incomplete(FILE *f, const struct profile *p)
{
	for (size_t k = 0; k < p->n_processes; k++) {
		const struct profile_process *q = &p->processes[k];
		char *why;

		if (!q->quarantined)
			continue;
		why = text_plain(q->quarantined);
		fprintf(f, "The data of rank %" PRIu32 " (pid %d) are not complete: %s\n",
			profile_rank_shown(p, q->rank), (int)q->pid, why);
		free(why);
	}
}

void section_processes(FILE *f, const struct report *r)
{
	const struct profile *p = r->p;
	struct table *t = table_new(TABLE_FRAMED);
	bool show[ARRAY_SIZE(columns)];
	struct process_tree tree;
	size_t rows = 0;

	for (size_t i = 0; i < ARRAY_SIZE(columns); i++) {
		show[i] = wanted(p, i);
		if (show[i])
			table_column(t, columns[i].title,
				columns[i].cell == cell_executable ? TABLE_LEFT : TABLE_RIGHT);
	}
	process_tree_init(&tree, p);
	for (uint32_t k = tree.forest.first; k != FOREST_NONE && rows < PROCESS_ROWS;
		k = forest_next(&tree.forest, k), rows++) {
		struct row row = {p, &p->processes[k], tree.forest.level[k], tree.life[k]};

		for (size_t i = 0; i < ARRAY_SIZE(columns); i++)
			if (show[i])
				columns[i].cell(t, &row);
	}
	process_tree_done(&tree);
	fputs("\nProcesses\n", f);
	table_print(t, f);
	table_free(t);
	if (p->n_processes > rows)
		fprintf(f, "... and %zu %s more\n", p->n_processes - rows,
			one_or_many(p->n_processes - rows, "process", "processes"));
	print_programs(f, p);
	print_incomplete(f, p);
}
