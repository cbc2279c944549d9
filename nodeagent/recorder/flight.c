/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The flight recorder, sampling.keep: all is kept in memory for some seconds, and written when
 * something happens. An event waits RECORDER_AFTER_NS, so that the file has what came behind it,
 * too; then the file is written bit by bit while the rings are read. Events that come meanwhile are
 * in the same file.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "conf/conf.h"
#include "nodeagent/process/drain.h"
#include "nodeagent/process/host.h"
#include "nodeagent/process/process.h"
#include "nodeagent/recorder/internal.h"
#include "nodeagent/base/util.h"
#include "nodeagent/trace/write/keep.h"

#define AGAIN_NS 10000000u   /* the disk is awaited */
#define END_S	 1.0	     /* for the end of a file while the job runs */
#define FREQUENT EVENT_DEATH /* up to it, events may come by thousands */

struct flight_file {
	char *event, *path;
};

struct flight {
	enum { FLIGHT_ARMED, FLIGHT_DUE, FLIGHT_WRITTEN, FLIGHT_ENDED } state;
	char *event;		      /* unless ARMED */
	uint64_t due;		      /* raw ns */
	uint64_t end;		      /* ticks; of the file, whose events all came before */
	uint64_t armed[FREQUENT + 1]; /* raw ns: until then these are passed over */
	uint64_t bytes;		      /* of all files */
	struct flight_event now;      /* unless ARMED */
	bool is_news;		      /* the others have not heard of it */
	uint64_t n_of[RESULT_EVENTS];
	bool full; /* sampling.max_size is reached, and that was said */
	struct flight_file *files;
	size_t n_files, cap_files;
};

struct flight *flight_new(void)
{
	return xcalloc(1, sizeof(struct flight));
}

static bool is_wanted(const struct host *host, enum result_event kind)
{
	return conf_has_word(host->conf->sampling_when, result_events[kind]);
}

static bool is_known(const struct flight *f, const char *event)
{
	return ANY(i, f->n_files, !strcmp(f->files[i].event, event));
}

bool recorder_awaits(const struct host *host, enum result_event kind)
{
	const struct flight *f = host->recorder ? host->recorder->flight : NULL;

	return f && host->recorder->writer && is_wanted(host, kind) && !f->full &&
	       (f->state == FLIGHT_ARMED || (f->state == FLIGHT_DUE && kind > f->now.kind)) &&
	       (kind > FREQUENT || clock_raw_ns() >= f->armed[kind]);
}

enum request_state flight_refusal(const struct host *host)
{
	const struct flight *f = host->recorder ? host->recorder->flight : NULL;

	if (recorder_awaits(host, EVENT_REQUEST))
		return REQUEST_DUE;
	if (!(host->conf->sampling_keep > 0))
		return REQUEST_NOT_KEPT;
	if (!is_wanted(host, EVENT_REQUEST))
		return REQUEST_NOT_WANTED;
	if (!f || !host->recorder->writer)
		return REQUEST_FAILED;
	return f->full ? REQUEST_FULL : REQUEST_UNDER_WAY;
}

static char *name_of(const struct flight_event *e)
{
	const char *of = e->kind != EVENT_DEATH ? "" : e->of_pid ? "-pid" : "-rank";

	return xasprintf("%s%s%" PRIu64, result_events[e->kind], of, e->number);
}

bool flight_has_files(const struct flight *f)
{
	return f->n_files;
}

bool flight_has(const struct host *host, const struct flight_event *e)
{
	const struct flight *f = host->recorder ? host->recorder->flight : NULL;
	char *name = f ? name_of(e) : NULL;
	const bool has = f && ((f->event && !strcmp(f->event, name)) || is_known(f, name));

	free(name);
	return has;
}

