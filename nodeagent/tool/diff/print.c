/* SPDX-License-Identifier: BSD-3-Clause */
/* The output of `vftr diff`: for people, for programs, and as that of vftrace_diff_profiles. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "nodeagent/tool/diff/diff.h"
#include "nodeagent/base/json-write.h"
#include "nodeagent/base/table.h"
#include "nodeagent/base/util.h"
#include "nodeagent/base/words.h"

#define NOTHING	     "----"
#define PATH_COLUMNS 250
#define TAGS_COLUMNS 110
#define RATIO_SHOWN  1000.0 /* more is ">1000" */

static const struct diff_stack *stack_a(const struct diff *d, const struct diff_row *r)
{
	return r->a == DIFF_NONE ? NULL : &d->a->stacks[r->a];
}

static const struct diff_stack *stack_b(const struct diff *d, const struct diff_row *r)
{
	return r->b == DIFF_NONE ? NULL : &d->b->stacks[r->b];
}

static size_t rows_shown(const struct diff *d, size_t limit)
{
	return limit && limit < d->n_rows ? limit : d->n_rows;
}

/* ---- for people --------------------------------------------------------------------- */

static const char *things(bool function, size_t n)
{
	return function ? one_or_many(n, "function", "functions")
			: one_or_many(n, "call path", "call paths");
}

static void print_tags(FILE *f, const char *tags)
{
	char *words, *line;

	if (!tags)
		return;
	words = words_for_shell(tags);
	line = text_short(words, TAGS_COLUMNS);
	fprintf(f, "   tags: %s\n", line);
	free(line);
	free(words);
}

static void print_side(FILE *f, char letter, const struct diff_profile *p, bool function)
{
	char *file = text_plain(p->file);

	fprintf(f, "%c: %s (%s, %" PRIu64 " %s, %.3f s, %zu %s)\n", letter, file, p->kind, p->ranks,
		p->has_no_mpi ? one_or_many(p->ranks, "process", "processes")
			      : one_or_many(p->ranks, "rank", "ranks"),
		p->runtime_s, p->n_stacks, things(function, p->n_stacks));
	free(file);
	print_tags(f, p->tags);
}

/* -0.000 is 0.000 */
static double no_minus(double value)
{
	return fabs(value) < 0.0005 ? 0.0 : value;
}

static void print_total(FILE *f, const char *label, double a, double b)
{
	fprintf(f, "%-22s%12.3f %12.3f %12.3f", label, a, b, no_minus(b - a));
	if (a > 0.0)
		fprintf(f, " %9.1f %%", 100.0 * (b - a) / a);
	fputc('\n', f);
}

static void print_head(const struct diff *d, bool function, FILE *f)
{
	print_side(f, 'A', d->a, function);
	print_side(f, 'B', d->b, function);
	fprintf(f, "\n%-22s%12s %12s %12s\n", "", "A", "B", "B - A");
	print_total(f, "Total runtime[s]:", d->a->runtime_s, d->b->runtime_s);
	print_total(f, d->per_rank ? "Functions per rank[s]:" : "Functions[s]:", d->total_a_s,
		d->total_b_s);
	fprintf(f, "\n%zu %s only in A, %zu only in B; ", d->only_a, things(function, d->only_a),
		d->only_b);
	if (d->inclusive)
		fputs("inclusive times have no imbalance to compare with.\n", f);
	else
		fprintf(f, "%zu differ by more than the imbalance over ranks (*).\n",
			d->n_significant);
}

static void cell_time(struct table *t, const struct diff_stack *s, double seconds)
{
	if (s)
		table_real(t, 0, 3, seconds);
	else
		table_text(t, NOTHING);
}

static void cell_percent(struct table *t, const struct diff *d, const struct diff_row *r)
{
	double percent = diff_percent(r);
	char text[32];

	if (isnan(percent) || !stack_b(d, r)) {
		table_text(t, NOTHING);
		return;
	}
	snprintf(text, sizeof(text), "%+.1f", percent);
	table_text(t, fabs(percent) < 1e9 ? text : percent > 0 ? ">1e9" : "<-1e9");
}

