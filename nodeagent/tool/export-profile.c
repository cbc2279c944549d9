/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/tool/export-profile.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "conf/conf.h"
#include "nodeagent/base/util.h"
#include "nodeagent/export/export.h"
#include "nodeagent/profile/vfp.h"
#include "nodeagent/tool/show/flame.h"

/* ---- which files ---------------------------------------------------------------------- */

static bool only_profiles(const char *folder)
{
	bool profiles = false, samples = false;
	struct dirent *e;
	DIR *d = opendir(folder);

	while (d && (e = readdir(d))) {
		profiles |= text_ends_with(e->d_name, VFP_SUFFIX);
		samples |= text_ends_with(e->d_name, ".vfd");
	}
	if (d)
		closedir(d);
	return profiles && !samples;
}

static bool is_profile(const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return text_ends_with(path, VFP_SUFFIX);
	if (S_ISDIR(st.st_mode))
		return only_profiles(path);
	return S_ISREG(st.st_mode) &&
	       (text_ends_with(path, VFP_SUFFIX) || file_begins_with(path, VFP_MAGIC));
}

bool export_is_profile(char **arguments, size_t n)
{
	return n && ALL(i, n, is_profile(arguments[i]));
}

/* ---- the export ----------------------------------------------------------------------- */

static const struct {
	const char *name;
	void (*write)(const struct flame *flame, FILE *f);
} formats[] = {
	{"folded", flame_folded},
	{"speedscope", flame_speedscope},
};

static int format_of(const struct export_format *format)
{
	for (size_t i = 0; i < ARRAY_SIZE(formats); i++)
		if (!strcmp(formats[i].name, format->name))
			return (int)i;
	complain("export: %s is a time line, which a profile does not have: record one with "
		 "vftr run --trace; folded and speedscope show profiles",
		format->name);
	return -1;
}

static int write_output(const char *path, int format, const struct flame *flame)
{
	struct writing *w;
	FILE *f;
	int error;

	if (!strcmp(path, "-")) {
		formats[format].write(flame, stdout);
		if (!fflush(stdout) && !ferror(stdout))
			return 0;
		complain("the standard output can't be written");
		return 2;
	}
	error = write_begin(&f, &w, path);
	if (!error) {
		formats[format].write(flame, f);
		error = write_end(f, w);
	}
	if (error)
		complain("%s: can't be written: %s", path, strerror(-error));
	return error ? 2 : 0;
}

/* The listed ranks of all that are known; false: they are not. */
static bool choose_ranks(struct flame_time *times, size_t *n, const char *list)
{
	size_t kept = 0;

	if (!times) {
		complain("--ranks %s: these node profiles have only the sums of all ranks", list);
		return false;
	}
	for (size_t i = 0; i < *n; i++)
		if (rank_list_has(list, times[i].rank))
			times[kept++] = times[i];
	*n = kept;
	if (!kept)
		complain("there are no ranks %s in these files", list);
	return kept > 0;
}

static void say_written(const struct run *run, const char *path)
{
	const size_t all = run->p->n_stacks, estimated = flame_estimated(run);

	if (estimated)
		complain("wrote %s (times of %zu call paths, %zu of them estimates)", path, all,
			estimated);
	else
		complain("wrote %s (exact times of %zu call paths)", path, all);
}

static int export_run_profile(
	const struct run *run, int format, const char *suffix, const struct export_options *o)
{
	struct flame flame = {.run = run};
	struct flame_time *times = NULL;
	char *path = NULL;
	int status = 2;

	if (!o->sum)
		flame.times = times = flame_ranks(run, &flame.n);
	if (!o->ranks || choose_ranks(times, &flame.n, o->ranks)) {
		path = o->output ? xstrdup(o->output)
				 : xasprintf("%s/%s%s", run->directory, run->name, suffix);
		status = write_output(path, format, &flame);
		if (!status && !o->quiet && strcmp(path, "-"))
			say_written(run, path);
	}
	free(path);
	free(times);
	return status;
}

int export_flame_graph(const struct export_format *format, const struct export_options *o,
	char **arguments, size_t n)
{
	const int at = format_of(format);
	struct run run;
	int bad, status;

	if (at < 0)
		return 2;
	if (o->span.from_set || o->span.to_set) {
		complain("export: --from, --to and --round are of sampling files: the times in a "
			 "profile are sums");
		return 2;
	}
	bad = run_open(&run, arguments, n, o->base);
	if (bad == 2)
		return 2;
	status = export_run_profile(&run, at, format->suffix, o);
	run_close(&run);
	return status ? status : bad;
}
