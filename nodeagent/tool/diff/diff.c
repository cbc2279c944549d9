/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two profiles matched by call path, in the time that sorting takes. A difference
 * is judged by the imbalance: a function whose time varies over the ranks of one
 * run by more than it differs between two runs has not changed for certain.
 */
#include "nodeagent/tool/diff/diff.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "nodeagent/base/hash.h"
#include "nodeagent/base/util.h"

#define LEAST_S 1e-9 /* clocks tell nanoseconds */

static const char *text_of(const struct diff_profile *p, const struct diff_stack *s)
{
	return p->text.bytes + s->path;
}

/* qsort() takes no context; nobody compares two profiles in two threads. */
static const struct diff_profile *sorted_profile;

ORDER_BY(by_path, struct diff_stack,
	RISING(hash) ?: strcmp(text_of(sorted_profile, x), text_of(sorted_profile, y)))

static void add_stack(struct diff_stack *to, const struct diff_stack *s)
{
	to->calls += s->calls;
	to->incl_s += s->incl_s;
	to->excl_s += s->excl_s;
	to->ranks = MAX(to->ranks, s->ranks);
	/* at most, as if the same ranks were the slow ones of both */
	if (s->deviation_s < 0.0 || to->deviation_s < 0.0)
		to->deviation_s = -1.0;
	else
		to->deviation_s += s->deviation_s;
}

/* Sorts; equal paths become one. */
static void prepare(struct diff_profile *p, bool hash_paths)
{
	size_t n = 0;

	if (hash_paths) {
		for (size_t i = 0; i < p->n_stacks; i++) {
			const char *path = text_of(p, &p->stacks[i]);

			p->stacks[i].hash = stack_hash(path, strlen(path) + 1);
		}
		p->hash_of_names = false;
	}
	sorted_profile = p;
	if (p->n_stacks)
		qsort(p->stacks, p->n_stacks, sizeof(*p->stacks), by_path);
	for (size_t i = 0; i < p->n_stacks; i++) {
		if (n && !by_path(&p->stacks[n - 1], &p->stacks[i]))
			add_stack(&p->stacks[n - 1], &p->stacks[i]);
		else
			p->stacks[n++] = p->stacks[i];
	}
	p->n_stacks = n;
}

/* ---- functions ------------------------------------------------------------------- */

/* Does no caller on the path have the same name? Only these have all of the time. */
static bool is_outermost(const char *path, size_t bytes)
{
	for (const char *s = path + bytes; *s == '<'; s += strcspn(s, "<")) {
		s++;
		if (!strncmp(s, path, bytes) && (s[bytes] == '<' || !s[bytes]))
			return false;
	}
	return true;
}

void diff_by_function(struct diff_profile *p)
{
	EACH(struct diff_stack, s, p->stacks, p->n_stacks) {
		char *path = p->text.bytes + s->path;

		if (!is_outermost(path, s->function_bytes))
			s->incl_s = 0.0;
		path[s->function_bytes] = '\0';
		s->id = DIFF_NO_ID;
	}
	prepare(p, true);
}

/* ---- differences ------------------------------------------------------------------ */

static double value_of(const struct diff *d, const struct diff_profile *p, uint32_t i)
{
	const struct diff_stack *s;

	if (i == DIFF_NONE)
		return 0.0;
	s = &p->stacks[i];
	return (d->inclusive ? s->incl_s : s->excl_s) /
	       (d->per_rank && p->ranks ? (double)p->ranks : 1.0);
}

/* Variance over ranks of what value_of() gives; < 0: not known. */
static double variance_of(const struct diff *d, const struct diff_profile *p, uint32_t i)
{
	double deviation;

	if (d->inclusive || p->ranks < 2)
		return -1.0;
	if (i == DIFF_NONE)
		return 0.0;
	deviation = p->stacks[i].deviation_s;
	if (deviation < 0.0)
		return -1.0;
	if (!d->per_rank)
		deviation *= (double)p->ranks;
	return deviation * deviation;
}

