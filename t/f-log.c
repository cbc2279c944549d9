/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fuzz target for all that prints a profile, for clang -fsanitize=fuzzer: a random
 * profile, with the fuzzer's bytes as names and as the choice of options. The JSON
 * must be JSON, and no cell may break the frame of its table.
 */
#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "conf/conf.h"
#include "nodeagent/output.h"
#include "nodeagent/table.h"
#include "t/random-profile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static char dir[64];

/* Takes up to n bytes. */
static uint64_t take(const uint8_t **data, size_t *bytes, size_t n)
{
	uint64_t value = 0;

	for (; n && *bytes; n--, (*bytes)--)
		value = value << 8 | *(*data)++;
	return value;
}

static void rename_all(struct profile *p, const uint8_t *data, size_t bytes)
{
	for (size_t i = 0; bytes && i < p->n_names; i++) {
		size_t n = (size_t)take(&data, &bytes, 1);

		if (p->stacks[0].parent == PROFILE_NONE && !strcmp(p->names[i], "init"))
			continue;
		if (n > bytes)
			n = bytes;
		free(p->names[i]);
		p->names[i] = strndup((const char *)data, n);
		data += n;
		bytes -= n;
	}
}

static void choose(struct conf *c, uint64_t bits)
{
	for (size_t i = 0; i < CONF_N_OPTIONS; i++) {
		const struct conf_option *o = &conf_options[i];

		if (o->type == CONF_BOOL) {
			*(bool *)((char *)c + o->offset) = bits & 1;
			bits = bits >> 1 | bits << 63;
		}
	}
	c->name_grouped_profile_table_max_stack_ids = (long long)(bits % 5);
}

static char *slurp(const char *name)
{
	char *path = xasprintf("%s/%s", dir, name), *text;
	FILE *f = fopen(path, "r");
	struct stat st;

	free(path);
	if (!f)
		return NULL;
	if (fstat(fileno(f), &st))
		abort();
	text = xcalloc((size_t)st.st_size + 1, 1);
	if (fread(text, 1, (size_t)st.st_size, f) != (size_t)st.st_size)
		abort();
	fclose(f);
	return text;
}

static void check_json(void)
{
	char *text = slurp("x_all.json");
	cJSON *json = cJSON_Parse(text);

	if (!json)
		abort();
	cJSON_Delete(json);
	free(text);
}

/* Lines of a table, which begin with '+' or '|', are all as wide as the first. */
static void check_frames(const char *name)
{
	char *text = slurp(name), *rest = text, *line;
	size_t width = 0;

	while ((line = strsep(&rest, "\n"))) {
		size_t columns = text_columns(line);

		if (*line != '+' && *line != '|')
			width = 0;
		else if (!width)
			width = columns;
		else if (width != columns)
			abort();
	}
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct dice dice = {take(&data, &bytes, 4)};
	struct conf *c = conf_default();
	struct profile *p;
	char *error;

	if (!dir[0]) {
		strcpy(dir, "/tmp/f-log.XXXXXX");
		if (!mkdtemp(dir))
			abort();
	}
	choose(c, take(&data, &bytes, 8));
	p = random_profile(&dice, 0, throw_dice(&dice, 40), UINT64_MAX);
	rename_all(p, data, bytes);
	if (output_summary(p, c, dir, "x", &error) ||
		output_node(p, c, dir, "x", "h", NULL, NULL, 0, &error))
		abort();
	check_json();
	check_frames("x_all.log");
	check_frames("x_node_h.log");
	if (p->n_processes) {
		if (output_rank(p, &p->processes[0], 1, c, dir, "x", NULL, 0, &error))
			abort();
	}
	profile_free(p);
	conf_free(c);
	return 0;
}
