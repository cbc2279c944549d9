/* SPDX-License-Identifier: BSD-3-Clause */
/* Node profiles from files instead of from agents. */
#include "nodeagent/collate.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "nodeagent/merge.h"
#include "nodeagent/profile.h"
#include "nodeagent/util.h"
#include "nodeagent/vfp.h"

static size_t stem_length(const char *name)
{
	size_t n = strlen(name), suffix = strlen(VFP_SUFFIX);

	return n > suffix && !strcmp(name + n - suffix, VFP_SUFFIX) ? n - suffix : 0;
}

/* Host names have no underscore: the last one ends BASE. */
char *collate_base(const char *path)
{
	const char *slash = strrchr(path, '/');
	char *base = xstrdup(slash ? slash + 1 : path), *underscore;

	base[stem_length(base) ? stem_length(base) : strlen(base)] = '\0';
	underscore = strrchr(base, '_');
	if (underscore && underscore != base)
		*underscore = '\0';
	return base;
}

static int text_cmp(const void *x, const void *y)
{
	return strcmp(*(char *const *)x, *(char *const *)y);
}

static int set_cmp(const void *x, const void *y)
{
	const struct collate_files *a = x, *b = y;

	return strcmp(a->base, b->base);
}

static void add_to_set(struct collate_files **sets, size_t *n, const char *dir, const char *name)
{
	char *base = collate_base(name);
	struct collate_files *set = NULL;

	for (size_t i = 0; i < *n; i++) {
		if (!strcmp((*sets)[i].base, base))
			set = &(*sets)[i];
	}
	if (set) {
		free(base);
	} else {
		*sets = xrealloc(*sets, (*n + 1) * sizeof(**sets));
		set = &(*sets)[(*n)++];
		*set = (struct collate_files){.base = base};
	}
	set->paths = xrealloc(set->paths, (set->n + 1) * sizeof(char *));
	set->paths[set->n++] = xasprintf("%s/%s", dir, name);
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
			add_to_set(sets, n, dir, entry->d_name);
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
		free(sets[i].paths);
		free(sets[i].base);
	}
	free(sets);
}

/* Files sorted by host, though only what is read tells it. */
struct node_file {
	const char *host;
	size_t index; /* breaks ties: several agents on one host */
	struct profile *profile;
};

static int host_cmp(const void *x, const void *y)
{
	const struct node_file *a = x, *b = y;
	int order = strcmp(a->host, b->host);

	return order ? order : (a->index > b->index) - (a->index < b->index);
}

/* As a tree, so that the whole is not walked once per node. */
static struct profile *merge_range(struct node_file *at, size_t n)
{
	if (!n)
		return NULL;
	if (n == 1)
		return at[0].profile;
	return profile_merge(merge_range(at, n / 2), merge_range(at + n / 2, n - n / 2));
}

struct profile *collate_read(
	char **paths, size_t n, size_t *n_bad, void (*done)(size_t, void *), void *ctx)
{
	struct node_file *at = xcalloc(n, sizeof(*at));
	struct profile *whole;
	size_t good = 0;

	*n_bad = 0;
	for (size_t i = 0; i < n; i++) {
		char *error;
		struct profile *p = vfp_read(paths[i], &error);

		if (p) {
			if (n > 1)
				profile_drop_processes(p);
			at[good++] = (struct node_file){p->n_agents ? p->agents[0].host : "", i, p};
		} else {
			complain("%s", error);
			free(error);
			++*n_bad;
		}
		if (done)
			done(i + 1, ctx);
	}
	if (good)
		qsort(at, good, sizeof(*at), host_cmp);
	whole = merge_range(at, good);
	free(at);
	return whole;
}
