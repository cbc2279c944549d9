/* SPDX-License-Identifier: BSD-3-Clause */
/* A profile, the files printed from it, and looking into them: for u-output*.c. */
#ifndef VFTR_T_OUTPUT_FILES_H
#define VFTR_T_OUTPUT_FILES_H

#include <check.h>
#include <cjson/cJSON.h>
#include <dirent.h>
#include <unistd.h>

#include "conf/conf.h"
#include "nodeagent/report/output.h"
#include "t/unit/profile/random-profile.h"

#define MS 1000000ull

static char dir[64];
static struct conf *conf;
static struct profile *p;

static inline void setup_files(void)
{
	strcpy(dir, "/tmp/u-output.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	conf = conf_default();
	p = profile_new();
	profile_add_executable(p, "/opt/app");
}

static inline void teardown(void)
{
	DIR *d = opendir(dir);
	struct dirent *e;

	while (d && (e = readdir(d))) {
		char *path = xasprintf("%s/%s", dir, e->d_name);

		ck_assert_ptr_null(strstr(e->d_name, ".tmp."));
		if (e->d_name[0] != '.')
			remove(path);
		free(path);
	}
	if (d)
		closedir(d);
	rmdir(dir);
	profile_free(p);
	conf_free(conf);
}

static inline char *slurp(const char *name)
{
	char *path = xasprintf("%s/%s", dir, name), *text;
	FILE *f = fopen(path, "r");
	long bytes;

	ck_assert_msg(f != NULL, "no file %s", path);
	ck_assert_int_eq(fseek(f, 0, SEEK_END), 0);
	bytes = ftell(f);
	ck_assert_msg(bytes > 0, "%s is empty", path);
	rewind(f);
	text = xcalloc(bytes + 1, 1);
	ck_assert_uint_eq(fread(text, 1, bytes, f), bytes);
	fclose(f);
	free(path);
	return text;
}

static inline void layout_run(void)
{
	free(conf->output_layout);
	conf->output_layout = xstrdup("run");
	add_stack(p, PROFILE_NONE, "init", UINT64_MAX);
	p->calls = 1;
}

static inline char *summary(void)
{
	char *error;
	bool run = !strcmp(conf->output_layout, "run");
	int rc = output_summary(p, conf, dir, run ? "" : "app", &error);

	ck_assert_msg(!rc && !error, "%s", error);
	return slurp(run ? "summary.log" : "app_all.log");
}

static inline cJSON *parsed(void)
{
	char *text = slurp(strcmp(conf->output_layout, "run") ? "app_all.json" : "profile.json");
	cJSON *json = cJSON_Parse(text);

	ck_assert_msg(json != NULL, "not JSON: %.200s", text);
	free(text);
	return json;
}

static inline double number(const cJSON *object, const char *key)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);

	ck_assert_msg(cJSON_IsNumber(item), "no number \"%s\"", key);
	return item->valuedouble;
}

static inline const char *string(const cJSON *object, const char *key)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);

	ck_assert_msg(cJSON_IsString(item), "no string \"%s\"", key);
	return item->valuestring;
}

/* `parts` one after the other in text */
static inline void in_order(const char *text, const char *const *parts)
{
	const char *at = text;

	for (; *parts; parts++) {
		const char *found = strstr(at, *parts);

		ck_assert_msg(found != NULL, "\"%s\" is missing or in another place of\n%.2500s",
			*parts, text);
		at = found + strlen(*parts);
	}
}

static inline void has(const char *text, const char *part)
{
	in_order(text, (const char *const[]){part, NULL});
}

static inline void has_not(const char *text, const char *part)
{
	ck_assert_msg(!strstr(text, part), "\"%s\" should not be in\n%.2500s", part, text);
}

/* The n-th cell (from 0) of a row, without blanks. */
static inline char *cell(const char *row, unsigned n)
{
	for (n++; n; n--)
		row = strchr(row, '|') + 1;
	row += strspn(row, " ");

	size_t bytes = strcspn(row, "|");

	while (bytes && row[bytes - 1] == ' ')
		bytes--;
	return strndup(row, bytes);
}

static inline void cell_is(const char *row, unsigned n, const char *want)
{
	char *is = cell(row, n);

	ck_assert_str_eq(is, want);
	free(is);
}

/* The i-th row below the title of a table. */
static inline const char *row(const char *text, const char *title, unsigned i)
{
	char *line = xasprintf("\n%s\n+", title);
	const char *at = strstr(text, line);

	ck_assert_msg(at != NULL, "no table \"%s\"", title);
	at = strchr(at + strlen(line), '\n') + 1; /* column titles */
	at = strchr(strchr(at, '\n') + 1, '\n') + 1;
	while (i--)
		at = strchr(at, '\n') + 1;
	free(line);
	return at;
}

#endif
