/* SPDX-License-Identifier: BSD-3-Clause */
/* Node profiles from files instead of from agents. */
#include "nodeagent/collate/collate.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "nodeagent/profile/merge.h"
#include "nodeagent/profile/lists.h"
#include "nodeagent/profile/profile.h"
#include "nodeagent/base/result-files.h"
#include "nodeagent/base/util.h"
#include "nodeagent/profile/vfp.h"

static size_t stem_length(const char *name)
{
	size_t n = strlen(name), suffix = strlen(VFP_SUFFIX);

	return n > suffix && !strcmp(name + n - suffix, VFP_SUFFIX) ? n - suffix : 0;
}

char *collate_base(const char *path, enum result_layout *layout)
{
	const char *name = basename(path);
	struct result_parsed r;

	if (!result_parse(name, &r) || r.kind != RESULT_NODE_PROFILE) {
		const size_t stem = stem_length(name);

		result_parsed_free(&r);
		r.layout = LAYOUT_VFTRACE;
		r.base = xasprintf("%.*s", (int)(stem ? stem : strlen(name)), name);
	}
	*layout = r.layout;
	free(r.who);
	return r.base;
}

ORDER_POINTERS_BY(text_cmp, char, strcmp(x, y))

ORDER_BY(set_cmp, struct collate_files, ALPHABETIC(base))

/* A folder, by whatever name, has one run where names of files do not tell it. */
static bool in_one_folder(const char *a, const char *b)
{
	char *one = file_directory(a), *other = file_directory(b);
	struct stat x, y;
	bool is = !strcmp(one, other) || (!stat(one, &x) && !stat(other, &y) &&
						 x.st_dev == y.st_dev && x.st_ino == y.st_ino);

	free(one);
	free(other);
	return is;
}

void collate_files_add(struct collate_files **sets, size_t *n, const char *base, char *path)
{
	enum result_layout layout = LAYOUT_VFTRACE;
	char *own = base ? xstrdup(base) : collate_base(path, &layout);
	struct collate_files *set = NULL;

	for (size_t i = 0; i < *n; i++) {
		if ((*sets)[i].layout == layout && !strcmp((*sets)[i].base, own) &&
			(layout == LAYOUT_VFTRACE || in_one_folder((*sets)[i].paths[0], path)))
			set = &(*sets)[i];
	}
	if (set) {
		free(own);
	} else {
		*sets = xrealloc(*sets, (*n + 1) * sizeof(**sets));
		set = &(*sets)[(*n)++];
		*set = (struct collate_files){.base = own, .layout = layout};
	}
	if (result_is_repeated(&set->seen, path)) {
		free(path);
		return;
	}
	set->paths = xrealloc(set->paths, (set->n + 1) * sizeof(char *));
	set->paths[set->n++] = path;
}

int collate_find(const char *dir, struct collate_files **sets, size_t *n, char **error)
{
	DIR *d = opendir(dir);
	struct dirent *entry;

	*sets = NULL;
	*n = 0;
	*error = NULL;
	if (!d) {
		int why = -errno;

		*error = xasprintf("%s: %s", dir, strerror(-why));
		return why;
	}
	while ((entry = readdir(d))) {
		if (stem_length(entry->d_name))
			collate_files_add(sets, n, NULL, xasprintf("%s/%s", dir, entry->d_name));
	}
	closedir(d);
	for (size_t i = 0; i < *n; i++)
		qsort((*sets)[i].paths, (*sets)[i].n, sizeof(char *), text_cmp);
	if (*n)
		qsort(*sets, *n, sizeof(**sets), set_cmp);
	return 0;
}

void collate_files_free(struct collate_files *sets, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; k < sets[i].n; k++)
			free(sets[i].paths[k]);
		result_seen_free(&sets[i].seen);
		free(sets[i].paths);
		free(sets[i].base);
	}
	free(sets);
}

/*
 * Nodes are merged in the sequence of their hosts, though only what is read tells these.
 * Files are named after them, so that this is the order of the names as a rule; then each
 * is merged as it comes, and what is in memory does not grow with the number of nodes.
 */
struct node_file {
	const char *path;
	size_t index;	    /* breaks ties: several agents on one host */
	size_t name_length; /* without suffix */
	bool bad;
	struct profile *profile;
};

static const char *host_of(const struct node_file *f)
{
	return f->profile->n_agents ? f->profile->agents[0].host : "";
}

ORDER_BY(host_cmp, struct node_file, strcmp(host_of(x), host_of(y)) ?: RISING(index))

