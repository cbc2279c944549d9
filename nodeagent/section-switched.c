/* SPDX-License-Identifier: BSD-3-Clause */
/* What overhead.budget_percent has switched off: a table, and the same in JSON. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "conf/conf.h"
#include "nodeagent/demangle.h"
#include "nodeagent/json.h"
#include "nodeagent/profile.h"
#include "nodeagent/report.h"
#include "nodeagent/table.h"
#include "nodeagent/util.h"

#define SAVED 0.65 /* of a call's cost: it is not recorded, but its hooks still are called */

static double saved_s(const struct report *r, const struct profile_switched *s)
{
	return SAVED * report_overhead_s(r, s->calls);
}

static char *name_of(const struct report *r, const struct profile_switched *s)
{
	return name_shown(
		s->name, &(struct name_style){r->c->strip_module_names, r->c->demangle_cxx});
}

/* The compiler takes the names apart at commas. */
static void print_option(FILE *f, const struct report *r)
{
	const char *before = "Left out by the compiler they cost nothing:\n"
			     "   -finstrument-functions-exclude-function-list=";

	for (size_t i = 0; i < r->p->n_switched; i++) {
		const struct profile_switched *s = &r->p->switched[i];
		char *name = name_of(r, s), *plain = text_plain(name);

		if (!strpbrk(plain, ", (<")) {
			fprintf(f, "%s%s", before, plain);
			before = ",";
		}
		free(name);
		free(plain);
	}
	if (before[0] == ',')
		fputc('\n', f);
}

void section_switched(FILE *f, const struct report *r)
{
	struct table *t;

	if (!r->p->n_switched) {
		if (!isnan(r->c->overhead_budget_percent))
			fprintf(f,
				"\nNo function was switched off: overhead.budget_percent is %g.\n",
				r->c->overhead_budget_percent);
		return;
	}
	t = table_new(TABLE_FRAMED);
	table_column(t, "Function", TABLE_LEFT);
	table_column(t, "From[s]", TABLE_RIGHT);
	table_column(t, "Calls not recorded", TABLE_RIGHT);
	table_column(t, "Saved[s]", TABLE_RIGHT);
	table_column(t, "Processes", TABLE_RIGHT);
	for (size_t i = 0; i < r->p->n_switched; i++) {
		const struct profile_switched *s = &r->p->switched[i];
		char *name = name_of(r, s);

		table_text(t, name);
		table_real(t, 0, 3, (double)s->from_ns * 1e-9);
		table_uint(t, s->calls);
		table_real(t, 0, 3, saved_s(r, s));
		table_uint(t, s->processes);
		free(name);
	}
	fprintf(f, "\nFunctions switched off (overhead.budget_percent)\n\n");
	table_print(t, f);
	table_free(t);
	fputs("From then on their time is that of their callers.\n", f);
	print_option(f, r);
}

void json_switched(struct json *j, const struct report *r)
{
	if (!r->p->n_switched && isnan(r->c->overhead_budget_percent))
		return;
	json_array(j, "switched_off");
	for (size_t i = 0; i < r->p->n_switched; i++) {
		const struct profile_switched *s = &r->p->switched[i];
		char *name = name_of(r, s);

		json_object(j, NULL);
		json_string(j, "function", name);
		json_seconds(j, "from_s", s->from_ns);
		json_uint(j, "calls", s->calls);
		json_real(j, "saved_s", saved_s(r, s));
		json_uint(j, "processes", s->processes);
		json_close(j);
		free(name);
	}
	json_close(j);
}
