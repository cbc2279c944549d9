/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * OpenACC in the logs: Vftrace's tables, by position in the source and by event; how many
 * copies were made for the kernels; and the numbers of the events. No time is in a table
 * twice: that of an event inside of another one counts for the inner one.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "conf/conf.h"
#include "nodeagent/report-openacc.h"
#include "nodeagent/report.h"
#include "nodeagent/table.h"
#include "nodeagent/util.h"

#define NOTHING	     "----"
#define NAME_COLUMNS 60

static struct table *new_table(const char *const *titles, size_t n)
{
	struct table *t = table_new(TABLE_FRAMED);

	for (size_t i = 0; i < n; i++)
		table_column(t, titles[i], TABLE_RIGHT);
	return t;
}

static void end_table(struct table *t, FILE *f, const char *title)
{
	fprintf(f, "\n%s\n", title);
	table_print(t, f);
	table_free(t);
}

static void cell_text(struct table *t, const char *text)
{
	char *plain = text_plain(text[0] ? text : NOTHING), *cut = text_short(plain, NAME_COLUMNS);

	table_text(t, cut);
	free(cut);
	free(plain);
}

/* ---- by position ---------------------------------------------------------------------- */

static void print_positions(FILE *f, const struct report *r)
{
	static const char *const titles[] = {"Position", "Function", "t_compute [s]", "t_data [s]",
		"t_wait [s]", "Host -> Device [B]", "Device -> Host [B]", "On Device [B]"};
	struct table *t = new_table(titles, ARRAY_SIZE(titles));
	size_t n;
	struct openacc_total *all = openacc_totals(r, &n);

	for (size_t i = 0; i < n && i < SECTION_ROWS; i++) {
		cell_text(t, all[i].position);
		cell_text(t, all[i].function);
		for (int k = OPENACC_COMPUTE; k <= OPENACC_WAIT; k++)
			table_real(t, 0, 3, 1e-9 * (double)all[i].ns[k]);
		table_uint(t, all[i].to_device);
		table_uint(t, all[i].to_host);
		table_uint(t, all[i].on_device);
	}
	openacc_totals_free(all, n);
	end_table(t, f, "--OpenACC Summary--");
	section_more(f, n, "positions");
}

/* ---- copies for kernels --------------------------------------------------------------- */

/* Calls of one process: least, most, of those that made any; ranks: the most. */
struct per_rank {
	uint64_t calls, ranks, min, max;
};

struct caller {
	uint32_t stack;
	struct per_rank in, out;
	uint64_t kernels;
};

static void add(struct per_rank *to, const struct profile_openacc *o)
{
	to->calls += o->calls;
	to->ranks = o->ranks > to->ranks ? o->ranks : to->ranks;
	to->min += o->calls_min;
	to->max += o->calls_max;
}

static void print_calls(
	FILE *f, const char *label, const char *name, const struct per_rank *n, uint64_t kernels)
{
	double mean = n->ranks ? (double)n->calls / (double)n->ranks : 0;

	fprintf(f, "      %-8s avg %10.2f  min %8" PRIu64 "  max %8" PRIu64, label, mean, n->min,
		n->max);
	if (name)
		fprintf(f, "  %s\n", name);
	else
		fprintf(f, "  %.4g for each kernel\n", (double)n->calls / (double)kernels);
}

/* A runtime that launches on the host itself tells of no launches. */
static uint32_t kernel_event(const struct profile *p)
{
	for (size_t i = 0; i < p->n_openacc; i++)
		if (p->openacc[i].event == OPENACC_LAUNCH_EVENT)
			return OPENACC_LAUNCH_EVENT;
	return OPENACC_COMPUTE_EVENT;
}

static void print_kernels(
	FILE *f, const struct report *r, const uint32_t *caller, uint32_t stack, uint32_t kernel)
{
	for (size_t i = 0; i < r->p->n_openacc; i++) {
		const struct profile_openacc *o = &r->p->openacc[i];
		struct per_rank n = {0};
		char *plain, *cut;

		if (o->event != kernel || caller[i] != stack)
			continue;
		add(&n, o);
		plain = text_plain(r->cell[r->p->stacks[o->stack].name]);
		cut = text_short(plain, NAME_COLUMNS);
		print_calls(f, "kernel", cut, &n, 0);
		free(cut);
		free(plain);
	}
}

