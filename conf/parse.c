/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A configuration file into a struct conf. The text is scanned first (strict
 * syntax, line numbers), then read by cJSON, then walked level by level with
 * the option table in hand.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "conf/internal.h"

#define WARNINGS_MAX 100

struct reader {
	struct conf *c;
	const char *file;
	struct lines lines;
	const struct conf_reading *how;
	int warnings;
	char *unknown; /* what is to be said of the last key that is not known; not lenient */
	char **error;
};

/* Gives the caller a line, and frees it. */
static void warn(struct reader *r, char *line)
{
	if (line && r->how->warn)
		r->how->warn(line, r->how->ctx);
	free(line);
}

/* What was kept for the last error is not the last. */
static void tell_unknown(struct reader *r)
{
	warn(r, r->unknown);
	r->unknown = NULL;
}

/* FILE:LINE: KEY: cause; consumes cause. */
static int wrong(struct reader *r, int line, const char *key, char *cause)
{
	const char *text = cause ? cause : "there is no memory";

	tell_unknown(r);
	*r->error = text_of("%s:%d: %s%s%s", r->file, line, key, *key ? ": " : "", text);
	free(cause);
	return -1;
}

/* False, with a last word, when there were too many. */
static bool may_warn(struct reader *r)
{
	if (++r->warnings == WARNINGS_MAX + 1)
		warn(r, text_of("%s: Warning: further warnings are not shown.", r->file));
	return r->warnings <= WARNINGS_MAX;
}

static void warn_unknown(struct reader *r, int line, const char *key, const char *meant, int bytes)
{
	warn(r, text_of("%s:%d: Warning: \"%s\" is not a valid vftrace option.", r->file, line,
			key));
	if (bytes)
		warn(r, text_of("         Did you mean \"%.*s\"?", bytes, meant));
}

/* Keeps it as the error, unless another one follows. */
static void refuse_unknown(
	struct reader *r, int line, const char *key, const char *meant, int bytes)
{
	tell_unknown(r);
	r->unknown = text_of("%s:%d: \"%s\" is not a valid vftrace option%s%.*s%s", r->file, line,
		key, bytes ? "; did you mean \"" : "", bytes, meant, bytes ? "\"?" : "");
}

static void judge_unknown(struct reader *r, const struct names *names, const cJSON *item)
{
	size_t i = names_nearest(names, item->string);
	int line = line_of_key(&r->lines, item);
	char key[QUOTE_BYTES];
	const char *meant = i < names->n ? names->at[i] : "";
	int bytes = i < names->n ? (int)names->bytes[i] : 0;

	quoted(key, item->string, strlen(item->string));
	if (!may_warn(r))
		return;
	if (r->how->lenient)
		warn_unknown(r, line, key, meant, bytes);
	else
		refuse_unknown(r, line, key, meant, bytes);
}

static void warn_again(struct reader *r, const cJSON *item, const cJSON *last)
{
	if (may_warn(r))
		warn(r, text_of("%s:%d: Warning: \"%s\" is given again in line %d; the last one "
				"counts.",
				r->file, line_of_key(&r->lines, item), item->string,
				line_of_key(&r->lines, last)));
}

/* Tells of unknown and repeated keys; last[i] becomes the item that counts for names[i]. */
static void look_over(
	struct reader *r, const struct names *names, const cJSON *object, const cJSON *last[])
{
	const cJSON *item;

	for (size_t i = 0; i < names->n; i++)
		last[i] = NULL;
	cJSON_ArrayForEach(item, object)
	{
		int i = names_find(names, item->string, strlen(item->string));

		if (i >= 0)
			last[i] = item;
	}
	cJSON_ArrayForEach(item, object)
	{
		int i = names_find(names, item->string, strlen(item->string));

		if (i < 0)
			judge_unknown(r, names, item);
		else if (last[i] != item)
			warn_again(r, item, last[i]);
	}
}

static void look_over_list(struct reader *r, enum conf_type type, const cJSON *list)
{
	struct names names;
	const cJSON *last[sizeof(names.at) / sizeof(names.at[0])], *item;

	names_of_list(&names, type);
	cJSON_ArrayForEach(item, list) if (cJSON_IsObject(item)) look_over(r, &names, item, last);
}

