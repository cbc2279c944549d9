/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/tool/models/models.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "nodeagent/base/util.h"
#include "nodeagent/base/words.h"
#include "nodeagent/tool/show/run.h"

#define AT_FACTOR 4.0

const struct model_words model_words[MODEL_METRICS] = {
	[MODEL_TIME] = {"time", "s", "Time"},
	[MODEL_CALLS] = {"calls", "", "Calls"},
	[MODEL_MESSAGES] = {"messages", "", "Messages"},
	[MODEL_BYTES] = {"bytes", "B", "Bytes"},
};

/* ---- the parameter of a run -------------------------------------------------------------- */

/* The value of a tag KEY=VALUE of the run; the caller frees. NULL: it has no such tag. */
static char *tag_of(const struct profile *p, const char *key)
{
	const char *list = p->n_starts ? p->starts[0].tags : NULL;
	const size_t n = strlen(key);
	char *word, *value = NULL;

	while (list && !value && (word = words_next(&list))) {
		if (!strncmp(word, key, n) && word[n] == '=')
			value = xstrdup(word + n + 1);
		free(word);
	}
	return value;
}

/* False after a message. */
static bool parameter_of(
	const struct run *run, const char *path, const struct model_request *r, double *p)
{
	char *text, *end;
	bool is_right;

	*p = report_all_ranks(run->p);
	if (!r->parameter)
		return true;
	text = tag_of(run->p, r->parameter);
	if (!text) {
		complain("%s: the run has no tag %s: vftr run --tag %s=VALUE", path, r->parameter,
			r->parameter);
		return false;
	}
	*p = strtod(text, &end);
	is_right = end != text && !*end && isfinite(*p) && *p >= 1.0;
	if (!is_right)
		complain("%s: the tag %s=%s is no number from 1 on", path, r->parameter, text);
	free(text);
	return is_right;
}

/* ---- the values of a run ----------------------------------------------------------------- */

/* What a row has in one run. */
struct found {
	char *name;
	double value[MODEL_METRICS];
};

struct finding {
	struct found *found;
	size_t n_found, cap_found;
};

ORDER_BY(by_name, struct found, ALPHABETIC(name))
ORDER_BY(by_row_name, struct model_row, ALPHABETIC(name))

/* In a path, "->" of a name, such as operator->, becomes "- >". */
static char *part_of(const struct report *r, uint32_t stack)
{
	char *text = xstrdup(r->shown[r->p->stacks[stack].name]), *arrow;

	while ((arrow = strstr(text, "->"))) {
		char *longer = xasprintf("%.*s- >%s", (int)(arrow - text), text, arrow + 2);

		free(text);
		text = longer;
	}
	return text;
}

/* "init->main->step" */
static char *path_of(const struct report *r, uint32_t stack)
{
	char *text = part_of(r, stack);

	for (uint32_t at = r->parent[stack]; at != PROFILE_NONE; at = r->parent[at]) {
		char *part = part_of(r, at);
		char *longer = xasprintf("%s->%s", part, text);

		free(part);
		free(text);
		text = longer;
		if (strlen(text) > r->path_limit)
			break;
	}
	return text;
}

static void find_values(struct finding *f, const struct report *r, bool by_path)
{
	const struct profile *p = r->p;
	size_t k = 0;

	for (uint32_t i = 0; i < p->n_stacks; i++) {
		const struct profile_stack *s = &p->stacks[i];
		struct found one = {.name = by_path ? path_of(r, i) : xstrdup(r->shown[s->name])};

		one.value[MODEL_TIME] = 1e-9 * (double)s->excl_ns;
		one.value[MODEL_CALLS] = (double)s->calls;
		/* P5: sorted by stack */
		while (k < p->n_messages && p->messages[k].stack < i)
			k++;
		if (k < p->n_messages && p->messages[k].stack == i) {
			const struct profile_messages *m = &p->messages[k];

			one.value[MODEL_MESSAGES] = (double)m->sends + (double)m->receives;
			one.value[MODEL_BYTES] = (double)m->bytes_sent + (double)m->bytes_received;
		}
		*LIST_ADD(f, found) = one;
	}
}

