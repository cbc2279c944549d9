/* SPDX-License-Identifier: BSD-3-Clause */
/* A sampling file as JSON: definitions, then one object per event. Times are ns. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpi_id.h"
#include "nodeagent/base/json-write.h"
#include "nodeagent/trace/dump/text.h"
#include "nodeagent/trace/read/collectives.h"
#include "nodeagent/trace/format.h"
#include "nodeagent/trace/read/paths.h"

static void block_bytes(struct json *j, const struct vfd_facts *x)
{
	static const char *const names[VFD_BLOCK_KINDS] = {[VFD_BLOCK_HEADER] = "header",
		[VFD_BLOCK_DEFINITIONS] = "definitions",
		[VFD_BLOCK_SAMPLES] = "samples",
		[VFD_BLOCK_MESSAGES] = "messages",
		[VFD_BLOCK_CLOCK] = "clock",
		[VFD_BLOCK_COUNTERS] = "counters",
		[VFD_BLOCK_INDEX] = "index",
		[VFD_BLOCK_END] = "end",
		[VFD_BLOCK_MATCHES] = "matches",
		[VFD_BLOCK_LAUNCHES] = "launches",
		[VFD_BLOCK_WAITS] = "waits",
		[VFD_BLOCK_LENGTHS] = "lengths",
		[VFD_BLOCK_DICTIONARY] = "dictionary",
		[VFD_BLOCK_LOCKS] = "locks",
		[VFD_BLOCK_RUNS] = "runs"};

	json_object(j, "block_bytes");
	for (size_t i = 1; i < VFD_BLOCK_KINDS; i++)
		if (x->block_bytes[i])
			json_uint(j, names[i], x->block_bytes[i]);
	json_close(j);
}

static void rounds(struct json *j, const struct vfd_file *f)
{
	size_t n;
	struct vfd_round *r = vfd_rounds(f, &n);

	if (n) {
		json_array(j, "rounds");
		for (size_t i = 0; i < n; i++) {
			json_object(j, NULL);
			json_uint(j, "number", r[i].number);
			json_int(j, "begin_ns", r[i].begin);
			json_close(j);
		}
		json_close(j);
	}
	free(r);
}

static void put_hex(struct json *j, const char *key, uint64_t value)
{
	char text[17]; /* 64 bits are more than a JSON number holds everywhere */

	snprintf(text, sizeof(text), "%016" PRIx64, value);
	json_string(j, key, text);
}

static void facts(struct json *j, struct vfd_file *f)
{
	const struct vfd_facts *x = vfd_facts(f);
	size_t n;
	const struct vfd_damage *d = vfd_damage(f, &n);

	json_string(j, "format", "vftr-sampling");
	json_uint(j, "version", 1);
	if (x->run)
		put_hex(j, "run", x->run);
	json_string(j, "application", x->application);
	json_string(j, "host", x->host);
	json_int(j, "start_unix_ns", x->start_unix_ns);
	json_int(j, "start_ns", x->start);
	json_int(j, "end_ns", x->end);
	json_int(j, "interval_ns", x->interval_ns);
	json_uint(j, "samples", x->samples);
	json_uint(j, "messages", x->messages);
	json_uint(j, "matches", x->matches);
	json_uint(j, "counts", x->counts);
	json_uint(j, "launches", x->launches);
	json_uint(j, "unknown_blocks", x->unknown_blocks);
	json_uint(j, "bytes", x->bytes);
	block_bytes(j, x);
	json_uint(j, "lost_calls", x->lost_calls);
	json_uint(j, "thinned_calls", x->thinned_calls);
	json_bool(j, "closed", x->closed);
	json_bool(j, "synchronised", x->synchronised);
	json_int(j, "clock_error_ns", x->clock_error_ns);
	rounds(j, f);
	json_array(j, "damage");
	for (size_t i = 0; i < n; i++) {
		json_object(j, NULL);
		json_uint(j, "from", d[i].from);
		json_uint(j, "to", d[i].to);
		json_string(j, "why", d[i].why);
		json_close(j);
	}
	json_close(j);
}

static void processes(struct json *j, struct vfd_file *f, const struct vfd_dump *d)
{
	size_t n;
	const struct vfd_process *p = vfd_processes(f, &n);

	json_array(j, "processes");
	for (size_t i = 0; i < n; i++) {
		if (!vfd_dump_wants(d, &p[i]))
			continue;
		json_object(j, NULL);
		json_uint(j, "id", i);
		json_int(j, "rank", p[i].rank);
		json_int(j, "pid", p[i].pid);
		json_uint(j, "size", p[i].size);
		json_string(j, "executable", p[i].executable);
		json_int(j, "start_ns", p[i].start);
		json_int(j, "end_ns", p[i].end);
		json_bool(j, "ended", p[i].ended);
		json_close(j);
	}
	json_close(j);
}

