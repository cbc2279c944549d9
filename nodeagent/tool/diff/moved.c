/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Constructs of OpenMP are named after their line (omp_parallel@heat.c:42), which an edit above
 * them changes. What is left of two profiles is matched again without the lines: where the callers
 * and files are equal, and both have as many, those are the same, in the order of their lines.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "nodeagent/base/util.h"
#include "nodeagent/tool/diff/diff.h"

/* A row of one profile alone. */
struct left {
	char *key; /* its path without lines */
	const char *path;
	bool in_b;
	size_t row;
};

ORDER_BY(left_order, struct left,
	strcmp(x->key, y->key) ?: RISING(in_b) ?: strverscmp(x->path, y->path))

/* The path without the line of each omp_CONSTRUCT@FILE:LINE; NULL: it has none. The caller frees.
 */
static char *without_lines(const char *path)
{
	char *key = xstrdup(path), *to = key;
	bool frame = true, of_omp = false, at = false, any = false;

	for (const char *s = path; *s;) {
		const size_t digits = *s == ':' ? strspn(s + 1, "0123456789") : 0;

		if (frame)
			of_omp = !strncmp(s, "omp_", 4);
		if (at && digits && (s[1 + digits] == '<' || !s[1 + digits])) {
			s += 1 + digits;
			any = true;
			continue;
		}
		frame = *s == '<';
		at = (of_omp && *s == '@') || (at && !frame);
		*to++ = *s++;
	}
	*to = '\0';
	if (any)
		return key;
	free(key);
	return NULL;
}

static struct left *find_left(const struct diff *d, size_t *n)
{
	struct left *left = NULL;
	size_t cap = 0;

	*n = 0;
	for (size_t i = 0; i < d->n_rows; i++) {
		const struct diff_row *r = &d->rows[i];
		const char *path = diff_path(d, r);
		char *key = r->a == DIFF_NONE || r->b == DIFF_NONE ? without_lines(path) : NULL;

		if (key)
			*APPEND(left, *n, cap) = (struct left){
				.key = key, .path = path, .in_b = r->a == DIFF_NONE, .row = i};
	}
	if (*n)
		qsort(left, *n, sizeof(*left), left_order);
	return left;
}

/* The first half of these are of A, and the others of B. */
static void join_halves(struct diff *d, const struct left *left, size_t n)
{
	for (size_t i = 0; i < n / 2; i++) {
		struct diff_row *b = &d->rows[left[n / 2 + i].row];

		d->rows[left[i].row].b = b->b;
		b->b = DIFF_NONE;
	}
}

void diff_match_moved(struct diff *d)
{
	size_t n, kept = 0;
	struct left *left = find_left(d, &n);

	for (size_t i = 0, end; i < n; i = end) {
		size_t of_b = 0;

		for (end = i; end < n && !strcmp(left[end].key, left[i].key); end++)
			of_b += left[end].in_b;
		if (2 * of_b == end - i)
			join_halves(d, left + i, end - i);
	}
	for (size_t i = 0; i < n; i++)
		free(left[i].key);
	free(left);
	for (size_t i = 0; i < d->n_rows; i++)
		if (d->rows[i].a != DIFF_NONE || d->rows[i].b != DIFF_NONE)
			d->rows[kept++] = d->rows[i];
	d->n_rows = kept;
}
