/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * BASE_all.log, BASE_all.json and, where tables are kept separate, the files
 * of those tables. Nothing here looks at processes[], which merging drops.
 */
#include "nodeagent/report/output.h"

#include <string.h>

#include "conf/conf.h"
#include "nodeagent/report/measures.h"
#include "nodeagent/report/report.h"
#include "nodeagent/base/result-files.h"

static void summary_lines(FILE *f, const struct report *r)
{
	const struct profile *p = r->p;
	const uint32_t others = profile_other_ranks(p);

	fputc('\n', f);
	if (p->world_size) {
		section_number(f, "Nr. of MPI ranks:", p->world_size);
		if (others)
			section_number(f, "   in other MPI jobs:", others);
		if (p->unranked > others)
			section_number(f, "Nr. of other processes:", p->unranked - others);
	} else {
		section_number(f, "Nr. of processes:", p->ranks);
	}
	if (p->threads > p->ranks)
		section_number(f, "Nr. of threads:", p->threads);
	if (p->n_agents > 1)
		section_number(f, "Nr. of nodes:", p->n_agents);
	section_matching(f, r);
	section_times(f, r, p->runtime_s);
	if (!r->run)
		section_bytes(f, "Vftrace used memory:", (double)p->ring_bytes);
}

static void fill_log(FILE *f, const struct report *r, const void *ctx)
{
	section_head(f, r);
	section_started(f, r);
	section_banner(f, r);
	if (r->run) {
		section_findings(f, r);
		section_efficiency(f, r);
		fputc('\n', f);
		section_digest(f, r);
		section_warnings(f, r);
		summary_lines(f, r);
	} else {
		summary_lines(f, r);
		section_warnings(f, r);
	}
	measures_print(f, r);
	section_foot(f, r);
}

static void fill_json(FILE *f, const struct report *r, const void *ctx)
{
	setvbuf(f, NULL, _IONBF, 0); /* it gets whole pieces, of which stdio would make copies */
	measures_json(f, r);
}

void output_digest(FILE *f, const struct profile *p, const struct conf *c, const char *dir)
{
	struct report r;

	if (strcmp(c->output_layout, "run"))
		return;
	report_init(&r, p, c, NULL, 0);
	r.log = REPORT_SUMMARY;
	r.folder = dir;
	section_digest(f, &r);
	report_done(&r);
}

void output_json(const struct profile *p, const struct conf *c, FILE *f)
{
	struct report r;

	report_init(&r, p, c, NULL, 0);
	r.log = REPORT_SUMMARY;
	measures_json(f, &r);
	report_done(&r);
}

void output_json_of(struct json *j, const void *report)
{
	measures_hand(j, report);
}

int output_summary(const struct profile *p, const struct conf *c, const char *dir, const char *base,
	char **error)
{
	const struct result log = {base, RESULT_SUMMARY, NULL, NULL},
			    json = {base, RESULT_PROFILE, NULL, NULL};
	struct report r;
	int first, rc;

	*error = NULL;
	report_init(&r, p, c, NULL, 0);
	r.log = REPORT_SUMMARY;
	r.folder = dir;
	first = report_write(dir, &log, fill_log, &r, NULL, error);
	rc = report_write(dir, &json, fill_json, &r, NULL, error);
	if (!first)
		first = rc;
	rc = measures_write(dir, &log, &r, error);
	report_done(&r);
	return first ? first : rc;
}
