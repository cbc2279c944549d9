/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/tool/report/timeline.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "nodeagent/base/installed.h"
#include "nodeagent/base/json-write.h"
#include "nodeagent/base/result-files.h"
#include "nodeagent/base/units.h"
#include "nodeagent/base/util.h"
#include "nodeagent/export/export.h"
#include "nodeagent/html/json-tree.h"
#include "nodeagent/html/page/page.h"
#include "nodeagent/trace/format.h"

#define SCRIPT	     "vftr/speedscope.js"
#define STYLE	     "vftr/speedscope.css"
#define BYTES_MOST   1900000u /* of what was recorded; a report has 5 MB at most */
#define VIEWER_BYTES 1500000u
#define TRIES	     16
#define EVENT_BYTES  45.0 /* of one in speedscope's format, or so */
#define MORE_MOST    64.0 /* times: from one try to the next */
#define LESS	     8

struct files {
	struct vfd_file **files;
	size_t n, cap;
	char *event;   /* "slow137.vfd": whose files these are, or NULL */
	size_t events; /* on all nodes, of which it is one */
};

struct timeline {
	struct page_timeline page;
	char *viewer, *calls, *note;
};

/* ---- texts of files -------------------------------------------------------------------- */

/* A file of at most this many bytes, or NULL. The caller frees. */
static char *text_of(const char *path, size_t most)
{
	FILE *f = fopen(path, "re");
	char *text = xmalloc(most + 2);
	const size_t n = f ? fread(text, 1, most + 1, f) : 0;

	if (f)
		fclose(f);
	text[n] = '\0';
	if (n && n <= most)
		return text;
	free(text);
	return NULL;
}

static char *installed_text(const char *name)
{
	char *prefix = installed_prefix();
	char *folder = prefix ? installed_library_folder(prefix, name) : NULL;
	char *path = folder ? xasprintf("%s/%s", folder, basename(name)) : NULL;
	char *text = path ? text_of(path, VIEWER_BYTES) : NULL;

	free(path);
	free(folder);
	free(prefix);
	return text;
}

/* Script and style as JSON, or NULL: the viewer is not there. */
static char *viewer_of(void)
{
	char *script = installed_text(SCRIPT), *style = installed_text(STYLE), *text = NULL;
	size_t bytes;
	FILE *f = script && style ? open_memstream(&text, &bytes) : NULL;

	if (f) {
		struct json j;

		json_begin(&j, f, 0);
		json_object(&j, NULL);
		json_string(&j, "script", script);
		json_string(&j, "style", style);
		json_close(&j);
		fclose(f);
	}
	free(script);
	free(style);
	return text;
}

/* ---- the sampling files ---------------------------------------------------------------- */

static void add_file(struct files *in, const char *path)
{
	char *error = NULL;
	struct vfd_file *f = file_begins_with(path, VFD_MAGIC) ? vfd_open(path, &error) : NULL;

	if (error)
		complain("%s", error);
	else if (!f)
		complain(
			"%s: no sampling file that can be read; the time line is without it", path);
	free(error);
	if (!f)
		return;
	*APPEND(in->files, in->n, in->cap) = f;
}

/* The event in a sampling file's name, if it is of the node of the profile STEM.vfp; else "". */
static const char *event_of(const char *name, const char *stem)
{
	const size_t n = strlen(stem), bytes = strlen(name);
	const char *found = result_event_in(name);

	return !strncmp(name, stem, n) && found == name + n + 1 && bytes > 4 &&
			       !strcmp(name + bytes - 4, ".vfd")
		       ? found
		       : "";
}

/* How long the iteration was for which the recorder has written, or longer, if the JSON has several
 * in one step. 0: it is not known. */
static double slow_s(const struct json_tree *all, const char *event)
{
	const struct value *steps =
		value_member(all, value_member(all, json_tree_root(all), "iterations"), "steps");
	const double number = strtod(event + strlen(result_events[EVENT_SLOW]), NULL);
	double s = 0.0;

	for (const struct value *v = value_first(all, steps); v; v = value_next(all, v))
		if (value_real_of(all, v, "first") <= number)
			s = value_real_of(all, v, "most_s");
	return s;
}