static int read_value(struct reader *r, enum conf_id id, const cJSON *item)
{
	const struct conf_option *o = &conf_options[id];
	const cJSON *bad = item;
	char *why = NULL;

	if (o->type == CONF_COUNTERS || o->type == CONF_OBSERVABLES)
		look_over_list(r, o->type, item);
	if (value_from_json(o, (char *)r->c + o->offset, item, &bad, &why) < 0)
		return wrong(r, line_of_value(&r->lines, bad), o->path, why);
	r->c->line[id] = line_of_value(&r->lines, item);
	r->c->given[id] = true;
	return 0;
}

static int read_section(struct reader *r, const char *prefix, const cJSON *object)
{
	struct names names;
	const cJSON *last[sizeof(names.at) / sizeof(names.at[0])], *item;
	char path[128], buf[QUOTE_BYTES];

	names_of_section(&names, prefix);
	look_over(r, &names, object, last);
	cJSON_ArrayForEach(item, object)
	{
		int i = names_find(&names, item->string, strlen(item->string));
		int n;
		enum conf_id id;

		if (i < 0 || last[i] != item)
			continue;
		n = snprintf(
			path, sizeof(path), "%s%.*s", prefix, (int)names.bytes[i], names.at[i]);
		id = conf_find(path);
		if (id < CONF_N_OPTIONS) {
			if (read_value(r, id, item) < 0)
				return -1;
			continue;
		}
		if (!cJSON_IsObject(item))
			return wrong(r, line_of_value(&r->lines, item), path,
				text_of("%s is not an object {...} of keys",
					json_shown(buf, item)));
		snprintf(path + n, sizeof(path) - (size_t)n, ".");
		if (read_section(r, path, item) < 0)
			return -1;
	}
	return 0;
}

static int read_text(struct reader *r, const char *text, size_t bytes)
{
	char *why = NULL, buf[QUOTE_BYTES];
	cJSON *root;
	int line, e;

	if (bytes >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) {
		text += 3;
		bytes -= 3;
	}
	if (lines_scan(&r->lines, text, bytes, &line, &why) < 0)
		return wrong(r, line, "", why);
	root = cJSON_ParseWithLength(text, bytes);
	if (!root || !lines_bind(&r->lines, root))
		e = wrong(r, 1, "", text_of("the text can't be read as JSON"));
	else if (!cJSON_IsObject(root))
		e = wrong(r, line_of_value(&r->lines, root), "",
			text_of("%s is not a configuration, which is an object {...}",
				json_shown(buf, root)));
	else
		e = read_section(r, "", root);
	cJSON_Delete(root);
	if (!e && r->unknown) {
		*r->error = r->unknown;
		r->unknown = NULL;
		return -1;
	}
	return e ? e : check_whole(r->c, r->error);
}

int conf_load_text(struct conf **out, const char *file, const char *text, size_t bytes,
	char **error, const struct conf_reading *how)
{
	struct reader r = {.file = file, .how = how, .error = error};
	char *copy = NULL;
	int e = -1;

	*out = NULL;
	*error = NULL;
	if (bytes > CONF_FILE_MAX) {
		*error = text_of("%s: the file is larger than %u MiB", file, CONF_FILE_MAX >> 20);
		return -1;
	}
	r.c = conf_default();
	copy = malloc(bytes + 1);
	if (r.c && copy && (r.c->file = strdup(file))) {
		memcpy(copy, text, bytes);
		copy[bytes] = '\0';
		e = read_text(&r, copy, bytes);
	}
	free(copy);
	lines_free(&r.lines);
	if (e < 0)
		conf_free(r.c);
	else
		*out = r.c;
	return e;
}

char *file_text(const char *file, size_t *bytes)
{
	FILE *f = fopen(file, "re");
	char *text =
		f ? malloc(CONF_FILE_MAX + 1) : NULL; /* of which only what is read takes memory */
	int e = errno;

	if (!f)
		return NULL;
	*bytes = text ? fread(text, 1, CONF_FILE_MAX + 1, f) : 0;
	if (text && ferror(f)) {
		e = errno;
		free(text);
		text = NULL;
	}
	fclose(f);
	errno = e;
	return text;
}

int conf_load(struct conf **out, const char *file, char **error, const struct conf_reading *how)
{
	size_t bytes = 0;
	char *text = file_text(file, &bytes);
	int e;

	*out = NULL;
	if (!text) {
		*error = text_of("%s: the file can't be read: %s", file, strerror(errno));
		return -1;
	}
	e = conf_load_text(out, file, text, bytes, error, how);
	free(text);
	return e;
}