bool flight_join(struct host *host, uint64_t stamp)
{
	struct flight *f = host->recorder ? host->recorder->flight : NULL;

	if (!f || f->state == FLIGHT_ARMED || f->now.kind != EVENT_REQUEST)
		return false;
	f->now.stamp = stamp;
	f->is_news = true;
	return true;
}

/* False: there is a file of it already. */
static bool make_due(struct flight *f, struct flight_event e)
{
	char *name = name_of(&e);

	if (is_known(f, name)) {
		free(name);
		return false;
	}
	f->now = e;
	free(f->event); /* of one that is not as important */
	f->event = name;
	f->state = FLIGHT_DUE;
	f->due = clock_raw_ns() + RECORDER_AFTER_NS;
	return true;
}

bool recorder_event(struct host *host, struct flight_event e, const char *what)
{
	struct flight *f;

	if (!recorder_awaits(host, e.kind))
		return false;
	f = host->recorder->flight;
	if (e.kind > FREQUENT)
		e.number = ++f->n_of[e.kind];
	if (!make_due(f, e))
		return false;
	f->is_news = true;
	if (e.kind == EVENT_REQUEST)
		recorder_request_is(host, REQUEST_DUE);
	host_warn(host, false, "flight recorder: %s: %s", f->event, what);
	return true;
}

bool recorder_event_news(struct host *host, struct flight_event *e)
{
	struct flight *f = host->recorder ? host->recorder->flight : NULL;

	if (!f || !f->is_news)
		return false;
	f->is_news = false;
	*e = f->now;
	return true;
}

/* What is more important, then the lower number: the same order on all nodes, so that files of one
 * moment have one name. */
static bool is_before(const struct flight_event *x, const struct flight_event *y)
{
	return x->kind != y->kind	? x->kind > y->kind
	       : x->number != y->number ? x->number < y->number
					: x->of_pid < y->of_pid;
}

void recorder_event_elsewhere(struct host *host, struct flight_event e)
{
	struct flight *f = host->recorder ? host->recorder->flight : NULL;

	if (e.kind == EVENT_REQUEST)
		recorder_request_elsewhere(host, &e);
	if (!f || !host->recorder->writer || !is_wanted(host, e.kind) || f->full)
		return;
	if (e.kind > FREQUENT && e.number > f->n_of[e.kind])
		f->n_of[e.kind] = e.number;
	if (f->state == FLIGHT_DUE && is_before(&e, &f->now)) {
		const uint64_t due = f->due;

		if (make_due(f, e))
			f->due = due;
	} else if (f->state != FLIGHT_ARMED || !make_due(f, e)) {
		return;
	}
	if (f->state != FLIGHT_DUE)
		return;
	if (f->now.kind == EVENT_REQUEST)
		recorder_request_is(host, REQUEST_DUE);
	host_warn(host, false, "flight recorder: %s, as another agent says", f->event);
}

static char *path_of(const struct recorder *s, const char *base, const char *event)
{
	char *who = xasprintf("%s_%s", s->host->name, event);
	const struct result r = {base, RESULT_SAMPLES, who, NULL};
	char *path = result_path(result_layout(s->host->conf), s->host->output_directory, &r);

	free(who);
	return path;
}

char *flight_path(const struct recorder *s)
{
	return s->flight->state == FLIGHT_ARMED ? NULL : path_of(s, s->base, s->flight->event);
}

/* What has become of the request, if it was one. */
static void settle_request(const struct recorder *s, enum request_state state)
{
	if (s->flight->now.kind == EVENT_REQUEST)
		recorder_request_is(s->host, state);
}

