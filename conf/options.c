/* SPDX-License-Identifier: BSD-3-Clause */
/* The option table, and a struct conf filled from it. */
#include <stdlib.h>
#include <string.h>

#include "conf/internal.h"

const struct conf_option conf_options[CONF_N_OPTIONS] = {
#define ROW(type_, field, path_, fallback_, min_, max_, words_, null_, text_)                      \
	{                                                                                          \
		.path = path_,                                                                     \
		.type = CONF_##type_,                                                              \
		.offset = offsetof(struct conf, field),                                            \
		.fallback = fallback_,                                                             \
		.min = min_,                                                                       \
		.max = max_,                                                                       \
		.words = words_,                                                                   \
		.null_ok = null_,                                                                  \
		.text = text_,                                                                     \
	},
	CONF_OPTIONS(ROW)
#undef ROW
};

struct conf *conf_default(void)
{
	struct conf *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	for (size_t i = 0; i < CONF_N_OPTIONS; i++) {
		const struct conf_option *o = &conf_options[i];
		char *why = NULL;

		if (value_from_text(o, (char *)c + o->offset, o->fallback, &why) < 0) {
			free(why);
			conf_free(c);
			return NULL;
		}
	}
	return c;
}

void conf_free(struct conf *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < CONF_N_OPTIONS; i++)
		value_free(&conf_options[i], (char *)c + conf_options[i].offset);
	free(c->file);
	free(c);
}

enum conf_id conf_find(const char *key)
{
	size_t i;

	for (i = 0; i < CONF_N_OPTIONS; i++)
		if (strcasecmp(conf_options[i].path, key) == 0)
			break;
	return (enum conf_id)i;
}

int conf_set(struct conf *c, const char *key, const char *value, char **error)
{
	enum conf_id id = conf_find(key);
	char buf[QUOTE_BYTES], *why = NULL;

	*error = NULL;
	if (id == CONF_N_OPTIONS) {
		char *nearest = conf_nearest(key);

		if (nearest && strcasecmp(nearest, key) == 0)
			*error = text_of("\"%s\" is a section; `vftr config explain %s' lists "
					 "its keys",
				nearest, nearest);
		else
			*error = text_of("\"%s\" is not a valid vftrace option%s%s%s",
				quoted(buf, key, strlen(key)), nearest ? "; did you mean \"" : "",
				nearest ? nearest : "", nearest ? "\"?" : "");
		free(nearest);
		return -1;
	}
	const struct conf_option *o = &conf_options[id];

	if (value_from_text(o, (char *)c + o->offset, value, &why) < 0) {
		*error = why ? text_of("%s: %s", o->path, why) : NULL;
		free(why);
		return -1;
	}
	c->line[id] = 0;
	c->given[id] = true;
	return 0;
}
