/* SPDX-License-Identifier: BSD-3-Clause */
/* Models as tables for a terminal, as CSV, and as JSON. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nodeagent/base/json-write.h"
#include "nodeagent/base/table.h"
#include "nodeagent/base/util.h"
#include "nodeagent/tool/models/models.h"
#include "nodeagent/tool/show/words.h"

#define NAME_COLUMNS 36
#define COUNT_MOST   1e18

static bool is_wanted(unsigned only, int metric)
{
	return only >> metric & 1;
}

/* "8", "2.5" */
static char *plain_number(double value)
{
	return xasprintf("%.10g", value);
}

/* ---- tables ------------------------------------------------------------------------------ */

static char *value_text(enum model_metric metric, double value)
{
	const double whole = round(value);

	if (metric == MODEL_TIME && value >= 0.0 && value < 1e9)
		return words_time((uint64_t)llround(1e9 * value));
	if (value >= 0.0 && value < COUNT_MOST && (value >= 100.0 || value == whole))
		return words_count((uint64_t)whole);
	return xasprintf("%.3g", value);
}

static void put_value(struct table *t, enum model_metric metric, double value)
{
	char *text = value_text(metric, value);

	table_text(t, text);
	free(text);
}

static void put_row(struct table *t, const struct models *m, const struct model_row *row,
	enum model_metric metric, struct text_cuts *cuts)
{
	char *name = words_name(cuts, row->name, NAME_COLUMNS);
	char *model = fit_text(&row->fit[metric], m->parameter);

	table_text(t, name);
	put_value(t, metric, row->points[metric][m->n_points - 1]);
	table_text(t, model);
	table_real(t, 0, 1, row->fit[metric].error_percent);
	put_value(t, metric, row->at[metric]);
	table_real(t, 0, 1, 100.0 * row->share[metric]);
	free(name);
	free(model);
}

static void name_columns(struct table *t, const struct models *m, const struct model_request *r,
	enum model_metric metric)
{
	const struct model_words *w = &model_words[metric];
	char *last = plain_number(m->p[m->n_points - 1]), *at = plain_number(m->at);
	char *measured = xasprintf("%s=%s", m->parameter, last);
	char *model = xasprintf("%s%s%s%s%s", w->title, r->per_rank ? " of a rank" : "",
		*w->unit ? "[" : "", w->unit, *w->unit ? "]" : "");
	char *extrapolated = xasprintf("%s=%s", m->parameter, at);

	table_column(t, r->by_path ? "Call path" : "Function", TABLE_LEFT);
	table_column(t, measured, TABLE_RIGHT);
	table_column(t, model, TABLE_LEFT);
	table_column(t, "Error[%]", TABLE_RIGHT);
	table_column(t, extrapolated, TABLE_RIGHT);
	table_column(t, "Share[%]", TABLE_RIGHT);
	free(last);
	free(at);
	free(measured);
	free(model);
	free(extrapolated);
}

static void print_metric(const struct models *m, const struct model_request *r,
	enum model_metric metric, size_t limit)
{
	struct table *t = table_new(TABLE_FRAMED);
	struct text_cuts *cuts = text_cuts_new(r->by_path ? TEXT_BEGINNING : TEXT_BOTH_ENDS);
	size_t n, shown, *order = models_order(m, metric, &n);

	shown = limit && limit < n ? limit : n;
	name_columns(t, m, r, metric);
	for (size_t i = 0; i < shown; i++)
		put_row(t, m, &m->rows[order[i]], metric, cuts);
	if (n) {
		putchar('\n');
		table_print(t, stdout);
		if (shown < n)
			printf("%zu of %zu; -n 0 shows all\n", shown, n);
	} else {
		printf("\nno %s in any run\n", model_words[metric].name);
	}
	table_free(t);
	text_cuts_free(cuts);
	free(order);
}

