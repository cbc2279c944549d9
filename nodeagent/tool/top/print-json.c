/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <time.h>
#include "nodeagent/base/json-write.h"
#include "nodeagent/base/util.h"
#include "nodeagent/live/view.h"
#include "nodeagent/tool/top/print.h"
#include "nodeagent/tool/top/shares.h"
#include "nodeagent/tool/top/viewer.h"

static void classes_json(struct json *j, const uint64_t *classes)
{
	for (unsigned i = 0; i < LIVE_CLASSES_END; i++)
		json_seconds(j, live_class_name(i), classes[i]);
}

static void rate_json(struct json *j, const char *key, uint64_t n, uint64_t interval)
{
	json_real(j, key, rate_of(n, interval));
}

static void rank_number(struct json *j, const char *key, uint32_t rank)
{
	if (rank == LIVE_NO_RANK)
		json_string(j, key, NULL);
	else
		json_uint(j, key, rank);
}

static void sums_json(struct json *j, const struct live_view *v)
{
	json_object(j, "total");
	json_uint(j, "processes", v->processes);
	json_uint(j, "ranks", v->ranked);
	json_uint(j, "threads", v->threads);
	json_uint(j, "ended_processes", v->ended);
	json_seconds(j, "interval_s", v->interval);
	json_uint(j, "calls", v->calls);
	json_uint(j, "lost_calls", v->lost_calls);
	rate_json(j, "calls_per_s", v->calls_now, v->interval);
	rate_json(j, "records_per_s", v->records, v->interval);
	json_uint(j, "messages", v->messages);
	json_uint(j, "message_bytes", v->bytes);
	rate_json(j, "messages_per_s", v->messages_now, v->interval);
	rate_json(j, "message_bytes_per_s", v->bytes_now, v->interval);
	json_seconds(j, "hooks_s", v->hooks);
	json_real(j, "tracing_percent", cost_percent(v));
	classes_json(j, v->classes);
	json_close(j);
}

static void loop_json(struct json *j, const struct live_loop *l)
{
	if (!l->n) {
		json_string(j, "main_loop", NULL);
		return;
	}
	json_object(j, "main_loop");
	json_string(j, "path", l->text);
	rank_number(j, "rank", l->rank);
	json_uint(j, "iterations", l->n);
	json_bool(j, "is_separated", l->between);
	json_array(j, "last_s");
	for (size_t i = 0; i < l->n_took; i++)
		json_seconds(j, NULL, l->took[i]);
	json_close(j);
	json_close(j);
}

static void pause_json(struct json *j, const struct live_view *v)
{
	const struct live_off *o = off_named(v, "");

	if (!o) {
		json_string(j, "paused", NULL);
		return;
	}
	json_object(j, "paused");
	json_seconds(j, "since", o->stamp);
	json_uint(j, "nodes", o->nodes);
	json_uint(j, "processes", o->functions);
	json_close(j);
}

static void off_json(struct json *j, const struct live_view *v)
{
	json_array(j, "switched_off");
	for (size_t i = 0; i < v->n_off; i++) {
		if (!v->off[i].name[0])
			continue;
		json_object(j, NULL);
		json_string(j, "function", v->off[i].name);
		json_seconds(j, "since", v->off[i].stamp);
		json_uint(j, "nodes", v->off[i].nodes);
		json_uint(j, "functions", v->off[i].functions);
		json_close(j);
	}
	json_close(j);
}

/* POP's factors of the interval, by the useful time of the first threads. */
static void efficiency_json(struct json *j, const struct live_view *v)
{
	const double mean = v->processes ? 1e-6 * (double)v->share / v->processes : NAN;
	const double most = 1e-6 * (double)v->share_most;
	const bool known = v->interval && v->processes && v->share_most;

	json_object(j, "efficiency");
	json_real(j, "parallel", known ? mean : NAN);
	json_real(j, "load_balance", known ? mean / most : NAN);
	json_real(j, "communication", known ? most : NAN);
	json_close(j);
}

static void nodes_json(struct json *j, const struct live_view *v)
{
	json_array(j, "nodes");
	EACH(const struct live_node, n, v->nodes, v->n_nodes) {
		json_object(j, NULL);
		json_string(j, "node", n->host);
		json_uint(j, "agent", n->agent);
		json_uint(j, "processes", n->processes);
		json_uint(j, "threads", n->threads);
		json_seconds(j, "interval_s", n->interval);
		json_seconds(j, "age_s", n->age);
		rate_json(j, "calls_per_s", n->calls, n->interval);
		rate_json(j, "records_per_s", n->records, n->interval);
		json_uint(j, "lost_calls", n->lost_calls);
		classes_json(j, n->classes);
		json_seconds(j, "look_s", n->look);
		json_uint(j, "sent_messages", n->sent);
		json_uint(j, "sent_bytes", n->sent_bytes);
		json_close(j);
	}
	json_close(j);
}

