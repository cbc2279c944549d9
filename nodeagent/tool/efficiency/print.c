/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions as tables with a column for each run, as CSV, and as JSON. */
#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "nodeagent/base/json-write.h"
#include "nodeagent/base/table.h"
#include "nodeagent/base/util.h"
#include "nodeagent/profile/profile.h"
#include "nodeagent/tool/efficiency/internal.h"

#define NAME_COLUMNS 40

enum value_kind { VALUE_COUNT, VALUE_TIME, VALUE_PART, VALUE_BALANCE, VALUE_RANK };

/* The values of a function, in the order in which they are shown. */
static const struct value {
	const char *title, *key;
	enum value_kind kind;
	size_t at;
} values[] = {
#define OF(member) offsetof(struct function_time, member)
	{"Calls", "calls", VALUE_COUNT, OF(calls)},
	{"Call paths", "paths", VALUE_COUNT, OF(paths)},
	{"Time of all ranks[s]", "t_excl_s", VALUE_TIME, OF(time_s)},
	{"Share of all time[%]", "share", VALUE_PART, OF(share)},
	{"Load balance[%]", "load_balance", VALUE_BALANCE, OF(balance)},
	{"Mean of ranks[s]", "mean_s", VALUE_TIME, OF(mean_s)},
	{"Slowest rank[s]", "max_s", VALUE_TIME, OF(max_s)},
	{"  which is", "rank_max", VALUE_RANK, OF(rank_max)},
	{"Fastest rank[s]", "min_s", VALUE_TIME, OF(min_s)},
	{"  which is", "rank_min", VALUE_RANK, OF(rank_min)},
	{"Scaling[%]", "scaling", VALUE_PART, OF(scaling)},
#undef OF
};

static const void *place_of(const struct function_time *t, const struct value *v)
{
	return (const char *)t + v->at;
}

static double real_of(const struct function_time *t, const struct value *v)
{
	return *(const double *)place_of(t, v);
}

static bool is_known(const struct function_time *t, const struct value *v)
{
	switch (v->kind) {
	case VALUE_COUNT:
		return t->paths > 0;
	case VALUE_RANK:
		return *(const uint32_t *)place_of(t, v) != PROFILE_NONE;
	default:
		return isfinite(real_of(t, v));
	}
}

/* ---- tables ------------------------------------------------------------------------------ */

static char *value_text(const struct function_time *t, const struct value *v)
{
	if (!is_known(t, v))
		return xstrdup("----");
	switch (v->kind) {
	case VALUE_COUNT:
		return xasprintf("%" PRIu64, *(const uint64_t *)place_of(t, v));
	case VALUE_RANK:
		return xasprintf("%" PRIu32, *(const uint32_t *)place_of(t, v));
	case VALUE_TIME:
		return xasprintf("%.6f", real_of(t, v));
	case VALUE_BALANCE:
		return xasprintf("%s%.1f", t->paths > 1 ? "at most " : "", 100.0 * real_of(t, v));
	default:
		return xasprintf("%.1f", 100.0 * real_of(t, v));
	}
}

static bool some_know(const struct function_runs *all, size_t function, const struct value *v)
{
	return ANY(k, all->n, is_known(&all->at[k].times[function], v));
}

static void print_function(const struct function_runs *all, size_t function, struct text_cuts *cuts)
{
	struct table *t = table_new(TABLE_FRAMED);
	char *name = text_cut(cuts, all->request->functions->names[function], NAME_COLUMNS);

	table_column(t, name, TABLE_LEFT);
	for (size_t k = 0; k < all->n; k++)
		table_column(t, all->at[k].name, TABLE_RIGHT);
	for (size_t i = 0; i < ARRAY_SIZE(values); i++) {
		if (!some_know(all, function, &values[i]))
			continue;
		table_text(t, values[i].title);
		for (size_t k = 0; k < all->n; k++) {
			char *text = value_text(&all->at[k].times[function], &values[i]);

			table_text(t, text);
			free(text);
		}
	}
	if (table_rows(t))
		table_print(t, stdout);
	table_free(t);
	free(name);
}