void models_print(
	const struct models *m, const struct model_request *r, unsigned only, size_t limit)
{
	printf("%zu runs, %s =", m->n_runs,
		r->parameter ? m->parameter : "p is the number of ranks; p");
	for (size_t i = 0; i < m->n_points; i++) {
		char *text = plain_number(m->p[i]);

		printf(" %s", text);
		free(text);
	}
	printf("; values are %s\n", r->per_rank ? "means over ranks" : "sums over ranks");
	for (int k = 0; k < MODEL_METRICS; k++)
		if (is_wanted(only, k))
			print_metric(m, r, k, limit);
}

/* ---- CSV --------------------------------------------------------------------------------- */

void models_print_csv(const struct models *m, const struct model_request *r, unsigned only)
{
	printf("metric,%s,c0,c1,power,log2_power,error_percent,p,measured,at,extrapolated,share\n",
		r->by_path ? "path" : "function");
	for (int k = 0; k < MODEL_METRICS; k++) {
		size_t n, *order = models_order(m, k, &n);

		for (size_t i = 0; is_wanted(only, k) && i < n; i++) {
			const struct model_row *row = &m->rows[order[i]];
			const struct fit *f = &row->fit[k];

			printf("%s,", model_words[k].name);
			text_put_csv(stdout, row->name);
			printf(",%.17g,%.17g,%s,%u,%.9f,%.17g,%.17g,%.17g,%.17g,", f->c0, f->c1,
				fit_powers[f->power].text, f->logarithm, f->error_percent,
				m->p[m->n_points - 1], row->points[k][m->n_points - 1], m->at,
				row->at[k]);
			if (isfinite(row->share[k]))
				printf("%.9f", row->share[k]);
			putchar('\n');
		}
		free(order);
	}
}

/* ---- JSON -------------------------------------------------------------------------------- */

static void put_model(struct json *j, const struct models *m, const struct model_row *row,
	enum model_metric metric, bool is_path)
{
	const struct fit *f = &row->fit[metric];
	char *text = fit_text(f, m->parameter);

	json_object(j, NULL);
	json_string(j, is_path ? "path" : "function", row->name);
	json_string(j, "model", text);
	json_exact(j, "c0", f->c0);
	json_exact(j, "c1", f->c1);
	json_string(j, "power", fit_powers[f->power].text);
	json_uint(j, "log2_power", f->logarithm);
	json_exact(j, "error_percent", f->error_percent);
	json_exact(j, "extrapolated", row->at[metric]);
	json_exact(j, "share", row->share[metric]);
	json_array(j, "points");
	for (size_t i = 0; i < m->n_points; i++)
		json_exact(j, NULL, row->points[metric][i]);
	json_close(j);
	json_close(j);
	free(text);
}

static void put_runs(struct json *j, const struct models *m)
{
	json_array(j, "runs");
	for (size_t i = 0; i < m->n_runs; i++) {
		json_object(j, NULL);
		json_string(j, "run", m->runs[i].path);
		json_exact(j, "p", m->runs[i].p);
		json_exact(j, "ranks", m->runs[i].ranks);
		json_close(j);
	}
	json_close(j);
	json_array(j, "p");
	for (size_t i = 0; i < m->n_points; i++)
		json_exact(j, NULL, m->p[i]);
	json_close(j);
}

void models_print_json(const struct models *m, const struct model_request *r, unsigned only)
{
	struct json j;

	json_begin(&j, stdout, 4);
	json_object(&j, NULL);
	json_string(&j, "format", "vftr-models");
	json_uint(&j, "version", 1);
	json_string(&j, "parameter", r->parameter ? r->parameter : "ranks");
	json_string(&j, "per", r->per_rank ? "rank" : "job");
	json_exact(&j, "at", m->at);
	put_runs(&j, m);
	json_object(&j, "metrics");
	for (int k = 0; k < MODEL_METRICS; k++) {
		size_t n, *order = models_order(m, k, &n);

		if (is_wanted(only, k)) {
			json_array(&j, model_words[k].name);
			for (size_t i = 0; i < n; i++)
				put_model(&j, m, &m->rows[order[i]], k, r->by_path);
			json_close(&j);
		}
		free(order);
	}
	json_close(&j);
	json_close(&j);
}
