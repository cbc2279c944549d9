/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Constructs of OpenMP are named after their line (omp_parallel@heat.c:42), which an edit above
 * them changes; the line of one may then be what that of another one was. Where callers and files
 * are equal, and both profiles have as many constructs, those are the same, in the order of their
 * lines. What they call goes with them.
 */
#include <stdlib.h>
#include <string.h>

#include "nodeagent/base/util.h"
#include "nodeagent/tool/diff/diff.h"

/* A stack of one of the profiles. */
struct moved {
	char *key; /* its path without lines */
	const char *path;
	size_t callers;
	bool in_b;
	size_t row;
	uint32_t stack;
	struct moved *other; /* what it is in the other profile, or NULL */
};

/* Callers before what they call. */
ORDER_BY(moved_order, struct moved,
	RISING(callers) ?: strcmp(x->key, y->key) ?: RISING(in_b) ?: strverscmp(x->path, y->path))

struct all {
	struct moved *v;
	size_t n;
	struct moved **by_path; /* of A, then those of B */
};

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

static int by_path(const void *a, const void *b)
{
	const struct moved *x = *(struct moved *const *)a, *y = *(struct moved *const *)b;

	return x->in_b != y->in_b ? x->in_b - y->in_b : strcmp(x->path, y->path);
}

static size_t count_callers(const char *path)
{
	size_t n = 0;

	while ((path = strchr(path, '<'))) {
		path++;
		n++;
	}
	return n;
}

static void add_moved(
	struct all *all, size_t *cap, const char *path, bool in_b, size_t row, uint32_t stack)
{
	*APPEND(all->v, all->n, *cap) = (struct moved){.key = without_lines(path),
		.path = path,
		.callers = count_callers(path),
		.in_b = in_b,
		.row = row,
		.stack = stack};
}

/* Rows whose names are shown in another way in B stay as they are. */
static void add_row_of(struct all *all, size_t *cap, const struct diff *d, size_t row)
{
	const struct diff_row *r = &d->rows[row];
	const char *a = r->a == DIFF_NONE ? NULL : d->a->text.bytes + d->a->stacks[r->a].path;
	const char *b = r->b == DIFF_NONE ? NULL : d->b->text.bytes + d->b->stacks[r->b].path;
	char *key = without_lines(a ?: b);

	if (key && !(a && b && strcmp(a, b))) {
		if (a)
			add_moved(all, cap, a, false, row, r->a);
		if (b)
			add_moved(all, cap, b, true, row, r->b);
	}
	free(key);
}

static struct all find_all(const struct diff *d)
{
	struct moved **of_row;
	struct all all = {0};
	size_t cap = 0;

	for (size_t i = 0; i < d->n_rows; i++)
		add_row_of(&all, &cap, d, i);
	if (!all.n)
		return all;
	qsort(all.v, all.n, sizeof(*all.v), moved_order);
	all.by_path = xcalloc(all.n, sizeof(struct moved *));
	of_row = xcalloc(d->n_rows, sizeof(struct moved *));
	for (size_t i = 0; i < all.n; i++) {
		struct moved *m = all.by_path[i] = &all.v[i], **same = &of_row[m->row];

		m->other = *same;
		if (*same)
			(*same)->other = m;
		*same = m;
	}
	free(of_row);
	qsort(all.by_path, all.n, sizeof(struct moved *), by_path);
	return all;
}

static struct moved *find(const struct all *all, const char *path, bool in_b)
{
	struct moved wanted = {.path = path, .in_b = in_b}, *key = &wanted, **found;

	found = bsearch(&key, all->by_path, all->n, sizeof(struct moved *), by_path);
	return found ? *found : NULL;
}

/* NULL: it has no lines, or no time of its own. */
static struct moved *caller_of(const struct all *all, const struct moved *m)
{
	const char *caller = strchr(m->path, '<');

	return caller ? find(all, caller + 1, m->in_b) : NULL;
}

