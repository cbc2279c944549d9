/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sentences for the logs, each kept once. Of those that differ by numbers only, as of
 * one process after the other, the first few are kept and the rest is counted; what no
 * longer fits into the list is counted in its last line. Nothing is left out unsaid.
 */
#include "nodeagent/agent.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include "nodeagent/util.h"

#define WARNINGS_MAX 200 /* the last one counts the others */
#define OF_A_KIND    20u /* that are kept, and that are on standard error */

struct warning_kind {
	char *what;	 /* the first sentence, without its numbers */
	size_t first;	 /* ... which is warnings[first] */
	size_t counting; /* the line that counts what was not kept, or 0 */
	unsigned kept, more, said;
};

static bool is_of_kind(const struct warning_kind *k, const char *text)
{
	const char *what = k->what;

	for (; *text; text++)
		if (!isdigit((unsigned char)*text) && *text != *what++)
			return false;
	return !*what;
}

static char *without_numbers(const char *text)
{
	char *what = xstrdup(text), *to = what;

	for (; *text; text++)
		if (!isdigit((unsigned char)*text))
			*to++ = *text;
	*to = '\0';
	return what;
}

/* NULL: there are too many kinds. */
static struct warning_kind *kind_of(struct agent *a, const char *text)
{
	struct warning_kind *k = a->warning_kinds;

	for (size_t i = 0; i < a->n_warning_kinds; i++, k++)
		if (is_of_kind(k, text))
			return k;
	if (a->n_warnings >= WARNINGS_MAX - 1)
		return NULL;
	a->warning_kinds = grow(a->warning_kinds, a->n_warning_kinds, &a->cap_warning_kinds,
		sizeof(*a->warning_kinds));
	k = &a->warning_kinds[a->n_warning_kinds++];
	*k = (struct warning_kind){.what = without_numbers(text), .first = a->n_warnings};
	return k;
}

static bool is_kept(const struct agent *a, const char *text)
{
	for (size_t i = 0; i < a->n_warnings; i++)
		if (!strcmp(a->warnings[i], text))
			return true;
	return false;
}

static void append(struct agent *a, char *text)
{
	a->warnings = grow(a->warnings, a->n_warnings, &a->cap_warnings, sizeof(*a->warnings));
	a->warnings[a->n_warnings++] = text;
}

static void replace(struct agent *a, size_t i, char *text)
{
	free(a->warnings[i]);
	a->warnings[i] = text;
}

/* The last line, once the others are full. */
static void count_among_others(struct agent *a)
{
	char *text = xasprintf("%u more %s not shown", a->more_warnings + 1,
		one_or_many(a->more_warnings + 1, "warning is", "warnings are"));

	if (a->more_warnings++)
		replace(a, WARNINGS_MAX - 1, text);
	else
		append(a, text);
}

static void count_more(struct agent *a, struct warning_kind *k)
{
	if (!k->counting && a->n_warnings >= WARNINGS_MAX - 1) {
		count_among_others(a);
		return;
	}
	if (!k->counting) {
		k->counting = a->n_warnings;
		append(a, NULL);
	}
	k->more++;
	replace(a, k->counting, xasprintf("%u more like this: %s", k->more, a->warnings[k->first]));
}

static void keep(struct agent *a, struct warning_kind *k, char *text)
{
	if (!is_kept(a, text)) {
		if (k && k->kept >= OF_A_KIND) {
			count_more(a, k);
		} else if (!k || a->n_warnings >= WARNINGS_MAX - 1) {
			count_among_others(a);
		} else {
			k->kept++;
			append(a, text);
			return;
		}
	}
	free(text);
}

static void say(struct agent *a, struct warning_kind *k, const char *text)
{
	unsigned *said = k ? &k->said : &a->unkept_said;

	if (*said < OF_A_KIND)
		complain("%s", text);
	else if (*said == OF_A_KIND)
		complain("more like this are counted in the logs only: %s", text);
	++*said;
}

void agent_warn(struct agent *a, bool urgent, const char *fmt, ...)
{
	struct warning_kind *k;
	va_list args;
	char *text;

	va_start(args, fmt);
	if (vasprintf(&text, fmt, args) < 0)
		text = NULL;
	va_end(args);
	if (!text)
		return;
	k = kind_of(a, text);
	if (urgent)
		say(a, k, text);
	keep(a, k, text);
}

void agent_warnings_free(struct agent *a)
{
	for (size_t i = 0; i < a->n_warnings; i++)
		free(a->warnings[i]);
	for (size_t i = 0; i < a->n_warning_kinds; i++)
		free(a->warning_kinds[i].what);
	a->n_warnings = a->n_warning_kinds = 0;
	a->more_warnings = a->unkept_said = 0;
}
