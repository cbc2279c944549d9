/* SPDX-License-Identifier: BSD-3-Clause */
/* BASE_RANK.log: one process, all its threads together. */
#include "nodeagent/report/output.h"

#include <inttypes.h>
#include <stdlib.h>

#include "conf/conf.h"
#include "nodeagent/report/measures.h"
#include "nodeagent/report/report.h"
#include "nodeagent/base/table.h"
#include "nodeagent/base/result-files.h"
#include "nodeagent/base/util.h"

#define THREAD_LINES 200

/* Each thread's part of the overhead. */
static void thread_lines(FILE *f, const struct report *r)
{
	const struct profile *p = r->p;
	size_t n = p->n_ended_threads < THREAD_LINES ? p->n_ended_threads : THREAD_LINES;

	for (size_t i = 0; n > 1 && p->records && i < n; i++) {
		const struct profile_thread *t = &p->ended_threads[i];
		double share = (double)t->records / (double)p->records;
		char label[40];

		if (t->number == PROFILE_NONE)
			continue;
		snprintf(label, sizeof(label), "      Thread %" PRIu32 ":", t->number);
		section_seconds(f, label, share * (double)p->hook_ns_total * 1e-9);
	}
}

static uint32_t team_size(const struct profile *p)
{
	uint32_t size = 0;

	for (size_t i = 0; i < p->n_openmp; i++)
		size = MAX(size, p->openmp[i].size_max);
	return size;
}

static void print_node(FILE *f, const struct profile *p)
{
	char *host;

	if (!p->n_agents || !p->agents[0].host)
		return;
	host = text_plain(p->agents[0].host);
	fprintf(f, "%-22s%8s\n", "Node:", host);
	free(host);
}

static void process_lines(FILE *f, const struct report *r, const struct profile_process *who)
{
	char *end = report_end(who);

	fputc('\n', f);
	if (r->p->world_size)
		section_number(f, "Nr. of MPI ranks:", r->p->world_size);
	print_node(f, r->p);
	section_number(f, "Rank:", profile_rank_shown(r->p, who->rank));
	section_number(f, "Process:", who->pid > 0 ? (uint64_t)who->pid : 0);
	section_number(f, "Nr. of threads:", who->threads);
	if (r->p->n_openmp)
		section_number(f, "Nr. of OMP threads:", team_size(r->p));
	section_times(f, r, who->runtime_s);
	thread_lines(f, r);
	if (!r->run)
		section_bytes(f, "Vftrace used memory:", who->ring_bytes);
	fprintf(f, "%-22s%8s\n", "End:", end);
	free(end);
	if (who->lost_calls || who->blocked_ns || who->quarantined || r->p->lost_messages ||
		r->p->open_requests || r->p->n_open || r->p->ambiguous_sends ||
		r->p->ambiguous_receives)
		fputc('\n', f);
	if (who->lost_calls)
		fprintf(f, "%" PRIu64 " %s not recorded because a ring was full.\n",
			who->lost_calls, one_or_many(who->lost_calls, "call was", "calls were"));
	section_lost_messages(f, r->p);
	if (who->blocked_ns)
		fprintf(f, "Time the rank waited for room in its rings: %.*f s\n",
			who->blocked_ns < 10000000 ? 6 : 2, who->blocked_ns * 1e-9);
	if (who->quarantined)
		section_text(f, "The data of this rank are not complete: ", who->quarantined, "\n");
}

static void fill_rank(FILE *f, const struct report *r, const void *ctx)
{
	const struct profile_process *who = r->process;

	section_head(f, r);
	section_banner(f, r);
	process_lines(f, r, who);
	measures_print(f, r);
	section_foot(f, r);
}

int output_rank(const struct profile *one_rank, const struct profile_process *who, unsigned nranks,
	const struct conf *c, const char *dir, const char *base,
	const struct profile_number *numbers, size_t n, char **error)
{
	int digits = snprintf(NULL, 0, "%u", nranks), first, rc;
	char *rank = xasprintf("%0*" PRIu32, digits, profile_rank_shown(one_rank, who->rank));
	const struct result log = {base, RESULT_RANK_LOG, rank, NULL};
	struct report r;

	*error = NULL;
	report_init(&r, one_rank, c, numbers, n);
	r.process = who;
	r.log = REPORT_RANK;
	first = report_write(dir, &log, fill_rank, &r, NULL, error);
	rc = measures_write(dir, &log, &r, error);
	report_done(&r);
	free(rank);
	return first ? first : rc;
}
