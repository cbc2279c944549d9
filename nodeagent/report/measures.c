/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/report/measures.h"

#include <stdlib.h>

#include "conf/conf.h"
#include "nodeagent/base/json-write.h"
#include "nodeagent/base/util.h"
#include "nodeagent/report/report.h"

#define JSON_LINES 2 /* one line per member of the top level and per element of its arrays */

#define ALL (REPORT_SUMMARY | REPORT_NODE | REPORT_RANK)

/*
 * The order of everything. What stands at another place in JSON than in the logs, or in one
 * log than in another, has a row for each.
 */
static const struct measure {
	void (*json)(struct json *j, const struct report *r);
	void (*section)(FILE *f, const struct report *r);
	unsigned logs; /* that have the section: enum report_log */
	/* its file in the summary and rank logs where tables are kept separate, if wanted */
	const char *file;
	bool (*wanted)(const struct profile *p, const struct conf *c);
} measures[] = {
	{.json = json_head},
	{.json = json_agents},
	{.json = json_clocks},
	{.json = json_warnings},
	{.section = section_open_requests, .logs = REPORT_RANK},
	{.json = json_stacks, .section = section_profile, .logs = ALL},
	{.section = section_lost, .logs = ALL},
	{.section = section_switched, .logs = REPORT_SUMMARY},
	{NULL, section_minmax, REPORT_SUMMARY, "minmax", report_has_minmax},
	{NULL, section_grouped, REPORT_SUMMARY, "namegroup", report_has_groups},
	{.json = json_processes},
	{.json = json_threads},
	{json_openmp, section_openmp, ALL, "openmp", report_has_openmp},
	{.section = section_threads, .logs = REPORT_NODE | REPORT_RANK},
	{.section = section_thread_profiles, .logs = REPORT_RANK},
	{json_mpi, section_mpi, REPORT_SUMMARY | REPORT_RANK, "mpi", report_has_mpi},
	{.json = json_matching},
	{json_gpu, section_gpu, REPORT_SUMMARY | REPORT_RANK, "cuda", report_has_gpu},
	{json_openacc, section_openacc, REPORT_SUMMARY | REPORT_RANK, "accprof",
		report_has_openacc},
	{json_hwprof, section_hwprof, REPORT_SUMMARY | REPORT_RANK, "hwprof", report_has_hwprof},
	{.json = json_switched},
	{.section = section_thread_pairs, .logs = REPORT_NODE},
	{.json = json_user_counters, .section = section_user_counters, .logs = ALL},
	{.section = section_thread_pairs, .logs = REPORT_SUMMARY},
	{.section = section_agents, .logs = REPORT_SUMMARY},
	{.section = section_clocks, .logs = REPORT_SUMMARY},
	{.section = section_stacks, .logs = ALL},
	{.section = section_gpu_functions, .logs = REPORT_SUMMARY | REPORT_RANK},
	{.section = section_openacc_numbers, .logs = REPORT_SUMMARY | REPORT_RANK},
	{.section = section_config, .logs = REPORT_SUMMARY | REPORT_RANK},
};

static bool is_separate(const struct measure *m, const struct report *r)
{
	return m->file && r->log != REPORT_NODE && r->c->profile_table_separate;
}

void measures_print(FILE *f, const struct report *r)
{
	for (size_t i = 0; i < ARRAY_SIZE(measures); i++)
		if (measures[i].logs & r->log && !is_separate(&measures[i], r))
			measures[i].section(f, r);
}

void measures_json(FILE *f, const struct report *r)
{
	struct json j;

	json_begin(&j, f, JSON_LINES);
	json_object(&j, NULL);
	for (size_t i = 0; i < ARRAY_SIZE(measures); i++)
		if (measures[i].json)
			measures[i].json(&j, r);
	json_close(&j);
}

static void fill_file(FILE *f, const struct report *r, const void *ctx)
{
	const struct measure *m = ctx;

	section_head(f, r);
	m->section(f, r);
}

int measures_write(
	const char *dir, const char *base, const char *prefix, const struct report *r, char **error)
{
	int first = 0;

	for (size_t i = 0; i < ARRAY_SIZE(measures); i++) {
		const struct measure *m = &measures[i];
		char *suffix;
		int rc;

		if (!(m->logs & r->log) || !is_separate(m, r) || !m->wanted(r->p, r->c))
			continue;
		suffix = xasprintf("%s_%s.log", prefix, m->file);
		rc = report_write(dir, base, suffix, fill_file, r, m, error);
		if (!first)
			first = rc;
		free(suffix);
	}
	return first;
}