static void part(struct moved *m)
{
	if (m->other)
		m->other->other = NULL;
	m->other = NULL;
}

/* What two callers call that are not the same is not the same either. */
static void part_unlike(const struct all *all, struct moved *m)
{
	const struct moved *caller = caller_of(all, m), *of_other;

	if (!caller || !m->other)
		return;
	of_other = caller_of(all, m->other);
	if (of_other && caller->other != of_other)
		part(m);
}

/* The first half of these are of A, and the others of B. */
static void join_halves(struct moved *m, size_t n)
{
	for (size_t i = 0; i < n; i++)
		m[i].other = NULL;
	for (size_t i = 0; i < n / 2; i++) {
		m[i].other = &m[n / 2 + i];
		m[n / 2 + i].other = &m[i];
	}
}

static bool has_moved(const struct moved *m)
{
	return m && (!m->other || strcmp(m->path, m->other->path));
}

/* Of B, one function: each is what was called by its caller in A. False: callers are not known. */
static bool follow_callers(const struct all *all, struct moved *m, size_t n)
{
	const size_t frame = strcspn(m->path, "<") + 1;

	for (size_t i = 0; i < n; i++)
		if (!caller_of(all, &m[i]))
			return false;
	for (size_t i = 0; i < n; i++)
		if (has_moved(caller_of(all, &m[i])))
			part(&m[i]);
	for (size_t i = 0; i < n; i++) {
		const struct moved *caller = caller_of(all, &m[i])->other;
		char *path;

		if (m[i].other || !caller)
			continue;
		path = xasprintf("%.*s%s", (int)frame, m[i].path, caller->path);
		m[i].other = find(all, path, false);
		free(path);
		if (m[i].other && m[i].other->other)
			m[i].other = NULL;
		if (m[i].other)
			m[i].other->other = &m[i];
	}
	return true;
}

/* Those of one key. */
static void match_group(const struct all *all, struct moved *m, size_t n)
{
	const bool is_construct = strncmp(m->path, m->key, strcspn(m->path, "<")) != 0;
	size_t of_a = 0, alone = 0;

	for (size_t i = 0; i < n; i++) {
		of_a += !m[i].in_b;
		alone += !m[i].other;
	}
	if (!is_construct && follow_callers(all, m + of_a, n - of_a))
		return;
	if (alone && 2 * of_a == n)
		join_halves(m, n);
	for (size_t i = 0; i < of_a; i++)
		part_unlike(all, &m[i]);
}

/* Makes rows of them again, behind all others. */
static void put_rows(struct diff *d, const struct all *all)
{
	size_t kept = 0;

	for (size_t i = 0; i < all->n; i++)
		d->rows[all->v[i].row].a = d->rows[all->v[i].row].b = DIFF_NONE;
	for (size_t i = 0; i < d->n_rows; i++)
		if (d->rows[i].a != DIFF_NONE || d->rows[i].b != DIFF_NONE)
			d->rows[kept++] = d->rows[i];
	d->rows = xrealloc(d->rows, (kept + all->n) * sizeof(*d->rows));
	for (size_t i = 0; i < all->n; i++) {
		const struct moved *m = &all->v[i];

		if (!m->in_b)
			d->rows[kept++] = (struct diff_row){
				.a = m->stack, .b = m->other ? m->other->stack : DIFF_NONE};
		else if (!m->other)
			d->rows[kept++] = (struct diff_row){.a = DIFF_NONE, .b = m->stack};
	}
	d->n_rows = kept;
}

void diff_match_moved(struct diff *d)
{
	struct all all = find_all(d);

	for (size_t i = 0, end; i < all.n; i = end) {
		for (end = i; end < all.n && !strcmp(all.v[end].key, all.v[i].key); end++)
			;
		match_group(&all, all.v + i, end - i);
	}
	if (all.n)
		put_rows(d, &all);
	for (size_t i = 0; i < all.n; i++)
		free(all.v[i].key);
	free(all.v);
	free(all.by_path);
}
