/* SPDX-License-Identifier: BSD-3-Clause */
/* How the run was started, where, and of what executables: in JSON, and at the top of logs. */
#include <inttypes.h>
#include <stdlib.h>
#include <time.h>

#include "nodeagent/base/words.h"
#include "nodeagent/report/log/internal.h"

#define LINE	   108 /* columns behind a label */
#define ISO_BYTES  40
#define KINDS_MOST 4 /* of nodes, that have a line */

static const char *const whose[PROFILE_START_KINDS] = {[PROFILE_START_RUN] = "run",
	[PROFILE_START_TASK] = "task",
	[PROFILE_START_PROCESS] = "process"};

/* "2026-11-24T18:05:09+01:00", in the local time of where it was started. */
static const char *iso_time(char text[static ISO_BYTES], const struct profile_start *s)
{
	const time_t local = s->time_s + s->zone_s;
	const int minutes = abs(s->zone_s) / 60;
	struct tm tm;
	size_t n;

	if (!gmtime_r(&local, &tm))
		return NULL;
	n = strftime(text, ISO_BYTES, "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(text + n, ISO_BYTES - n, "%c%02d:%02d", s->zone_s < 0 ? '-' : '+',
		minutes / 60 % 100, minutes % 60);
	return text;
}

/* ---- JSON ---------------------------------------------------------------------------- */

static void write_command(struct json *j, const struct profile_start *s)
{
	const char *at = s->command;
	char *word;

	if (!at)
		return;
	json_array(j, "command");
	for (; (word = words_next(&at)); free(word))
		json_string(j, NULL, word);
	json_close(j);
	if (s->left)
		json_uint(j, "command_left_out", s->left);
	json_string(j, "command_of", whose[s->whose]);
}

static void write_tags(struct json *j, const char *list)
{
	char *tag;

	json_object(j, "tags");
	for (; list && (tag = words_next(&list)); free(tag)) {
		char *equals = strchr(tag, '=');

		*equals = '\0'; /* check_start() */
		json_string(j, tag, equals + 1);
	}
	json_close(j);
}

static void write_start(struct json *j, const struct profile_start *s)
{
	char iso[ISO_BYTES];

	json_object(j, "started");
	write_command(j, s);
	if (s->directory)
		json_string(j, "directory", s->directory);
	json_string(j, "time", iso_time(iso, s));
	json_int(j, "utc_s", s->time_s);
	if (s->job)
		json_string(j, "job", s->job);
	if (s->mpi)
		json_string(j, "mpi", s->mpi);
	write_tags(j, s->tags);
	json_close(j);
}

static void write_changes(struct json *j, const char *list)
{
	char *change;

	json_array(j, "configuration");
	for (; (change = words_next(&list)); free(change)) {
		char *equals = strchr(change, '=');

		*equals = '\0'; /* check_start() */
		json_object(j, NULL);
		json_string(j, "key", change);
		json_string(j, "value", equals + 1);
		json_close(j);
	}
	json_close(j);
}

ROW_VALUE(bool, has_id, profile_build, *at->id)
ROW_VALUE(bool, has_compiler, profile_build, *at->compiler)

#define BUILD(json, member, ...)                                                                   \
	COLUMN(NULL, json, TEXT, struct profile_build, member, ##__VA_ARGS__)

static const struct column build_columns[] = {
	BUILD("path", path),
	BUILD("build_id", id, .where = has_id),
	BUILD("compiler", compiler, .where = has_compiler),
};

static const struct list build_list = LIST(build_columns, builds, .json = "builds");

void json_started(struct json *j, const struct report *r)
{
	if (r->p->n_starts)
		write_start(j, r->p->starts);
	if (r->p->n_starts && r->p->starts->changes)
		write_changes(j, r->p->starts->changes);
	if (r->p->n_builds)
		columns_json(j, r, &build_list);
}

/* ---- logs ---------------------------------------------------------------------------- */

static void print_line(FILE *f, const char *label, char *text)
{
	char *line = text_short(text, LINE);

	fprintf(f, "%-12s%s\n", label, line);
	free(line);
	free(text);
}

static void print_command(FILE *f, const struct profile_start *s)
{
	static const char *const whose_words[PROFILE_START_KINDS] = {[PROFILE_START_RUN] = "",
		[PROFILE_START_TASK] = "(of a task) ",
		[PROFILE_START_PROCESS] = "(of the process that was traced first) "};
	char *words;

	if (!s->command)
		return;
	words = words_for_shell(s->command);
	print_line(f, "Command:",
		xasprintf("%s%s%s", whose_words[s->whose], words, s->left ? " ..." : ""));
	free(words);
}

static void print_start(FILE *f, const struct profile_start *s)
{
	char iso[ISO_BYTES];

	print_command(f, s);
	print_line(f, "Started:",
		xasprintf("%s%s%s%s%s", iso_time(iso, s) ? iso : "at an unknown time",
			s->directory ? " in " : "", s->directory ? s->directory : "",
			s->job ? ", batch job " : "", s->job ? s->job : ""));
	if (s->tags)
		print_line(f, "Tags:", words_for_shell(s->tags));
	if (s->mpi)
		print_line(f, "MPI:", xstrdup(s->mpi));
}

/* Nodes that are alike. */
struct node_kind {
	const struct profile_agent *like;
	uint64_t nodes, processes, threads;
};

static bool are_alike(const struct profile_agent *a, const struct profile_agent *b)
{
	return a->cpus == b->cpus && a->memory_bytes >> 30 == b->memory_bytes >> 30 &&
	       !strcmp(a->cpu_model ? a->cpu_model : "", b->cpu_model ? b->cpu_model : "");
}

static void print_kind(FILE *f, const char *label, const struct node_kind *k)
{
	const struct profile_agent *a = k->like;

	print_line(f, label,
		xasprintf("%" PRIu64 " x %s, %" PRIu32 " %s, %.1f GiB: %" PRIu64 " %s, %" PRIu64
			  " %s",
			k->nodes, a->cpu_model ? a->cpu_model : "unknown CPU", a->cpus,
			one_or_many(a->cpus, "CPU", "CPUs"), (double)a->memory_bytes / (1 << 30),
			k->processes, one_or_many(k->processes, "process", "processes"), k->threads,
			one_or_many(k->threads, "thread", "threads")));
}

static void print_nodes(FILE *f, const struct profile *p)
{
	struct node_kind kinds[KINDS_MOST];
	uint64_t others = 0;
	size_t n = 0;

	for (const struct profile_agent *a = p->agents; a < p->agents + p->n_agents; a++) {
		size_t i = 0;

		if (a->missing || !a->cpus)
			continue;
		while (i < n && !are_alike(kinds[i].like, a))
			i++;
		if (i == KINDS_MOST) {
			others++;
			continue;
		}
		if (i == n)
			kinds[n++] = (struct node_kind){.like = a};
		kinds[i].nodes++;
		kinds[i].processes += a->processes;
		kinds[i].threads += a->threads;
	}
	for (size_t i = 0; i < n; i++)
		print_kind(f, i ? "" : "Nodes:", &kinds[i]);
	if (others)
		fprintf(f, "%-12s... and %" PRIu64 " of other kinds\n", "", others);
}

void section_started(FILE *f, const struct report *r)
{
	if (!r->run)
		return;
	if (r->p->n_starts)
		print_start(f, r->p->starts);
	print_nodes(f, r->p);
	if (r->p->run && r->p->run != PROFILE_RUNS_MIXED)
		print_line(f, "Run:", xasprintf("%016" PRIx64, r->p->run));
}