static bool wants_track(struct vfd_file *f, const struct vfd_dump *d, const struct vfd_thread *t)
{
	size_t n;
	const struct vfd_process *p = vfd_processes(f, &n);

	if (t->process >= n)
		return !d->ranks;
	return vfd_dump_wants(d, &p[t->process]);
}

static void stacks(struct json *j, struct vfd_file *f, uint32_t track, bool lost)
{
	size_t n;
	const struct vfd_stack *s = vfd_stacks(f, track, &n);

	json_array(j, "stacks");
	for (uint32_t i = 0; i < n - !lost; i++) {
		json_object(j, NULL);
		json_uint(j, "id", i);
		json_int(j, "caller", i ? (int64_t)s[i].caller : -1);
		json_string(j, "function", vfd_stack_name(f, track, i));
		json_bool(j, "precise", vfd_stack_precise(f, track, i));
		json_close(j);
	}
	json_close(j);
}

static void threads(struct json *j, struct vfd_file *f, const struct vfd_dump *d)
{
	size_t n;
	const struct vfd_thread *t = vfd_threads(f, &n);
	bool *lost = vfd_paths_lost(f, VFD_NONE);

	json_array(j, "threads");
	for (uint32_t i = 0; i < n; i++) {
		if (t[i].track == VFD_NONE || !wants_track(f, d, &t[i]))
			continue;
		json_object(j, NULL);
		json_uint(j, "lane", i);
		json_int(j, "process", t[i].process == VFD_NONE ? -1 : (int64_t)t[i].process);
		json_uint(j, "number", t[i].number);
		json_int(j, "creator", t[i].creator == VFD_NONE ? -1 : (int64_t)t[i].creator);
		json_int(j, "tid", t[i].tid);
		json_string(j, "name", t[i].name);
		stacks(j, f, i, lost[i]);
		json_close(j);
	}
	json_close(j);
	free(lost);
}

static void communicators(struct json *j, const struct vfd_file *f)
{
	size_t n;
	const struct vfd_comm *c = vfd_comms(f, &n);

	json_array(j, "communicators");
	for (size_t i = 0; i < n; i++) {
		if (c[i].number == VFD_NONE)
			continue;
		json_object(j, NULL);
		json_uint(j, "number", c[i].number);
		put_hex(j, "id", c[i].id);
		json_string(j, "name", c[i].name);
		json_uint(j, "size", c[i].size);
		json_uint(j, "remote_size", c[i].remote_size);
		json_array(j, "members");
		for (size_t k = 0; k < c[i].n_runs; k++) {
			json_object(j, NULL);
			json_int(j, "first", c[i].runs[k].first);
			json_int(j, "stride", c[i].runs[k].stride);
			json_int(j, "count", c[i].runs[k].count);
			json_close(j);
		}
		json_close(j);
		json_close(j);
	}
	json_close(j);
}

static void counters_json(struct json *j, const struct vfd_file *f)
{
	size_t n, n_observables;
	const struct vfd_counter *c = vfd_counters(f, &n);
	const struct vfd_observable *o = vfd_observables(f, &n_observables);

	json_array(j, "counters");
	for (size_t i = 0; i < n; i++) {
		if (!c[i].number)
			continue;
		json_object(j, NULL);
		json_uint(j, "id", i);
		json_int(j, "process", c[i].process == VFD_NONE ? -1 : (int64_t)c[i].process);
		json_string(j, "kind", vfd_counter_kinds[c[i].kind]);
		json_string(j, "name", c[i].name);
		json_string(j, "symbol", c[i].symbol);
		json_string(j, "unit", c[i].unit);
		json_string(j, "source", c[i].source);
		json_close(j);
	}
	json_close(j);
	json_array(j, "observables");
	for (size_t i = 0; i < n_observables; i++) {
		if (!o[i].number)
			continue;
		json_object(j, NULL);
		json_string(j, "name", o[i].name);
		json_string(j, "formula", o[i].formula);
		json_string(j, "unit", o[i].unit);
		json_close(j);
	}
	json_close(j);
}

static void values(struct json *j, const struct vfd_file *f, const struct vfd_counts *counts)
{
	size_t n;
	const struct vfd_counter *all = vfd_counters(f, &n);

	json_object(j, "values");
	for (uint32_t i = 0; i < counts->n; i++) {
		const uint64_t value = counts->values[i];
		char id[16];
		double real;

		snprintf(id, sizeof(id), "%u", counts->counters[i]);
		memcpy(&real, &value, sizeof(real));
		if (all[counts->counters[i]].kind == VFD_COUNTER_SUM)
			json_uint(j, id, value);
		else if (all[counts->counters[i]].kind == VFD_COUNTER_INTEGER)
			json_int(j, id, (int64_t)value);
		else
			json_exact(j, id, real);
	}
	json_close(j);
}

