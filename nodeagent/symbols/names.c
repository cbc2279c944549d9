/* SPDX-License-Identifier: BSD-3-Clause */
/* Tells the names of a profile apart. */
#include "nodeagent/symbols/names.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "conf/conf.h"
#include "nodeagent/base/hash.h"
#include "nodeagent/base/map.h"
#include "nodeagent/base/table.h"
#include "nodeagent/base/util.h"

struct names {
	struct name *at; /* by raw name */
	size_t n;
};

/* Texts that are taken, by hash; with each the number to try next. */
struct taken {
	struct map64 next;
	size_t columns; /* a text that is longer is cut; 0: none is */
};

ORDER_BY(by_raw, struct name, ALPHABETIC(raw))

/* ---- cutting ----------------------------------------------------------------------------- */

/* Where the component begins that ends there: at its "::", or at text. */
static const char *component(const char *text, const char *end)
{
	while (end > text && !(end[0] == ':' && end[1] == ':'))
		end--;
	return end;
}

/* The function's own name, with its class if there is room for that. */
static const char *own_name(const char *text, size_t columns)
{
	const char *conversion = strstr(text, "::operator "), *last, *more;

	last = conversion ? conversion : component(text, text + strlen(text));
	if (last == text)
		return text;
	more = component(text, last - 1);
	return text_columns(more) <= columns * 2 / 3 ? more : last;
}

/* "heat::Fi...::Field::sort": at most so many columns. The caller frees. */
static char *fitted(const char *text, size_t columns)
{
	const char *own;
	char *head, *all;
	size_t tail;

	if (!columns || text_columns(text) <= columns)
		return xstrdup(text);
	own = own_name(text, columns);
	tail = text_columns(own);
	if (own == text || tail + 3 > columns) {
		while (*own == ':')
			own++;
		return text_short(own, columns);
	}
	head = text_first(text, columns - 3 - tail);
	all = xasprintf("%s...%s", head, own);
	free(head);
	return all;
}

/* ---- telling apart ----------------------------------------------------------------------- */

static uint64_t hash_of(const char *text)
{
	return stack_hash(text, strlen(text) + 1);
}

/* The text, or with a number, so that it is none of those before. The caller frees. */
static char *told_apart(struct taken *t, const char *text)
{
	char *mine = fitted(text, t->columns), *numbered = NULL;
	uint64_t hash = hash_of(mine);
	uint32_t *next = map64_find(&t->next, hash), number = next ? *next : 0;

	if (!next) {
		map64_add(&t->next, hash, 2);
		return mine;
	}
	do {
		char *suffix = xasprintf(" #%u", number++), *cut;

		cut = fitted(text, t->columns ? t->columns - strlen(suffix) : 0);
		free(numbered);
		numbered = xasprintf("%s%s", cut, suffix);
		free(cut);
		free(suffix);
	} while (map64_find(&t->next, hash_of(numbered)));
	*next = number;
	map64_add(&t->next, hash_of(numbered), 2);
	free(mine);
	return numbered;
}

/* A name for output: printable, and without what is between the names of a path. */
static char *printable_name(const char *raw, const struct name_style *style)
{
	char *shown = name_shown(raw, style), *plain = text_plain(shown), *at = plain;

	while ((at = strstr(at, " < ")))
		at[0] = at[2] = '_';
	free(shown);
	return plain;
}

/* Names that are shown as they are come first. */
static void tell_names_apart(struct names *names)
{
	struct taken shown = {.columns = 0};

	for (int pass = 0; pass < 2; pass++) {
		EACH(struct name, name, names->at, names->n) {
			char *text = name->shown;

			if (pass != (strcmp(text, name->raw) != 0))
				continue;
			name->shown = told_apart(&shown, text);
			free(text);
		}
	}
	map64_free(&shown.next);
}

/* Names that fit come first. */
static void tell_cells_apart(struct names *names)
{
	struct taken cells = {.columns = NAME_COLUMNS};

	for (int pass = 0; pass < 2; pass++)
		for (size_t i = 0; i < names->n; i++)
			if (pass == (text_columns(names->at[i].shown) > NAME_COLUMNS))
				names->at[i].cell = told_apart(&cells, names->at[i].shown);
	map64_free(&cells.next);
}

struct names *names_new(const char *const *raw, size_t n, const struct name_style *style)
{
	struct names *names = xcalloc(1, sizeof(*names));

	names->at = xcalloc(n, sizeof(*names->at));
	for (size_t i = 0; i < n; i++)
		names->at[i].raw = raw[i];
	if (n)
		qsort(names->at, n, sizeof(*names->at), by_raw);
	for (size_t i = 0; i < n; i++)
		if (!names->n || by_raw(&names->at[names->n - 1], &names->at[i]))
			names->at[names->n++] = names->at[i];
	for (size_t i = 0; i < names->n; i++)
		names->at[i].shown = printable_name(names->at[i].raw, style);
	tell_names_apart(names);
	tell_cells_apart(names);
	return names;
}

const struct name *names_lookup(const struct names *names, const char *raw)
{
	const struct name key = {.raw = raw};

	return names->n ? bsearch(&key, names->at, names->n, sizeof(key), by_raw) : NULL;
}

void names_free(struct names *names)
{
	if (!names)
		return;
	for (size_t i = 0; i < names->n; i++) {
		free(names->at[i].shown);
		free(names->at[i].cell);
	}
	free(names->at);
	free(names);
}

const char *name_separator(const struct conf *c)
{
	return strcmp(c->output_layout, "run") ? "<" : " < ";
}
