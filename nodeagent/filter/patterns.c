/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/filter/patterns.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "conf/conf.h"
#include "nodeagent/base/util.h"
#include "nodeagent/symbols/demangle.h"

#define FORMS 3 /* in which a name is shown */

struct pattern {
	char *text;
	const char *file; /* what it has behind "file:", or NULL */
	bool met;
};

struct patterns {
	struct pattern *all;
	size_t n_all, cap_all;
	struct name_style style;
};

struct patterns *patterns_new(const char *list, const struct conf *c)
{
	struct patterns *p;
	char *text;

	if (!*list)
		return NULL;
	p = xcalloc(1, sizeof(*p));
	p->style = name_style_of(c);
	while ((text = conf_next_pattern(&list)))
		*LIST_ADD(p, all) = (struct pattern){text, conf_pattern_file(text), false};
	return p;
}

bool patterns_ask_files(const struct patterns *p)
{
	for (size_t i = 0; p && i < p->n_all; i++)
		if (p->all[i].file)
			return true;
	return false;
}

static bool fits_name(const char *pattern, const char *name)
{
	return !fnmatch(pattern, name, 0);
}

static bool fits_file(const char *pattern, const char *path)
{
	for (; path; path = strchr(path, '/') ? strchr(path, '/') + 1 : NULL)
		if (!fnmatch(pattern, path, 0))
			return true;
	return false;
}

/* name@file.c, of a function whose name several files have */
static char *without_file(const char *name)
{
	const char *at = strrchr(name, '@');

	return at && at > name ? xasprintf("%.*s", (int)(at - name), name) : NULL;
}

bool patterns_match(struct patterns *p, const struct subject *s)
{
	char *shown[FORMS + 1] = {NULL};
	bool matches = false;

	if (!p)
		return false;
	for (unsigned i = 0; i < FORMS; i++) {
		struct name_style style = p->style;

		style.form = i == 0 ? style.form : i == 1 ? NAME_SHORT : NAME_FULL;
		style.keep_cxx = style.keep_cxx && i == 0;
		shown[i] = name_shown(s->name, &style);
	}
	shown[FORMS] = without_file(s->name);
	EACH(struct pattern, q, p->all, p->n_all) {
		bool fits = q->file ? fits_file(q->file, s->file) : fits_name(q->text, s->name);

		for (unsigned k = 0; !q->file && !fits && k <= FORMS; k++)
			fits = shown[k] && fits_name(q->text, shown[k]);
		q->met |= fits;
		matches |= fits;
	}
	for (unsigned i = 0; i <= FORMS; i++)
		free(shown[i]);
	return matches;
}

const char *patterns_in_vain(const struct patterns *p, size_t i)
{
	for (size_t k = 0; p && k < p->n_all; k++)
		if (!p->all[k].met && !i--)
			return p->all[k].text;
	return NULL;
}
