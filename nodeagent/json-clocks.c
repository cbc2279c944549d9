/* SPDX-License-Identifier: BSD-3-Clause */
/* The clocks of the nodes in BASE_all.json: only where there are several. */
#include "nodeagent/json.h"
#include "nodeagent/report.h"

static const char *const states[] = {
	[PROFILE_CLOCK_UNKNOWN] = "unknown",
	[PROFILE_CLOCK_REFERENCE] = "reference",
	[PROFILE_CLOCK_COMPARED] = "compared",
};

static void write_clock(struct json *j, const struct profile_agent *a)
{
	const struct profile_clock *c = &a->clock;

	json_object(j, NULL);
	json_string(j, "host", a->host);
	json_string(j, "state", states[c->state <= PROFILE_CLOCK_COMPARED ? c->state : 0]);
	if (c->state == PROFILE_CLOCK_COMPARED) {
		json_int(j, "from_ns", c->from_ns);
		json_int(j, "to_ns", c->to_ns);
		json_int(j, "offset_ns", c->offset_ns);
		json_int(j, "offset_end_ns", c->offset_end_ns);
		json_real(j, "drift_ppm", report_drift_ppm(c));
		json_seconds(j, "error_s", c->error_ns);
		json_seconds(j, "error_median_s", c->error_median_ns);
		json_seconds(j, "round_trip_s", c->round_trip_ns);
		json_uint(j, "jumps", c->jumps);
		json_uint(j, "bursts", c->bursts);
		json_uint(j, "slow", c->dropped);
		json_uint(j, "missed", c->missed);
		json_uint(j, "checks", c->checks);
		json_uint(j, "checks_beyond", c->checks_beyond);
		json_seconds(j, "check_max_s", c->check_max_ns);
		json_seconds(j, "check_rms_s", c->check_rms_ns);
	}
	json_close(j);
}

void json_clocks(struct json *j, const struct report *r)
{
	if (!report_has_clocks(r->p))
		return;
	json_array(j, "clocks");
	for (size_t i = 0; i < r->p->n_agents; i++)
		write_clock(j, &r->p->agents[i]);
	json_close(j);
}
