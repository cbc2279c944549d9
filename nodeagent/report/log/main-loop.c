/* SPDX-License-Identifier: BSD-3-Clause */
/* The iterations of the main loop: in the summary of layout run, and in JSON. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "nodeagent/base/units.h"
#include "nodeagent/base/util.h"
#include "nodeagent/base/words.h"
#include "nodeagent/report/log/internal.h"
#include "nodeagent/report/main-loop.h"

#define SLOW_SHOWN 5 /* JSON has all */

/* ---- in the log -------------------------------------------------------------------------- */

#define STEP(title, json, type, member, ...)                                                       \
	COLUMN(title, json, type, struct loop_step, member, ##__VA_ARGS__)

ROW_VALUE(double, step_mean, loop_step, at->mean)
ROW_VALUE(double, step_least, loop_step, at->least)
ROW_VALUE(double, step_most, loop_step, at->most)
ROW_VALUE(double, step_usual, loop_step, loop_usual_s(row->more, at))
ROW_VALUE(double, step_mpi, loop_step, at->mpi)
ROW_VALUE(double, step_busy, loop_step, at->busy)
ROW_VALUE(double, step_busiest, loop_step, at->busiest)
ROW_VALUE(double, step_wait, loop_step, at->wait)
ROW_VALUE(double, step_off, loop_step, at->off)
ROW_VALUE(double, step_by_off, loop_step, at->by_off)
ROW_VALUE(double, step_parallel, loop_step, at->efficiency.parallel)
ROW_VALUE(double, step_balance, loop_step, at->efficiency.balance)
ROW_VALUE(double, step_communication, loop_step, at->efficiency.communication)

static char *step_cause(const struct row *row)
{
	return loop_cause_text(row->r, row->more, row->at);
}

static const struct column slow_columns[] = {
	STEP("Iteration", NULL, COUNT, at),
	COLUMN_GET("Longest[s]", NULL, REAL, real, step_most),
	STEP("of rank", NULL, COUNT, rank),
	COLUMN_GET("Usual[s]", NULL, REAL, real, step_usual),
	COLUMN_GET("Outside[s]", NULL, REAL, real, step_busiest),
	STEP("by rank", NULL, COUNT, by),
	COLUMN_GET("Why", NULL, MADE, made, step_cause, .left = true),
};
static const struct list slow_list = LIST_OF(slow_columns, struct loop_step);

static uint64_t iterations_of(const struct main_loop *l, unsigned kind)
{
	uint64_t n = 0;

	for (size_t i = 0; i < l->n_steps; i++)
		n += l->steps[i].kind == kind ? l->steps[i].n : 0;
	return n;
}

/* "Kinds: 44 iterations of 35.8 us, efficiency 97 %, one in 3 from 2; 8 others" */
static void print_kinds(FILE *f, const struct main_loop *l)
{
	uint64_t others = 0;

	fputs("Kinds: ", f);
	for (unsigned i = 0; i < l->n_kinds; i++) {
		const struct loop_kind *k = &l->kinds[i];

		if (i && !loop_kind_is_usual(l, k)) {
			others += iterations_of(l, i);
			continue;
		}
		fprintf(f, "%s%" PRIu64 "%s of %s", i ? "; " : "", iterations_of(l, i),
			i			   ? ""
			: iterations_of(l, i) == 1 ? " iteration"
						   : " iterations",
			quantity_seconds(k->median).text);
		if (l->ranks > 1 && l->n_kinds > 1)
			fprintf(f, ", efficiency %.0f %%", 100.0 * k->efficiency.parallel);
		if (k->every > l->per_step)
			fprintf(f, ", one in %" PRIu64 " from %" PRIu64, k->every, k->first);
	}
	if (others)
		fprintf(f, "; %" PRIu64 " other%s", others, others == 1 ? "" : "s");
	fputc('\n', f);
}

static const char *const excess_titles[] = {
	"waiting for others", "otherwise in MPI", "without a CPU", "own work"};

static void print_excess(FILE *f, const struct main_loop *l)
{
	const struct loop_excess *e = &l->parts;
	const double parts[] = {e->wait, e->transfer, e->off, e->work};
	const char *before = ": ";

	fprintf(f, "Above the median: %s (%.0f %%)", quantity_seconds(l->excess).text,
		l->sum > 0.0 ? 100.0 * l->excess / l->sum : 0.0);
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		if (parts[i] < 0.005)
			continue;
		fprintf(f, "%s%s %.0f %%", before,
			i == 1 && !l->has_waits ? "in MPI" : excess_titles[i], 100.0 * parts[i]);
		before = ", ";
	}
	fputc('\n', f);
}