static void missing_json(struct json *j, const struct live_view *v)
{
	json_array(j, "missing");
	EACH(const struct live_missing, m, v->missing, v->n_missing) {
		json_object(j, NULL);
		json_string(j, "node", m->host[0] ? m->host : NULL);
		json_uint(j, "agent", m->agent);
		json_string(j, "why", m->why == LIVE_GONE ? "ended" : "no answer");
		json_close(j);
	}
	json_close(j);
}

static void ranks_json(struct json *j, const struct live_view *v)
{
	json_array(j, "per_rank");
	EACH(const struct live_rank, r, v->ranks, v->n_ranks) {
		json_object(j, NULL);
		rank_number(j, "rank", r->rank);
		json_string(j, "node", host_of(v, r->agent));
		json_uint(j, "pid", r->pid);
		json_uint(j, "threads", r->threads);
		json_seconds(j, "interval_s", r->interval);
		json_seconds(j, "first_useful_s", r->first_useful);
		classes_json(j, r->classes);
		json_close(j);
	}
	json_close(j);
}

static void paths_json(struct json *j, const struct live_view *v)
{
	char hash[24];

	json_array(j, "paths");
	EACH(const struct live_path, p, v->paths, v->n_paths) {
		snprintf(hash, sizeof(hash), "%016llx", (unsigned long long)p->hash);
		json_object(j, NULL);
		json_string(j, "path", p->text[0] ? p->text : NULL);
		json_string(j, "hash", hash);
		json_uint(j, "calls", p->calls);
		json_seconds(j, "t_excl_s", p->ns);
		rate_json(j, "calls_per_s", p->calls_now, v->interval);
		json_seconds(j, "t_now_s", p->ns_now);
		json_uint(j, "processes", p->processes);
		rank_number(j, "most_rank", p->most_rank);
		json_seconds(j, "most_now_s", p->most_now);
		json_seconds(j, "least_now_s", p->least_now);
		json_bool(j, "exact", !p->without);
		json_close(j);
	}
	json_close(j);
	json_object(j, "paths_left_out");
	json_uint(j, "nodes", v->n_cut);
	json_seconds(j, "t_excl_most_s", v->cut_ns);
	json_seconds(j, "t_now_most_s", v->cut_now);
	json_close(j);
}

static void waits_json(struct json *j, const struct live_view *v)
{
	json_array(j, "waits");
	for (uint32_t i = 0; i < WAIT_KINDS_END; i++) {
		const struct live_wait *w = &v->waits[i];

		if (!w->calls && !w->ns)
			continue;
		json_object(j, NULL);
		json_string(j, "kind", wait_kind_name(i));
		json_uint(j, "calls", w->calls);
		json_seconds(j, "t_s", w->ns);
		json_uint(j, "calls_now", w->calls_now);
		json_seconds(j, "t_now_s", w->ns_now);
		json_close(j);
	}
	json_close(j);
}

void view_json(FILE *f, const struct viewer *w, const struct live_view *v, bool lines)
{
	const uint64_t known = v->n_all + (uint64_t)v->n_absent;
	struct json j;

	json_begin(&j, f, lines ? 2 : 0);
	json_object(&j, NULL);
	json_string(&j, "format", "vftr-live");
	json_uint(&j, "version", LIVE_VERSION);
	json_string(&j, "session", w->session);
	json_string(&j, "program", v->program[0] ? v->program : NULL);
	json_string(&j, "job", v->job[0] ? v->job : NULL);
	json_seconds(&j, "elapsed_s", v->elapsed);
	json_int(&j, "time", time(NULL));
	json_seconds(&j, "period_s", (uint64_t)w->period);
	json_bool(&j, "complete", viewer_is_complete(w, v) && !viewer_misses_some(v));
	json_uint(&j, "n_nodes", w->agents);
	json_uint(&j, "nodes_seen", v->n_all);
	json_uint(&j, "nodes_missing", v->n_absent);
	json_uint(&j, "nodes_awaited", w->agents > known ? w->agents - known : 0);
	json_seconds(&j, "age_s", v->age);
	sums_json(&j, v);
	loop_json(&j, &v->loop);
	pause_json(&j, v);
	off_json(&j, v);
	efficiency_json(&j, v);
	nodes_json(&j, v);
	missing_json(&j, v);
	ranks_json(&j, v);
	paths_json(&j, v);
	waits_json(&j, v);
	json_close(&j);
	if (!lines)
		fputc('\n', f);
}
