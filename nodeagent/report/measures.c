/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/report/measures.h"

#include "conf/conf.h"
#include "nodeagent/base/json-write.h"
#include "nodeagent/base/result-files.h"
#include "nodeagent/base/util.h"
#include "nodeagent/report/report.h"

#define JSON_LINES 2 /* one line per member of the top level and per element of its arrays */

#define REPORT_ALL (REPORT_SUMMARY | REPORT_NODE | REPORT_RANK)

static const struct measure {
	void (*json)(struct json *j, const struct report *r);
	void (*section)(FILE *f, const struct report *r);
	unsigned logs; /* that have the section: enum report_log */
	/* its file in the summary and rank logs where tables are kept separate, if wanted */
	const char *file;
	bool (*wanted)(const struct profile *p, const struct conf *c);
} measures[] = {
#define JSON(name)		     {.json = json_##name},
#define SECTION(name, logs)	     {NULL, section_##name, logs, NULL, NULL},
#define TABLE(name, logs, file, has) {NULL, section_##name, logs, file, report_has_##has},
#include "nodeagent/report/measures.def"
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

void measures_hand(struct json *j, const struct report *r)
{
	json_object(j, NULL);
	for (size_t i = 0; i < ARRAY_SIZE(measures); i++)
		if (measures[i].json)
			measures[i].json(j, r);
	json_close(j);
}

void measures_json(FILE *f, const struct report *r)
{
	struct json j;

	json_begin(&j, f, JSON_LINES);
	measures_hand(&j, r);
}

static void fill_file(FILE *f, const struct report *r, const void *ctx)
{
	const struct measure *m = ctx;

	section_head(f, r);
	m->section(f, r);
}

int measures_write(const char *dir, const struct result *log, const struct report *r, char **error)
{
	int first = 0;

	EACH(const struct measure, m, measures, ARRAY_SIZE(measures)) {
		struct result file = *log;
		int rc;

		if (!(m->logs & r->log) || !is_separate(m, r) || !m->wanted(r->p, r->c))
			continue;
		file.part = m->file;
		rc = report_write(dir, &file, fill_file, r, m, error);
		if (!first)
			first = rc;
	}
	return first;
}
