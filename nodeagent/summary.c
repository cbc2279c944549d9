/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * BASE_all.log, BASE_all.json and, where tables are kept separate, the files
 * of those tables. Nothing here looks at processes[], which merging drops.
 */
#include "nodeagent/output.h"

#include "conf/conf.h"
#include "nodeagent/report.h"
#include "nodeagent/util.h"

static void summary_lines(FILE *f, const struct report *r)
{
	const struct profile *p = r->p;

	fputc('\n', f);
	if (p->world_size) {
		section_number(f, "Nr. of MPI ranks:", p->world_size);
		if (p->unranked)
			section_number(f, "Nr. of other processes:", p->unranked);
	} else {
		section_number(f, "Nr. of processes:", p->ranks);
	}
	if (p->threads > p->ranks)
		section_number(f, "Nr. of threads:", p->threads);
	if (p->n_agents > 1)
		section_number(f, "Nr. of nodes:", p->n_agents);
	section_matching(f, r);
	section_times(f, r, p->runtime_s);
	section_bytes(f, "Vftrace used memory:", (double)p->ring_bytes);
}

static void fill_log(FILE *f, const struct report *r, const void *ctx)
{
	const struct conf *c = r->c;

	section_head(f, r);
	section_banner(f, r);
	summary_lines(f, r);
	section_warnings(f, r, true);
	section_profile(f, r, true);
	section_lost(f, r);
	section_switched(f, r);
	if (c->profile_table_show_minmax_summary && !c->profile_table_separate)
		section_minmax(f, r);
	if (c->name_grouped_profile_table_show_table && !c->profile_table_separate)
		section_grouped(f, r);
	if (!c->profile_table_separate) {
		section_openmp(f, r);
		section_mpi(f, r);
		section_gpu(f, r);
		section_openacc(f, r);
		section_hwprof(f, r);
	}
	section_user_counters(f, r);
	section_thread_pairs(f, r);
	section_agents(f, r);
	section_clocks(f, r);
	section_stacks(f, r);
	section_gpu_functions(f, r);
	section_openacc_numbers(f, r);
	section_config(f, r);
}

static void fill_json(FILE *f, const struct report *r, const void *ctx)
{
	json_report(f, r);
}

int output_summary(const struct profile *p, const struct conf *c, const char *dir, const char *base,
	char **error)
{
	const struct report_table tables[] = {
		{"minmax", section_minmax, c->profile_table_show_minmax_summary},
		{"namegroup", section_grouped, c->name_grouped_profile_table_show_table},
		{"mpi", section_mpi, report_has_mpi(p, c)},
		{"openmp", section_openmp, p->n_openmp},
		{"cuda", section_gpu, report_has_gpu(p, c)},
		{"accprof", section_openacc, report_has_openacc(p, c)},
		{"hwprof", section_hwprof, report_has_hwprof(p, c)},
	};
	struct report r;
	int first, rc;

	*error = NULL;
	report_init(&r, p, c, NULL, 0);
	first = report_write(dir, base, "_all.log", fill_log, &r, NULL, error);
	rc = report_write(dir, base, "_all.json", fill_json, &r, NULL, error);
	if (!first)
		first = rc;
	rc = report_write_tables(dir, base, "_all", tables, ARRAY_SIZE(tables), &r, error);
	report_done(&r);
	return first ? first : rc;
}
