/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * BASE_node_HOST.log: the processes of one node, the rings between them and
 * the agent, and what the agent itself has cost.
 */
#include "nodeagent/report/output.h"

#include <string.h>

#include "conf/conf.h"
#include "nodeagent/report/measures.h"
#include "nodeagent/report/report.h"
#include "nodeagent/base/result-files.h"

static void print_rings(FILE *f, const struct report *r)
{
	const struct profile *p = r->p;
	uint64_t blocked_ns = 0, lost_calls = 0;

	for (size_t i = 0; i < p->n_processes; i++) {
		blocked_ns += p->processes[i].blocked_ns;
		lost_calls += p->processes[i].lost_calls;
	}
	fputs("\nRings\n", f);
	section_number(f, "   Threads:", p->threads);
	section_bytes(f, "   Ring memory:", (double)p->ring_bytes);
	section_number(f, "   Records:", p->records);
	section_number(f, "   Calls:", p->calls);
	section_number(f, "   Lost calls:", lost_calls);
	if (p->lost_messages)
		section_number(f, "   Lost messages:", p->lost_messages);
	if (p->open_requests)
		section_number(f, "   Open requests:", p->open_requests);
	if (p->ambiguous_sends || p->ambiguous_receives) {
		section_number(f, "   Ambiguous sends:", p->ambiguous_sends);
		section_number(f, "   Ambiguous recvs:", p->ambiguous_receives);
	}
	section_seconds(f, "   Blocked time:", blocked_ns * 1e-9);
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
	if (a->affinity)
		section_text(f, "   Ran on: ", a->affinity, "\n");
}

static void print_trace(FILE *f, const struct output_trace *w)
{
	if (!w)
		return;
	section_text(f, "\nSampling file: ", w->path, "\n");
	section_bytes(f, "   Size:", w->bytes);
	section_number(f, "   Enters and exits:", w->events);
	section_number(f, "   Messages:", w->messages);
	if (w->launches)
		section_number(f, "   GPU launches:", w->launches);
	if (w->events)
		fprintf(f, "%-22s%8.2f\n",
			"   Bytes per call:", 2.0 * (double)w->bytes / (double)w->events);
	if (w->thinned)
		section_number(f, "   Calls left out:", w->thinned);
	if (w->dropped_blocks)
		section_number(f, "   Blocks lost:", w->dropped_blocks);
}

struct node_log {
	const char *host;
	const struct output_trace *trace;
};

static void fill_node(FILE *f, const struct report *r, const void *ctx)
{
	const struct node_log *log = ctx;
	const struct profile *p = r->p;

	section_head(f, r);
	section_started(f, r);
	section_banner(f, r);
	section_text(f, "\nNode: ", log->host, "\n");
	if (p->world_size) {
		section_number(f, "Nr. of MPI ranks:", p->world_size);
		section_number(f, "   on this node:", p->ranks - p->unranked);
	}
	section_number(f, "Nr. of processes:", p->n_processes);
	section_number(f, "Nr. of threads:", p->threads);
	section_matching(f, r);
	section_times(f, r, p->runtime_s);
	section_warnings(f, r);
	section_processes(f, r);
	print_rings(f, r);
	print_agent(f, agent_of(p, log->host));
	print_trace(f, log->trace);
	measures_print(f, r);
	section_foot(f, r);
}

/* Then the summary has the same runtime profile. Without MPI, no other node has other stacks. */
static bool is_whole_job(const struct profile *node, size_t n_stacks_of_job)
{
	return node->world_size ? node->ranks - node->unranked == node->world_size
				: n_stacks_of_job == node->n_stacks;
}

int output_node(const struct profile *node, const struct conf *c, const char *dir, const char *base,
	const char *host, const struct output_trace *trace, const struct profile_number *numbers,
	size_t n, char **error)
{
	const struct node_log log = {host, trace};
	const struct result file = {base, RESULT_NODE_LOG, host, NULL};
	struct report r;
	int rc;

	*error = NULL;
	report_init(&r, node, c, numbers, n);
	r.log = REPORT_NODE;
	r.is_all = is_whole_job(node, n);
	rc = report_write(dir, &file, fill_node, &r, &log, error);
	report_done(&r);
	return rc;
}
