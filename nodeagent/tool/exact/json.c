/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <stdlib.h>

#include "nodeagent/base/json-write.h"
#include "nodeagent/tool/exact/exact.h"

#define PARTS_MOST 16 /* of a wait: ranks, and causes */

static void put_path(struct json *j, const char *key, const struct exact *x, uint32_t path)
{
	char *text = paths_text(x->run->paths, path);

	json_string(j, key, text);
	free(text);
}

static void put_rank(struct json *j, const struct exact *x, uint32_t line)
{
	json_int(j, "rank", x->run->ranks[line].number);
	json_string(j, "node", x->run->ranks[line].host);
}

static void put_factor(struct json *j, const struct exact *x, const char *key, double value)
{
	if (isfinite(value) && exact_has_factors(x))
		json_exact(j, key, value);
}

static void put_efficiency(struct json *j, const struct exact *x)
{
	const struct exact_efficiency e = exact_efficiency(x);

	json_object(j, "efficiency");
	json_real(j, "window_s", e.window_s);
	json_exact(j, "useful_s", e.useful_s);
	json_exact(j, "useful_max_s", e.useful_max_s);
	json_exact(j, "ideal_s", e.ideal_s);
	put_factor(j, x, "parallel", e.parallel);
	put_factor(j, x, "load_balance", e.load_balance);
	put_factor(j, x, "communication", e.communication);
	put_factor(j, x, "serialisation", e.serialisation);
	put_factor(j, x, "transfer", e.transfer);
	json_close(j);
}

static void put_doubts(struct json *j, const struct exact *x)
{
	const struct causal_totals *t = causal_totals(x->run->c);

	json_array(j, "estimated");
	for (unsigned i = 0; i < CAUSAL_DOUBTS; i++)
		if (t->doubts[i])
			json_string(j, NULL, causal_doubts[i].id);
	json_close(j);
}

static void put_ranks(struct json *j, const struct exact *x)
{
	json_array(j, "per_rank");
	for (uint32_t i = 0; i < x->run->n; i++) {
		struct causal_line_times t;

		if (!causal_line_times(x->run->c, i, &t))
			continue;
		json_object(j, NULL);
		put_rank(j, x, i);
		json_real(j, "begin_s", 1e-9 * (double)t.begin);
		json_real(j, "window_s", 1e-9 * (double)(t.end - t.begin));
		json_real(j, "useful_s", 1e-9 * (double)t.useful);
		if (causal_totals(x->run->c)->lock_wait > 0)
			json_real(j, "lock_wait_s", 1e-9 * (double)t.lock_wait);
		json_real(j, "mpi_s", 1e-9 * (double)(t.end - t.begin - t.useful - t.lock_wait));
		json_real(j, "mpi_wait_s", 1e-9 * (double)t.waits);
		json_close(j);
	}
	json_close(j);
}

static void put_critical_path(struct json *j, const struct exact *x)
{
	size_t n;
	const struct causal_row *rows = causal_rows(x->run->c, CAUSAL_PATH, &n);

	json_array(j, "critical_path");
	for (size_t i = 0; i < n; i++) {
		json_object(j, NULL);
		put_rank(j, x, rows[i].line);
		put_path(j, "path", x, rows[i].path);
		json_real(j, "t_s", 1e-9 * rows[i].ns);
		json_close(j);
	}
	json_close(j);
}

/* The greatest rows of one kind and path. */
static void put_parts(struct json *j, const char *key, const struct exact *x,
	enum causal_rows which, const struct exact_wait *w)
{
	size_t n, put = 0;
	const struct causal_row *rows = causal_rows(x->run->c, which, &n);

	json_array(j, key);
	for (size_t i = 0; i < n && put < PARTS_MOST; i++) {
		if (rows[i].kind != w->kind || rows[i].path != w->path)
			continue;
		json_object(j, NULL);
		json_int(j, "rank", x->run->ranks[rows[i].line].number);
		if (which == CAUSAL_THREAD_LATE)
			json_uint(j, "thread", rows[i].other);
		else if (rows[i].other != CAUSAL_NONE)
			put_path(j, "path", x, rows[i].other);
		json_real(j, "share", rows[i].ns / w->ns);
		json_close(j);
		put++;
	}
	json_close(j);
}

static void put_waits(struct json *j, const struct exact *x, const struct exact_request *r)
{
	size_t n;
	struct exact_wait *waits = exact_waits(x, r, &n);

	json_array(j, "waits");
	for (size_t i = 0; i < n; i++) {
		json_object(j, NULL);
		json_string(j, "kind", wait_kind_name(waits[i].kind));
		put_path(j, "path", x, waits[i].path);
		json_uint(j, "calls", waits[i].calls);
		json_real(j, "t_s", 1e-9 * waits[i].ns);
		json_real(j, "error_s", 1e-9 * waits[i].error);
		json_real(j, "longest_s", 1e-9 * (double)waits[i].longest);
		if (r->rank < 0) {
			const bool threads = wait_is_of_threads(waits[i].kind);

			put_parts(
				j, "for", x, threads ? CAUSAL_THREAD_LATE : CAUSAL_LATE, &waits[i]);
			put_parts(j, "causes", x, threads ? CAUSAL_THREAD_CAUSES : CAUSAL_CAUSES,
				&waits[i]);
		}
		json_close(j);
	}
	json_close(j);
	free(waits);
}

static void put_costs(struct json *j, const struct exact *x)
{
	size_t n;
	const struct causal_row *rows = causal_rows(x->run->c, CAUSAL_COSTS, &n);
	double *means = exact_means(x);

	json_array(j, "delays");
	for (size_t i = 0; i < n; i++) {
		json_object(j, NULL);
		put_rank(j, x, rows[i].line);
		put_path(j, "path", x, rows[i].path);
		json_real(j, "cost_s", 1e-9 * rows[i].ns);
		json_real(j, "direct_s", 1e-9 * rows[i].direct);
		json_real(j, "own_s", 1e-9 * exact_excess(x, means, rows[i].path, rows[i].line));
		json_close(j);
	}
	json_close(j);
	free(means);
}

void exact_json(const struct exact *x, const struct exact_request *r)
{
	const struct causal_totals *t = causal_totals(x->run->c);
	struct json j;

	json_begin(&j, stdout, 2);
	json_object(&j, NULL);
	json_string(&j, "format", "vftr-exact");
	json_uint(&j, "version", 1);
	json_uint(&j, "ranks", t->lines);
	put_efficiency(&j, x);
	put_doubts(&j, x);
	put_ranks(&j, x);
	if (r->path)
		put_critical_path(&j, x);
	if (r->waits) {
		json_real(&j, "mpi_s", 1e-9 * t->mpi);
		json_real(&j, "mpi_wait_s", 1e-9 * t->waits);
		json_real(&j, "thread_wait_s", 1e-9 * t->thread_waits);
		json_real(&j, "untold_s", 1e-9 * t->untold);
		json_real(&j, "unresolved_s", 1e-9 * t->unresolved_ns);
		put_waits(&j, x, r);
		put_costs(&j, x);
	}
	json_close(&j);
	putchar('\n');
}
