/* SPDX-License-Identifier: BSD-3-Clause */
/* The clocks of the nodes against that of agent 0's node, with bounds. */
#include <inttypes.h>
#include <stdlib.h>

#include "nodeagent/report.h"
#include "nodeagent/table.h"
#include "nodeagent/util.h"

#define NOTHING	  "----"
#define LINES_MAX 50

bool report_has_clocks(const struct profile *p)
{
	for (size_t i = 0; i < p->n_agents; i++)
		if (p->agents[i].clock.state != PROFILE_CLOCK_UNKNOWN)
			return p->n_agents > 1;
	return false;
}

double report_drift_ppm(const struct profile_clock *c)
{
	double ns = (double)c->to_ns - (double)c->from_ns;

	return ns > 0 ? 1e6 * ((double)c->offset_end_ns - (double)c->offset_ns) / ns : 0;
}

static void cell_offset(struct table *t, const struct profile_clock *c)
{
	table_real(t, 0, 6, 1e-9 * (double)c->offset_ns);
}

static void cell_drift(struct table *t, const struct profile_clock *c)
{
	table_real(t, 0, 3, report_drift_ppm(c));
}

static void cell_error(struct table *t, const struct profile_clock *c)
{
	table_real(t, 0, 1, 1e-3 * (double)c->error_ns);
}

static void cell_median(struct table *t, const struct profile_clock *c)
{
	table_real(t, 0, 1, 1e-3 * (double)c->error_median_ns);
}

static void cell_round_trip(struct table *t, const struct profile_clock *c)
{
	table_real(t, 0, 1, 1e-3 * (double)c->round_trip_ns);
}

static void cell_bursts(struct table *t, const struct profile_clock *c)
{
	table_uint(t, c->bursts);
}

static void cell_slow(struct table *t, const struct profile_clock *c)
{
	table_uint(t, c->dropped);
}

static void cell_missed(struct table *t, const struct profile_clock *c)
{
	table_uint(t, c->missed);
}

static void cell_checks(struct table *t, const struct profile_clock *c)
{
	table_uint(t, c->checks);
}

static void cell_check_max(struct table *t, const struct profile_clock *c)
{
	if (c->checks)
		table_real(t, 0, 1, 1e-3 * (double)c->check_max_ns);
	else
		table_text(t, NOTHING);
}

static void cell_check_rms(struct table *t, const struct profile_clock *c)
{
	if (c->checks)
		table_real(t, 0, 1, 1e-3 * (double)c->check_rms_ns);
	else
		table_text(t, NOTHING);
}

static const struct {
	const char *title;
	void (*cell)(struct table *t, const struct profile_clock *c);
} columns[] = {
	{"Offset[s]", cell_offset},
	{"Drift[ppm]", cell_drift},
	{"Error[us]", cell_error},
	{"Median error[us]", cell_median},
	{"Round trip[us]", cell_round_trip},
	{"Bursts", cell_bursts},
	{"Slow", cell_slow},
	{"Missed", cell_missed},
	{"Checks", cell_checks},
	{"Check max[us]", cell_check_max},
	{"Check rms[us]", cell_check_rms},
};

static void print_row(struct table *t, const struct profile_agent *a)
{
	table_text(t, a->host);
	for (size_t i = 0; i < ARRAY_SIZE(columns); i++) {
		if (a->clock.state == PROFILE_CLOCK_COMPARED)
			columns[i].cell(t, &a->clock);
		else
			table_text(t, i == 0 && a->clock.state == PROFILE_CLOCK_REFERENCE
					      ? "reference"
					      : NOTHING);
	}
}

/* What is not as it should be. */
static void print_sentences(FILE *f, const struct profile_agent *a)
{
	char *host = text_plain(a->host);

	if (a->clock.state == PROFILE_CLOCK_UNKNOWN && !a->missing)
		fprintf(f, "The clock of %s could not be compared with the others.\n", host);
	if (a->clock.jumps)
		fprintf(f, "The clock of %s jumped %" PRIu32 " %s (suspended?).\n", host,
			a->clock.jumps, one_or_many(a->clock.jumps, "time", "times"));
	if (a->clock.checks_beyond)
		fprintf(f,
			"%" PRIu64 " of %" PRIu64 " checks of the clock of %s %s outside of the "
			"bounds.\n",
			a->clock.checks_beyond, a->clock.checks, host,
			one_or_many(a->clock.checks_beyond, "was", "were"));
	free(host);
}

static bool is_odd(const struct profile_agent *a)
{
	return (a->clock.state == PROFILE_CLOCK_UNKNOWN && !a->missing) || a->clock.jumps ||
	       a->clock.checks_beyond;
}

/* The reference stands in each table. */
static double error_or_reference(const struct profile_agent *a)
{
	return a->clock.state == PROFILE_CLOCK_REFERENCE ? 1e30 : (double)a->clock.error_ns;
}

void section_clocks(FILE *f, const struct report *r)
{
	const struct profile *p = r->p;
	struct table *t;
	size_t *shown, n;

	if (!report_has_clocks(p))
		return;
	t = table_new(TABLE_FRAMED);
	table_column(t, "Host", TABLE_RIGHT);
	for (size_t i = 0; i < ARRAY_SIZE(columns); i++)
		table_column(t, columns[i].title, TABLE_RIGHT);
	shown = report_agents(p, error_or_reference, &n);
	for (size_t i = 0; i < n; i++)
		print_row(t, &p->agents[shown[i]]);
	fputs("\nClocks\n", f);
	table_print(t, f);
	table_free(t);
	free(shown);
	if (n < p->n_agents)
		fprintf(f, "Those with the greatest error of %zu clocks.\n", p->n_agents);
	for (size_t i = n = 0; i < p->n_agents; i++)
		if (is_odd(&p->agents[i]) && n++ < LINES_MAX)
			print_sentences(f, &p->agents[i]);
	if (n > LINES_MAX)
		fprintf(f, "... and %zu clocks more that are not as they should be.\n",
			n - LINES_MAX);
}