static struct caller look_at(
	const struct profile *p, const uint32_t *caller, uint32_t stack, uint32_t kernel)
{
	struct caller c = {.stack = stack};

	for (size_t i = 0; i < p->n_openacc; i++) {
		const struct profile_openacc *o = &p->openacc[i];

		if (caller[i] != stack)
			continue;
		if (o->event == kernel)
			c.kernels += o->calls;
		else if (o->event == OPENACC_UPLOAD_EVENT)
			add(&c.in, o);
		else if (o->event == OPENACC_DOWNLOAD_EVENT)
			add(&c.out, o);
	}
	return c;
}

static void print_ratios(FILE *f, const struct report *r)
{
	const struct profile *p = r->p;
	bool *seen = xcalloc(p->n_stacks + 1, sizeof(*seen));
	uint32_t *caller = xcalloc(p->n_openacc + 1, sizeof(*caller));
	uint32_t kernel = kernel_event(p);
	unsigned n = 0;

	for (size_t i = 0; i < p->n_openacc; i++)
		caller[i] = openacc_caller(r, p->openacc[i].stack);
	for (size_t i = 0; i < p->n_openacc && n < SECTION_ROWS; i++) {
		struct caller c;

		if ((p->openacc[i].event != OPENACC_UPLOAD_EVENT &&
			    p->openacc[i].event != OPENACC_DOWNLOAD_EVENT) ||
			caller[i] == PROFILE_NONE || seen[caller[i]])
			continue;
		seen[caller[i]] = true;
		c = look_at(p, caller, caller[i], kernel);
		if (!c.kernels)
			continue;
		if (!n++)
			fputs("\nOpenACC ratio of memcpy / kernel calls\n", f);
		fprintf(f, "   %s\n", r->cell[p->stacks[c.stack].name]);
		print_calls(f, "in", NULL, &c.in, c.kernels);
		print_calls(f, "out", NULL, &c.out, c.kernels);
		print_kernels(f, r, caller, c.stack, kernel);
	}
	free(caller);
	free(seen);
}

/* ---- by event ------------------------------------------------------------------------- */

static void print_events(FILE *f, const struct report *r)
{
	static const char *const titles[] = {"STID", "event", "regionID", "#Calls", "t_compute[s]",
		"t_data[s]", "t_wait[s]", "Bytes", "Source File", "Function", "Name"};
	struct table *t = new_table(titles, ARRAY_SIZE(titles));
	uint32_t *order = openacc_sort(r);

	for (size_t i = 0; i < r->p->n_openacc && i < SECTION_ROWS; i++) {
		const struct profile_openacc *o = &r->p->openacc[order[i]];
		struct openacc_texts texts = openacc_texts_shown(r, o);
		char *id = xasprintf("0x%" PRIx64, openacc_region_id(o));

		section_cell_id(t, r, o->stack);
		table_uint(t, o->event);
		table_text(t, id);
		table_uint(t, o->calls);
		for (int k = OPENACC_COMPUTE; k <= OPENACC_WAIT; k++)
			table_real(t, 0, 3,
				k == (int)openacc_event_time(o->event) ? 1e-9 * (double)o->own_ns
								       : 0);
		table_uint(t, o->bytes);
		cell_text(t, texts.file);
		cell_text(t, texts.function);
		cell_text(t, texts.name);
		free(id);
		free(texts.all);
	}
	free(order);
	end_table(t, f, "--OpenACC Detailed Event Summary--");
	section_more(f, r->p->n_openacc, "events");
}

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

	for (size_t i = 0; i < r->p->n_openacc; i++) {
		const struct profile_openacc *o = &r->p->openacc[i];

		s[openacc_event_time(o->event)] += 1e-9 * (double)o->own_ns;
	}
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
		print_events(f, r);
}
