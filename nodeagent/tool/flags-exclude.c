/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * gcc leaves out each function whose qualified name, without parameters, contains a name of
 * its list. So a name is not listed that is part of the name of a function that is not short:
 * its time would be gone, too.
 */
#include "nodeagent/tool/flags-exclude.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nodeagent/base/util.h"
#include "nodeagent/report/short.h"
#include "nodeagent/tool/cmd.h"
#include "nodeagent/tool/show/run.h"

#define BY_HAND	  "__attribute__((no_instrument_function))"
#define SAID_MOST 10 /* names of functions that cannot be left out */

struct exclusions {
	const struct report *r;
	struct short_functions s;
	bool *is_short; /* by name */
	char **words;	/* for the list */
	size_t n_words;
	uint32_t *left; /* names that it cannot have */
	size_t n_left;
	uint64_t calls; /* of all that it has */
};

/* Does the word occur in the name of another function than the short ones? */
static bool is_part_of_another(const struct exclusions *e, const char *word)
{
	const struct report *r = e->r;

	for (uint32_t i = 0; i < r->p->n_names; i++) {
		char *full;
		bool is_part;

		if (e->is_short[r->group[i]] || strchr(r->p->names[i], '@') ||
			!strncmp(r->p->names[i], "MPI_", 4))
			continue;
		full = report_full_name(r, r->p->names[i]);
		is_part = strstr(r->shown[i], word) || (full && strstr(full, word));
		free(full);
		if (is_part)
			return true;
	}
	return false;
}

/* One of the list covers all names that contain it. */
static bool is_covered(const struct exclusions *e, const char *word)
{
	return ANY(i, e->n_words, strstr(word, e->words[i]));
}

static void find_words(struct exclusions *e)
{
	e->is_short = xcalloc(e->r->n_groups + 1, sizeof(*e->is_short));
	e->words = xcalloc(e->s.n + 1, sizeof(*e->words));
	e->left = xcalloc(e->s.n + 1, sizeof(*e->left));
	for (size_t i = 0; i < e->s.n; i++)
		e->is_short[e->r->group[e->s.names[i]]] = true;
	for (size_t i = 0; i < e->s.n; i++) {
		char *word = short_function_word(e->r, e->s.names[i]);

		if (!word || is_part_of_another(e, word)) {
			e->left[e->n_left++] = e->s.names[i];
		} else {
			e->calls += e->s.calls[i];
			if (!is_covered(e, word)) {
				e->words[e->n_words++] = word;
				word = NULL;
			}
		}
		free(word);
	}
}

static void print_list(const struct exclusions *e, enum exclusion how)
{
	static const char option[] = "-finstrument-functions-exclude-function-list=";

	for (size_t i = 0; i < e->n_words; i++)
		if (how == EXCLUDE_BY_NVCC)
			printf("%s-Xcompiler %s%s", i ? " " : "", option, e->words[i]);
		else
			printf("%s%s", i ? "," : option, e->words[i]);
	if (e->n_words)
		putchar('\n');
}

/* names: indices into names[], so many of which are worth a word. */
static void say_by_hand(const struct report *r, const uint32_t *names, size_t n, const char *why)
{
	char *text;
	size_t bytes;
	FILE *f;

	if (!n)
		return;
	f = memory_begin(&text, &bytes);
	for (size_t i = 0; i < n && i < SAID_MOST; i++)
		fprintf(f, "%s%s", i ? ", " : "", r->cell[names[i]]);
	if (n > SAID_MOST)
		fprintf(f, " and %zu more", n - SAID_MOST);
	memory_end(f);
	complain("flags: %s " BY_HAND " does: %s", why, text);
	free(text);
}

static void print_for(struct exclusions *e, enum exclusion how)
{
	if (!e->s.n) {
		complain("flags: this run has no short functions that cost much");
		return;
	}
	if (how == EXCLUDE_BY_LIST || how == EXCLUDE_BY_NVCC) {
		find_words(e);
		print_list(e, how);
		say_by_hand(e->r, e->left, e->n_left, "no list leaves these out without others;");
		if (e->n_words)
			complain("flags: these functions made %.0f %% of the calls",
				100.0 * (double)e->calls / (double)e->r->p->calls);
		return;
	}
	if (how == EXCLUDE_INLINED)
		puts("-finstrument-functions-after-inlining");
	say_by_hand(e->r, e->s.names, e->s.n,
		how == EXCLUDE_INLINED ? "what is not inlined it does not leave out;"
				       : "this compiler has no list of functions to leave out;");
}

int flags_exclude(const char *name, enum exclusion how)
{
	char *arguments[] = {xstrdup(name)};
	struct run run;
	int status = run_open(&run, arguments, 1, NULL);
	struct exclusions e = {.r = &run.r};

	free(arguments[0]);
	if (status == 2)
		return status;
	if (run.p->calls) {
		e.s = short_functions(&run.r);
		short_functions_keep_costly(&run.r, &e.s);
	}
	print_for(&e, how);
	for (size_t i = 0; i < e.n_words; i++)
		free(e.words[i]);
	free(e.words);
	free(e.left);
	free(e.is_short);
	if (run.p->calls)
		short_functions_free(&e.s);
	run_close(&run);
	return status;
}