/* Those of one name are one. */
static void join_values(struct finding *f)
{
	size_t n = 0;

	qsort(f->found, f->n_found, sizeof(*f->found), by_name);
	for (size_t i = 0; i < f->n_found; i++) {
		if (!n || strcmp(f->found[n - 1].name, f->found[i].name)) {
			f->found[n++] = f->found[i];
			continue;
		}
		for (int k = 0; k < MODEL_METRICS; k++)
			f->found[n - 1].value[k] += f->found[i].value[k];
		free(f->found[i].name);
	}
	f->n_found = n;
}

/* ---- rows -------------------------------------------------------------------------------- */

static struct model_row *new_row(struct models *m, char *name, size_t n_runs)
{
	struct model_row *row = LIST_ADD(m, rows);

	*row = (struct model_row){.name = name};
	for (int k = 0; k < MODEL_METRICS; k++)
		row->values[k] = xcalloc(n_runs, sizeof(double));
	return row;
}

/* Takes the names. n_runs: of all. */
static void add_values(struct models *m, struct finding *f, const struct model_request *r,
	double ranks, size_t run, size_t n_runs)
{
	const size_t n = m->n_rows;

	EACH(struct found, one, f->found, f->n_found) {
		const struct model_row wanted = {.name = one->name};
		struct model_row *row =
			n ? bsearch(&wanted, m->rows, n, sizeof(*m->rows), by_row_name) : NULL;

		if (row)
			free(one->name);
		else
			row = new_row(m, one->name, n_runs);
		for (int k = 0; k < MODEL_METRICS; k++) {
			row->values[k][run] = r->per_rank ? one->value[k] / ranks : one->value[k];
			row->has[k] |= one->value[k] != 0.0;
		}
	}
	if (m->n_rows > n)
		qsort(m->rows, m->n_rows, sizeof(*m->rows), by_row_name);
}

static void warn_of_lost(const struct run *run, const char *path)
{
	if (run->p->lost_calls)
		complain("%s: %llu calls were not recorded: its numbers of calls are too small",
			path, (unsigned long long)run->p->lost_calls);
}

static int add_run(struct models *m, const struct model_request *r, char *path, size_t n_runs)
{
	struct finding f = {0};
	struct model_run one = {.path = path};
	struct run run;
	int status = run_open(&run, &path, 1, r->base);

	if (status == 2)
		return status;
	one.ranks = report_all_ranks(run.p);
	if (one.ranks > 0 && parameter_of(&run, path, r, &one.p)) {
		warn_of_lost(&run, path);
		find_values(&f, &run.r, r->by_path);
		join_values(&f);
		add_values(m, &f, r, one.ranks, m->n_runs, n_runs);
		*LIST_ADD(m, runs) = one;
		free(f.found);
	} else {
		status = 2;
	}
	run_close(&run);
	return status;
}

/* ---- the order of runs ------------------------------------------------------------------- */

struct place {
	double p;
	size_t run;
};

ORDER_BY(by_place, struct place, RISING(p) ?: RISING(run))

static void sort_runs(struct models *m)
{
	struct place *places = xcalloc(m->n_runs + 1, sizeof(*places));
	struct model_run *runs = xcalloc(m->n_runs + 1, sizeof(*runs));
	double *values = xcalloc(m->n_runs + 1, sizeof(*values));

	for (size_t i = 0; i < m->n_runs; i++)
		places[i] = (struct place){m->runs[i].p, i};
	qsort(places, m->n_runs, sizeof(*places), by_place);
	for (size_t i = 0; i < m->n_runs; i++)
		runs[i] = m->runs[places[i].run];
	if (m->n_runs)
		memcpy(m->runs, runs, m->n_runs * sizeof(*runs));
	for (size_t i = 0; i < m->n_rows * MODEL_METRICS; i++) {
		double *of = m->rows[i / MODEL_METRICS].values[i % MODEL_METRICS];

		for (size_t k = 0; k < m->n_runs; k++)
			values[k] = of[places[k].run];
		memcpy(of, values, m->n_runs * sizeof(*values));
	}
	free(places);
	free(runs);
	free(values);
}

