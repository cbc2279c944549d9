/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/base/result-files.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "conf/conf.h"
#include "nodeagent/base/map.h"
#include "nodeagent/base/util.h"

#define DIGITS "0123456789"

/* What stands before `who' or the end of the name, and behind it. */
static const struct {
	const char *before, *run_before, *end;
	bool who, no_base;
} names[RESULT_KINDS] = {
	[RESULT_SUMMARY] = {"_all", "summary", ".log"},
	[RESULT_PROFILE] = {"_all", "profile", ".json"},
	[RESULT_REPORT] = {"_all", "report", ".html"},
	[RESULT_NODE_LOG] = {"_node_", "node-", ".log", .who = true},
	[RESULT_RANK_LOG] = {"_", "rank-", ".log", .who = true},
	[RESULT_NODE_PROFILE] = {"_", "", ".vfp", .who = true},
	[RESULT_SAMPLES] = {"_", "", ".vfd", .who = true},
	[RESULT_STACKS] = {"stacks_", "stacks-", ".log", .who = true, .no_base = true},
};

const char *const result_events[RESULT_EVENTS] = {
	[EVENT_SLOW] = "slow",
	[EVENT_DEATH] = "death",
	[EVENT_SIGNAL] = "signal",
	[EVENT_REQUEST] = "request",
};

/* "slow137", "death-rank3" */
static bool is_event(const char *text)
{
	for (size_t i = 0; i < RESULT_EVENTS; i++) {
		const size_t n = strlen(result_events[i]);

		if (!strncmp(text, result_events[i], n) &&
			(text[n] == '-' || (text[n] >= '0' && text[n] <= '9')))
			return true;
	}
	return false;
}

const char *result_event_in(const char *name)
{
	for (const char *at = strpbrk(name, "_-"); at; at = strpbrk(at + 1, "_-"))
		if (is_event(at + 1))
			return at + 1;
	return "";
}

bool result_is_of(const char *who, const char *host)
{
	const size_t n = strlen(host);

	return !strncmp(who, host, n) &&
	       (!who[n] || ((who[n] == '_' || who[n] == '-') && is_event(who + n + 1)));
}

enum result_layout result_layout(const struct conf *c)
{
	return strcmp(c->output_layout, "run") ? LAYOUT_VFTRACE : LAYOUT_RUN;
}

char *result_base(enum result_layout layout, const char *name, unsigned round)
{
	if (layout == LAYOUT_RUN)
		return round ? xasprintf("round%u-", round) : xstrdup("");
	return round ? xasprintf("%s.round%u", name, round) : xstrdup(name);
}

/* Bytes of "roundN-" at its beginning, or 0. */
static size_t round_prefix(const char *name)
{
	size_t n = strncmp(name, "round", 5) ? 0 : strspn(name + 5, DIGITS);

	return n && name[5 + n] == '-' ? 5 + n + 1 : 0;
}

bool result_is_round(const char *base)
{
	const char *round = strstr(base, ".round");
	size_t n = round_prefix(base);

	if (n && !base[n])
		return true;
	return round && round[6] && strspn(round + 6, DIGITS) == strlen(round + 6);
}

char *result_name(enum result_layout layout, const struct result *r)
{
	const bool run = layout == LAYOUT_RUN;
	const char *separator = r->part ? run ? "-" : "_" : "";
	char *name = xasprintf("%s%s%s%s%s%s", names[r->kind].no_base ? "" : r->base,
		run ? names[r->kind].run_before : names[r->kind].before, r->who ? r->who : "",
		separator, r->part ? r->part : "", names[r->kind].end);

	/* by which the two layouts are told apart */
	for (char *c = name; run && *c; c++)
		if (*c == '_')
			*c = '-';
	return name;
}

char *result_path(enum result_layout layout, const char *dir, const struct result *r)
{
	char *name = result_name(layout, r), *path = xasprintf("%s/%s", dir, name);

	free(name);
	return path;
}

/* ---- the reverse ------------------------------------------------------------------ */

/* Bytes of the name without this end, or 0. */
static size_t stem_length(const char *name, const char *end)
{
	size_t n = strlen(name), k = strlen(end);

	return n > k && !strcmp(name + n - k, end) ? n - k : 0;
}

static bool is_parsed(struct result_parsed *to, enum result_layout layout, enum result_kind kind,
	char *base, const char *who)
{
	*to = (struct result_parsed){layout, kind, base, who ? xstrdup(who) : NULL, false};
	return true;
}

static bool is_part(struct result_parsed *to)
{
	to->part = true;
	return true;
}

static bool is_rank(const char *text)
{
	return text[0] && !text[strspn(text, DIGITS)];
}

/* "HOST", "roundN-HOST", "summary", "summary-mpi", "node-HOST", "rank-3-mpi" ... */
static bool parse_run(const char *stem, const char *end, struct result_parsed *to)
{
	const size_t round = round_prefix(stem);
	const char *rest = stem + round;

	for (enum result_kind i = 0; i < RESULT_KINDS; i++) {
		const size_t n = strlen(names[i].run_before);
		const char *who = rest + n;
		char *rank;

		if (strcmp(end, names[i].end) || strncmp(rest, names[i].run_before, n) ||
			(names[i].who ? !*who : *who && *who != '-'))
			continue;
		rank = xasprintf("%.*s", (int)strcspn(who, "-"), who);
		if (i != RESULT_RANK_LOG || is_rank(rank))
			is_parsed(to, LAYOUT_RUN, i, xasprintf("%.*s", (int)round, stem),
				i == RESULT_RANK_LOG ? rank
				: names[i].who	     ? who
						     : NULL);
		to->part = (i == RESULT_RANK_LOG || !names[i].who) && strchr(who, '-');
		free(rank);
		return to->base;
	}
	return false;
}

