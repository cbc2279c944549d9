/* SPDX-License-Identifier: BSD-3-Clause */
/* What overhead.budget_percent has switched off: a table, and the same in JSON. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "conf/conf.h"
#include "nodeagent/symbols/demangle.h"
#include "nodeagent/profile/profile.h"
#include "nodeagent/report/log/internal.h"

#define SAVED 0.65 /* of a call's cost: it is not recorded, but its hooks still are called */

static double saved_s(const struct report *r, const struct profile_switched *s)
{
	return SAVED * report_overhead_s(r, s->calls);
}

/*
 * The compiler knows functions by what they are called in the source, of C++ with all types;
 * it takes the names apart at commas.
 */
static void print_option(FILE *f, const struct report *r)
{
	const char *before = "Left out by the compiler they cost nothing:\n"
			     "   -finstrument-functions-exclude-function-list=";

	EACH(const struct profile_switched, s, r->p->switched, r->p->n_switched) {
		const struct name_style style = {.strip_module_names = true, .keep_cxx = true};
		char *name = name_shown(s->name, &style), *plain = text_plain(name);

		if (!strpbrk(plain, ", (<") && strncmp(s->name, "_Z", 2)) {
			fprintf(f, "%s%s", before, plain);
			before = ",";
		}
		free(name);
		free(plain);
	}
	if (before[0] == ',')
		fputc('\n', f);
}

ROW_VALUE(const char *, switched_name, profile_switched, report_name(row->r, at->name))
ROW_VALUE(const char *, switched_cell, profile_switched, report_cell(row->r, at->name))
ROW_VALUE(bool, switched_differs, profile_switched, report_name_differs(row->r, at->name))
ROW_VALUE(bool, switched_is_removed, profile_switched, at->removed_ns != 0)
ROW_VALUE(double, switched_saved, profile_switched, saved_s(row->r, at))

enum { WITH_REMOVED = 1 };

#define SWITCHED(title, json, type, member, ...)                                                   \
	COLUMN(title, json, type, struct profile_switched, member, ##__VA_ARGS__)

static const struct column switched_columns[] = {
	COLUMN_GET("Function", NULL, TEXT, text, switched_cell, .left = true),
	COLUMN_GET(NULL, "function", TEXT, text, switched_name),
	SWITCHED(NULL, "linker_name", TEXT, name, .where = switched_differs),
	SWITCHED("From[s]", "from_s", SECONDS, from_ns),
	SWITCHED("Removed[s]", "removed_s", SECONDS, removed_ns, .only = WITH_REMOVED,
		.where = switched_is_removed),
	SWITCHED("Calls not recorded", "calls", COUNT, calls),
	COLUMN_GET("Saved[s]", "saved_s", REAL, real, switched_saved),
	SWITCHED("Processes", "processes", COUNT, processes),
};

static const struct list switched_list = LIST(switched_columns, switched,
	.title = "Functions switched off (overhead.budget_percent)\n", .json = "switched_off");

static unsigned asked_for(const struct report *r)
{
	for (size_t i = 0; i < r->p->n_switched; i++)
		if (r->p->switched[i].removed_ns)
			return WITH_REMOVED;
	return 0;
}

void section_switched(FILE *f, const struct report *r)
{
	if (!r->p->n_switched) {
		if (!isnan(r->c->overhead_budget_percent))
			fprintf(f,
				"\nNo function was switched off: overhead.budget_percent is %g.\n",
				r->c->overhead_budget_percent);
		return;
	}
	columns_print(f, r, &switched_list, asked_for(r));
	fputs("From then on their time is that of their callers.\n", f);
	print_option(f, r);
}

void json_switched(struct json *j, const struct report *r)
{
	if (r->p->n_switched || !isnan(r->c->overhead_budget_percent))
		columns_json(j, r, &switched_list);
}
