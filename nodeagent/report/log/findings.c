/* SPDX-License-Identifier: BSD-3-Clause */
/* What is worth mending: at the top of the summary of layout run, and in JSON. */
#include "nodeagent/report/findings.h"
#include "nodeagent/report/log/internal.h"

void section_findings(FILE *f, const struct report *r)
{
	struct findings all;

	if (!r->run)
		return;
	all = findings_of(r);
	fputc('\n', f);
	findings_print(f, &all);
	findings_free(&all);
}

void json_findings(struct json *j, const struct report *r)
{
	struct findings all = findings_of(r);

	findings_json(j, &all);
	findings_free(&all);
}
