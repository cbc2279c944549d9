/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Profiles for `vftr diff`, from node profiles and folders, and the choice of the
 * reader: it is by content, not by name, as people rename files.
 */
#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "nodeagent/collate/collate.h"
#include "nodeagent/symbols/names.h"
#include "nodeagent/tool/diff/diff.h"
#include "nodeagent/profile/profile.h"
#include "nodeagent/base/result-files.h"
#include "nodeagent/base/util.h"
#include "nodeagent/profile/vfp.h"

void diff_join_path(char *path)
{
	char *to = path;

	while (*path) {
		const bool is_separator = !strncmp(path, " < ", 3);

		*to++ = is_separator ? '<' : *path;
		path += is_separator ? 3 : 1;
	}
	*to = '\0';
}

struct diff_stack *diff_add(struct diff_profile *p, const char *path, size_t bytes)
{
	struct diff_stack *s;

	s = LIST_ADD(p, stacks);
	*s = (struct diff_stack){.id = DIFF_NO_ID, .path = p->text.n, .deviation_s = -1.0};
	if (path) {
		text_store_add(&p->text, path, bytes);
		text_store_add(&p->text, "", 1);
	}
	return s;
}

/* The greatest deviation of numbers between min and max with this mean (Bhatia and Davis). */
double diff_deviation_most(double mean, double min, double max)
{
	double variance = (max - mean) * (mean - min);

	return variance > 0.0 ? sqrt(variance) : 0.0;
}

void diff_set_deviation(const struct diff_profile *p, struct diff_stack *s, double deviation)
{
	double all = p->ranks > s->ranks ? (double)p->ranks : (double)s->ranks;
	double have = s->ranks ? (double)s->ranks : all, mean, squares, variance;

	/* one rank has no imbalance that a difference could be compared with */
	if (all < 2.0 || deviation < 0.0)
		return;
	mean = s->excl_s / all;
	squares = have * deviation * deviation + s->excl_s * s->excl_s / have;
	variance = squares / all - mean * mean;
	s->deviation_s = variance > 0.0 ? sqrt(variance) : 0.0;
}

/* Writes the path of stack i; each parent is one of the stacks (P2). */
static void add_path(struct text_store *to, const struct profile *p, uint32_t i, const char **shown)
{
	for (size_t depth = 0; i < p->n_stacks && depth < p->n_stacks; depth++) {
		const char *name = shown[p->stacks[i].name];

		if (depth)
			text_store_add(to, "<", 1);
		text_store_add(to, name, strlen(name));
		i = p->stacks[i].parent;
	}
	text_store_add(to, "", 1);
}

static void take_stack(
	struct diff_profile *to, const struct profile *p, uint32_t i, const char **shown)
{
	const struct profile_stack *from = &p->stacks[i];
	struct diff_stack *s = diff_add(to, NULL, 0);
	double n = from->ranks ? from->ranks : 1, mean = from->excl_ns * 1e-9 / n;
	double variance = (double)from->excl_sumsq_ns2 * 1e-18 / n - mean * mean;

	add_path(&to->text, p, i, shown);
	s->function_bytes = strlen(shown[from->name]);
	s->id = i;
	s->hash = from->hash;
	s->calls = from->calls;
	s->incl_s = from->incl_ns * 1e-9;
	s->excl_s = from->excl_ns * 1e-9;
	s->ranks = from->ranks;
	diff_set_deviation(to, s, variance > 0.0 ? sqrt(variance) : 0.0);
}

/* Takes a profile with the default names of report/report.c, so that they are equal. */
static void take_profile(struct diff_profile *to, const struct profile *p)
{
	static const struct name_style style;
	struct names *names = names_new((const char *const *)p->names, p->n_names, &style);
	const char **shown = xcalloc(p->n_names + 1, sizeof(*shown));

	for (size_t i = 0; i < p->n_names; i++)
		shown[i] = names_lookup(names, p->names[i])->shown;
	to->kind = "node profile";
	to->ranks = p->world_size ? p->world_size + profile_other_ranks(p) : p->ranks;
	to->has_no_mpi = !p->world_size;
	to->runtime_s = p->runtime_s;
	to->tags = p->n_starts && p->starts->tags ? xstrdup(p->starts->tags) : NULL;
	to->hash_of_names = true;
	for (uint32_t i = 0; i < p->n_stacks; i++)
		take_stack(to, p, i, shown);
	names_free(names);
	free(shown);
}