int models_read(struct models *m, const struct model_request *r, char **paths, size_t n)
{
	int status = 0;

	*m = (struct models){.parameter = r->parameter ? r->parameter : "p"};
	for (size_t i = 0; i < n; i++)
		if (add_run(m, r, paths[i], n))
			status = 1;
	sort_runs(m);
	m->p = xcalloc(m->n_runs + 1, sizeof(*m->p));
	for (size_t i = 0; i < m->n_runs; i++)
		if (!i || m->runs[i].p > m->runs[i - 1].p)
			m->p[m->n_points++] = m->runs[i].p;
	return m->n_runs ? status : 2;
}

void models_free(struct models *m)
{
	for (size_t i = 0; i < m->n_rows; i++) {
		for (int k = 0; k < MODEL_METRICS; k++) {
			free(m->rows[i].values[k]);
			free(m->rows[i].points[k]);
		}
		free(m->rows[i].name);
	}
	free(m->rows);
	free(m->runs);
	free(m->p);
	*m = (struct models){0};
}

/* ---- models ------------------------------------------------------------------------------ */

ORDER_BY(by_value, double, ORDER(*x, *y))

static double median(double *values, size_t n)
{
	qsort(values, n, sizeof(*values), by_value);
	return n % 2 ? values[n / 2] : 0.5 * (values[n / 2 - 1] + values[n / 2]);
}

/* scratch: as many as runs. */
static double *points_of(const struct models *m, const double *values, double *scratch)
{
	double *points = xcalloc(m->n_points, sizeof(*points));
	size_t run = 0;

	for (size_t i = 0; i < m->n_points; i++) {
		size_t n = 0;

		for (; run < m->n_runs && m->runs[run].p == m->p[i]; run++)
			scratch[n++] = values[run];
		points[i] = median(scratch, n);
	}
	return points;
}

static void share_out(struct models *m, int metric)
{
	double sum = 0.0;

	for (size_t i = 0; i < m->n_rows; i++)
		sum += m->rows[i].at[metric];
	for (size_t i = 0; i < m->n_rows; i++)
		m->rows[i].share[metric] = sum > 0.0 ? m->rows[i].at[metric] / sum : NAN;
}

bool models_fit(struct models *m, const struct model_request *r)
{
	double *scratch;

	if (m->n_points < FIT_POINTS_LEAST) {
		complain("models need runs with %d values of %s, better %d and more; these have "
			 "%zu",
			FIT_POINTS_LEAST, r->parameter ? r->parameter : "the number of ranks",
			FIT_POINTS_GOOD, m->n_points);
		return false;
	}
	m->at = r->at > 0.0 ? r->at : AT_FACTOR * m->p[m->n_points - 1];
	scratch = xcalloc(m->n_runs, sizeof(*scratch));
	for (size_t i = 0; i < m->n_rows * MODEL_METRICS; i++) {
		struct model_row *row = &m->rows[i / MODEL_METRICS];
		const size_t k = i % MODEL_METRICS;

		row->points[k] = points_of(m, row->values[k], scratch);
		row->fit[k] = fit_points(m->p, row->points[k], m->n_points);
		row->at[k] = fmax(0.0, fit_value(&row->fit[k], m->at));
	}
	for (int k = 0; k < MODEL_METRICS; k++)
		share_out(m, k);
	free(scratch);
	return true;
}

/* ---- order ------------------------------------------------------------------------------- */

struct ordered {
	double growth, at;
	size_t row;
};

ORDER_BY(by_growth, struct ordered, FALLING(growth) ?: FALLING(at) ?: RISING(row))

size_t *models_order(const struct models *m, enum model_metric metric, size_t *n)
{
	struct ordered *o = xcalloc(m->n_rows + 1, sizeof(*o));
	size_t *order = xcalloc(m->n_rows + 1, sizeof(*order));

	*n = 0;
	for (size_t i = 0; i < m->n_rows; i++) {
		const struct model_row *row = &m->rows[i];
		const double last = fit_value(&row->fit[metric], m->p[m->n_points - 1]);

		if (row->has[metric])
			o[(*n)++] = (struct ordered){
				row->at[metric] - fmax(0.0, last), row->at[metric], i};
	}
	qsort(o, *n, sizeof(*o), by_growth);
	for (size_t i = 0; i < *n; i++)
		order[i] = o[i].row;
	free(o);
	return order;
}
