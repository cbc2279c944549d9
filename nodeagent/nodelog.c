/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * BASE_node_HOST.log: the processes of one node, the rings between them and
 * the agent, and what the agent itself has cost.
 */
#include "nodeagent/output.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "conf/conf.h"
#include "nodeagent/report.h"
#include "nodeagent/table.h"
#include "nodeagent/util.h"

#define EXECUTABLE_COLUMNS 40

struct node_sums {
	uint64_t ring_bytes, blocked_ns, lost_calls, closed_frames, open_frames;
	uint32_t running;
};

static struct node_sums add_up(const struct profile *p)
{
	struct node_sums sums = {0};

	for (size_t i = 0; i < p->n_processes; i++) {
		const struct profile_process *process = &p->processes[i];

		sums.ring_bytes += process->ring_bytes;
		sums.blocked_ns += process->blocked_ns;
		sums.lost_calls += process->lost_calls;
		sums.closed_frames += process->closed_frames;
		sums.open_frames += process->open_frames;
		sums.running += process->end == PROCESS_RUNNING;
	}
	return sums;
}

static void cell_rank(struct table *t, const struct profile *p, const struct profile_process *q)
{
	table_uint(t, profile_rank_shown(p, q->rank));
}

static void cell_pid(struct table *t, const struct profile *p, const struct profile_process *q)
{
	table_real(t, 0, 0, q->pid);
}

static void cell_parent(struct table *t, const struct profile *p, const struct profile_process *q)
{
	if (q->parent_pid > 0)
		table_real(t, 0, 0, q->parent_pid);
	else
		table_text(t, "----");
}

static void cell_executable(
	struct table *t, const struct profile *p, const struct profile_process *q)
{
	const char *path = q->executable ? q->executable : "unknown";
	const char *slash = strrchr(path, '/');
	char *cell = text_short(slash && slash[1] ? slash + 1 : path, EXECUTABLE_COLUMNS);

	table_text(t, cell);
	free(cell);
}

static void cell_threads(struct table *t, const struct profile *p, const struct profile_process *q)
{
	table_uint(t, q->threads);
}

static void cell_runtime(struct table *t, const struct profile *p, const struct profile_process *q)
{
	table_real(t, 0, 3, q->runtime_s);
}

static void cell_records(struct table *t, const struct profile *p, const struct profile_process *q)
{
	table_uint(t, q->records);
}

static void cell_calls(struct table *t, const struct profile *p, const struct profile_process *q)
{
	table_uint(t, q->calls);
}

static void cell_lost(struct table *t, const struct profile *p, const struct profile_process *q)
{
	table_uint(t, q->lost_calls);
}

static void cell_blocked(struct table *t, const struct profile *p, const struct profile_process *q)
{
	table_real(t, 0, 3, q->blocked_ns * 1e-9);
}

static void cell_rings(struct table *t, const struct profile *p, const struct profile_process *q)
{
	table_real(t, 0, 2, q->ring_bytes / 1048576.0);
}

static void cell_closed(struct table *t, const struct profile *p, const struct profile_process *q)
{
	table_uint(t, q->closed_frames);
}

static void cell_open(struct table *t, const struct profile *p, const struct profile_process *q)
{
	table_uint(t, q->open_frames);
}

static void cell_end(struct table *t, const struct profile *p, const struct profile_process *q)
{
	char *end = report_end(q);

	table_text(t, end);
	free(end);
}

static void print_processes(FILE *f, const struct profile *p, const struct node_sums *sums)
{
	const struct {
		const char *title;
		void (*cell)(
			struct table *t, const struct profile *p, const struct profile_process *q);
		bool wanted;
	} columns[] = {
		{"Rank", cell_rank, true},
		{"PID", cell_pid, true},
		{"Parent", cell_parent, true},
		{"Executable", cell_executable, true},
		{"Threads", cell_threads, true},
		{"Runtime[s]", cell_runtime, true},
		{"Records", cell_records, true},
		{"Calls", cell_calls, true},
		{"Lost calls", cell_lost, true},
		{"Blocked[s]", cell_blocked, true},
		{"Rings[MiB]", cell_rings, true},
		{"Closed by outer exit", cell_closed, sums->closed_frames > 0},
		{"Open at end", cell_open, sums->open_frames > 0},
		{"End", cell_end, true},
	};
	struct table *t = table_new(TABLE_FRAMED);

	for (size_t i = 0; i < ARRAY_SIZE(columns); i++)
		if (columns[i].wanted)
			table_column(t, columns[i].title, TABLE_RIGHT);
	for (size_t k = 0; k < p->n_processes; k++)
		for (size_t i = 0; i < ARRAY_SIZE(columns); i++)
			if (columns[i].wanted)
				columns[i].cell(t, p, &p->processes[k]);
	fputs("\nProcesses\n", f);
	table_print(t, f);
	table_free(t);
	for (size_t k = 0; k < p->n_processes; k++) {
		const struct profile_process *q = &p->processes[k];

		if (!q->quarantined)
			continue;

		char *why = text_plain(q->quarantined);

		fprintf(f, "The data of rank %" PRIu32 " (pid %d) are not complete: %s\n",
			profile_rank_shown(p, q->rank), (int)q->pid, why);
		free(why);
	}
}