static int read_vfp(const char *file, struct diff_profile *to, char **error)
{
	struct profile *p = vfp_read(file, error);

	if (!p)
		return -1;
	take_profile(to, p);
	profile_free(p);
	return 0;
}

/* The node profiles of a summary in which call paths are added up; false: it is none, or not all
 * of them can be read, and it has more than the others. */
static bool read_parts(const char *file, struct diff_profile *to, int *rc)
{
	struct collate_summary s;
	struct profile *p = NULL;
	char *error;
	size_t bad = 0;

	if (!collate_summary(file, &s, &error) && s.n && !s.n_missing)
		p = collate_read(s.paths, s.n, &bad, NULL, NULL);
	if (bad) {
		profile_free(p);
		p = NULL;
	}
	if (s.pruned && !p)
		complain("%s: compared without its call paths with little time", file);
	if (p)
		take_profile(to, p);
	*rc = 0;
	free(error);
	collate_summary_free(&s);
	profile_free(p);
	return p;
}

static int read_file(const char *file, struct diff_profile *to, char **error)
{
	char head[sizeof(VFP_MAGIC) - 1];
	char *why = NULL;
	FILE *f = fopen(file, "re");
	size_t n, first = 0;
	int rc;

	if (!f) {
		*error = xasprintf("%s: %s", file, strerror(errno));
		return -1;
	}
	n = fread(head, 1, sizeof(head), f);
	if (n == sizeof(head) && !memcmp(head, VFP_MAGIC, n)) {
		fclose(f);
		return read_vfp(file, to, error);
	}
	if (ferror(f)) {
		*error = xasprintf("%s: %s", file, strerror(errno));
		fclose(f);
		return -1;
	}
	while (first < n && strchr(" \t\r\n", head[first]))
		first++;
	if (first < n && head[first] == '{' && read_parts(file, to, &rc)) {
		fclose(f);
		return rc;
	}
	rewind(f);
	rc = first < n && head[first] == '{' ? diff_read_json(f, to, &why)
					     : diff_read_log(f, to, &why);
	fclose(f);
	if (rc) {
		*error = xasprintf("%s: %s", file, why);
		free(why);
	}
	return rc;
}

static int read_node_profiles(const char *dir, struct diff_profile *to, char **error)
{
	struct collate_files *sets;
	struct profile *p = NULL;
	size_t n;

	if (collate_find(dir, &sets, &n, error))
		return -1;
	if (n == 1)
		p = collate_read(sets[0].paths, sets[0].n, &to->n_bad, NULL, NULL);
	if (p)
		take_profile(to, p);
	else if (n > 1)
		*error = xasprintf("%s: node profiles of %zu runs; name one file", dir, n);
	else if (n)
		*error = xasprintf("%s: no node profile in it can be read", dir);
	else
		*error = xasprintf(
			"%s: neither profile.json, BASE_all.json nor node profiles in it", dir);
	collate_files_free(sets, n);
	profile_free(p);
	return p ? 0 : -1;
}

static int read_folder(const char *dir, struct diff_profile *to, char **error)
{
	static const struct {
		enum result_kind kind;
		const char *names;
	} kinds[] = {{RESULT_PROFILE, "profile.json, BASE_all.json"},
		{RESULT_SUMMARY, "summary.log, BASE_all.log"}};
	size_t n;

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		char *file = result_find(dir, kinds[i].kind, &n);

		if (file) {
			int rc = read_file(file, to, error);

			free(to->file);
			to->file = file;
			return rc;
		}
		if (n) {
			*error = xasprintf("%s: %zu files %s; name one", dir, n, kinds[i].names);
			return -1;
		}
	}
	return read_node_profiles(dir, to, error);
}

struct diff_profile *diff_read(const char *file, char **error)
{
	struct diff_profile *p = xcalloc(1, sizeof(*p));
	struct stat st;
	bool folder = !stat(file, &st) && S_ISDIR(st.st_mode);
	int rc;

	*error = NULL;
	p->file = xstrdup(file);
	rc = folder ? read_folder(file, p, error) : read_file(file, p, error);
	if (!rc && p->n_stacks >= DIFF_NONE) {
		*error = xasprintf("%s: too many call paths", file);
		rc = -1;
	}
	if (rc) {
		diff_profile_free(p);
		return NULL;
	}
	return p;
}

void diff_profile_free(struct diff_profile *p)
{
	if (!p)
		return;
	free(p->file);
	free(p->tags);
	free(p->text.bytes);
	free(p->stacks);
	free(p);
}
