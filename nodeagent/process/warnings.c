/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sentences for the logs, each kept once. Of those that differ by numbers only, as of
 * one process after the other, the first few are kept and the rest is counted; what no
 * longer fits into the list is counted in its last line. Nothing is left out unsaid.
 */
#include "nodeagent/process/host.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "nodeagent/base/util.h"

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
static struct warning_kind *kind_of(struct host *host, const char *text)
{
	struct warning_kind *k = host->warning_kinds;

	for (size_t i = 0; i < host->n_warning_kinds; i++, k++)
		if (is_of_kind(k, text))
			return k;
	if (host->n_warnings >= WARNINGS_MAX - 1)
		return NULL;
	host->warning_kinds = grow(host->warning_kinds, host->n_warning_kinds,
		&host->cap_warning_kinds, sizeof(*host->warning_kinds));
	k = &host->warning_kinds[host->n_warning_kinds++];
	*k = (struct warning_kind){.what = without_numbers(text), .first = host->n_warnings};
	return k;
}

static bool is_kept(const struct host *host, const char *text)
{
	return ANY(i, host->n_warnings, !strcmp(host->warnings[i], text));
}

static void append_warning(struct host *host, char *text)
{
	*LIST_ADD(host, warnings) = text;
}

static void replace(struct host *host, size_t i, char *text)
{
	free(host->warnings[i]);
	host->warnings[i] = text;
}

/* The last line, once the others are full. */
static void count_among_others(struct host *host)
{
	char *text = xasprintf("%u more %s not shown", host->more_warnings + 1,
		one_or_many(host->more_warnings + 1, "warning is", "warnings are"));

	if (host->more_warnings++)
		replace(host, WARNINGS_MAX - 1, text);
	else
		append_warning(host, text);
}

static void count_more(struct host *host, struct warning_kind *k)
{
	if (!k->counting && host->n_warnings >= WARNINGS_MAX - 1) {
		count_among_others(host);
		return;
	}
	if (!k->counting) {
		k->counting = host->n_warnings;
		append_warning(host, NULL);
	}
	k->more++;
	replace(host, k->counting,
		xasprintf("%u more like this: %s", k->more, host->warnings[k->first]));
}

static void keep_warning(struct host *host, struct warning_kind *k, char *text)
{
	if (!is_kept(host, text)) {
		if (k && k->kept >= OF_A_KIND) {
			count_more(host, k);
		} else if (!k || host->n_warnings >= WARNINGS_MAX - 1) {
			count_among_others(host);
		} else {
			k->kept++;
			append_warning(host, text);
			return;
		}
	}
	free(text);
}

static void say_warning(struct host *host, struct warning_kind *k, const char *text)
{
	unsigned *said = k ? &k->said : &host->unkept_said;

	if (*said < OF_A_KIND)
		complain("%s", text);
	else if (*said == OF_A_KIND)
		complain("more like this are counted in the logs only: %s", text);
	++*said;
}

void host_warn(struct host *host, bool urgent, const char *fmt, ...)
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
	k = kind_of(host, text);
	if (urgent)
		say_warning(host, k, text);
	keep_warning(host, k, text);
}

void host_warnings_free(struct host *host)
{
	for (size_t i = 0; i < host->n_warnings; i++)
		free(host->warnings[i]);
	for (size_t i = 0; i < host->n_warning_kinds; i++)
		free(host->warning_kinds[i].what);
	free(host->warnings);
	free(host->warning_kinds);
	host->warnings = NULL;
	host->warning_kinds = NULL;
	host->n_warnings = host->n_warning_kinds = 0;
	host->cap_warnings = host->cap_warning_kinds = 0;
	host->more_warnings = host->unkept_said = 0;
}

void host_clock_text(char text[HOST_CLOCK_BYTES], uint64_t stamp)
{
	const time_t s = (time_t)(stamp / 1000000000);
	struct tm tm;

	strftime(text, HOST_CLOCK_BYTES, "%H:%M:%S", localtime_r(&s, &tm));
}