static void print_rings(FILE *f, const struct report *r, const struct node_sums *sums)
{
	const struct profile *p = r->p;

	fputs("\nRings\n", f);
	section_number(f, "   Threads:", p->threads);
	section_bytes(f, "   Ring memory:", sums->ring_bytes);
	section_number(f, "   Records:", p->records);
	section_number(f, "   Calls:", p->calls);
	section_number(f, "   Lost calls:", sums->lost_calls);
	if (p->lost_messages)
		section_number(f, "   Lost messages:", p->lost_messages);
	if (p->open_requests)
		section_number(f, "   Open requests:", p->open_requests);
	section_seconds(f, "   Blocked time:", sums->blocked_ns * 1e-9);
}

static const struct profile_agent *agent_of(const struct profile *p, const char *host)
{
	for (size_t i = 0; i < p->n_agents; i++)
		if (p->agents[i].host && !strcmp(p->agents[i].host, host))
			return &p->agents[i];
	return p->n_agents == 1 ? &p->agents[0] : NULL;
}

static void print_agent(FILE *f, const struct profile_agent *a)
{
	if (!a)
		return;
	fputs("\nAgent\n", f);
	section_seconds(f, "   CPU time:", a->cpu_s);
	section_seconds(f, "   Wall time:", a->wall_s);
	if (a->wall_s > 0.0)
		fprintf(f, "%-22s%8.2f %%\n", "   CPU load:", 100.0 * a->cpu_s / a->wall_s);
	section_number(f, "   Wake-ups:", a->wakeups);
	section_bytes(f, "   Drained:", a->drained_bytes);
	section_number(f, "   Records:", a->records);
	if (a->cpu_s > 0.0)
		fprintf(f, "%-22s%8.2f Mrecords/s per busy core\n",
			"   Rate:", a->records / a->cpu_s * 1e-6);
	if (a->place) {
		char *place = text_plain(a->place);

		fprintf(f, "   Ran on: %s\n", place);
		free(place);
	}
}

static void fill_node(FILE *f, const struct report *r, const void *ctx)
{
	const char *host = ctx;
	const struct profile *p = r->p;
	struct node_sums sums = add_up(p);
	char *plain = text_plain(host);

	section_head(f, r);
	section_banner(f, r);
	fprintf(f, "\nNode: %s\n", plain);
	free(plain);
	if (p->world_size) {
		section_number(f, "Nr. of MPI ranks:", p->world_size);
		section_number(f, "   on this node:", p->ranks - p->unranked);
	}
	section_number(f, "Nr. of processes:", p->n_processes);
	section_number(f, "Nr. of threads:", p->threads);
	section_times(f, r, p->runtime_s);
	section_warnings(f, r, false);
	print_processes(f, p, &sums);
	print_rings(f, r, &sums);
	print_agent(f, agent_of(p, host));
	section_profile(f, r, true);
	section_lost(f, r);
	section_threads(f, r, true);
	section_stacks(f, r);
}

int output_node(const struct profile *node, const struct conf *c, const char *dir, const char *base,
	const char *host, const uint64_t *global_hashes, size_t n, char **error)
{
	char *suffix = xasprintf("_node_%s.log", host);
	struct report r;
	int rc;

	*error = NULL;
	report_init(&r, node, c, global_hashes, n);
	rc = report_write(dir, base, suffix, fill_node, &r, host, error);
	report_done(&r);
	free(suffix);
	return rc;
}