static void begin_file(struct recorder *s)
{
	struct flight *f = s->flight;
	const uint64_t most = s->host->conf->sampling_max_size;
	char *path, *error = NULL;

	f->end = host_ticks(s->host);
	recorder_complete(s);
	if (most && f->bytes + vfd_writer_kept(s->writer).bytes > most) {
		host_warn(s->host, true,
			"flight recorder: with %s the files would be larger than "
			"sampling.max_size: no "
			"more are written",
			f->event);
		f->full = true;
		settle_request(s, REQUEST_FULL);
	} else {
		path = path_of(s, s->base, f->event);
		if (vfd_freeze_begin(s->writer, path, &error)) {
			*LIST_ADD(f, files) = (struct flight_file){f->event, path};
			f->state = FLIGHT_WRITTEN;
			return;
		}
		host_warn(s->host, true, "flight recorder: no file for %s: %s", f->event, error);
		settle_request(s, REQUEST_FAILED);
		free(error);
		free(path);
	}
	free(f->event);
	f->event = NULL;
	f->state = FLIGHT_ARMED;
}

static void end_file(struct recorder *s, double seconds)
{
	struct flight *f = s->flight;
	const struct flight_file *file = &f->files[f->n_files - 1];
	const struct vfd_kept kept = vfd_writer_kept(s->writer);
	uint64_t bytes;
	const int error = vfd_freeze_end(s->writer, f->end, seconds, &bytes);

	f->bytes += bytes;
	settle_request(s, error ? REQUEST_FAILED : REQUEST_WRITTEN);
	f->event = NULL;
	f->state = FLIGHT_ARMED;
	for (unsigned kind = 0; kind <= FREQUENT && kind <= f->now.kind; kind++)
		f->armed[kind] = clock_raw_ns() + (uint64_t)(1e9 * s->host->conf->sampling_pause);
	if (error)
		host_warn(s->host, true, "flight recorder: the end of %s is missing: %s",
			file->path, strerror(-error));
	else if (kept.not_written)
		host_warn(s->host, true,
			"flight recorder: the disk was too slow for %s: parts are missing",
			file->path);
}

/* Writes what can be written now; the raw ns of the next call, UINT64_MAX: none is due. */
static uint64_t go_on(struct recorder *s, uint64_t now)
{
	struct flight *f = s->flight;

	if (f->state == FLIGHT_DUE && now >= f->due)
		drain_host_stored(s->host);
	if (f->state == FLIGHT_DUE && now >= f->due) /* or something greater has happened */
		begin_file(s);
	if (f->state == FLIGHT_WRITTEN && vfd_freeze_step(s->writer)) {
		recorder_tell_clock(s);
		f->state = FLIGHT_ENDED;
	}
	if (f->state == FLIGHT_ENDED && vfd_freeze_is_written(s->writer))
		end_file(s, END_S);
	return f->state == FLIGHT_ARMED ? UINT64_MAX
	       : f->state == FLIGHT_DUE ? f->due
					: now + AGAIN_NS;
}

double flight_tick(struct recorder *s)
{
	const uint64_t now = clock_raw_ns(), next = go_on(s, now);

	return next == UINT64_MAX ? NEVER_S : 1e-9 * (double)(next - now);
}

void flight_end(struct recorder *s, double seconds)
{
	const uint64_t until = clock_raw_ns() + (uint64_t)(1e9 * seconds);
	struct flight *f = s->flight;

	f->due = 0;
	while (f->state != FLIGHT_ARMED && clock_raw_ns() < until)
		if (go_on(s, clock_raw_ns()) != UINT64_MAX)
			vfd_writer_wait(s->writer, 1e-2);
	if (f->state == FLIGHT_WRITTEN || f->state == FLIGHT_ENDED)
		end_file(s, 0);
}

int flight_rename(struct recorder *s, const char *base)
{
	struct flight *f = s->flight;
	int failed = 0;

	for (size_t i = 0; i < f->n_files && strcmp(base, s->base); i++) {
		struct flight_file *file = &f->files[i];
		char *path = path_of(s, base, file->event);

		if (rename(file->path, path)) {
			complain("cannot rename %s to %s: %s", file->path, path, strerror(errno));
			free(path);
			failed = 1;
			continue;
		}
		free(file->path);
		file->path = path;
	}
	return failed;
}
