/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * BASE_all.log, BASE_all.json and, where tables are kept separate, the files
 * of those tables. Nothing here looks at processes[], which merging drops.
 */
#include "nodeagent/output.h"

#include "conf/conf.h"
#include "nodeagent/report.h"

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

static void fill_minmax(FILE *f, const struct report *r, const void *ctx)
{
	section_head(f, r);
	section_minmax(f, r);
}

static void fill_grouped(FILE *f, const struct report *r, const void *ctx)
{
	section_head(f, r);
	section_grouped(f, r);
}

static void fill_mpi(FILE *f, const struct report *r, const void *ctx)
{
	section_head(f, r);
	section_mpi(f, r);
}

static void fill_openmp(FILE *f, const struct report *r, const void *ctx)
{
	section_head(f, r);
	section_openmp(f, r);
}

static void fill_gpu(FILE *f, const struct report *r, const void *ctx)
{
	section_head(f, r);
	section_gpu(f, r);
}

static void fill_openacc(FILE *f, const struct report *r, const void *ctx)
{
	section_head(f, r);
	section_openacc(f, r);
}

static void fill_hwprof(FILE *f, const struct report *r, const void *ctx)
{
	section_head(f, r);
	section_hwprof(f, r);
}

static void fill_json(FILE *f, const struct report *r, const void *ctx)
{
	json_report(f, r);
}

int output_summary(const struct profile *p, const struct conf *c, const char *dir, const char *base,
	char **error)
{
	const struct {
		const char *suffix;
		void (*fill)(FILE *f, const struct report *r, const void *ctx);
		bool wanted;
	} files[] = {
		{"_all.log", fill_log, true},
		{"_all.json", fill_json, true},
		{"_all_minmax.log", fill_minmax,
			c->profile_table_separate && c->profile_table_show_minmax_summary},
		{"_all_namegroup.log", fill_grouped,
			c->profile_table_separate && c->name_grouped_profile_table_show_table},
		{"_all_mpi.log", fill_mpi, c->profile_table_separate && report_has_mpi(p, c)},
		{"_all_openmp.log", fill_openmp, c->profile_table_separate && p->n_openmp},
		{"_all_cuda.log", fill_gpu, c->profile_table_separate && report_has_gpu(p, c)},
		{"_all_accprof.log", fill_openacc,
			c->profile_table_separate && report_has_openacc(p, c)},
		{"_all_hwprof.log", fill_hwprof,
			c->profile_table_separate && report_has_hwprof(p, c)},
	};
	struct report r;
	int first = 0;

	*error = NULL;
	report_init(&r, p, c, NULL, 0);
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		if (!files[i].wanted)
			continue;

		int rc = report_write(dir, base, files[i].suffix, files[i].fill, &r, NULL, error);

		if (!first)
			first = rc;
	}
	report_done(&r);
	return first;
}
