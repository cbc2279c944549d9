/* SPDX-License-Identifier: BSD-3-Clause */
/* output.tags: what the user says of a run, KEY=VALUE. */
#include <stdlib.h>
#include <string.h>

#include "conf/internal.h"

#define KEY_CHARACTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-"

char *conf_next_tag(const char **list)
{
	const char *s = *list;
	char *tag = *s ? malloc(strlen(s) + 1) : NULL, *to = tag;

	if (!tag)
		return NULL;
	for (; *s && *s != ','; s++) {
		if (*s == '\\' && s[1])
			s++;
		*to++ = *s;
	}
	*to = '\0';
	*list = s + (*s == ',');
	return tag;
}

static int tag_check(const char *tag, char **why)
{
	const size_t bytes = strcspn(tag, "=");
	char buf[QUOTE_BYTES];

	if (tag[bytes] != '=')
		return fail(
			why, "\"%s\" is not of the form KEY=VALUE", quoted(buf, tag, strlen(tag)));
	quoted(buf, tag, bytes);
	if (!bytes || strspn(tag, KEY_CHARACTERS) != bytes)
		return fail(why, "the key \"%s\" is not made of letters, digits, _ . and -", buf);
	if (bytes > CONF_TAG_KEY_MAX)
		return fail(why, "the key \"%s\" has %zu bytes; %d are the most", buf, bytes,
			CONF_TAG_KEY_MAX);
	if (strlen(tag + bytes + 1) > CONF_TAG_VALUE_MAX)
		return fail(why, "the value of \"%s\" has %zu bytes; %d are the most", buf,
			strlen(tag + bytes + 1), CONF_TAG_VALUE_MAX);
	return 0;
}

int tags_check(const char *list, char **why)
{
	char *tag;
	int e = 0;

	if (strlen(list) > CONF_TAGS_MAX)
		return fail(
			why, "they have %zu bytes; %d are the most", strlen(list), CONF_TAGS_MAX);
	while (!e && (tag = conf_next_tag(&list))) {
		e = tag_check(tag, why);
		free(tag);
	}
	return e;
}

int conf_add_tag(struct conf *c, const char *tag, char **error)
{
	const size_t before = strlen(c->output_tags);
	char *list, *to;
	int e;

	*error = NULL;
	if (tag_check(tag, error))
		return -1;
	list = malloc(before + 2 * strlen(tag) + 2);
	if (!list)
		return -1;
	to = mempcpy(list, c->output_tags, before);
	if (before)
		*to++ = ',';
	for (; *tag; tag++) {
		if (*tag == ',' || *tag == '\\')
			*to++ = '\\';
		*to++ = *tag;
	}
	*to = '\0';
	e = conf_set(c, "output.tags", list, error);
	free(list);
	return e;
}
