/* SPDX-License-Identifier: BSD-3-Clause */
/* BASE_RANK.log: one process, all its threads together. */
#include "nodeagent/output.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "conf/conf.h"
#include "nodeagent/report.h"
#include "nodeagent/table.h"
#include "nodeagent/util.h"

#define THREAD_LINES 200

/* Each thread's part of the overhead. */
static void thread_lines(FILE *f, const struct report *r)
{
	const struct profile *p = r->p;
	size_t n = p->n_each < THREAD_LINES ? p->n_each : THREAD_LINES;

	for (size_t i = 0; n > 1 && p->records && i < n; i++) {
		const struct profile_thread *t = &p->each[i];
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
		if (p->openmp[i].size_max > size)
			size = p->openmp[i].size_max;
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
	if (who->quarantined) {
		char *why = text_plain(who->quarantined);

		fprintf(f, "The data of this rank are not complete: %s\n", why);
		free(why);
	}
}

static void fill_rank(FILE *f, const struct report *r, const void *ctx)
{
	const struct profile_process *who = r->process;

	section_head(f, r);
	section_banner(f, r);
	process_lines(f, r, who);
	section_open_requests(f, r);
	section_profile(f, r, false);
	section_lost(f, r);
	if (!r->c->profile_table_separate) {
		section_openmp(f, r);
		section_openmp_threads(f, r, false);
	}
	if (strcmp(r->c->profile_table_threads, "none"))
		section_threads(f, r, false);
	section_thread_profiles(f, r);
	if (!r->c->profile_table_separate)
		section_mpi_rank(f, r, who->rank);
	if (!r->c->profile_table_separate) {
		section_gpu(f, r);
		section_openacc(f, r);
		section_hwprof(f, r);
	}
	section_user_counters(f, r);
	section_stacks(f, r);
	section_gpu_functions(f, r);
	section_openacc_numbers(f, r);
	section_config(f, r);
}

static void mpi_sections(FILE *f, const struct report *r)
{
	section_mpi_rank(f, r, r->process->rank);
}

static void openmp_sections(FILE *f, const struct report *r)
{
	section_openmp(f, r);
	section_openmp_threads(f, r, false);
}

int output_rank(const struct profile *one_rank, const struct profile_process *who, unsigned nranks,
	const struct conf *c, const char *dir, const char *base, const uint64_t *global_hashes,
	size_t n, char **error)
{
	const struct report_table tables[] = {
		{"mpi", mpi_sections, report_has_mpi(one_rank, c)},
		{"openmp", openmp_sections, one_rank->n_openmp},
		{"cuda", section_gpu, report_has_gpu(one_rank, c)},
		{"accprof", section_openacc, report_has_openacc(one_rank, c)},
		{"hwprof", section_hwprof, report_has_hwprof(one_rank, c)},
	};
	int digits = snprintf(NULL, 0, "%u", nranks), first, rc;
	char *prefix = xasprintf("_%0*" PRIu32, digits, profile_rank_shown(one_rank, who->rank));
	char *suffix = xasprintf("%s.log", prefix);
	struct report r;

	*error = NULL;
	report_init(&r, one_rank, c, global_hashes, n);
	r.process = who;
	first = report_write(dir, base, suffix, fill_rank, &r, NULL, error);
	rc = report_write_tables(dir, base, prefix, tables, ARRAY_SIZE(tables), &r, error);
	report_done(&r);
	free(suffix);
	free(prefix);
	return first ? first : rc;
}