static double imbalance_of(const struct diff *d, const struct diff_row *row)
{
	double a = variance_of(d, d->a, row->a), b = variance_of(d, d->b, row->b);

	if (a < 0.0 && b < 0.0)
		return NAN;
	if (a < 0.0 || b < 0.0)
		return sqrt(a < 0.0 ? b : a);
	return sqrt((a + b) / 2.0);
}

/* No less can be told from nothing: of times in logs, and of those that JSON has as decimals. */
static double rounded(const struct diff *d)
{
	double a = d->a->rounded_s, b = d->b->rounded_s;

	if (d->per_rank && d->a->ranks)
		a /= (double)d->a->ranks;
	if (d->per_rank && d->b->ranks)
		b /= (double)d->b->ranks;
	return MAX(a + b, LEAST_S);
}

static void add_row(struct diff *d, size_t *cap, uint32_t a, uint32_t b)
{
	*APPEND(d->rows, d->n_rows, *cap) = (struct diff_row){.a = a, .b = b};
}

static void judge(struct diff *d, struct diff_row *row)
{
	row->a_s = value_of(d, d->a, row->a);
	row->b_s = value_of(d, d->b, row->b);
	row->diff_s = row->b_s - row->a_s;
	row->imbalance_s = imbalance_of(d, row);
	row->significant = fabs(row->diff_s) > row->imbalance_s && fabs(row->diff_s) > rounded(d);
	d->only_a += row->b == DIFF_NONE;
	d->only_b += row->a == DIFF_NONE;
	d->n_significant += row->significant;
}

static size_t end_of_hash(const struct diff_profile *p, size_t i)
{
	size_t end = i + 1;

	while (end < p->n_stacks && p->stacks[end].hash == p->stacks[i].hash)
		end++;
	return end;
}

/* Stacks of one hash: nearly always one of each. Sorted by path. */
static void match_equal(struct diff *d, size_t *cap, size_t i, size_t i_end, size_t k, size_t k_end)
{
	/* the names may be shown in another way there */
	if (d->a->hash_of_names && i + 1 == i_end && k + 1 == k_end) {
		add_row(d, cap, (uint32_t)i, (uint32_t)k);
		return;
	}
	while (i < i_end || k < k_end) {
		int order = i == i_end ? 1 : k == k_end ? -1 : 0;

		if (!order)
			order = strcmp(
				text_of(d->a, &d->a->stacks[i]), text_of(d->b, &d->b->stacks[k]));
		add_row(d, cap, order <= 0 ? (uint32_t)i++ : DIFF_NONE,
			order >= 0 ? (uint32_t)k++ : DIFF_NONE);
	}
}

static double total_of(const struct diff_profile *p, bool per_rank)
{
	double sum = 0.0;

	for (size_t i = 0; i < p->n_stacks; i++)
		sum += p->stacks[i].excl_s;
	return per_rank && p->ranks ? sum / (double)p->ranks : sum;
}

void diff_make(struct diff *d, struct diff_profile *a, struct diff_profile *b, bool inclusive,
	bool per_rank)
{
	bool names = a->hash_of_names && b->hash_of_names;
	size_t cap = 0, i = 0, k = 0;

	*d = (struct diff){.a = a, .b = b, .inclusive = inclusive, .per_rank = per_rank};
	prepare(a, !names);
	prepare(b, !names);
	while (i < a->n_stacks || k < b->n_stacks) {
		if (k == b->n_stacks ||
			(i < a->n_stacks && a->stacks[i].hash < b->stacks[k].hash)) {
			add_row(d, &cap, (uint32_t)i++, DIFF_NONE);
		} else if (i == a->n_stacks || b->stacks[k].hash < a->stacks[i].hash) {
			add_row(d, &cap, DIFF_NONE, (uint32_t)k++);
		} else {
			size_t i_end = end_of_hash(a, i), k_end = end_of_hash(b, k);

			match_equal(d, &cap, i, i_end, k, k_end);
			i = i_end;
			k = k_end;
		}
	}
	diff_match_moved(d);
	EACH(struct diff_row, row, d->rows, d->n_rows)
		judge(d, row);
	d->total_a_s = total_of(a, per_rank);
	d->total_b_s = total_of(b, per_rank);
}

