/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Profiles for `vftr export`: whatever is named, the format is given JSON as in
 * vftr-profile(5). Node profiles are merged first, as `vftr collate` does.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "conf/conf.h"
#include "nodeagent/base/result-files.h"
#include "nodeagent/base/util.h"
#include "nodeagent/collate/collate.h"
#include "nodeagent/export/export.h"
#include "nodeagent/profile/profile.h"
#include "nodeagent/profile/vfp.h"
#include "nodeagent/report/output.h"
#include "nodeagent/tool/cmd.h"
#include "nodeagent/tool/show/run.h"
#include "nodeagent/trace/format.h"

struct source {
	const char *wanted; /* --base, or NULL */
	FILE *json;
	char *path, *directory, *base;
	bool damaged; /* without what could not be read */
};

/* What the output is called. In a folder of one run, names of files have no BASE. */
static char *output_base(enum result_layout layout, const char *base)
{
	return layout == LAYOUT_RUN ? xasprintf("%sprofile", base) : xstrdup(base);
}

static char *base_of_summary(const char *path)
{
	const char *name = basename(path);
	const size_t n = strlen(name), end = n > 5 && !strcmp(name + n - 5, ".json") ? 5 : 0;
	struct result_parsed r;
	char *base;

	if (result_parse(name, &r) && r.kind == RESULT_PROFILE)
		base = output_base(r.layout, r.base);
	else
		base = xasprintf("%.*s", (int)(n - end), name);
	result_parsed_free(&r);
	return base;
}

static bool open_summary(struct source *s, const char *path)
{
	if (file_begins_with(path, VFD_MAGIC)) {
		complain("%s: a sampling file: name the profile, BASE_all.json", path);
		return false;
	}
	s->json = fopen(path, "re");
	if (!s->json) {
		complain("%s: %s", path, strerror(errno));
		return false;
	}
	s->path = xstrdup(path);
	s->directory = file_directory(path);
	s->base = base_of_summary(path);
	return true;
}

/* The JSON that `vftr collate' would write, in a file without a name. */
static bool merge_profiles(struct source *s, const struct collate_files *set)
{
	struct conf *c = cmd_load_conf(NULL, set->layout == LAYOUT_RUN ? "run" : "vftrace");
	struct profile *p = NULL;
	size_t bad = 0;

	if (c)
		p = collate_read(set->paths, set->n, &bad, NULL, NULL);
	if (p)
		run_tell_mixture(p);
	s->json = p ? tmpfile() : NULL;
	if (p && s->json)
		output_json(p, c, s->json);
	if (p && (!s->json || fflush(s->json) || ferror(s->json)))
		complain("%s: a temporary file can't be written: %s", set->paths[0],
			strerror(errno));
	else if (p)
		s->path = xstrdup(set->paths[0]);
	s->damaged = bad > 0;
	s->directory = file_directory(set->paths[0]);
	s->base = output_base(set->layout, set->base);
	profile_free(p);
	conf_free(c);
	if (s->path)
		rewind(s->json);
	return s->path;
}

/* ---- folders ---------------------------------------------------------------------------- */

/* The only summary in it, or that of the wanted run; *n: how many there are. */
static char *find_summary(const struct source *s, const char *dir, size_t *n)
{
	char *path;

	if (!s->wanted)
		return result_find(dir, RESULT_PROFILE, n);
	path = result_path(
		LAYOUT_VFTRACE, dir, &(struct result){.base = s->wanted, .kind = RESULT_PROFILE});
	*n = !access(path, F_OK);
	if (*n)
		return path;
	free(path);
	return NULL;
}

static bool merge_folder(struct source *s, const char *dir)
{
	struct collate_files *sets;
	const struct collate_files *only = NULL;
	size_t n, matching = 0;
	bool good = false;
	char *error;

	if (collate_find(dir, &sets, &n, &error)) {
		complain("%s", error);
		free(error);
		return false;
	}
	for (size_t i = 0; i < n; i++) {
		if (s->wanted ? strcmp(sets[i].base, s->wanted) : result_is_round(sets[i].base))
			continue;
		only = &sets[i];
		matching++;
	}
	if (matching == 1)
		good = merge_profiles(s, only);
	else if (matching)
		complain("%s: node profiles of %zu runs: choose one with --base", dir, matching);
	else
		complain("%s: neither profile.json, BASE_all.json nor node profiles%s%s in it", dir,
			s->wanted ? " of " : "", s->wanted ? s->wanted : "");
	collate_files_free(sets, n);
	return good;
}

static bool open_folder(struct source *s, const char *dir)
{
	size_t n;
	char *found = find_summary(s, dir, &n);
	bool good = false;

	if (found)
		good = open_summary(s, found);
	else if (n)
		complain("%s: %zu profiles BASE_all.json: choose one with --base", dir, n);
	else
		good = merge_folder(s, dir);
	free(found);
	return good;
}

/* ---- all -------------------------------------------------------------------------------- */

/* Node profiles by their names. */
static bool merge_files(struct source *s, char **args, int n_args)
{
	struct collate_files *sets = NULL;
	bool good = false;
	size_t n = 0;

	for (int i = 0; i < n_args; i++)
		collate_files_add(&sets, &n, NULL, xstrdup(args[i]));
	if (n == 1)
		good = merge_profiles(s, &sets[0]);
	else
		complain("%s and %s are node profiles of two runs: name those of one",
			sets[0].paths[0], sets[1].paths[0]);
	collate_files_free(sets, n);
	return good;
}

static bool open_source(struct source *s, char **args, int n_args)
{
	struct stat st;

	if (n_args == 1 && !stat(args[0], &st) && S_ISDIR(st.st_mode))
		return open_folder(s, args[0]);
	if (n_args == 1 && !file_begins_with(args[0], VFP_MAGIC))
		return open_summary(s, args[0]);
	for (int i = 0; i < n_args; i++) {
		if (!file_begins_with(args[i], VFP_MAGIC)) {
			complain("%s: several files are node profiles (BASE_HOST.vfp) of one run; "
				 "this is none",
				args[i]);
			return false;
		}
	}
	return merge_files(s, args, n_args);
}

int cmd_export_database(
	const struct export_format *format, const struct export_options *o, char **args, int n_args)
{
	struct source s = {.wanted = o->base};
	char *output = NULL;
	int status = 2;

	if (open_source(&s, args, n_args)) {
		output = o->output ? xstrdup(o->output)
				   : xasprintf("%s/%s%s", s.directory, s.base, format->suffix);
		status = export_convert(format, s.json, s.path, output);
		if (!status && !o->quiet)
			complain("wrote %s: ask it with sqlite3 or Python", output);
	}
	if (!status && s.damaged)
		status = 1;
	if (s.json)
		fclose(s.json);
	free(output);
	free(s.path);
	free(s.directory);
	free(s.base);
	return status;
}