void functions_print(const struct function_runs *all)
{
	struct text_cuts *cuts = text_cuts_new(TEXT_BOTH_ENDS);
	char *why;

	for (size_t i = 0; i < all->request->functions->n_names; i++)
		print_function(all, i, cuts);
	text_cuts_free(cuts);
	puts("Times are the functions' own, without those that they call.");
	if (all->n < 2)
		return;
	why = scaling_sentence(&all->scaling);
	printf("Scaling: time of all ranks in %s / in the run%s.\n%s\n",
		all->at[all->reference].name,
		all->scaling.weak ? ", each divided by its threads"
				  : "; the work is the same in all",
		why);
	free(why);
}

/* ---- CSV --------------------------------------------------------------------------------- */

static void put_value(const struct function_time *t, const struct value *v)
{
	putchar(',');
	if (!is_known(t, v))
		return;
	if (v->kind == VALUE_COUNT)
		printf("%" PRIu64, *(const uint64_t *)place_of(t, v));
	else if (v->kind == VALUE_RANK)
		printf("%" PRIu32, *(const uint32_t *)place_of(t, v));
	else
		printf("%.9f", real_of(t, v));
}

void functions_print_csv(const struct function_runs *all)
{
	const struct function_list *l = all->request->functions;

	fputs("run,ranks,threads,function", stdout);
	for (size_t i = 0; i < ARRAY_SIZE(values); i++)
		printf(",%s", values[i].key);
	puts(",load_balance_is_bound");
	for (size_t i = 0; i < all->n * l->n_names; i++) {
		const struct function_run *run = &all->at[i / l->n_names];
		const struct function_time *t = &run->times[i % l->n_names];

		text_put_csv(stdout, run->path);
		printf(",%.0f,%.0f,", run->run.ranks, run->run.threads);
		text_put_csv(stdout, l->names[i % l->n_names]);
		for (size_t k = 0; k < ARRAY_SIZE(values); k++)
			put_value(t, &values[k]);
		printf(",%d\n", t->paths > 1);
	}
}

/* ---- JSON -------------------------------------------------------------------------------- */

static void put_function(struct json *j, const char *name, const struct function_time *t)
{
	json_object(j, NULL);
	json_string(j, "function", name);
	EACH(const struct value, v, values, ARRAY_SIZE(values)) {
		if (!is_known(t, v))
			continue;
		if (v->kind == VALUE_COUNT)
			json_uint(j, v->key, *(const uint64_t *)place_of(t, v));
		else if (v->kind == VALUE_RANK)
			json_uint(j, v->key, *(const uint32_t *)place_of(t, v));
		else
			json_exact(j, v->key, real_of(t, v));
	}
	if (isfinite(t->balance))
		json_bool(j, "load_balance_is_bound", t->paths > 1);
	json_close(j);
}

void functions_print_json(const struct function_runs *all)
{
	const struct function_list *l = all->request->functions;
	struct json j;

	json_begin(&j, stdout, 4);
	json_object(&j, NULL);
	json_string(&j, "format", "vftr-efficiency");
	json_uint(&j, "version", 1);
	json_string(&j, "scaling", all->scaling.weak ? "weak" : "strong");
	if (all->n > 1)
		json_string(&j, "scaling_by", scaling_reasons[all->scaling.reason]);
	json_string(&j, "reference", all->at[all->reference].path);
	json_array(&j, "runs");
	for (size_t k = 0; k < all->n; k++) {
		json_object(&j, NULL);
		json_string(&j, "run", all->at[k].path);
		json_uint(&j, "ranks", (uint64_t)all->at[k].run.ranks);
		json_uint(&j, "threads", (uint64_t)all->at[k].run.threads);
		json_array(&j, "functions");
		for (size_t i = 0; i < l->n_names; i++)
			put_function(&j, l->names[i], &all->at[k].times[i]);
		json_close(&j);
		json_close(&j);
	}
	json_close(&j);
	json_close(&j);
}
