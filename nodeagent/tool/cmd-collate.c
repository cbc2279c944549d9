/* SPDX-License-Identifier: BSD-3-Clause */
/* `vftr collate`: the summary from node profile files, as agent 0 would have written it. */
#include "nodeagent/tool/cmd.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "conf/conf.h"
#include "nodeagent/collate/collate.h"
#include "nodeagent/report/output.h"
#include "nodeagent/profile/profile.h"
#include "nodeagent/profile/prune.h"
#include "nodeagent/base/result-files.h"
#include "nodeagent/base/util.h"
#include "nodeagent/profile/vfp.h"

#define PROGRESS_FROM 50 /* files; fewer are read in no time */

static const char usage[] =
	"usage: vftr collate [-o DIR] [-c FILE] [-b BASE] DIR|FILE...\n"
	"\n"
	"Merges the node profiles BASE_HOST.vfp of a run into BASE_all.log and\n"
	"BASE_all.json, as the agents do when they find each other; in a folder of\n"
	"`vftr run', HOST.vfp into summary.log and profile.json.\n"
	"\n"
	"  DIR|FILE           node profiles, or directories that hold them\n"
	"  -o, --output DIR   write there, and make it if it is not there; default: beside the\n"
	"                     first node profile\n"
	"  -c, --config FILE  configuration file; default: $VFTR_CONFIG, else no file\n"
	"  -b, --base BASE    only the run of this name\n"
	"  -h, --help         this text\n"
	"\n"
	"Exit status: 0 done, 1 some file was damaged or could not be written,\n"
	"2 nothing could be read, or wrong usage.\n";

struct request {
	const char *output, *config, *base;
	struct conf *conf[2]; /* by layout */
};

struct progress {
	size_t total;
	bool shown;
};

static void show_progress(size_t n, void *ctx)
{
	struct progress *p = ctx;

	if (p->shown && (n % 16 == 0 || n == p->total))
		fprintf(stderr, "\r%zu of %zu files%s", n, p->total, n == p->total ? "\n" : "");
}

static void warn(const char *line, void *ctx)
{
	complain("%s", line);
}

struct conf *cmd_load_conf(const char *file, const char *layout)
{
	const bool first = strcmp(layout, "run");
	struct conf *c = NULL;
	/* what has been measured with it is to be read, too */
	const struct conf_reading how = {.lenient = true, .warn = first ? warn : NULL};
	char *error = NULL;

	if (!file)
		file = getenv("VFTR_CONFIG");
	if (!file || !*file)
		c = conf_default();
	else
		conf_load(&c, file, &error, &how);
	if (c && !conf_assign_all(c, getenv("VFTR_SET"), &error) &&
		!conf_set(c, "output.layout", layout, &error) && !conf_settle_layout(c) &&
		!conf_scenario(c, &error, &how))
		return c;
	complain("%s", error ? error : "out of memory");
	free(error);
	conf_free(c);
	return NULL;
}

ORDER_BY(by_value, uint64_t, ORDER(*x, *y))

/* How many different ones have left these files; those that do not say it do not count. */
static size_t count_runs(const struct collate_files *set)
{
	uint64_t *all = xcalloc(set->n + 1, sizeof(*all));
	size_t n = 0;

	for (size_t i = 0; i < set->n; i++)
		all[i] = vfp_run(set->paths[i]);
	qsort(all, set->n, sizeof(*all), by_value);
	for (size_t i = 0; i < set->n; i++)
		n += all[i] && (!i || all[i] != all[i - 1]);
	free(all);
	return n;
}

/* Exit status for one run. */
static int collate_one(const struct request *r, struct collate_files *set)
{
	struct progress progress = {set->n, set->n > PROGRESS_FROM && isatty(STDERR_FILENO)};
	struct profile *whole;
	char *dir, *error = NULL;
	size_t bad, runs;
	int status;

	whole = collate_read(set->paths, set->n, &bad, show_progress, &progress);
	if (!whole) {
		if (set->n > 1)
			complain("%s: none of %zu node profiles can be read", set->base, set->n);
		return 2;
	}
	prune_job(whole, prune_from(r->conf[set->layout]));
	runs = count_runs(set);
	if (runs > 1) {
		complain("%s: these node profiles are of %zu runs, and are added up", set->base,
			runs);
		profile_warn(whole, "the node profiles are of %zu runs, and are added up", runs);
	}
	dir = r->output ? xstrdup(r->output) : file_directory(set->paths[0]);
	if (r->output)
		mkdir(r->output, 0777); /* what is wrong is said next */
	status = bad ? 1 : 0;
	if (output_summary(whole, r->conf[set->layout], dir, set->base, &error)) {
		complain("%s", error ? error : "the summary can't be written");
		status = 1;
	} else {
		const struct result log = {set->base, RESULT_SUMMARY, NULL, NULL};
		char *path = result_path(set->layout, dir, &log);

		printf("%s: %zu node profile%s%s\n", path, set->n - bad,
			set->n - bad == 1 ? "" : "s", bad ? ", some were unreadable" : "");
		free(path);
	}
	free(error);
	free(dir);
	profile_free(whole);
	return status;
}