/* Of "BASE_all_mpi", "BASE_all", "BASE_RANK_mpi" ...: what stands before the last underscore. */
static bool parse_log(char *base, const char *last, const char *end, struct result_parsed *to)
{
	char *before = strrchr(base, '_');
	const char *word = before ? before + 1 : NULL;

	if (!strcmp(last, "all"))
		return is_parsed(to, LAYOUT_VFTRACE,
			!strcmp(end, ".json")	? RESULT_PROFILE
			: !strcmp(end, ".html") ? RESULT_REPORT
						: RESULT_SUMMARY,
			xstrdup(base), NULL);
	if (strcmp(end, ".log"))
		return false;
	if (is_rank(last))
		return is_parsed(to, LAYOUT_VFTRACE, RESULT_RANK_LOG, xstrdup(base), last);
	if (!strcmp(base, "stacks"))
		return is_parsed(to, LAYOUT_VFTRACE, RESULT_STACKS, xstrdup(""), last);
	if (!word || before == base)
		return false;
	*before = '\0';
	if (!strcmp(word, "node"))
		return is_parsed(to, LAYOUT_VFTRACE, RESULT_NODE_LOG, xstrdup(base), last);
	if (!strcmp(word, "all"))
		return is_parsed(to, LAYOUT_VFTRACE, RESULT_SUMMARY, xstrdup(base), NULL) &&
		       is_part(to);
	return is_rank(word) &&
	       is_parsed(to, LAYOUT_VFTRACE, RESULT_RANK_LOG, xstrdup(base), word) && is_part(to);
}

/* The underscore before this one; or this one, if there is none. */
static char *before_last(char *stem, char *last)
{
	char *at = last - 1;

	while (at > stem && *at != '_')
		at--;
	return at > stem ? at : last;
}

static bool parse_vftrace(char *stem, const char *end, struct result_parsed *to)
{
	char *last = strrchr(stem, '_');

	if (!last || last == stem || !last[1])
		return false;
	if (!strcmp(end, names[RESULT_SAMPLES].end) && is_event(last + 1)) /* of a host */
		last = before_last(stem, last);
	*last++ = '\0';
	for (enum result_kind i = RESULT_NODE_PROFILE; i <= RESULT_SAMPLES; i++)
		if (!strcmp(end, names[i].end))
			return is_parsed(to, LAYOUT_VFTRACE, i, xstrdup(stem), last);
	return parse_log(stem, last, end, to);
}

bool result_parse(const char *name, struct result_parsed *to)
{
	static const char *const ends[] = {".log", ".json", ".html", ".vfp", ".vfd"};

	*to = (struct result_parsed){0};
	for (size_t i = 0; i < ARRAY_SIZE(ends); i++) {
		size_t n = stem_length(name, ends[i]);
		char *stem;
		bool is;

		if (!n)
			continue;
		stem = xasprintf("%.*s", (int)n, name);
		is = strchr(stem, '_') ? parse_vftrace(stem, ends[i], to)
				       : parse_run(stem, ends[i], to);
		free(stem);
		return is;
	}
	return false;
}

void result_parsed_free(struct result_parsed *r)
{
	free(r->base);
	free(r->who);
	*r = (struct result_parsed){0};
}

/* ---- in a folder -------------------------------------------------------------------- */

char *result_find(const char *dir, enum result_kind kind, size_t *n)
{
	char *found = NULL;
	struct dirent *e;
	DIR *d = opendir(dir);

	*n = 0;
	while (d && (e = readdir(d))) {
		struct result_parsed r;
		const bool is = result_parse(e->d_name, &r) && r.kind == kind && !r.part &&
				!result_is_round(r.base);

		result_parsed_free(&r);
		if (is && !(*n)++)
			found = xasprintf("%s/%s", dir, e->d_name);
	}
	if (d)
		closedir(d);
	if (*n == 1)
		return found;
	free(found);
	return NULL;
}

char *batch_job(void)
{
	static const char *const variables[] = {"SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID",
		"FLUX_JOB_ID", "COBALT_JOBID", "OAR_JOB_ID", "PJM_JOBID", "JOB_ID"};

	for (size_t i = 0; i < ARRAY_SIZE(variables); i++) {
		const char *v = getenv(variables[i]);

		if (v && v[0])
			return file_base(v);
	}
	return xstrdup("");
}

bool result_is_repeated(struct result_seen *seen, const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return false;
	if (!match_table_find(&seen->files, st.st_dev, st.st_ino)) {
		match_table_add(&seen->files, st.st_dev, st.st_ino, seen);
		return false;
	}
	if (!seen->n_repeated++)
		complain("%s is named twice, and counts once", path);
	return true;
}

void result_seen_free(struct result_seen *seen)
{
	match_table_free(&seen->files);
}