static void print_loop(FILE *f, const struct report *r, const struct main_loop *l)
{
	char *path = report_short_path(r, l->stack, 3, COLUMN_NAME);
	const uint32_t ranks = MAX(report_all_ranks(r->p), l->ranks);
	const char *one = r->p->world_size ? "rank" : "process",
		   *many = r->p->world_size ? "ranks" : "processes";

	fprintf(f, "Iterations %s %s: %" PRIu64, l->is_separated ? "between calls of" : "of", path,
		l->n);
	if (l->ranks == ranks)
		fprintf(f, " on %s%" PRIu32 " %s", ranks > 1 ? "each of " : "", ranks,
			ranks == 1 ? one : many);
	else
		fprintf(f, " on %" PRIu32 " of %" PRIu32 " %s", l->ranks, ranks, many);
	fprintf(f, ", %s", quantity_seconds(l->sum).text);
	if (l->mpi > 0.0)
		fprintf(f, ", %.0f %% of it in MPI", 100.0 * l->mpi);
	fprintf(f, "\nMedian %s, ", quantity_seconds(l->median).text);
	fprintf(f, "90 %% within %s, ", quantity_seconds(l->p90).text);
	fprintf(f, "99 %% within %s, ", quantity_seconds(l->p99).text);
	fprintf(f, "longest %s", quantity_seconds(l->most).text);
	if (l->growth != 0.0)
		fprintf(f, "; last third %s %s than the first",
			quantity_seconds(fabs(l->growth)).text,
			l->growth < 0.0 ? "shorter" : "longer");
	fputc('\n', f);
	print_excess(f, l);
	if (l->ranks > 1)
		fprintf(f,
			"Efficiency within: %.0f %% (load balance %.0f %%, "
			"communication %.0f %%)\n",
			100.0 * l->efficiency.parallel, 100.0 * l->efficiency.balance,
			100.0 * l->efficiency.communication);
	if (l->per_step > 1)
		fprintf(f, "%" PRIu64 " successive iterations are taken together\n", l->per_step);
	print_kinds(f, l);
	free(path);
}

static void print_slow(FILE *f, const struct report *r, const struct main_loop *l, size_t most)
{
	struct table *t;

	if (!l->n_slow)
		return;
	most = most && most < l->n_slow ? most : l->n_slow;
	t = columns_table(r, &slow_list, 0);
	for (size_t i = 0; i < most; i++)
		columns_row(t, &slow_list, 0,
			&(struct row){.r = r, .at = &l->steps[l->slow[i]], .more = l});
	columns_close(f, r, t);
	columns_rest(f, l->n_slow - most, "slow iteration", "slow iterations");
}

void section_main_loop(FILE *f, const struct report *r)
{
	struct main_loop l;

	if (!r->run || !main_loop_of(r->p, &l))
		return;
	fputc('\n', f);
	print_loop(f, r, &l);
	print_slow(f, r, &l, SLOW_SHOWN);
	main_loop_done(&l);
}

/* The value, as JSON, of a key of the configuration where it is not the default, or NULL. The
 * caller frees. */
static char *changed_value(const struct profile *p, const char *key)
{
	const char *list = p->n_starts && p->starts[0].changes ? p->starts[0].changes : "";
	const size_t bytes = strlen(key);
	char *value = NULL, *word;

	while (!value && (word = words_next(&list))) {
		if (!strncmp(word, key, bytes) && word[bytes] == '=')
			value = xstrdup(word + bytes + 1);
		free(word);
	}
	return value;
}

static void print_none(FILE *f, const struct profile *p)
{
	char *active = changed_value(p, "iterations.active");
	char *of = changed_value(p, "iterations.of");

	if (active && !strcmp(active, "false"))
		fputs("Iterations were not looked for: iterations.active was false.\n", f);
	else if (of)
		section_text(f, "No function that can be the main loop matches iterations.of=", of,
			" (vftr-analysis(7), The main loop).\n");
	else
		fputs("No function was called again and again for half of the time.\n", f);
	free(active);
	free(of);
}

void main_loop_print(FILE *f, const struct report *r, uint64_t most)
{
	struct main_loop l;

	if (!main_loop_of(r->p, &l)) {
		print_none(f, r->p);
		return;
	}
	print_loop(f, r, &l);
	print_slow(f, r, &l, (size_t)most);
	main_loop_done(&l);
}

/* ---- in JSON ----------------------------------------------------------------------------- */

