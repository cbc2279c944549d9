/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The configuration as JSON, in the shape that Vftrace's users know from the
 * end of their logs: 3 blanks of indentation, numbers as %f.
 */
#include <stdlib.h>
#include <string.h>

#include "conf/internal.h"

#define INDENT 3

static int dots(const char *s, size_t bytes)
{
	int n = 0;

	for (size_t i = 0; i < bytes; i++)
		n += s[i] == '.';
	return n;
}

/* Bytes of the sections that a and b have in common, last dot included. */
static size_t common(const char *a, const char *b)
{
	size_t n = 0;

	for (size_t i = 0; a[i] && a[i] == b[i]; i++)
		if (a[i] == '.')
			n = i + 1;
	return n;
}

static void close_sections(int from, int to, FILE *f)
{
	while (from-- > to)
		fprintf(f, "\n%*s}", INDENT * (from + 1), "");
}

static void print_value(const struct conf *c, size_t id, int indent, FILE *f)
{
	const struct conf_option *o = &conf_options[id];

	value_print(o, (const char *)c + o->offset, indent, f);
}

void conf_print(const struct conf *c, FILE *f)
{
	const char *before = "";
	bool first = true;
	int depth = 0;

	fputs("{", f);
	for (size_t i = 0; i < CONF_N_OPTIONS; i++) {
		const char *path = conf_options[i].path;
		size_t at = common(before, path), n;
		int shared = dots(path, at);

		close_sections(depth, shared, f);
		fputs(first ? "\n" : ",\n", f);
		for (depth = shared; n = strcspn(path + at, "."), path[at + n]; at += n + 1)
			fprintf(f, "%*s\"%.*s\": {\n", INDENT * ++depth, "", (int)n, path + at);
		fprintf(f, "%*s\"%s\": ", INDENT * (depth + 1), "", path + at);
		print_value(c, i, INDENT * (depth + 1), f);
		first = false;
		before = path;
	}
	close_sections(depth, 0, f);
	fputs("\n}\n", f);
}

char *conf_value_text(const struct conf *c, enum conf_id id)
{
	char *s = NULL;
	size_t bytes;
	FILE *f = open_memstream(&s, &bytes);

	if (!f)
		return NULL;
	print_value(c, id, 0, f);
	fclose(f);
	return s;
}

bool conf_is_changed(const struct conf *c)
{
	struct conf *usual = conf_default();
	bool changed = false;

	for (size_t i = 0; usual && !changed && i < CONF_N_OPTIONS; i++) {
		char *is, *was;

		if (c->line[i])
			continue;
		is = conf_value_text(c, (enum conf_id)i);
		was = conf_value_text(usual, (enum conf_id)i);
		changed = is && was && strcmp(is, was);
		free(is);
		free(was);
	}
	conf_free(usual);
	return changed;
}

/* The defaults of the layout that c has. NULL: no memory. */
static struct conf *usual_of(const struct conf *c)
{
	struct conf *usual = conf_default();
	char *error = NULL;

	if (usual && !conf_set(usual, "output.layout", c->output_layout, &error) &&
		!conf_settle_layout(usual))
		return usual;
	free(error);
	conf_free(usual);
	return NULL;
}

int conf_changes(const struct conf *c, void (*tell)(void *ctx, const char *key, const char *value),
	void *ctx)
{
	struct conf *usual = usual_of(c);
	bool failed = !usual;

	for (size_t i = 0; !failed && i < CONF_N_OPTIONS; i++) {
		char *is = conf_value_text(c, (enum conf_id)i);
		char *was = conf_value_text(usual, (enum conf_id)i);

		failed = !is || !was;
		if (!failed && strcmp(is, was)) {
			cJSON_Minify(is); /* lists have lines of their own */
			tell(ctx, conf_options[i].path, is);
		}
		free(is);
		free(was);
	}
	conf_free(usual);
	return failed ? -1 : 0;
}
