/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * make-golden DIRECTORY CONFIG...: what the golden outputs are made of (golden/README). All of
 * it is thrown with dice whose states are fixed: node profiles with every list filled, as
 * DIRECTORY/app_nodeN.vfp; for each configuration the logs of the nodes and of a process, in
 * DIRECTORY/CONFIG's name; and three sampling files with every kind of record.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "conf/conf.h"
#include "nodeagent/collate/collate.h"
#include "nodeagent/profile/ids.h"
#include "nodeagent/profile/merge.h"
#include "nodeagent/report/output.h"
#include "nodeagent/profile/profile.h"
#include "nodeagent/profile/vfp.h"
#include "t/unit/profile/random-profile.h"
#include "t/unit/trace/gap.h"
#include "t/unit/trace/vfd-by-hand.h"

#define NODES  5u
#define STACKS 10u

static const char *dir;

static char *error; /* what some functions say beside their status */

static void must(int rc)
{
	if (rc)
		die(99, "%s", error ? error : strerror(-rc));
}

/* ---- node profiles ------------------------------------------------------------------ */

/* Counters of hardware: those of the configuration golden/all.json. */
static void throw_counters(struct dice *d, struct profile *p)
{
	static const char *const names[] = {"A EVENT_A", "B EVENT_B"};

	for (uint32_t i = 0; i < ARRAY_SIZE(names); i++)
		*ADD_ELEMENT(p, counters) = (struct profile_counter){.number = i,
			.source = 1 + i,
			.enabled_ns = 2000000000,
			.running_ns = 1000000000 + throw_dice(d, 1000000000),
			.name = xstrdup(names[i])};
	for (uint32_t i = 0; i < p->n_stacks; i++)
		for (uint32_t k = 0; k < ARRAY_SIZE(names); k++)
			if (throw_dice(d, 3))
				*ADD_ELEMENT(p, counts) =
					(struct profile_count){i, k, throw_dice(d, 1u << 31)};
}

/* What random_profile() leaves 0 of processes and threads. */
static void throw_more(struct dice *d, struct profile *p)
{
	for (size_t i = 0; i < p->n_processes; i++) {
		struct profile_process *w = &p->processes[i];

		w->parent_pid = 1 + (int)throw_dice(d, 100);
		w->threads = 1 + throw_dice(d, 9);
		w->records = throw_dice(d, 1u << 30);
		w->lost_calls = throw_dice(d, 2) * 17;
		w->blocked_ns = throw_dice(d, 1u << 30);
		w->closed_frames = throw_dice(d, 3);
		w->open_frames = throw_dice(d, 3);
		w->ring_bytes = 4u << 20;
	}
	for (size_t i = 0; i < p->n_ended_threads; i++) {
		struct profile_thread *t = &p->ended_threads[i];

		t->tid = 1000 + (int)throw_dice(d, 1000);
		t->start_ns = throw_dice(d, 1u << 30);
		t->function_ns = t->alive_ns / 2;
		t->calls = throw_dice(d, 1000);
		t->records = throw_dice(d, 10000);
		t->lost_calls = throw_dice(d, 3);
		t->blocked_ns = throw_dice(d, 1u << 20);
		t->team_parts = throw_dice(d, 9);
		t->team_ns = throw_dice(d, 1u << 28);
		t->team_wait_ns = t->team_ns / 3;
		t->team_join_ns = t->team_ns / 5;
	}
	for (size_t i = 0; i < p->n_thread_stacks; i++) {
		struct profile_thread_stack *s = &p->thread_stacks[i];

		s->excl_ns = throw_dice(d, 1u << 30);
		s->incl_ns = s->excl_ns + throw_dice(d, 1u << 30);
	}
}

