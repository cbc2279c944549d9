/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists of ranks or CPUs: "0,2-5"; of ranks also "all" and "none". */
#include <stdlib.h>
#include <string.h>

#include "conf/internal.h"

#define RANK_MAX 1000000000u

/* The number at *s; moves *s behind it. False if there is none or it is too large. */
static bool number(const char **s, unsigned *value)
{
	const char *p = *s;
	unsigned v = 0;

	if (*p < '0' || *p > '9')
		return false;
	for (; *p >= '0' && *p <= '9'; p++) {
		v = 10 * v + (unsigned)(*p - '0');
		if (v > RANK_MAX)
			return false;
	}
	*value = v;
	*s = p;
	return true;
}

/* The next "N" or "A-B" with the comma behind it; false if it is neither. */
static bool range(const char **s, unsigned *first, unsigned *last)
{
	if (!number(s, first))
		return false;
	*last = *first;
	if (**s == '-') {
		++*s;
		if (!number(s, last))
			return false;
	}
	if (**s == '\0')
		return true;
	/* a comma wants a successor */
	return *(*s)++ == ',' && **s != '\0';
}

int rank_list_check(const char *list, bool words, char **why)
{
	const char *s = list;
	unsigned first, last;
	char buf[QUOTE_BYTES];

	if (words && (strcmp(list, "all") == 0 || strcmp(list, "none") == 0))
		return 0;
	if (*list == '\0')
		return fail(why, "the list is empty");
	while (*s) {
		const char *start = s;

		if (!range(&s, &first, &last))
			return fail(why,
				"a number from 0 to %u or a range A-B is expected at \"%s\"",
				RANK_MAX, quoted(buf, start, strlen(start)));
		if (first > last)
			return fail(why, "the range %u-%u runs backwards", first, last);
	}
	return 0;
}

bool rank_list_has(const char *list, unsigned rank)
{
	unsigned first, last;
	bool found = false;

	if (!list || strcmp(list, "none") == 0)
		return false;
	if (strcmp(list, "all") == 0)
		return true;
	while (*list) {
		if (!range(&list, &first, &last) || first > last)
			return false;
		found |= first <= rank && rank <= last;
	}
	return found;
}

bool rank_list_reaches(const char *list, unsigned from)
{
	unsigned first, last;

	if (!list || strcmp(list, "none") == 0)
		return false;
	if (strcmp(list, "all") == 0)
		return true;
	while (*list && range(&list, &first, &last) && first <= last)
		if (last >= from)
			return true;
	return false;
}

static int by_first(const void *a, const void *b)
{
	const struct rank_range *x = a, *y = b;

	return (x->first > y->first) - (x->first < y->first);
}

struct rank_range *rank_list_ranges(const char *list, size_t *n)
{
	struct rank_range *r = calloc(strlen(list) + 1, sizeof(*r)), next;
	size_t read = 0;

	*n = 0;
	if (!r)
		abort();
	while (*list && range(&list, &next.first, &next.last) && next.first <= next.last)
		r[read++] = next;
	qsort(r, read, sizeof(*r), by_first);
	for (size_t i = 0; i < read; i++) {
		if (!*n || r[i].first > r[*n - 1].last + 1)
			r[(*n)++] = r[i];
		else if (r[i].last > r[*n - 1].last)
			r[*n - 1].last = r[i].last;
	}
	return r;
}
