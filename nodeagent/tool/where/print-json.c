/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "nodeagent/base/json-write.h"
#include "nodeagent/base/util.h"
#include "nodeagent/live/view.h"
#include "nodeagent/live/where/where.h"
#include "nodeagent/tool/top/answer.h"
#include "nodeagent/tool/top/viewer.h"
#include "nodeagent/tool/where/print.h"

static void ranks_json(struct json *j, const char *key, const struct where_ranks *r)
{
	char *text = where_ranks_text(r);

	json_string(j, key, text);
	free(text);
}

static void path_json(struct json *j, const char *path)
{
	char *copy = xstrdup(path), *rest = copy, *frame;
	const char between[] = {WHERE_FRAME_BEGINS, '\0'};

	json_array(j, "path");
	while ((frame = strsep(&rest, between)))
		json_string(j, NULL, frame);
	json_close(j);
	free(copy);
}

static void collective_json(struct json *j, const struct where *w, const struct where_place *p)
{
	const struct where_comm *c = where_comm_of(w, p);
	struct where_ranks missing, unseen;

	if (!c) {
		json_string(j, "collective", NULL);
		return;
	}
	json_object(j, "collective");
	json_string(j, "communicator", c->name[0] ? c->name : NULL);
	json_uint(j, "size", c->size);
	json_uint(j, "call", p->call);
	if (where_missing(w, p, &missing)) {
		where_subtract_ranks(&unseen, &missing, &w->ranks);
		ranks_json(j, "missing", &missing);
		ranks_json(j, "missing_unseen", &unseen);
	} else {
		json_string(j, "missing", NULL);
		json_string(j, "missing_unseen", NULL);
	}
	json_close(j);
}

static void places_json(struct json *j, const struct where *w)
{
	static const char *const states[] = {"running", "stopped", "ended"};

	json_array(j, "places");
	EACH(const struct where_place, p, w->places, w->n_places) {
		json_object(j, NULL);
		path_json(j, p->path);
		json_string(j, "state", states[p->state]);
		json_uint(j, "threads", p->threads);
		json_uint(j, "processes", p->processes);
		ranks_json(j, "ranks", &p->ranks);
		json_uint(j, "pid", p->pid);
		json_seconds(j, "since_least_s", p->since_least);
		json_seconds(j, "since_most_s", p->since_most);
		json_string(j, "lock", p->lock[0] ? p->lock : NULL);
		json_string(j, "lock_held_by", p->holder[0] && !p->had ? p->holder : NULL);
		json_string(j, "lock_got_last_by", p->holder[0] && p->had ? p->holder : NULL);
		collective_json(j, w, p);
		json_close(j);
	}
	json_close(j);
}

static void number_json(struct json *j, const char *key, uint32_t n)
{
	if (n == WHERE_ANY)
		json_string(j, key, NULL);
	else
		json_uint(j, key, n);
}

static void waits_json(struct json *j, const struct where *w)
{
	static const char *const kinds[] = {"send", "receive"};

	json_array(j, "waits");
	EACH(const struct where_wait, s, w->waits, w->n_waits) {
		json_object(j, NULL);
		json_uint(j, "rank", s->rank);
		json_string(j, "for", kinds[s->kind]);
		number_json(j, "peer", s->peer);
		number_json(j, "tag", s->tag);
		json_string(j, "communicator", s->comm[0] ? s->comm : NULL);
		json_uint(j, "requests", s->n);
		json_uint(j, "of", s->of);
		json_seconds(j, "since_s", s->since);
		json_close(j);
	}
	json_close(j);
}

static void cycle_json(struct json *j, const struct where *w)
{
	uint32_t ranks[WHERE_CYCLE_MOST];
	const size_t n = where_cycle(w, WHERE_HANGS_LEAST, ranks, WHERE_CYCLE_MOST);

	json_array(j, "deadlock");
	for (size_t i = 0; i < n; i++)
		json_uint(j, NULL, ranks[i]);
	json_close(j);
}

/* One cycle, which begins with l. */
static void locked_json(struct json *j, const struct where_locked *l)
{
	json_object(j, NULL);
	number_json(j, "rank", l->rank);
	json_uint(j, "pid", l->pid);
	json_array(j, "threads");
	for (uint32_t i = 0; i < l->of; i++) {
		json_object(j, NULL);
		json_uint(j, "thread", l[i].thread);
		json_string(j, "waits_for", l[i].lock);
		json_uint(j, "held_by", l[(i + 1) % l->of].thread);
		json_seconds(j, "since_s", l[i].since);
		json_close(j);
	}
	json_close(j);
	json_close(j);
}

static void all_locked_json(struct json *j, const struct where *w)
{
	json_array(j, "lock_deadlocks");
	for (size_t i = 0; i < w->n_locked; i += w->locked[i].of)
		if (where_is_locked(&w->locked[i], WHERE_HANGS_LEAST))
			locked_json(j, &w->locked[i]);
	json_close(j);
}

static void left_out_json(struct json *j, const struct where *w)
{
	json_object(j, "left_out");
	json_uint(j, "places", w->places_cut);
	json_uint(j, "threads", w->threads_cut);
	json_uint(j, "waits", w->waits_cut);
	json_uint(j, "communicators", w->comms_cut);
	json_uint(j, "locked_threads", w->locked_cut);
	json_close(j);
}

void where_json(FILE *f, const struct viewer *w, const struct live_view *v, bool lines)
{
	const struct where *here = w->where;
	struct json j;

	json_begin(&j, f, lines ? 2 : 0);
	json_object(&j, NULL);
	json_string(&j, "format", "vftr-where");
	json_uint(&j, "version", 1);
	json_string(&j, "session", w->session);
	json_int(&j, "time", time(NULL));
	json_bool(&j, "complete",
		w->agents && here->nodes + (uint64_t)v->n_absent >= w->agents &&
			!viewer_misses_some(v));
	json_uint(&j, "n_nodes", w->agents);
	json_uint(&j, "nodes_seen", here->nodes);
	json_uint(&j, "nodes_missing", v->n_absent);
	json_uint(&j, "processes", here->processes);
	json_uint(&j, "threads", here->threads);
	json_bool(&j, "all_wait_in_mpi", !v->n_absent && where_all_wait(here, WHERE_HANGS_LEAST));
	cycle_json(&j, here);
	all_locked_json(&j, here);
	places_json(&j, here);
	waits_json(&j, here);
	left_out_json(&j, here);
	record_json(&j, w, v);
	json_close(&j);
	if (!lines)
		fputc('\n', f);
}