static void throw_agent(struct dice *d, struct profile_agent *a)
{
	a->wall_s = throw_dice(d, 1000) / 2.0;
	a->wakeups = throw_dice(d, 1000);
	a->drained_bytes = (uint64_t)throw_dice(d, 1000) << 12;
	a->records = throw_dice(d, 1u << 30);
	if (a->clock.state != PROFILE_CLOCK_COMPARED)
		return;
	a->clock.jumps = throw_dice(d, 2);
	a->clock.error_median_ns = a->clock.error_ns / 2;
	a->clock.round_trip_ns = throw_dice(d, 100000);
	a->clock.dropped = throw_dice(d, 9);
	a->clock.missed = throw_dice(d, 9);
	a->clock.checks_beyond = throw_dice(d, 2);
	a->clock.check_max_ns = throw_dice(d, 1000);
	a->clock.check_rms_ns = throw_dice(d, 1000);
}

static struct profile *node_profile(uint32_t node)
{
	struct dice d = {.state = 16 + node};
	struct profile *p = random_profile(&d, node, STACKS, UINT64_MAX);

	p->run = 4711;
	p->lost_calls = throw_dice(&d, 1000);
	p->hook_ns_total = (uint64_t)throw_dice(&d, 1000) * 1000000;
	p->lost_processes = throw_dice(&d, 2);
	p->ring_bytes = (uint64_t)throw_dice(&d, 64) << 20;
	throw_counters(&d, p);
	throw_more(&d, p);
	throw_agent(&d, &p->agents[0]);
	if (profile_valid(p))
		die(99, "node %u: %s", node, profile_valid(p));
	return p;
}

static void write_profile(const struct profile *p, const char *name)
{
	char *path = xasprintf("%s/%s", dir, name);

	must(vfp_write(p, path));
	free(path);
}

/* ---- logs --------------------------------------------------------------------------- */

static const struct output_trace sampled = {.path = "/data/app_node0.vfd",
	.bytes = 123456,
	.events = 40000,
	.messages = 77,
	.launches = 5,
	.thinned = 3,
	.dropped_blocks = 1};

/* DIRECTORY/config.json gives the logs in DIRECTORY/config. */
static void write_logs(const char *file, struct profile *const *node, const struct profile *whole)
{
	const char *slash = strrchr(file, '/'), *name = slash ? slash + 1 : file;
	char *to = xasprintf("%s/%.*s", dir, (int)strcspn(name, "."), name);
	struct profile_number *numbers = profile_numbers(whole);
	struct conf *c = NULL;

	must(conf_load(&c, file, &error, &(struct conf_reading){0}));
	if (mkdir(to, 0777))
		die(99, "%s: %m", to);
	must(output_summary(whole, c, to, "app", &error));
	for (uint32_t i = 0; i < 2; i++) {
		must(output_node(node[i], c, to, "app", node[i]->agents[0].host,
			i ? NULL : &sampled, i ? NULL : numbers, whole->n_stacks, &error));
		must(output_rank(node[i], &node[i]->processes[i], 64, c, to, "app", numbers,
			whole->n_stacks, &error));
	}
	conf_free(c);
	free(numbers);
	free(to);
}

/* ---- sampling files ------------------------------------------------------------------- */

/* t/vfd-by-hand.h: threads, calls, messages, losses. */
static void hand_file(const char *name, uint64_t interval_ns, uint64_t max_size)
{
	struct vfd_setup s = {.interval_ns = interval_ns,
		.max_size = max_size,
		.block_bytes = 1024,
		.way = OUTFILE_PWRITE};
	struct hand h = {.state = 16};

	s.path = xasprintf("%s/%s", dir, name);
	hand_begin(&h, &s);
	hand_run(&h, 1500, 20000);
	must(hand_end(&h));
	hand_free(&h);
	free((char *)(uintptr_t)s.path);
}

