/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "nodeagent/base/util.h"
#include "nodeagent/causal/results.h"
#include "nodeagent/tool/exact/exact.h"
#include "nodeagent/trace/read/file.h"

struct exact_efficiency exact_efficiency(const struct exact *x)
{
	const struct causal_totals *t = causal_totals(x->run->c);
	struct exact_efficiency e = {.window_s = 1e-9 * (double)(t->end - t->begin),
		.useful_s = 1e-9 * t->useful / t->lines,
		.useful_max_s = 1e-9 * (double)t->useful_max,
		.ideal_s = 1e-9 * (double)t->ideal};

	e.parallel = e.useful_s / e.window_s;
	e.load_balance = e.useful_s / e.useful_max_s;
	e.communication = e.useful_max_s / e.window_s;
	e.serialisation = e.useful_max_s / e.ideal_s;
	e.transfer = e.ideal_s / e.window_s;
	return e;
}

bool exact_has_openmp(const struct exact *x)
{
	for (size_t i = 0; i < x->n_files; i++) {
		size_t n;
		const struct vfd_thread *t = vfd_threads(x->files[i], &n);

		if (ANY(k, n, t[k].track != VFD_NONE && t[k].openmp))
			return true;
	}
	return false;
}

bool exact_has_factors(const struct exact *x)
{
	return !x->run->without_mpi || !exact_has_openmp(x);
}

uint32_t exact_jobs(const struct exact *x)
{
	const struct causal_rank *r = x->run->ranks;
	struct causal_line_times t;
	uint32_t jobs = 0, last = 0;

	for (uint32_t i = 0; i < x->run->n; i++) { /* in the order of jobs */
		if (!causal_line_times(x->run->c, i, &t) || (jobs && r[i].job == r[last].job))
			continue;
		jobs++;
		last = i;
	}
	return jobs;
}

char *exact_doubts(const struct exact *x)
{
	const struct causal_totals *t = causal_totals(x->run->c);
	const char *before = "";
	char *text;
	size_t bytes;
	FILE *f = memory_begin(&text, &bytes);

	for (unsigned i = 0; i < CAUSAL_DOUBTS; i++) {
		const unsigned long long n = t->doubts[i];

		if (!n)
			continue;
		fputs(before, f);
		if (n == 1)
			fputs(causal_doubts[i].one, f);
		else
			fprintf(f, causal_doubts[i].many, n);
		before = "; ";
	}
	memory_end(f);
	if (bytes)
		return text;
	free(text);
	return NULL;
}

ORDER_BY(by_time, struct exact_wait, FALLING(ns) ?: RISING(kind) ?: RISING(path))

bool exact_is_wanted(const struct exact *x, const struct exact_request *r, uint32_t line)
{
	return r->rank < 0 || x->run->ranks[line].number == r->rank;
}

struct wait_list {
	struct exact_wait *all;
	size_t n, cap;
	struct map64 at; /* by kind and path */
};

static void add_rows(struct wait_list *l, const struct exact *x, const struct exact_request *r,
	enum causal_rows which)
{
	size_t n;
	const struct causal_row *rows = causal_rows(x->run->c, which, &n);

	EACH(const struct causal_row, row, rows, n) {
		struct exact_wait *to;
		uint32_t index;

		if (!exact_is_wanted(x, r, row->line))
			continue;
		index = *map64_at(&l->at, (uint64_t)row->kind << 32 | row->path, (uint32_t)l->n);
		if (index == l->n)
			*APPEND(l->all, l->n, l->cap) =
				(struct exact_wait){.kind = row->kind, .path = row->path};
		to = &l->all[index];
		to->calls += row->calls;
		to->ns += row->ns;
		to->error += row->error;
		MOST(to, row, longest);
	}
}

struct exact_wait *exact_waits(const struct exact *x, const struct exact_request *r, size_t *n)
{
	struct wait_list l = {0};

	add_rows(&l, x, r, r->for_rank ? CAUSAL_LATE : CAUSAL_WAITS);
	add_rows(&l, x, r, CAUSAL_THREAD_WAITS);
	map64_free(&l.at);
	if (l.n)
		qsort(l.all, l.n, sizeof(*l.all), by_time);
	*n = l.n;
	return l.all;
}

double *exact_means(const struct exact *x)
{
	const uint32_t lines = causal_totals(x->run->c)->lines;
	double *means = xcalloc(paths_count(x->run->paths), sizeof(*means));
	size_t n;
	const struct causal_row *rows = causal_rows(x->run->c, CAUSAL_TIMES, &n);

	for (size_t i = 0; i < n; i++)
		means[rows[i].path] += rows[i].ns / lines;
	return means;
}

double exact_excess(const struct exact *x, const double *means, uint32_t path, uint32_t line)
{
	const struct causal_row *row = causal_row(x->run->c, CAUSAL_TIMES, path, line);

	return (row ? row->ns : 0.0) - means[path];
}