static const struct column step_columns[] = {
	STEP(NULL, "first", COUNT, first),
	STEP(NULL, "iterations", COUNT, n),
	STEP(NULL, "ranks", COUNT, ranks),
	STEP(NULL, "kind", COUNT, kind),
	COLUMN_GET(NULL, "mean_s", REAL, real, step_mean),
	COLUMN_GET(NULL, "least_s", REAL, real, step_least),
	COLUMN_GET(NULL, "most_s", REAL, real, step_most),
	STEP(NULL, "most_at", COUNT, at),
	STEP(NULL, "most_rank", COUNT, rank),
	COLUMN_GET(NULL, "mpi_share", REAL, real, step_mpi),
	COLUMN_GET(NULL, "outside_mpi_s", REAL, real, step_busy),
	COLUMN_GET(NULL, "outside_mpi_most_s", REAL, real, step_busiest),
	STEP(NULL, "outside_mpi_rank", COUNT, by),
	COLUMN_GET(NULL, "wait_s", REAL, real, step_wait),
	COLUMN_GET(NULL, "off_cpu_s", REAL, real, step_off),
	COLUMN_GET(NULL, "off_cpu_most_s", REAL, real, step_by_off),
	COLUMN_GET(NULL, "parallel_efficiency", REAL, real, step_parallel),
	COLUMN_GET(NULL, "load_balance", REAL, real, step_balance),
	COLUMN_GET(NULL, "communication_efficiency", REAL, real, step_communication),
};
static const struct list step_list = LIST_OF(step_columns, struct loop_step);

static void write_efficiency(struct json *j, const struct loop_efficiency *e)
{
	json_real(j, "parallel_efficiency", e->parallel);
	json_real(j, "load_balance", e->balance);
	json_real(j, "communication_efficiency", e->communication);
}

static void write_kinds(struct json *j, const struct main_loop *l)
{
	json_array(j, "kinds");
	for (unsigned i = 0; i < l->n_kinds; i++) {
		json_object(j, NULL);
		json_uint(j, "steps", l->kinds[i].n);
		json_real(j, "median_s", l->kinds[i].median);
		json_uint(j, "first", l->kinds[i].first);
		json_uint(j, "every", l->kinds[i].every);
		write_efficiency(j, &l->kinds[i].efficiency);
		json_close(j);
	}
	json_close(j);
}

static void write_slow(struct json *j, const struct report *r, const struct main_loop *l, size_t i)
{
	const struct loop_step *s = &l->steps[l->slow[i]];
	const bool has_place = s->cause == LOOP_WORK || s->cause == LOOP_OFF_CPU;
	char *why = loop_cause_text(r, l, s),
	     *path = has_place && s->stack ? report_path(r, s->stack - 1) : NULL;

	json_object(j, NULL);
	columns_members(j, &step_list, &(struct row){.r = r, .at = s});
	if (loop_step_tells_off(s)) {
		json_real(j, "queued_most_s", s->by_queued);
		json_real(j, "asleep_most_s", s->by_asleep);
	}
	json_string(j, "cause", loop_cause_name(s->cause));
	json_real(j, "cause_s", s->cause_s);
	if (path)
		json_string(j, "cause_path", path);
	if (why)
		json_string(j, "why", why);
	json_close(j);
	free(path);
	free(why);
}

static void write_steps(struct json *j, const struct report *r, const struct main_loop *l)
{
	json_array(j, "slow");
	for (size_t i = 0; i < l->n_slow; i++)
		write_slow(j, r, l, i);
	json_close(j);
	json_array(j, "steps");
	for (size_t i = 0; i < l->n_steps; i++)
		columns_object(j, &step_list, &(struct row){.r = r, .at = &l->steps[i]});
	json_close(j);
}

void json_main_loop(struct json *j, const struct report *r)
{
	struct main_loop l;
	char *path;

	if (!main_loop_of(r->p, &l))
		return;
	path = report_path(r, l.stack);
	json_object(j, "iterations");
	json_uint(j, "id", r->id[l.stack]);
	json_string(j, "path", path);
	json_bool(j, "is_separated", l.is_separated);
	json_uint(j, "ranks", l.ranks);
	json_uint(j, "iterations", l.n);
	json_uint(j, "per_step", l.per_step);
	json_real(j, "t_s", l.sum);
	json_real(j, "mpi_share", l.mpi);
	json_real(j, "median_s", l.median);
	json_real(j, "p90_s", l.p90);
	json_real(j, "p99_s", l.p99);
	json_real(j, "least_s", l.least);
	json_real(j, "most_s", l.most);
	json_real(j, "trend_per_100", l.trend);
	json_real(j, "above_median_s", l.excess);
	json_object(j, "above_median_parts");
	json_real(j, "wait", l.parts.wait);
	json_real(j, "transfer", l.parts.transfer);
	json_real(j, "off_cpu", l.parts.off);
	json_real(j, "work", l.parts.work);
	json_close(j);
	write_efficiency(j, &l.efficiency);
	write_kinds(j, &l);
	write_steps(j, r, &l);
	json_close(j);
	free(path);
	main_loop_done(&l);
}