static void gpu_stream(struct hand *h)
{
	const struct vfd_thread t = {.process = 0,
		.number = VFD_THREAD_STREAM,
		.creator = VFD_NONE,
		.name = "GPU 0 stream 7",
		.start = HAND_START};
	const struct vfd_function f = {
		.process = VFD_NONE, .kind = VFD_FUNCTION_OTHER, .name = "_Z5saxpyfPKfPf"};
	struct vfd_track *stream = vfd_track_new(h->w, &t);
	const uint32_t kernel = vfd_stack_new(stream, 0, vfd_define_function(h->w, &f));

	for (uint32_t i = 0; i < 5; i++) {
		const uint64_t time = h->ticks[0] + 100, start = time + 1000 * i;
		struct vfd_launch l = {.kind = i % VFD_LAUNCH_KINDS,
			.track = vfd_track_number(h->tracks[0]),
			.time = (int64_t)time,
			.to_track = vfd_track_number(stream),
			.to_stack = kernel,
			.start = (int64_t)start,
			.bytes = 1000 * i};

		h->ticks[0] = time;
		if (!hand_enter(h, 0, 3, false))
			continue;
		l.stack = hand_top(h, 0);
		vfd_enter(stream, kernel, start);
		vfd_exit(stream, kernel, start + 500);
		h->ticks[0] += 50;
		hand_exit(h, 0);
		vfd_launch(h->w, &l);
	}
	vfd_track_end(stream, h->ticks[0] + 10000);
}

static void count_things(struct hand *h)
{
	static const struct vfd_counter told[] = {
		{.name = "instructions", .symbol = "I", .source = "perf"},
		{.name = "queue", .kind = VFD_COUNTER_INTEGER, .unit = "jobs", .source = "user"},
		{.name = "temperature", .unit = "K", .kind = VFD_COUNTER_REAL, .source = "user"}};
	const struct vfd_observable ratio = {.name = "ratio", .formula = "I / T", .unit = "1/s"};
	const double warm = 273.15;
	const bool real[3] = {false, false, true};
	uint32_t numbers[3];

	for (uint32_t i = 0; i < 3; i++) {
		struct vfd_counter c = told[i];

		c.process = i ? 0 : VFD_NONE;
		numbers[i] = vfd_define_counter(h->w, &c);
	}
	vfd_define_observable(h->w, &ratio);
	for (uint64_t i = 0; i < 20; i++) {
		uint64_t values[3] = {1000 * i * i, (uint64_t)(5 - (int64_t)i)};

		memcpy(&values[2], &warm, sizeof(warm));
		vfd_counts(h->tracks[0], &(struct vfd_counts){3, numbers, values}, real,
			h->ticks[0] + i * 10);
	}
	h->ticks[0] += 200;
}

/* Calls of a collective kind with what is told of them apart, and a wait in one. */
static void collectives(struct hand *h)
{
	static const struct wire_run other = {1, 1, 1};
	const uint64_t bytes[] = {8, 16, 24};
	struct vfd_lengths lengths = {.comm = h->comm, .ticket = 1, .n = 3, .bytes = bytes};
	struct vfd_neighbours n = {.comm = h->comm, .runs = &other, .n_runs = 1};
	struct vfd_message m = {.kind = VFD_COLLECTIVE,
		.comm = h->comm,
		.peer = VFD_NONE,
		.sends = 2,
		.receives = 2,
		.bytes = 48,
		.bytes_received = 48,
		.function = VFTR_MPI_NEIGHBOR_ALLTOALLV,
		.flags = VFD_MESSAGE_BLOCKING};
	struct vfd_wait wait = {.function = h->functions[9]};

	vfd_define_neighbours(h->w, &n);
	n.received = true;
	vfd_define_neighbours(h->w, &n);
	for (uint64_t i = 0; i < 3; i++) {
		if (!hand_enter(h, 0, 9, false))
			return;
		m.stack = hand_top(h, 0);
		m.ticket = i;
		m.start = (int64_t)h->ticks[0];
		m.end = m.start + 4000;
		vfd_message(h->w, h->tracks[0], &m);
		wait.track = vfd_track_number(h->tracks[0]);
		wait.stack = m.stack;
		wait.start = m.start;
		wait.end = m.start + 1000;
		h->ticks[0] += 4000;
		hand_exit(h, 0);
		vfd_wait(h->w, &wait);
	}
	lengths.ticket = 0;
	vfd_lengths(h->w, &lengths);
	lengths.received = lengths.same = true;
	lengths.ticket = 1;
	vfd_lengths(h->w, &lengths);
}

