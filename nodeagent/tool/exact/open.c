/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "nodeagent/base/result-files.h"
#include "nodeagent/base/util.h"
#include "nodeagent/tool/exact/exact.h"
#include "nodeagent/tool/show/progress-bar.h"
#include "nodeagent/trace/read/file.h"
#include "nodeagent/trace/run.h"

struct search {
	struct exact *x;
	const char *base;
	struct result_seen seen;
	bool bad;
};

/* True if it is of the run that is asked for. */
static bool is_wanted(const struct search *s, const char *path)
{
	struct result_parsed r;
	bool same;

	if (!s->base)
		return true;
	if (!result_parse(basename(path), &r))
		return false;
	same = !strcmp(r.base, s->base);
	result_parsed_free(&r);
	return same;
}

static void add_file(void *ctx, const char *path)
{
	struct search *s = ctx;
	char *error = NULL;
	struct vfd_file *f = NULL;

	if (is_wanted(s, path) && !result_is_repeated(&s->seen, path))
		f = vfd_open(path, &error);

	if (f) {
		*LIST_ADD(s->x, files) = f;
		return;
	}
	if (error)
		complain("%s", error);
	s->bad |= error != NULL;
	free(error);
}

static void add_folder(struct search *s, const char *path)
{
	const size_t before = s->x->n_files + s->seen.n_repeated;
	const bool is_read = vfd_files_in(path, add_file, s);

	if (!is_read)
		complain("%s: can't be read: %s", path, strerror(errno));
	else if (s->x->n_files + s->seen.n_repeated == before && !s->bad)
		complain("%s: no sampling files (BASE_HOST.vfd, HOST.vfd): record them with "
			 "vftr run --trace",
			path);
	s->bad |= !is_read || s->x->n_files + s->seen.n_repeated == before;
}

/* What the files of a run have in common: BASE, or the folder of HOST.vfd, and the event. The
 * caller frees. */
static char *key_of(const char *path)
{
	struct result_parsed r;
	char *key, *run;

	if (!result_parse(basename(path), &r))
		return xstrdup(path);
	if (r.layout == LAYOUT_VFTRACE)
		key = xstrdup(r.base);
	else
		key = file_directory(path);
	result_parsed_free(&r);
	run = xasprintf("%s %s", key, result_event_in(basename(path)));
	free(key);
	return run;
}

/* By names, and by the numbers of runs, as BASE may be that of several. */
static bool of_one_run(const struct exact *x)
{
	const struct vfd_facts *numbered = x->n_files ? vfd_facts(x->files[0]) : NULL;
	char *first = numbered ? key_of(numbered->path) : NULL;
	bool same = first;

	for (size_t i = 1; same && i < x->n_files; i++) {
		const struct vfd_facts *f = vfd_facts(x->files[i]);
		char *key = key_of(f->path);

		same = !strcmp(first, key) &&
		       !vfd_runs_differ(numbered->path, numbered->run, f->path, f->run);
		if (!numbered->run)
			numbered = f;
		if (!same)
			complain("%s and %s are of two runs or events: name the files of one",
				vfd_facts(x->files[0])->path, f->path);
		free(key);
	}
	free(first);
	return same;
}

int exact_open(struct exact *x, char **arguments, size_t n, const char *base)
{
	struct search s = {.x = x, .base = base};
	struct progress_bar bar = {.name = "analysing"};
	const struct causal_progress progress = {progress_bar_draw, &bar};
	const char *folder = getenv("TMPDIR");
	char *error = NULL;
	struct stat st;

	*x = (struct exact){0};
	for (size_t i = 0; i < n; i++)
		if (!stat(arguments[i], &st) && S_ISDIR(st.st_mode))
			add_folder(&s, arguments[i]);
		else
			add_file(&s, arguments[i]);
	result_seen_free(&s.seen);
	if (!x->n_files && !s.bad)
		complain("none of these sampling files is of the run `%s'", base ? base : "");
	if (of_one_run(x)) {
		vfd_line_up(x->files, x->n_files);
		vfd_shorten_names(x->files, x->n_files);
		x->run = causal_run(x->files, x->n_files, folder && *folder ? folder : "/tmp",
			&progress, &error);
		progress_bar_clear(&bar);
		if (!x->run)
			complain("%s", error);
		free(error);
	}
	if (x->run)
		return s.bad ? 1 : 0;
	exact_close(x);
	return 2;
}

void exact_close(struct exact *x)
{
	if (x->run)
		causal_run_free(x->run);
	for (size_t i = 0; i < x->n_files; i++)
		vfd_close(x->files[i]);
	free(x->files);
	*x = (struct exact){0};
}
