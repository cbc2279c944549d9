/* SPDX-License-Identifier: BSD-3-Clause */
/* BASE_RANK.log: one process, all its threads together. */
#include "nodeagent/output.h"

#include <inttypes.h>
#include <stdlib.h>

#include "conf/conf.h"
#include "nodeagent/report.h"
#include "nodeagent/table.h"
#include "nodeagent/util.h"

static void process_lines(FILE *f, const struct report *r, const struct profile_process *who)
{
	char *end = report_end(who);

	fputc('\n', f);
	if (r->p->world_size)
		section_number(f, "Nr. of MPI ranks:", r->p->world_size);
	section_number(f, "Rank:", profile_rank_shown(r->p, who->rank));
	section_number(f, "Process:", who->pid > 0 ? (uint64_t)who->pid : 0);
	section_number(f, "Nr. of threads:", who->threads);
	section_times(f, r, who->runtime_s);
	section_bytes(f, "Vftrace used memory:", who->ring_bytes);
	fprintf(f, "%-22s%8s\n", "End:", end);
	free(end);
	if (who->lost_calls || who->blocked_ns || who->quarantined || r->p->lost_messages ||
		r->p->open_requests || r->p->ambiguous_sends || r->p->ambiguous_receives)
		fputc('\n', f);
	if (who->lost_calls)
		fprintf(f, "%" PRIu64 " calls were not recorded because a ring was full.\n",
			who->lost_calls);
	section_lost_messages(f, r->p);
	if (who->blocked_ns)
		fprintf(f, "Time the rank waited for room in its rings: %.2f s\n",
			who->blocked_ns * 1e-9);
	if (who->quarantined) {
		char *why = text_plain(who->quarantined);

		fprintf(f, "The data of this rank are not complete: %s\n", why);
		free(why);
	}
}

static void fill_rank(FILE *f, const struct report *r, const void *ctx)
{
	const struct profile_process *who = ctx;

	section_head(f, r);
	section_banner(f, r);
	process_lines(f, r, who);
	section_profile(f, r, false);
	section_lost(f, r);
	section_openmp(f, r);
	section_openmp_threads(f, r, false);
	section_threads(f, r, false);
	section_thread_profiles(f, r);
	section_mpi_rank(f, r, who->rank);
	section_stacks(f, r);
	section_config(f, r);
}

int output_rank(const struct profile *one_rank, const struct profile_process *who, unsigned nranks,
	const struct conf *c, const char *dir, const char *base, const uint64_t *global_hashes,
	size_t n, char **error)
{
	int digits = snprintf(NULL, 0, "%u", nranks);
	char *suffix =
		xasprintf("_%0*" PRIu32 ".log", digits, profile_rank_shown(one_rank, who->rank));
	struct report r;
	int rc;

	*error = NULL;
	report_init(&r, one_rank, c, global_hashes, n);
	rc = report_write(dir, base, suffix, fill_rank, &r, who, error);
	report_done(&r);
	free(suffix);
	return rc;
}