static void cell_ratio(struct table *t, const struct diff_row *r)
{
	double ratio = diff_ratio(r);
	char text[32];

	if (isnan(ratio)) {
		table_text(t, NOTHING);
		return;
	}
	if (ratio > RATIO_SHOWN)
		snprintf(text, sizeof(text), ">%.0f", RATIO_SHOWN);
	else
		snprintf(text, sizeof(text), "%.1f", ratio);
	strcat(text, r->significant ? " *" : "  ");
	table_text(t, text);
}

static void cell_count(struct table *t, const struct diff_stack *s, uint64_t value)
{
	if (s && value != DIFF_NO_ID)
		table_uint(t, value);
	else
		table_text(t, NOTHING);
}

static void add_row(struct table *t, const struct diff *d, const struct diff_row *r, bool function)
{
	const struct diff_stack *a = stack_a(d, r), *b = stack_b(d, r);

	cell_time(t, a, r->a_s);
	cell_time(t, b, r->b_s);
	table_real(t, 0, 3, no_minus(r->diff_s));
	cell_percent(t, d, r);
	if (!d->inclusive)
		cell_ratio(t, r);
	cell_count(t, a, a ? a->calls : 0);
	cell_count(t, b, b ? b->calls : 0);
	if (!function) {
		cell_count(t, a, a ? a->id : 0);
		cell_count(t, b, b ? b->id : 0);
	}
	table_text(t, diff_path(d, r));
}

static struct table *columns(const struct diff *d, bool function)
{
	const struct {
		const char *title;
		bool wanted;
	} all[] = {
		{"A[s]", true},
		{"B[s]", true},
		{"B-A[s]", true},
		{"B-A[%]", true},
		{"by imbalance", !d->inclusive},
		{"Calls A", true},
		{"Calls B", true},
		{"STID A", !function},
		{"STID B", !function},
	};
	struct table *t = table_new(TABLE_FRAMED);

	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		if (all[i].wanted)
			table_column(t, all[i].title, TABLE_RIGHT);
	table_column(t, function ? "Function" : "Callpath", TABLE_LEFT);
	table_most(t, PATH_COLUMNS, TEXT_BOTH_ENDS);
	return t;
}

void diff_print(const struct diff *d, size_t limit, bool function, FILE *f)
{
	size_t n = rows_shown(d, limit);
	struct table *t;

	print_head(d, function, f);
	if (!n) {
		fputs("\nNo difference to show.\n", f);
		return;
	}
	t = columns(d, function);
	for (size_t i = 0; i < n; i++)
		add_row(t, d, &d->rows[i], function);
	fprintf(f, "\n%s time by %s, %s\n", d->inclusive ? "Inclusive" : "Exclusive",
		function ? "function" : "call path",
		d->per_rank ? "mean over ranks" : "sum over ranks");
	table_print(t, f);
	if (n < d->n_rows)
		fprintf(f, "... and %zu more\n", d->n_rows - n);
	table_free(t);
}

/* ---- for programs --------------------------------------------------------------------- */

static void json_tags(struct json *j, const char *tags)
{
	char *tag;

	json_object(j, "tags");
	for (; (tag = words_next(&tags)); free(tag)) {
		char *equals = strchr(tag, '=');

		*equals = '\0'; /* each has one */
		json_string(j, tag, equals + 1);
	}
	json_close(j);
}

static void json_side(struct json *j, const char *key, const struct diff_profile *p, double total)
{
	json_object(j, key);
	json_string(j, "file", p->file);
	json_string(j, "kind", p->kind);
	json_uint(j, "ranks", p->ranks);
	json_real(j, "runtime_s", p->runtime_s);
	json_real(j, "t_s", total);
	json_uint(j, "rows", p->n_stacks);
	if (p->tags)
		json_tags(j, p->tags);
	json_close(j);
}