/* What a reader wants to see first: a death, then the longest iteration. */
static double weight_of(const struct json_tree *all, const char *event)
{
	if (!strncmp(event, result_events[EVENT_DEATH], strlen(result_events[EVENT_DEATH])))
		return INFINITY;
	if (!strncmp(event, result_events[EVENT_SLOW], strlen(result_events[EVENT_SLOW])))
		return slow_s(all, event);
	return -1.0;
}

/* The folder of a profile, and the begin of the names of its node's files. False: it has none. */
static bool split_path(const char *profile, char **directory, char **stem)
{
	const size_t n = strlen(profile);

	if (n <= 4 || strcmp(profile + n - 4, ".vfp"))
		return false;
	*directory = file_directory(profile);
	*stem = xasprintf("%.*s", (int)(strlen(basename(profile)) - 4), basename(profile));
	return true;
}

static void look_for_events(
	struct files *in, const struct json_tree *all, const char *directory, const char *stem)
{
	struct dirent **list;
	const int n = scandir(directory, &list, NULL, alphasort);

	for (int i = 0; i < n; i++) {
		const char *event = event_of(list[i]->d_name, stem);

		in->events += *event != '\0';
		if (*event && (!in->event || weight_of(all, event) > weight_of(all, in->event))) {
			free(in->event);
			in->event = xstrdup(event);
		}
		free(list[i]);
	}
	if (n >= 0)
		free(list);
}

static bool is_there(const char *directory, const char *stem, const char *end)
{
	char *path = xasprintf("%s/%s%s", directory, stem, end);
	const bool is = !access(path, F_OK);

	free(path);
	return is;
}

/* Of a run that was recorded as a whole there are no events. */
static void choose_event(
	struct files *in, const struct json_tree *all, char *const *profiles, size_t n)
{
	bool whole = false;

	for (size_t i = 0; i < n && !whole; i++) {
		char *directory, *stem;

		if (!split_path(profiles[i], &directory, &stem))
			continue;
		whole = is_there(directory, stem, ".vfd");
		if (!whole)
			look_for_events(in, all, directory, stem);
		free(directory);
		free(stem);
	}
	if (whole) {
		free(in->event);
		in->event = NULL;
	}
}

static void add_files_of(struct files *in, const char *profile)
{
	static const char *const marks[] = {"_", "-"};
	char *directory, *stem;

	if (!split_path(profile, &directory, &stem))
		return;
	for (size_t i = 0; i < (in->event ? ARRAY_SIZE(marks) : 1); i++) {
		char *end = in->event ? xasprintf("%s%s", marks[i], in->event) : xstrdup(".vfd");

		if (is_there(directory, stem, end)) {
			char *path = xasprintf("%s/%s%s", directory, stem, end);

			add_file(in, path);
			free(path);
		}
		free(end);
	}
	free(stem);
	free(directory);
}

static void files_free(struct files *in)
{
	for (size_t i = 0; i < in->n; i++)
		vfd_close(in->files[i]);
	free(in->files);
	free(in->event);
}

/* ---- the part that is shown ------------------------------------------------------------ */

static struct vfd_span span_of(const struct files *in)
{
	struct vfd_span all = {true, true, INT64_MAX, INT64_MIN};

	for (size_t i = 0; i < in->n; i++) {
		const struct vfd_facts *facts = vfd_facts(in->files[i]);

		all.from = MIN(all.from, facts->start);
		all.to = MAX(all.to, facts->end);
	}
	if (all.to < all.from || (uint64_t)all.to - (uint64_t)all.from > INT64_MAX)
		all.to = all.from; /* nonsense */
	return all;
}

/* Calls of this time in speedscope's format, or NULL: said why not. Of more than BYTES_MOST only
 * the beginning. */
static char *calls_within(const struct files *in, const struct vfd_span *span, bool again)
{
	struct export_options o = {.output = "-",
		.span = *span,
		.quiet = true,
		.may_be_empty = true,
		.damage_told = again,
		.bytes_most = BYTES_MOST};
	char *text = NULL;
	size_t i = 0, bytes;
	int status;

	while (strcmp(export_formats[i].name, "speedscope"))
		i++;
	o.into = memory_begin(&text, &bytes);
	status = export_run(&export_formats[i], &o, in->files, in->n, "time line");
	memory_end(o.into);
	if (status != 2)
		return text;
	free(text);
	return NULL;
}

