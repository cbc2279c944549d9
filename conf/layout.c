/* SPDX-License-Identifier: BSD-3-Clause */
/* What output.layout = run changes of the defaults, which are Vftrace's. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "conf/internal.h"

static const struct {
	enum conf_id id;
	const char *value; /* as on a command line */
} of_a_run[] = {
	{CONF_ID_profile_table_imbalance_formula, "max_mean"},
	{CONF_ID_profile_table_show_calltime_imbalances, "true"},
	{CONF_ID_profile_table_max_rows, "50"},
	{CONF_ID_output_max_columns, "120"},
	{CONF_ID_profile_table_min_percent, "0.1"},
	{CONF_ID_openmp_show_idle_time, "true"},
};

int conf_settle_layout(struct conf *c)
{
	if (strcmp(c->output_layout, "run"))
		return 0;
	for (size_t i = 0; i < sizeof(of_a_run) / sizeof(of_a_run[0]); i++) {
		const struct conf_option *o = &conf_options[of_a_run[i].id];
		char *why = NULL;

		if (c->given[of_a_run[i].id])
			continue;
		if (value_from_text(o, (char *)c + o->offset, of_a_run[i].value, &why) < 0) {
			free(why);
			return -1;
		}
	}
	return 0;
}

#define COUNT_TINY_OF_A_RUN 10.0

double conf_count_tiny(const struct conf *c)
{
	if (c->overhead_count_tiny != (double)CONF_AUTO)
		return c->overhead_count_tiny;
	if (strcmp(c->output_layout, "run") || c->sampling_active ||
		(c->hwprof_active && c->hwprof_counters.n) ||
		strcmp(c->profile_table_threads, "none"))
		return NAN;
	/* calls counted below a hidden one that a jump has left would be hidden, too */
	if (*c->filter_only || *c->filter_not || c->filter_depth)
		return NAN;
	return COUNT_TINY_OF_A_RUN;
}