void diff_done(struct diff *d)
{
	free(d->rows);
}

double diff_percent(const struct diff_row *row)
{
	return row->a_s > 0.0 ? 100.0 * row->diff_s / row->a_s : NAN;
}

double diff_ratio(const struct diff_row *row)
{
	if (isnan(row->imbalance_s))
		return NAN;
	if (row->imbalance_s > 0.0)
		return fabs(row->diff_s) / row->imbalance_s;
	return row->diff_s != 0.0 ? INFINITY : 0.0;
}

const char *diff_path(const struct diff *d, const struct diff_row *row)
{
	return row->a != DIFF_NONE ? text_of(d->a, &d->a->stacks[row->a])
				   : text_of(d->b, &d->b->stacks[row->b]);
}

/* ---- order and choice ---------------------------------------------------------------- */

static double key_diff(const struct diff *d, const struct diff_row *r)
{
	return fabs(r->diff_s);
}

static double key_percent(const struct diff *d, const struct diff_row *r)
{
	double percent = diff_percent(r);

	return isnan(percent) ? (r->b_s > 0.0 ? INFINITY : 0.0) : fabs(percent);
}

static double key_significance(const struct diff *d, const struct diff_row *r)
{
	double ratio = diff_ratio(r);

	return isnan(ratio) ? -1.0 : ratio;
}

static double key_a(const struct diff *d, const struct diff_row *r)
{
	return r->a_s;
}

static double key_b(const struct diff *d, const struct diff_row *r)
{
	return r->b_s;
}

static double key_calls(const struct diff *d, const struct diff_row *r)
{
	double a = r->a == DIFF_NONE ? 0.0 : (double)d->a->stacks[r->a].calls;
	double b = r->b == DIFF_NONE ? 0.0 : (double)d->b->stacks[r->b].calls;

	return fabs(b - a);
}

static const struct {
	const char *name;
	double (*key)(const struct diff *d, const struct diff_row *r); /* NULL: by path */
} orders[] = {
	{"diff", key_diff},
	{"percent", key_percent},
	{"significance", key_significance},
	{"a", key_a},
	{"b", key_b},
	{"calls", key_calls},
	{"path", NULL},
};

static const struct diff *sorted_diff;
static double (*sorted_key)(const struct diff *d, const struct diff_row *r);

static int by_key(const void *a, const void *b)
{
	double x, y;

	if (sorted_key) {
		x = sorted_key(sorted_diff, a);
		y = sorted_key(sorted_diff, b);
		if (x != y)
			return x > y ? -1 : 1;
	}
	return strcmp(diff_path(sorted_diff, a), diff_path(sorted_diff, b));
}

bool diff_sort(struct diff *d, const char *key)
{
	for (size_t i = 0; i < ARRAY_SIZE(orders); i++) {
		if (strcmp(orders[i].name, key))
			continue;
		sorted_diff = d;
		sorted_key = orders[i].key;
		if (d->n_rows)
			qsort(d->rows, d->n_rows, sizeof(*d->rows), by_key);
		return true;
	}
	return false;
}

void diff_keep(struct diff *d, double min_s, bool significant)
{
	size_t n = 0;

	for (size_t i = 0; i < d->n_rows; i++)
		if (fabs(d->rows[i].diff_s) >= min_s && (d->rows[i].significant || !significant))
			d->rows[n++] = d->rows[i];
	d->n_rows = n;
}

const struct diff_row *diff_grown(const struct diff *d, double percent)
{
	const struct diff_row *most = NULL;

	EACH(const struct diff_row, r, d->rows, d->n_rows) {
		bool certain = r->significant || isnan(r->imbalance_s);

		if (certain && r->diff_s > percent / 100.0 * r->a_s &&
			(!most || r->diff_s > most->diff_s))
			most = r;
	}
	return most;
}
