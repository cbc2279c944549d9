/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * OpenACC in the logs: Vftrace's tables, by position in the source and by event; how many
 * copies were made for the kernels; and the numbers of the events. No time is in a table
 * twice: that of an event inside of another one counts for the inner one.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "conf/conf.h"
#include "nodeagent/report/openacc.h"
#include "nodeagent/report/log/internal.h"

/* ---- by position ---------------------------------------------------------------------- */

static const char *some(const char *text)
{
	return text[0] ? text : NULL;
}

ROW_VALUE(const char *, position_text, openacc_total, some(at->position))
ROW_VALUE(const char *, position_function, openacc_total, some(at->function))

#define POSITION(title, type, member) COLUMN(title, NULL, type, struct openacc_total, member)

static const struct column position_columns[] = {
	COLUMN_GET("Position", NULL, TEXT, text, position_text, .width = COLUMN_NAME),
	COLUMN_GET("Function", NULL, TEXT, text, position_function, .width = COLUMN_NAME),
	POSITION("t_compute [s]", SECONDS, ns[OPENACC_COMPUTE]),
	POSITION("t_data [s]", SECONDS, ns[OPENACC_DATA]),
	POSITION("t_wait [s]", SECONDS, ns[OPENACC_WAIT]),
	POSITION("Host -> Device [B]", COUNT, to_device),
	POSITION("Device -> Host [B]", COUNT, to_host),
	POSITION("On Device [B]", COUNT, on_device),
};

static const struct list position_list = LIST_OF(position_columns, struct openacc_total,
	.title = "--OpenACC Summary--", .things = "positions");

static void print_positions(FILE *f, const struct report *r)
{
	size_t n;
	struct openacc_total *all = openacc_totals(r, &n);

	columns_print_of(f, r, &position_list, 0, all, n);
	openacc_totals_free(all, n);
}

/* ---- copies for kernels --------------------------------------------------------------- */

/* A runtime that launches on the host itself tells of no launches. */
static uint32_t kernel_event(const struct profile *p)
{
	for (size_t i = 0; i < p->n_openacc; i++)
		if (p->openacc[i].event == OPENACC_LAUNCH_EVENT)
			return OPENACC_LAUNCH_EVENT;
	return OPENACC_COMPUTE_EVENT;
}

static enum ratio_kind ratio_kind(const struct profile_openacc *o, uint32_t kernel)
{
	return o->event == kernel		    ? RATIO_KERNEL
	       : o->event == OPENACC_UPLOAD_EVENT   ? RATIO_IN
	       : o->event == OPENACC_DOWNLOAD_EVENT ? RATIO_OUT
						    : RATIO_OTHER;
}

static void print_ratios(FILE *f, const struct report *r)
{
	const struct profile *p = r->p;
	struct ratio_item *items = xcalloc(p->n_openacc + 1, sizeof(*items));
	uint32_t kernel = kernel_event(p);

	for (size_t i = 0; i < p->n_openacc; i++) {
		const struct profile_openacc *o = &p->openacc[i];

		items[i] = (struct ratio_item){ratio_kind(o, kernel), openacc_caller(r, o->stack),
			o->calls, o->ranks, o->calls_min, o->calls_max,
			xstrdup(r->cell[p->stacks[o->stack].name])};
	}
	section_ratio(f, r, "OpenACC ratio of memcpy / kernel calls", items, p->n_openacc);
}

/* ---- by event ------------------------------------------------------------------------- */

static uint64_t ns_in(const struct profile_openacc *o, enum openacc_time time)
{
	return openacc_event_time(o->event) == time ? o->own_ns : 0;
}

/* which: offset of a text in struct openacc_texts. */
static char *text_at(const struct report *r, const struct profile_openacc *o, size_t which)
{
	struct openacc_texts texts = openacc_texts_shown(r, o);
	const char *text = some(*(const char **)((char *)&texts + which));
	char *copy = text ? xstrdup(text) : NULL;

	free(texts.all);
	return copy;
}

#define TEXT_AT(member) text_at(row->r, at, offsetof(struct openacc_texts, member))
ROW_VALUE(char *, event_file, profile_openacc, TEXT_AT(file))
ROW_VALUE(char *, event_lines, profile_openacc, TEXT_AT(lines))
ROW_VALUE(char *, event_function, profile_openacc, TEXT_AT(function))
ROW_VALUE(char *, event_variable, profile_openacc, TEXT_AT(name))
ROW_VALUE(const char *, event_name, profile_openacc, openacc_event_name(at->event))
ROW_VALUE(const char *, event_parent, profile_openacc, some(openacc_parent_name(at->parent)))
ROW_VALUE(uint64_t, event_region, profile_openacc, openacc_region_id(at))
ROW_VALUE(
	char *, event_region_text, profile_openacc, xasprintf("0x%" PRIx64, openacc_region_id(at)))
