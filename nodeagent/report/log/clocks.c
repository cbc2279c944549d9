/* SPDX-License-Identifier: BSD-3-Clause */
/* The clocks of the nodes against that of agent 0's node, with bounds: log and JSON. */
#include <inttypes.h>
#include <stdlib.h>

#include "nodeagent/report/log/internal.h"

#define LINES_MAX 50

bool report_has_clocks(const struct profile *p)
{
	for (size_t i = 0; i < p->n_agents; i++)
		if (p->agents[i].clock.state != PROFILE_CLOCK_UNKNOWN)
			return p->n_agents > 1;
	return false;
}

static double drift_ppm(const struct profile_clock *c)
{
	double ns = (double)c->to_ns - (double)c->from_ns;

	return ns > 0 ? 1e6 * ((double)c->offset_end_ns - (double)c->offset_ns) / ns : 0;
}

static const char *const states[] = {
	[PROFILE_CLOCK_UNKNOWN] = "unknown",
	[PROFILE_CLOCK_REFERENCE] = "reference",
	[PROFILE_CLOCK_COMPARED] = "compared",
};

static char *offset_text(const struct profile_clock *c)
{
	if (c->state == PROFILE_CLOCK_REFERENCE)
		return xstrdup("reference");
	return c->state == PROFILE_CLOCK_COMPARED ? xasprintf("%.6f", 1e-9 * (double)c->offset_ns)
						  : NULL;
}

ROW_VALUE(const char *, clock_state, profile_agent,
	states[at->clock.state <= PROFILE_CLOCK_COMPARED ? at->clock.state : 0])
ROW_VALUE(char *, clock_offset, profile_agent, offset_text(&at->clock))
ROW_VALUE(double, clock_drift, profile_agent, drift_ppm(&at->clock))
ROW_VALUE(bool, is_compared, profile_agent, at->clock.state == PROFILE_CLOCK_COMPARED)
ROW_VALUE(bool, is_checked, profile_agent, at->clock.checks)

#define CLOCK(title, json, type, member, ...)                                                      \
	COLUMN(title, json, type, struct profile_agent, clock.member, .where = is_compared,        \
		##__VA_ARGS__)

static const struct column clock_columns[] = {
	COLUMN("Host", "host", TEXT, struct profile_agent, host),
	COLUMN_GET(NULL, "state", TEXT, text, clock_state),
	CLOCK(NULL, "from_ns", SIGNED, from_ns),
	CLOCK(NULL, "to_ns", SIGNED, to_ns),
	COLUMN_GET("Offset[s]", NULL, MADE, made, clock_offset),
	CLOCK(NULL, "offset_ns", SIGNED, offset_ns),
	CLOCK(NULL, "offset_end_ns", SIGNED, offset_end_ns),
	COLUMN_GET("Drift[ppm]", "drift_ppm", REAL, real, clock_drift, .where = is_compared),
	CLOCK("Error[us]", "error_s", US, error_ns, .decimals = 1),
	CLOCK("Median error[us]", "error_median_s", US, error_median_ns, .decimals = 1),
	CLOCK("Round trip[us]", "round_trip_s", US, round_trip_ns, .decimals = 1),
	CLOCK(NULL, "jumps", COUNT, jumps),
	CLOCK("Bursts", "bursts", COUNT, bursts),
	CLOCK("Slow", "slow", COUNT, dropped),
	CLOCK("Missed", "missed", COUNT, missed),
	CLOCK("Checks", "checks", COUNT, checks),
	CLOCK(NULL, "checks_beyond", COUNT, checks_beyond),
	CLOCK("Check max[us]", "check_max_s", US, check_max_ns, .decimals = 1,
		.log_where = is_checked),
	CLOCK("Check rms[us]", "check_rms_s", US, check_rms_ns, .decimals = 1,
		.log_where = is_checked),
};

/* Lines about clocks that jumped, and checks beyond their bounds. */
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

static uint32_t *least_known(const struct report *r, size_t *n)
{
	return report_agents(r->p, error_or_reference, n);
}

static const struct list clock_list =
	LIST(clock_columns, agents, .title = "Clocks", .json = "clocks", .order = least_known);

void section_clocks(FILE *f, const struct report *r)
{
	const struct profile *p = r->p;
	size_t n = 0;

	if (!report_has_clocks(p))
		return;
	columns_print(f, r, &clock_list, 0);
	if (p->n_agents > AGENTS_ALL)
		fprintf(f, "Those with the greatest error of %zu clocks.\n", p->n_agents);
	for (size_t i = 0; i < p->n_agents; i++)
		if (is_odd(&p->agents[i]) && n++ < LINES_MAX)
			print_sentences(f, &p->agents[i]);
	if (n > LINES_MAX)
		fprintf(f, "... and %zu %s.\n", n - LINES_MAX,
			one_or_many(n - LINES_MAX, "clock more that is not as it should be",
				"clocks more that are not as they should be"));
}

void json_clocks(struct json *j, const struct report *r)
{
	if (report_has_clocks(r->p))
		columns_json(j, r, &clock_list);
}