static int stem_cmp(const struct node_file *a, const struct node_file *b)
{
	size_t m = a->name_length, n = b->name_length;

	return memcmp(basename(a->path), basename(b->path), m < n ? m : n) ?: ORDER(m, n);
}

ORDER_BY(name_cmp, struct node_file, stem_cmp(x, y) ?: RISING(index))

/* As a tree, so that the whole is not walked once per node. */
static struct profile *merge_range(struct node_file *at, size_t n)
{
	if (!n)
		return NULL;
	if (n == 1)
		return at[0].profile;
	return profile_merge(merge_range(at, n / 2), merge_range(at + n / 2, n - n / 2));
}

/* The same tree while the leaves come: runs of 1, 2, 4 ... nodes, the longest first. */
#define RUNS_MAX 64
struct runs {
	size_t n;
	size_t nodes[RUNS_MAX];
	struct profile *profile[RUNS_MAX];
};

static void join_last(struct runs *r)
{
	r->n--;
	r->nodes[r->n - 1] += r->nodes[r->n];
	r->profile[r->n - 1] = profile_merge(r->profile[r->n - 1], r->profile[r->n]);
}

static void add_run(struct runs *r, struct profile *p)
{
	r->nodes[r->n] = 1;
	r->profile[r->n++] = p;
	while (r->n > 1 && r->nodes[r->n - 2] == r->nodes[r->n - 1])
		join_last(r);
}

static struct profile *end_runs(struct runs *r)
{
	while (r->n > 1)
		join_last(r);
	return r->n ? r->profile[0] : NULL;
}

/* Whether it can be read. */
static bool read_one(struct node_file *f, size_t n)
{
	char *error = NULL;

	f->profile = f->bad ? NULL : vfp_read(f->path, &error);
	if (f->profile && n > 1)
		profile_drop_processes(f->profile);
	if (!f->profile && !f->bad) {
		complain("%s", error);
		free(error);
		f->bad = true;
	}
	return f->profile;
}

struct watch {
	void (*done)(size_t, void *);
	void *ctx;
};

static void tell_progress(const struct watch *w, size_t n)
{
	if (w->done)
		w->done(n, w->ctx);
}

/* By their names. False: that is not the sequence of their hosts. */
static bool merge_by_names(
	struct node_file *at, size_t n, const struct watch *w, struct profile **whole)
{
	struct node_file last = {0};
	char *last_host = NULL;
	struct runs runs = {0};
	bool ordered = true;

	for (size_t i = 0; i < n && ordered; i++) {
		int order;

		if (read_one(&at[i], n)) {
			order = last_host ? strcmp(last_host, host_of(&at[i])) : -1;
			ordered = order < 0 || (!order && last.index < at[i].index);
			last = at[i];
			free(last_host);
			last_host = xstrdup(host_of(&at[i]));
			add_run(&runs, at[i].profile);
		}
		if (ordered)
			tell_progress(w, i + 1);
	}
	free(last_host);
	*whole = end_runs(&runs);
	if (!ordered)
		profile_free(*whole);
	return ordered;
}

/* All of them in memory, then sorted. */
static struct profile *merge_by_hosts(struct node_file *at, size_t n, const struct watch *w)
{
	size_t good = 0;

	for (size_t i = 0; i < n; i++) {
		struct node_file f = at[i];

		const bool can = read_one(&f, n);

		at[i] = can ? at[good] : f;
		if (can)
			at[good++] = f;
		tell_progress(w, i + 1);
	}
	if (good)
		qsort(at, good, sizeof(*at), host_cmp);
	return merge_range(at, good);
}

struct profile *collate_read(
	char **paths, size_t n, size_t *n_bad, void (*done)(size_t, void *), void *ctx)
{
	struct node_file *at = xcalloc(n, sizeof(*at));
	const struct watch watch = {done, ctx};
	struct profile *whole;

	*n_bad = 0;
	for (size_t i = 0; i < n; i++) {
		at[i].path = paths[i];
		at[i].index = i;
		at[i].name_length = stem_length(basename(at[i].path));
		if (!at[i].name_length)
			at[i].name_length = strlen(basename(at[i].path));
	}
	if (n)
		qsort(at, n, sizeof(*at), name_cmp);
	if (!merge_by_names(at, n, &watch, &whole))
		whole = merge_by_hosts(at, n, &watch);
	if (whole)
		profile_name_far(whole);
	for (size_t i = 0; i < n; i++)
		*n_bad += at[i].bad;
	free(at);
	return whole;
}