static void json_id(struct json *j, const char *key, const struct diff_stack *s)
{
	if (s && s->id != DIFF_NO_ID)
		json_uint(j, key, s->id);
	else
		json_string(j, key, NULL);
}

static void json_row(struct json *j, const struct diff *d, const struct diff_row *r)
{
	const struct diff_stack *a = stack_a(d, r), *b = stack_b(d, r);
	const char *path = diff_path(d, r);
	char *function = xasprintf("%.*s", (int)(a ? a->function_bytes : b->function_bytes), path);

	json_object(j, NULL);
	json_string(j, "path", path);
	json_string(j, "function", function);
	json_real(j, "a_s", r->a_s);
	json_real(j, "b_s", r->b_s);
	json_real(j, "diff_s", r->diff_s);
	json_real(j, "diff_percent", diff_percent(r));
	json_real(j, "imbalance_s", r->imbalance_s);
	json_bool(j, "significant", r->significant);
	json_uint(j, "calls_a", a ? a->calls : 0);
	json_uint(j, "calls_b", b ? b->calls : 0);
	json_bool(j, "in_a", a != NULL);
	json_bool(j, "in_b", b != NULL);
	json_id(j, "id_a", a);
	json_id(j, "id_b", b);
	json_close(j);
	free(function);
}

void diff_print_json(const struct diff *d, size_t limit, bool function, FILE *f)
{
	size_t n = rows_shown(d, limit);
	struct json j;

	json_begin(&j, f, 2);
	json_object(&j, NULL);
	json_string(&j, "format", "vftr-diff");
	json_uint(&j, "version", 1);
	json_side(&j, "a", d->a, d->total_a_s);
	json_side(&j, "b", d->b, d->total_b_s);
	json_string(&j, "time", d->inclusive ? "incl" : "excl");
	json_string(&j, "per", d->per_rank ? "rank" : "job");
	json_string(&j, "by", function ? "function" : "path");
	json_uint(&j, "only_a", d->only_a);
	json_uint(&j, "only_b", d->only_b);
	json_uint(&j, "significant", d->n_significant);
	json_uint(&j, "rows", d->n_rows);
	json_array(&j, "differences");
	for (size_t i = 0; i < n; i++)
		json_row(&j, d, &d->rows[i]);
	json_close(&j);
	json_close(&j);
}

/* ---- as Vftrace's tool ------------------------------------------------------------------ */

/* T_diff is T1 - T2 there. */
void diff_print_classic(const struct diff *d, FILE *f)
{
	size_t width = 0;

	EACH(const struct diff_row, r, d->rows, d->n_rows) {
		const struct diff_stack *s = r->a == DIFF_NONE ? stack_b(d, r) : stack_a(d, r);

		width = MAX(width, s->function_bytes);
	}
	width = MIN(width, (size_t)80);
	fputs("Function T1[s] T2[s] T_diff[s] T_diff[%] stackID\n", f);
	EACH(const struct diff_row, r, d->rows, d->n_rows) {
		const struct diff_stack *s = r->a == DIFF_NONE ? stack_b(d, r) : stack_a(d, r);
		double difference = r->a_s - r->b_s;
		double percent = r->a_s > 0.0	    ? 100.0 * difference / r->a_s
				 : difference < 0.0 ? -INFINITY
						    : 0.0;
		char *name = xasprintf("%.*s", (int)s->function_bytes, diff_path(d, r));
		char *plain = text_plain(name);

		fprintf(f, "%*s %.3f %.3f %9.3f %9.2f ", (int)width, plain, r->a_s, r->b_s,
			difference, percent);
		if (s->id == DIFF_NO_ID)
			fputs("      -\n", f);
		else
			fprintf(f, "%7" PRIu64 "\n", s->id);
		free(plain);
		free(name);
	}
}