/* The node profiles of a summary; false if any is missing. */
static bool add_summary(
	struct collate_files **sets, size_t *n, const struct request *r, const char *path)
{
	struct collate_summary s;
	char *error;
	bool all;

	if (collate_summary(path, &s, &error))
		complain("%s", error);
	else if (!s.pruned)
		complain("%s: a summary; name its node profiles", path);
	all = !error && s.pruned && !s.n_missing;
	for (size_t i = 0; i < s.n; i++)
		collate_files_add(sets, n, r->base, xstrdup(s.paths[i]));
	collate_summary_free(&s);
	free(error);
	return all;
}

/* Adds what a command line argument names; false if there is nothing. */
static bool add_argument(
	struct collate_files **sets, size_t *n, const struct request *r, const char *arg)
{
	struct collate_files *found;
	size_t n_found, added = 0;
	struct stat st;
	char *error;

	if (stat(arg, &st)) {
		complain("%s: %s", arg, strerror(errno));
		return false;
	}
	if (!S_ISDIR(st.st_mode) && text_ends_with(arg, ".json"))
		return add_summary(sets, n, r, arg);
	if (!S_ISDIR(st.st_mode)) {
		collate_files_add(sets, n, r->base, xstrdup(arg));
		return true;
	}
	if (collate_find(arg, &found, &n_found, &error)) {
		complain("%s", error);
		free(error);
		return false;
	}
	for (size_t i = 0; i < n_found; i++) {
		if (r->base && strcmp(r->base, found[i].base))
			continue;
		for (size_t k = 0; k < found[i].n; k++, added++)
			collate_files_add(sets, n, NULL, xstrdup(found[i].paths[k]));
	}
	collate_files_free(found, n_found);
	if (!added && r->base)
		complain("%s: no node profiles %s_HOST.vfp", arg, r->base);
	else if (!added)
		complain("%s: no node profiles (BASE_HOST.vfp, HOST.vfp) in it; name the "
			 "folder that vftr run has made",
			arg);
	return added > 0;
}

/* False after a message: one summary would replace another one. */
static bool have_names(const struct request *r, const struct collate_files *sets, size_t n)
{
	for (size_t i = 0; r->output && i < n; i++)
		for (size_t k = 0; k < i; k++) {
			if (sets[i].layout != sets[k].layout || strcmp(sets[i].base, sets[k].base))
				continue;
			complain("%s and %s are of two runs, whose summaries have one name: name "
				 "one "
				 "run, or leave --output out",
				sets[k].paths[0], sets[i].paths[0]);
			return false;
		}
	return true;
}

static int collate_all(struct request *r, char **args, int n_args)
{
	struct collate_files *sets = NULL;
	int status = 0, bad = 0;
	size_t n = 0, failed = 0;
	bool named;

	r->conf[LAYOUT_VFTRACE] = cmd_load_conf(r->config, "vftrace");
	r->conf[LAYOUT_RUN] = r->conf[LAYOUT_VFTRACE] ? cmd_load_conf(r->config, "run") : NULL;
	if (!r->conf[LAYOUT_RUN])
		return 2;
	for (int i = 0; i < n_args; i++)
		bad += !add_argument(&sets, &n, r, args[i]);
	named = have_names(r, sets, n);
	for (size_t i = 0; named && i < n; i++) {
		int one = collate_one(r, &sets[i]);

		failed += one == 2;
		status |= one != 0;
	}
	if (!named || failed == n)
		status = 2;
	else if (bad)
		status = 1;
	collate_files_free(sets, n);
	conf_free(r->conf[LAYOUT_VFTRACE]);
	conf_free(r->conf[LAYOUT_RUN]);
	return status;
}

int cmd_collate(int argc, char **argv)
{
	struct request r = {0};
	const struct cmd_option options[] = {
		{"output", 'o', .text = &r.output},
		{"config", 'c', .text = &r.config},
		{"base", 'b', .text = &r.base},
		{0},
	};
	int status = cmd_options_for(argc, argv, options, usage, "a directory or node profiles");

	if (status >= 0)
		return status;
	return collate_all(&r, argv + optind, argc - optind);
}