static void launch_json(struct json *j, const struct vfd_file *f, const struct vfd_launch *l)
{
	json_string(j, "kind", vfd_launch_names[l->kind]);
	json_uint(j, "launch", l->id);
	json_uint(j, "bytes", l->bytes);
	put_hex(j, "flow", vfd_launch_flow(f, l));
}

static int64_t or_none(uint32_t number)
{
	return number == VFD_NONE ? -1 : (int64_t)number;
}

static void put_comm(struct json *j, const struct vfd_comm *c)
{
	json_int(j, "communicator", c ? (int64_t)c->number : -1);
	json_string(j, "comm", c ? c->name : NULL);
}

/* of: the operation that it is of, or itself. */
static void message_json(struct json *j, struct vfd_file *f, const struct vfd_message *m,
	const struct vfd_message *of)
{
	const struct vfd_comm *c = of->kind == VFD_RMA ? NULL : vfd_comm(f, m->comm);
	const bool p2p = m->kind == VFD_SEND || m->kind == VFD_RECEIVE;

	json_string(j, "kind", vfd_message_names[m->kind]);
	json_int(j, "end_ns", m->end);
	json_int(j, "peer", or_none(m->peer));
	json_uint(j, "bytes", m->bytes);
	json_uint(j, "ticket", of->ticket);
	if (p2p) {
		json_int(j, "tag", m->tag);
		json_string(j, "type", vfd_mpitype(m->type)->name);
		put_comm(j, c);
	} else {
		json_uint(j, "bytes_received", m->bytes_received);
	}
	if (m->kind == VFD_COLLECTIVE) {
		json_uint(j, "sends", m->sends);
		json_uint(j, "receives", m->receives);
		json_string(j, "type", vfd_mpitype(m->type)->name);
		json_int(j, "root", or_none(m->peer));
		put_comm(j, c);
	}
	if (p2p && of == m)
		put_hex(j, "flow", vfd_message_flow(f, m));
	if (vfd_expands(of) || m->kind == VFD_EPOCH)
		json_string(j, "function",
			of->function < vftr_mpi_n ? vftr_mpi_names[of->function] : NULL);
	if (m->kind == VFD_EPOCH) {
		put_hex(j, "window", m->offset);
		json_bool(j, "exclusive", m->flags & VFD_MESSAGE_EXCLUSIVE);
	}
	if (m->kind == VFD_RECEIVE && of == m) {
		json_string(j, "match", vfd_match_names[m->match]);
		json_uint(j, "sender_ticket", m->sender_ticket);
		json_int(j, "sender_thread", or_none(m->sender_thread));
	}
}

static void event(
	struct json *j, struct vfd_file *f, const struct vfd_event *e, const struct vfd_message *m)
{
	json_object(j, NULL);
	json_int(j, "t_ns", e->time);
	json_uint(j, "lane", e->track);
	json_string(j, "event", vfd_event_names[e->kind]);
	if (e->kind != VFD_COUNTERS)
		json_uint(j, "stack", e->stack);
	if (e->kind == VFD_COUNTERS)
		values(j, f, e->counts);
	else if (e->kind == VFD_MESSAGE)
		message_json(j, f, m, e->message);
	else if (e->kind == VFD_LAUNCH || e->kind == VFD_STARTED)
		launch_json(j, f, e->launch);
	else if (e->kind >= VFD_THINNING && e->kind != VFD_SAMPLED)
		json_uint(j, "count", e->count);
	json_close(j);
}

static void events(struct json *j, struct vfd_file *f, const struct vfd_dump *d, FILE *out)
{
	struct vfd_filter filter = {.track = VFD_NONE,
		.raw = true,
		.ranks = d->ranks,
		.from_set = d->span.from_set,
		.to_set = d->span.to_set,
		.from = d->span.from,
		.to = d->span.to};
	struct vfd_cursor *c = vfd_cursor_new(&f, 1, &filter);
	const struct vfd_message *m;
	struct vfd_expansion x;
	struct vfd_event e;

	json_array(j, "events");
	while (vfd_next(c, &e) && !ferror(out)) {
		if (e.kind != VFD_MESSAGE || !d->peers || !vfd_expands(e.message)) {
			event(j, f, &e, e.message);
			continue;
		}
		vfd_expand(&x, f, e.message);
		while (!ferror(out) && (m = vfd_expand_next(&x)))
			event(j, f, &e, m);
	}
	json_close(j);
	vfd_cursor_free(c);
}

void vfd_dump_json(struct vfd_file *f, const struct vfd_dump *d, FILE *out)
{
	struct json j;

	json_begin(&j, out, 2);
	json_object(&j, NULL);
	facts(&j, f);
	processes(&j, f, d);
	threads(&j, f, d);
	communicators(&j, f);
	counters_json(&j, f);
	if (!d->brief)
		events(&j, f, d, out);
	json_close(&j);
	putc('\n', out);
}
