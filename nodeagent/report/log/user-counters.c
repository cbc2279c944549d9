/* SPDX-License-Identifier: BSD-3-Clause */
/* The user's counters, process by process: in the logs and in BASE_all.json. */

#include <string.h>

#include "nodeagent/profile/exact-sum.h"
#include "nodeagent/base/user-value.h"
#include "nodeagent/report/log/internal.h"

/* profile_user_counter.name has name and unit, and a newline between them. */
static char *name_of(const char *both)
{
	return xasprintf("%.*s", (int)strcspn(both, "\n"), both);
}

/* "" if there is none; points into the name. */
static const char *unit_of(const char *both)
{
	const char *end = both + strcspn(both, "\n");

	return *end ? end + 1 : end;
}

static double mean_of(const struct profile_user_counter *c)
{
	return c->values ? user_value_real(c->sum) / (double)c->values : 0;
}

static void write_value(struct json *j, const char *key, bool real, uint64_t bits)
{
	union user_value v = {.bits = bits};

	if (real)
		json_exact(j, key, v.real);
	else
		json_int(j, key, v.integer);
}

/* A value in the log, and in JSON: as the user has set it. */
#define USER_VALUE(member)                                                                         \
	ROW_VALUE(char *, text_##member, profile_user_counter,                                     \
		user_value_text(at->real, at->member))                                             \
	static void write_##member(struct json *j, const char *key, const struct row *row)         \
	{                                                                                          \
		const struct profile_user_counter *c = row->at;                                    \
                                                                                                   \
		write_value(j, key, c->real, c->member);                                           \
	}

USER_VALUE(min)
USER_VALUE(max)
USER_VALUE(last)
ROW_VALUE(char *, counter_name, profile_user_counter, name_of(at->name))
ROW_VALUE(const char *, counter_unit, profile_user_counter, unit_of(at->name))
ROW_VALUE(const char *, counter_type, profile_user_counter, at->real ? "real" : "integer")
ROW_VALUE(double, counter_mean, profile_user_counter, mean_of(at))
ROW_VALUE(char *, text_mean, profile_user_counter,
	user_value_text(true, user_value_bits(mean_of(at))))

#define COUNTER(title, json, type, member)                                                         \
	COLUMN(title, json, type, struct profile_user_counter, member)

static const struct column counter_columns[] = {
	COUNTER("Rank", "rank", RANK, rank),
	COLUMN_GET("Counter", "name", MADE, made, counter_name, .width = COLUMN_NAME),
	COLUMN_GET("Unit", "unit", TEXT, text, counter_unit),
	COLUMN_GET(NULL, "type", TEXT, text, counter_type),
	COUNTER("Values", "values", COUNT, values),
	COLUMN_GET("Least", NULL, MADE, made, text_min),
	COLUMN_GET(NULL, "min", WRITTEN, write, write_min),
	COLUMN_GET("Mean", NULL, MADE, made, text_mean),
	COLUMN_GET(NULL, "mean", EXACT, real, counter_mean),
	COLUMN_GET("Greatest", NULL, MADE, made, text_max),
	COLUMN_GET(NULL, "max", WRITTEN, write, write_max),
	COLUMN_GET("Last", NULL, MADE, made, text_last),
	COLUMN_GET(NULL, "last", WRITTEN, write, write_last),
};

static const struct list counter_list = LIST(counter_columns, user_counters,
	.title = "Counters of the program", .json = "user_counters", .things = "counters");

/* ---- of large jobs: all processes that have no row ------------------------------------------ */

static bool is_named(const struct row *row)
{
	const struct profile_user_rest *c = row->at;

	return c->name[0];
}

#define REST_VALUE(member)                                                                         \
	ROW_VALUE(char *, rest_text_##member, profile_user_rest,                                   \
		user_value_text(at->real, at->member))                                             \
	static void write_rest_##member(struct json *j, const char *key, const struct row *row)    \
	{                                                                                          \
		const struct profile_user_rest *c = row->at;                                       \
                                                                                                   \
		write_value(j, key, c->real, c->member);                                           \
	}

static double rest_mean_of(const struct profile_user_rest *c)
{
	return c->values ? exact_sum_value(&c->sum) / (double)c->values : 0;
}

REST_VALUE(min)
REST_VALUE(max)
ROW_VALUE(char *, rest_name, profile_user_rest, at->name[0] ? name_of(at->name) : NULL)
ROW_VALUE(char *, rest_cell, profile_user_rest, name_of(at->name[0] ? at->name : "(others)"))
ROW_VALUE(const char *, rest_unit, profile_user_rest, unit_of(at->name))
ROW_VALUE(const char *, rest_type, profile_user_rest, at->real ? "real" : "integer")
ROW_VALUE(double, rest_mean, profile_user_rest, rest_mean_of(at))
ROW_VALUE(char *, rest_text_mean, profile_user_rest,
	user_value_text(true, user_value_bits(rest_mean_of(at))))

#define REST(title, json, type, member, ...)                                                       \
	COLUMN(title, json, type, struct profile_user_rest, member, ##__VA_ARGS__)

static const struct column rest_columns[] = {
	COLUMN_GET(NULL, "name", MADE, made, rest_name),
	COLUMN_GET("Counter", NULL, MADE, made, rest_cell, .width = COLUMN_NAME),
	COLUMN_GET("Unit", "unit", TEXT, text, rest_unit, .where = is_named),
	COLUMN_GET(NULL, "type", TEXT, text, rest_type, .where = is_named),
	REST("Ranks", "ranks", COUNT, ranks),
	REST("Values", "values", COUNT, values),
	COLUMN_GET("Least", NULL, MADE, made, rest_text_min, .where = is_named),
	COLUMN_GET(NULL, "min", WRITTEN, write, write_rest_min, .where = is_named),
	REST("of rank", "min_rank", RANK, min_rank, .where = is_named),
	COLUMN_GET("Mean", NULL, MADE, made, rest_text_mean, .where = is_named),
	COLUMN_GET(NULL, "mean", EXACT, real, rest_mean, .where = is_named),
	COLUMN_GET("Greatest", NULL, MADE, made, rest_text_max, .where = is_named),
	COLUMN_GET(NULL, "max", WRITTEN, write, write_rest_max, .where = is_named),
	REST("of rank", "max_rank", RANK, max_rank, .where = is_named),
};

static const struct list rest_list =
	LIST(rest_columns, user_rests, .title = "Counters of the program in the other processes",
		.json = "user_counters_of_others", .things = "counters");

void section_user_counters(FILE *f, const struct report *r)
{
	columns_print(f, r, &counter_list, 0);
	columns_print(f, r, &rest_list, 0);
}

void json_user_counters(struct json *j, const struct report *r)
{
	if (r->p->n_user_counters)
		columns_json(j, r, &counter_list);
	if (r->p->n_user_rests)
		columns_json(j, r, &rest_list);
}