/* A part of this length: before an event the last one, else the one in the middle. */
static struct vfd_span part_of(const struct vfd_span *all, const char *event, int64_t length)
{
	const int64_t less = all->to - all->from - length, after = event ? 0 : less / 2;

	/* with its last event, which is at `to' */
	if (!less)
		return (struct vfd_span){.from = all->from, .to = all->to};
	return (struct vfd_span){true, true, all->from + less - after, all->to - after};
}

/* What is likely to have room, of a run that has not. */
static int64_t likely_length(const struct files *in, int64_t all)
{
	double events = 1.0;

	for (size_t i = 0; i < in->n; i++)
		events += (double)vfd_facts(in->files[i])->samples;
	return (int64_t)(fmin(0.5, 0.7 * BYTES_MOST / (events * EVENT_BYTES)) * (double)all);
}

/* Longer than what had room, with this many bytes, and shorter than what had not. */
static int64_t longer(int64_t good, int64_t bad, size_t bytes)
{
	const double times = fmin(MORE_MOST, 0.75 * BYTES_MOST / (double)bytes);

	return fmin((double)good * times, (double)bad) < (double)(good + (bad - good) / 2)
		       ? (int64_t)((double)good * times)
		       : good + (bad - good) / 2;
}

/* The longest part that has room, or nearly so, as *span. */
static char *some_calls(const struct files *in, struct vfd_span *span)
{
	const struct vfd_span all = *span;
	int64_t good = 0, bad = all.to - all.from, length = bad;
	char *found = NULL;

	for (int i = 0; i < TRIES && (!i || length > good); i++) {
		const struct vfd_span part = part_of(&all, in->event, length);
		char *text = calls_within(in, &part, i);
		const size_t bytes = text ? strlen(text) : 0;

		if (!text)
			return found;
		if (bytes > BYTES_MOST) {
			free(text);
			bad = length;
			length = good ? good + (bad - good) / 2
				 : i  ? bad / LESS
				      : likely_length(in, bad);
			continue;
		}
		good = length;
		if (strstr(text, "\"events\":[")) {
			free(found);
			found = text;
			*span = part;
		} else {
			free(text);
		}
		if (length == all.to - all.from || (found && bytes > BYTES_MOST / 2))
			return found;
		length = longer(good, bad, found ? bytes : 1);
	}
	if (!found)
		complain("calls over time have no room in the report; vftr-open(1) shows them");
	return found;
}

static char *note_of(const struct files *in, const struct vfd_span *span)
{
	const struct vfd_span all = span_of(in);
	const double s = 1e-9 * (double)(span->to - span->from);
	const bool is_all = span->from == all.from && span->to == all.to;

	if (in->event)
		return xasprintf("Calls of all threads in the%s %s before the event %.*s%s.",
			is_all ? "" : " last", quantity_seconds(s).text,
			(int)strcspn(in->event, "."), in->event,
			in->events > in->n ? "; vftr-open(1) shows those of other events" : "");
	if (is_all)
		return xstrdup("Calls of all threads that were recorded.");
	return xasprintf(
		"Calls of all threads in %s in the middle of the run; vftr-open(1) shows all.",
		quantity_seconds(s).text);
}

struct timeline *timeline_read(char *const *profiles, size_t n, const struct json_tree *all)
{
	struct files in = {0};
	struct timeline *t = NULL;
	char *viewer = viewer_of();

	if (viewer)
		choose_event(&in, all, profiles, n);
	for (size_t i = 0; viewer && i < n; i++)
		add_files_of(&in, profiles[i]);
	if (in.n) {
		struct vfd_span span;

		t = xcalloc(1, sizeof(*t));
		vfd_line_up(in.files, in.n);
		vfd_shorten_names(in.files, in.n);
		span = span_of(&in);
		t->calls = some_calls(&in, &span);
		t->note = note_of(&in, &span);
		t->viewer = viewer;
		t->page = (struct page_timeline){t->viewer, t->calls, t->note};
		viewer = NULL;
	}
	files_free(&in);
	free(viewer);
	return t;
}

const struct page_timeline *timeline_page(const struct timeline *t)
{
	return t && t->calls ? &t->page : NULL;
}

void timeline_free(struct timeline *t)
{
	if (!t)
		return;
	free(t->viewer);
	free(t->calls);
	free(t->note);
	free(t);
}