static void windows_and_files(struct hand *h)
{
	struct vfd_object o = {.kind = WIRE_OBJECT_WINDOW, .name = "window", .comm = 1};
	struct vfd_message m = {.kind = VFD_RMA,
		.comm = vfd_define_object(h->w, &o),
		.peer = 1,
		.bytes = 64,
		.bytes_received = 32,
		.function = VFTR_MPI_PUT,
		.flags = VFD_MESSAGE_BLOCKING};

	for (int i = 0; i < 3; i++) {
		m.stack = hand_top(h, 0);
		m.start = (int64_t)h->ticks[0];
		m.end = m.start + 300;
		vfd_message(h->w, h->tracks[0], &m);
		m.kind = VFD_FILE;
		m.peer = VFD_NONE;
		m.comm = 1;
		m.offset = 8192;
		m.bytes_received = 0;
		m.flags = i ? VFD_MESSAGE_READ : VFD_MESSAGE_WRITE | VFD_MESSAGE_BLOCKING;
		h->ticks[0] += 400;
	}
}

/* Messages whose senders are known late, of every kind of match. */
static void late_pairs(struct hand *h)
{
	for (uint32_t i = 0; i < VFD_MATCHES; i++) {
		struct vfd_message m = {.kind = VFD_RECEIVE,
			.stack = hand_top(h, 2),
			.start = (int64_t)h->ticks[2],
			.end = (int64_t)h->ticks[2] + 700,
			.comm = h->comm,
			.peer = 0,
			.tag = (int)i,
			.bytes = 10 * i,
			.ticket = 1000 + i,
			.flags = 1u << i,
			.sender_thread = VFD_NONE};

		vfd_message(h->w, h->tracks[2], &m);
		vfd_pair(h->w, &(struct vfd_pair){.process = 1,
				       .comm = h->comm,
				       .ticket = 1000 + i,
				       .match = (enum vfd_match)i,
				       .sender_ticket = i,
				       .sender_thread = i % 2});
		h->ticks[2] += 100;
	}
}

static void everything_file(const char *name)
{
	struct vfd_setup s = {.block_bytes = 1024, .way = OUTFILE_PWRITE};
	struct hand h = {.state = 61};

	s.path = xasprintf("%s/%s", dir, name);
	hand_begin(&h, &s);
	vfd_clock_zero(h.w, 5000000100);
	vfd_clock_sync_point(h.w, 5000000000, 1000, 50);
	vfd_clock_sync_point(h.w, 5001000000, 1500, 60);
	vfd_define_round(h.w, 1, HAND_START + 500);
	hand_run(&h, 60, 3000);
	gpu_stream(&h);
	count_things(&h);
	collectives(&h);
	vfd_define_round(h.w, 2, hand_last(&h));
	vfd_define_source(h.w, h.functions[0], "/src/heat.c", 42);
	vfd_define_source(h.w, h.functions[2], "/src/a b \"c\".c", 7);
	windows_and_files(&h);
	late_pairs(&h);
	put_gap(h.tracks[4], 0, h.ticks[4] += 1000);
	h.n_open[4] = 0;
	hand_run(&h, 60, 3000);
	vfd_track_name(h.tracks[1], "renamed");
	must(hand_end(&h));
	hand_free(&h);
	free((char *)(uintptr_t)s.path);
}

int main(int argc, char **argv)
{
	struct profile *node[NODES], *whole = NULL;
	char name[32];

	program_name = "make-golden";
	if (argc < 2)
		die(2, "usage: make-golden DIRECTORY CONFIG...");
	dir = argv[1];
	for (uint32_t i = 0; i < NODES; i++) {
		snprintf(name, sizeof(name), "app_node%u.vfp", i);
		node[i] = node_profile(i);
		write_profile(node[i], name);
		whole = profile_merge(whole, node_profile(i));
	}
	write_profile(whole, "whole.vfp");
	for (int i = 2; i < argc; i++)
		write_logs(argv[i], node, whole);
	for (uint32_t i = 0; i < NODES; i++)
		profile_free(node[i]);
	profile_free(whole);
	hand_file("exact.vfd", 0, 0);
	hand_file("sampled.vfd", 2000000, 0);
	everything_file("everything.vfd");
	return 0;
}