ROW_VALUE(uint64_t, event_compute, profile_openacc, ns_in(at, OPENACC_COMPUTE))
ROW_VALUE(uint64_t, event_data, profile_openacc, ns_in(at, OPENACC_DATA))
ROW_VALUE(uint64_t, event_wait, profile_openacc, ns_in(at, OPENACC_WAIT))

#define EVENT(title, json, type, member) COLUMN(title, json, type, struct profile_openacc, member)

static const struct column event_columns[] = {
	EVENT("STID", "id", STACK_ID, stack),
	COLUMN_GET(NULL, "event", TEXT, text, event_name),
	EVENT("event", "number", COUNT, event),
	COLUMN_GET(NULL, "parent", TEXT, text, event_parent),
	COLUMN_GET(NULL, "region", HEX, count, event_region),
	COLUMN_GET("regionID", NULL, MADE, made, event_region_text),
	EVENT("#Calls", "calls", COUNT, calls),
	EVENT(NULL, "calls_min", COUNT, calls_min),
	EVENT(NULL, "calls_max", COUNT, calls_max),
	EVENT(NULL, "ranks", COUNT, ranks),
	EVENT(NULL, "t_incl_s", SECONDS, ns),
	EVENT(NULL, "t_s", SECONDS, own_ns),
	COLUMN_GET("t_compute[s]", NULL, SECONDS, count, event_compute),
	COLUMN_GET("t_data[s]", NULL, SECONDS, count, event_data),
	COLUMN_GET("t_wait[s]", NULL, SECONDS, count, event_wait),
	EVENT("Bytes", "bytes", COUNT, bytes),
	COLUMN_GET("Source File", "file", MADE, made, event_file, .width = COLUMN_NAME),
	COLUMN_GET(NULL, "lines", MADE, made, event_lines),
	COLUMN_GET("Function", "function", MADE, made, event_function, .width = COLUMN_NAME),
	COLUMN_GET("Name", "name", MADE, made, event_variable, .width = COLUMN_NAME),
};

static const struct list event_list =
	LIST(event_columns, openacc, .title = "--OpenACC Detailed Event Summary--",
		.json = "openacc", .things = "events", .order = openacc_sort);

void section_openacc_numbers(FILE *f, const struct report *r)
{
	bool seen[OPENACC_EVENT_LAST] = {false};

	if (!report_has_openacc(r->p, r->c) || !r->c->openacc_show_event_details)
		return;
	for (size_t i = 0; i < r->p->n_openacc; i++)
		seen[r->p->openacc[i].event] = true;
	fputs("\nOpenACC event numbers:\n", f);
	for (uint32_t event = 0; event < OPENACC_EVENT_LAST; event++)
		if (seen[event])
			fprintf(f, "   acc_ev_%s%s: %" PRIu32 "\n", openacc_event_name(event),
				openacc_event_ends(event) ? "_start" : "", event);
}

/* ---- all of it ------------------------------------------------------------------------ */

void section_openacc_times(FILE *f, const struct report *r)
{
	double s[OPENACC_WAIT + 1] = {0};

	EACH(const struct profile_openacc, o, r->p->openacc, r->p->n_openacc)
		s[openacc_event_time(o->event)] += 1e-9 * (double)o->own_ns;
	section_seconds(f, "Total OpenACC time:",
		s[OPENACC_COMPUTE] + s[OPENACC_DATA] + s[OPENACC_WAIT] + s[OPENACC_OTHER]);
	section_seconds(f, "   Compute:", s[OPENACC_COMPUTE]);
	section_seconds(f, "   Memcpy:", s[OPENACC_DATA]);
	section_seconds(f, "   Other:", s[OPENACC_WAIT] + s[OPENACC_OTHER]);
}

bool report_has_openacc(const struct profile *p, const struct conf *c)
{
	return c->openacc_show_table && p->n_openacc;
}

void section_openacc(FILE *f, const struct report *r)
{
	if (!report_has_openacc(r->p, r->c))
		return;
	print_positions(f, r);
	print_ratios(f, r);
	if (r->c->openacc_show_event_details)
		columns_print(f, r, &event_list, 0);
}

void json_openacc(struct json *j, const struct report *r)
{
	if (r->p->n_openacc)
		columns_json(j, r, &event_list);
}
