/* SPDX-License-Identifier: BSD-3-Clause */
/* The user's counters, process by process: in the logs and in BASE_all.json. */
#include <stdlib.h>

#include "nodeagent/json.h"
#include "nodeagent/report.h"
#include "nodeagent/table.h"
#include "nodeagent/user-counters.h"
#include "nodeagent/util.h"

#define NAME_COLUMNS 60

static double mean_of(const struct profile_user_counter *c)
{
	union user_value sum = {.bits = c->sum};

	return c->values ? sum.real / (double)c->values : 0;
}

static uint64_t bits_of(double real)
{
	union user_value v = {.real = real};

	return v.bits;
}

static void cell_value(struct table *t, bool real, uint64_t bits)
{
	char *text = user_value_text(real, bits);

	table_text(t, text);
	free(text);
}

static void add_row(struct table *t, const struct profile *p, const struct profile_user_counter *c)
{
	char *name = user_counter_name(c), *cut = text_short(name, NAME_COLUMNS);

	table_uint(t, profile_rank_shown(p, c->rank));
	table_text(t, cut);
	table_text(t, user_counter_unit(c));
	table_uint(t, c->values);
	cell_value(t, c->real, c->min);
	cell_value(t, true, bits_of(mean_of(c)));
	cell_value(t, c->real, c->max);
	cell_value(t, c->real, c->last);
	free(name);
	free(cut);
}

void section_user_counters(FILE *f, const struct report *r)
{
	static const char *const titles[] = {
		"Rank", "Counter", "Unit", "Values", "Least", "Mean", "Greatest", "Last"};
	const struct profile *p = r->p;
	struct table *t;

	if (!p->n_user_counters)
		return;
	t = table_new(TABLE_FRAMED);
	for (size_t i = 0; i < ARRAY_SIZE(titles); i++)
		table_column(t, titles[i], TABLE_RIGHT);
	for (size_t i = 0; i < p->n_user_counters && i < SECTION_ROWS; i++)
		add_row(t, p, &p->user_counters[i]);
	fputs("\nCounters of the program\n", f);
	table_print(t, f);
	table_free(t);
	section_more(f, p->n_user_counters, "counters");
}

static void write_value(struct json *j, const char *key, bool real, uint64_t bits)
{
	union user_value v = {.bits = bits};

	if (real)
		json_exact(j, key, v.real);
	else
		json_int(j, key, v.integer);
}

void json_user_counters(struct json *j, const struct report *r)
{
	const struct profile *p = r->p;

	if (!p->n_user_counters)
		return;
	json_array(j, "user_counters");
	for (size_t i = 0; i < p->n_user_counters; i++) {
		const struct profile_user_counter *c = &p->user_counters[i];
		char *name = user_counter_name(c);

		json_object(j, NULL);
		json_uint(j, "rank", profile_rank_shown(p, c->rank));
		json_string(j, "name", name);
		json_string(j, "unit", user_counter_unit(c));
		json_string(j, "type", c->real ? "real" : "integer");
		json_uint(j, "values", c->values);
		write_value(j, "min", c->real, c->min);
		json_exact(j, "mean", mean_of(c));
		write_value(j, "max", c->real, c->max);
		write_value(j, "last", c->real, c->last);
		json_close(j);
		free(name);
	}
	json_close(j);
}
