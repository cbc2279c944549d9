/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/tool/show/run.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "conf/conf.h"
#include "nodeagent/base/result-files.h"
#include "nodeagent/base/table.h"
#include "nodeagent/base/util.h"
#include "nodeagent/collate/collate.h"
#include "nodeagent/profile/profile.h"

/* ---- which files ---------------------------------------------------------------------- */

/*
 * The files of one run have one key: in a folder of one run, where files are called HOST.vfp, the
 * folder; else BASE.
 */
struct found {
	char *key, *path;
};

struct search {
	const char *base; /* or NULL */
	struct found *found;
	size_t n_found, cap_found;
	struct result_seen seen;
	bool bad;
};

static char *key_of(const char *path, const char *base, enum result_layout layout)
{
	char *folder, *real, *key;

	if (layout == LAYOUT_VFTRACE)
		return xstrdup(base);
	folder = file_directory(path);
	real = realpath(folder, NULL); /* vftr-NAME-last is the same folder */
	key = xasprintf("%s/%s", real ? real : folder, base);
	free(folder);
	free(real);
	return key;
}

/* in_folder: that of a single round is not asked for, unless by its name. */
static void add_file(struct search *s, const char *path, bool in_folder)
{
	enum result_layout layout;
	char *base = collate_base(path, &layout);

	if ((s->base ? !strcmp(s->base, base) : !in_folder || !result_is_round(base)) &&
		!result_is_repeated(&s->seen, path))
		*LIST_ADD(s, found) = (struct found){key_of(path, base, layout), xstrdup(path)};
	free(base);
}

static void add_folder(struct search *s, const char *path)
{
	const size_t before = s->n_found + s->seen.n_repeated;
	struct collate_files *sets;
	char *error;
	size_t n;

	if (collate_find(path, &sets, &n, &error)) {
		complain("%s", error);
		free(error);
		s->bad = true;
		return;
	}
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < sets[i].n; k++)
			add_file(s, sets[i].paths[k], true);
	collate_files_free(sets, n);
	if (s->n_found + s->seen.n_repeated > before)
		return;
	s->bad = true;
	if (s->base)
		complain("%s: no node profiles %s_HOST.vfp", path, s->base);
	else
		complain("%s: no node profiles (BASE_HOST.vfp, HOST.vfp) in it; name the "
			 "folder that vftr run has made",
			path);
}

/* The node profiles of a summary. */
static void add_summary(struct search *s, const char *path)
{
	struct collate_summary summary;
	char *error;

	if (collate_summary(path, &summary, &error))
		complain("%s", error);
	else if (!summary.pruned)
		complain("%s: a summary; name the folder with its node profiles", path);
	s->bad |= error || !summary.pruned || summary.n_missing;
	for (size_t i = 0; i < summary.n; i++)
		add_file(s, summary.paths[i], true);
	collate_summary_free(&summary);
	free(error);
}

static void add_argument(struct search *s, const char *path)
{
	struct stat st;

	if (stat(path, &st)) {
		complain("%s: %s", path, strerror(errno));
		s->bad = true;
	} else if (S_ISDIR(st.st_mode)) {
		add_folder(s, path);
	} else if (text_ends_with(path, ".json")) {
		add_summary(s, path);
	} else {
		add_file(s, path, false);
	}
}

/* BASE of a key, which is behind the folder. */
static const char *base_in(const char *key)
{
	const char *slash = strrchr(key, '/');

	return slash ? slash + 1 : key;
}

static bool of_one_run(const struct search *s)
{
	for (size_t i = 1; i < s->n_found; i++) {
		const char *one = s->found[0].key, *other = s->found[i].key;

		if (!strcmp(one, other))
			continue;
		complain("these are node profiles of several runs, `%s' and `%s': %s", one, other,
			strcmp(base_in(one), base_in(other)) ? "choose one with --base"
							     : "name one of them");
		return false;
	}
	return s->n_found > 0;
}

void run_tell_mixture(struct profile *p)
{
	if (p->run != PROFILE_RUNS_MIXED)
		return;
	complain("these node profiles are of several runs, and are added up");
	profile_warn(p, "the node profiles are of several runs, and are added up");
}

/* ---- the run -------------------------------------------------------------------------- */

static void warn_conf(const char *line, void *ctx)
{
	complain("%s", line);
}

/* Results for a person at a terminal: the layout `run', unless the user has said another. */
struct conf *run_user_conf(void)
{
	/* what has been measured with it is to be read, too */
	static const struct conf_reading how = {.lenient = true, .warn = warn_conf};
	const char *file = getenv("VFTR_CONFIG");
	struct conf *c = NULL;
	char *error = NULL;

	if (!file || !*file)
		c = conf_default();
	else
		conf_load(&c, file, &error, &how);
	if (c && !conf_set(c, "output.layout", "run", &error) &&
		!conf_assign_all(c, getenv("VFTR_SET"), &error) && !conf_settle_layout(c))
		return c;
	complain("%s", error ? error : "out of memory");
	free(error);
	conf_free(c);
	return NULL;
}

static int read_run(struct run *run, struct search *s)
{
	const char *name;
	size_t bad;

	run->paths = xcalloc(s->n_found, sizeof(*run->paths));
	for (size_t i = 0; i < s->n_found; i++)
		run->paths[run->n_paths++] = xstrdup(s->found[i].path);
	run->directory = file_directory(run->paths[0]);
	run->p = collate_read(run->paths, run->n_paths, &bad, NULL, NULL);
	run->c = run->p ? run_user_conf() : NULL;
	if (!run->c)
		return 2;
	run_tell_mixture(run->p);
	name = s->found[0].key;
	if (strchr(name, '/'))
		name = run->p->application ? run->p->application : "run";
	run->name = xstrdup(name);
	report_init(&run->r, run->p, run->c, NULL, 0);
	return s->bad || bad ? 1 : 0;
}

int run_open(struct run *run, char **arguments, size_t n, const char *base)
{
	struct search s = {.base = base};
	int status = 2;

	*run = (struct run){0};
	for (size_t i = 0; i < n; i++)
		add_argument(&s, arguments[i]);
	if (of_one_run(&s))
		status = read_run(run, &s);
	else if (!s.n_found && !s.bad)
		complain("none of these files is of the run `%s'", base);
	for (size_t i = 0; i < s.n_found; i++) {
		free(s.found[i].key);
		free(s.found[i].path);
	}
	free(s.found);
	result_seen_free(&s.seen);
	if (status == 2)
		run_close(run);
	return status;
}

void run_close(struct run *run)
{
	if (run->name)
		report_done(&run->r);
	for (size_t i = 0; i < run->n_paths; i++)
		free(run->paths[i]);
	free(run->paths);
	free(run->name);
	free(run->directory);
	profile_free(run->p);
	conf_free(run->c);
	*run = (struct run){0};
}

char *run_headline(const struct run *run)
{
	const uint32_t ranks = report_all_ranks(run->p);

	return xasprintf("%s: %u %s, %.3f s%s", run->name, ranks,
		one_or_many(ranks, "process", run->p->world_size ? "ranks" : "processes"),
		run->p->runtime_s, ranks > 1 ? "; times are sums over all of them" : "");
}

char *run_short_name(const char *path)
{
	size_t n = strlen(path);
	char *copy, *name;

	while (n > 1 && path[n - 1] == '/')
		n--;
	copy = xasprintf("%.*s", (int)n, path);
	name = text_short(basename(copy), 20);
	free(copy);
	return name;
}
