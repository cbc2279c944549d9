/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A sampling file as a job of 2 ranks would make it, each with 2 threads, and a
 * process that is in no job; random calls, and a list of what was given.
 */
#ifndef VFTR_T_VFD_BY_HAND_H
#define VFTR_T_VFD_BY_HAND_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpi_id.h"
#include "nodeagent/base/util.h"
#include "nodeagent/trace/read/file.h"
#include "nodeagent/trace/write/writer.h"

#define HAND_TRACKS    5u
#define HAND_FUNCTIONS 12u
#define HAND_START     1000000u /* ticks of 0.5 ns */

struct given {
	enum vfd_event_kind kind;
	uint32_t stack;
	uint64_t ticks, count;
};

struct hand {
	struct vfd_writer *w;
	struct vfd_track *tracks[HAND_TRACKS];
	struct given *given[HAND_TRACKS];
	size_t n_given[HAND_TRACKS], cap_given[HAND_TRACKS];
	uint32_t functions[HAND_FUNCTIONS], comm;
	uint32_t stacks[HAND_TRACKS][512], n_stacks[HAND_TRACKS];
	uint32_t caller[HAND_TRACKS][512], function[HAND_TRACKS][512];
	uint32_t open[HAND_TRACKS][64], n_open[HAND_TRACKS];
	uint64_t ticks[HAND_TRACKS], messages;
	uint64_t state;
};

static inline uint32_t hand_dice(struct hand *h, uint32_t n)
{
	h->state = h->state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(h->state >> 33) % n;
}

static const char *const hand_names[HAND_FUNCTIONS] = {"main", "solve", "halo", "work", "a", "b",
	"c", "MPI_Send", "MPI_Recv", "MPI_Allreduce", "phase one", "omp_parallel"};

static inline void hand_functions(struct hand *h)
{
	for (uint32_t i = 0; i < HAND_FUNCTIONS; i++) {
		struct vfd_function f = {.process = VFD_NONE,
			.module = "/usr/bin/heat",
			.address = 0x1000 + 16 * i,
			.build_id = {1, 0xab},
			.build_id_bytes = 2};

		if (!strncmp(hand_names[i], "MPI_", 4)) {
			f = (struct vfd_function){
				.process = VFD_NONE, .kind = VFD_FUNCTION_MPI, .precise = true};
			f.index = !strcmp(hand_names[i], "MPI_Send")   ? VFTR_MPI_SEND
				  : !strcmp(hand_names[i], "MPI_Recv") ? VFTR_MPI_RECV
								       : VFTR_MPI_ALLREDUCE;
		} else if (i == 10) {
			f = (struct vfd_function){.process = VFD_NONE,
				.kind = VFD_FUNCTION_REGION,
				.precise = true,
				.name = hand_names[i]};
		}
		h->functions[i] = vfd_define_function(h->w, &f);
		/* names of code come late */
		if (f.kind == VFD_FUNCTION_CODE && i != 6)
			vfd_define_name(h->w, h->functions[i], hand_names[i], i == 2);
	}
}

static inline void hand_begin(struct hand *h, const struct vfd_setup *setup)
{
	static const struct wire_run world = {0, 1, 2};
	struct vfd_setup s = *setup;
	struct vfd_process p = {.parent = VFD_NONE, .executable = "/usr/bin/heat", .size = 2};
	struct vfd_comm comm = {
		.id = 0x77, .name = "MPI_COMM_WORLD", .size = 2, .runs = &world, .n_runs = 1};
	struct vfd_object file = {.kind = WIRE_OBJECT_FILE, .name = "/tmp/out.dat", .comm = 1};
	char *error;

	s.host = "nodeA";
	s.application = "heat";
	s.start_ticks = HAND_START;
	s.start_raw_ns = 5000000000;
	if (!s.start_unix_ns)
		s.start_unix_ns = 1700000000123456789;
	s.ns_per_tick = 0.5;
	h->w = vfd_writer_new(&s, &error);
	if (!h->w)
		die(99, "%s", error);
	for (int i = 0; i < 3; i++) {
		p.rank = i < 2 ? i : -1;
		p.pid = 100 + i;
		p.start = HAND_START + 10 * i;
		vfd_define_process(h->w, &p);
	}
	hand_functions(h);
	h->comm = vfd_define_comm(h->w, &comm);
	vfd_define_object(h->w, &file);
	for (uint32_t i = 0; i < HAND_TRACKS; i++) {
		struct vfd_thread t = {.process = i / 2,
			.number = i % 2,
			.creator = i % 2 ? 0 : VFD_NONE,
			.tid = 100 + (int)i,
			.name = i % 2 ? "worker" : "heat",
			.start = HAND_START + i};

		h->tracks[i] = vfd_track_new(h->w, &t);
		h->ticks[i] = HAND_START + 100 * i;
		h->stacks[i][0] = 0;
		h->n_stacks[i] = 1;
	}
	vfd_track_openmp(h->tracks[1], 1, 1);
}

static inline void hand_note(
	struct hand *h, uint32_t track, enum vfd_event_kind kind, uint32_t stack, uint64_t count)
{
	h->given[track] = grow(
		h->given[track], h->n_given[track], &h->cap_given[track], sizeof(struct given));
	h->given[track][h->n_given[track]++] = (struct given){kind, stack, h->ticks[track], count};
}

static inline uint32_t hand_stack(
	struct hand *h, uint32_t track, uint32_t caller, uint32_t function)
{
	for (uint32_t i = 1; i < h->n_stacks[track]; i++)
		if (h->caller[track][i] == caller && h->function[track][i] == function)
			return i;
	if (h->n_stacks[track] == 512)
		return 0;
	h->caller[track][h->n_stacks[track]] = caller;
	h->function[track][h->n_stacks[track]++] = function;
	return vfd_stack_new(h->tracks[track], caller, h->functions[function]);
}

static inline uint32_t hand_top(const struct hand *h, uint32_t track)
{
	return h->n_open[track] ? h->open[track][h->n_open[track] - 1] : 0;
}

static inline bool hand_enter(struct hand *h, uint32_t track, uint32_t function, bool aside)
{
	uint32_t stack =
		h->n_open[track] < 60 ? hand_stack(h, track, hand_top(h, track), function) : 0;

	if (!stack)
		return false;
	if (aside)
		vfd_enter_aside(h->tracks[track], stack, h->ticks[track]);
	else
		vfd_enter(h->tracks[track], stack, h->ticks[track]);
	h->open[track][h->n_open[track]++] = stack;
	hand_note(h, track, VFD_ENTER, stack, 0);
	return true;
}

static inline void hand_exit(struct hand *h, uint32_t track)
{
	uint32_t stack = hand_top(h, track);

	vfd_exit(h->tracks[track], stack, h->ticks[track]);
	h->n_open[track]--;
	hand_note(h, track, VFD_EXIT, stack, 0);
}

static inline void hand_message(struct hand *h, uint32_t track)
{
	const bool send = hand_dice(h, 2);
	struct vfd_message m = {.kind = send ? VFD_SEND : VFD_RECEIVE,
		.stack = hand_top(h, track),
		.start = (int64_t)h->ticks[track],
		.end = (int64_t)h->ticks[track] + hand_dice(h, 5000),
		.comm = h->comm,
		.peer = 1 - track / 2,
		.tag = (int)hand_dice(h, 100),
		.type = 16,
		.bytes = 8 * (uint64_t)hand_dice(h, 10000),
		.ticket = h->messages / 2,
		.flags = VFD_MESSAGE_BLOCKING,
		.sender_thread = VFD_NONE};

	if (!send) {
		m.match = VFD_MATCH_EXACT;
		m.sender_ticket = h->messages / 2;
		m.sender_thread = 1;
	}
	vfd_message(h->w, h->tracks[track], &m);
	h->messages++;
}

/* Few call paths, but deep ones. */
static inline uint32_t hand_callee(struct hand *h, uint32_t track)
{
	if (h->n_open[track] < 2)
		return hand_dice(h, 4);
	return (h->function[track][hand_top(h, track)] + 1) % HAND_FUNCTIONS;
}

/* So many random events; at most so many ticks between those of a track. */
static inline void hand_run(struct hand *h, uint32_t events, uint32_t ticks)
{
	for (uint32_t i = 0; i < events; i++) {
		const uint32_t track = hand_dice(h, HAND_TRACKS), what = hand_dice(h, 100);

		h->ticks[track] += hand_dice(h, ticks);
		if (what < 48 && h->n_open[track] < 30)
			hand_enter(h, track, hand_callee(h, track), false);
		else if (what < 50)
			hand_enter(h, track, 11, true);
		else if (what < 96 && h->n_open[track])
			hand_exit(h, track);
		else if (what == 98 && track < 4)
			hand_message(h, track);
		else if (what == 99) {
			vfd_lost(h->tracks[track], what, h->ticks[track]);
			hand_note(h, track, VFD_LOST, 0, what);
		}
	}
}

static inline uint64_t hand_last(const struct hand *h)
{
	uint64_t last = 0;

	for (uint32_t i = 0; i < HAND_TRACKS; i++)
		last = h->ticks[i] > last ? h->ticks[i] : last;
	return last;
}

/* All frames end, and the file, if close is set. */
static inline int hand_end(struct hand *h)
{
	const uint64_t last = hand_last(h);
	const uint64_t even = last + (last & 1); /* whole ns, so that the rate is exact */

	for (uint32_t i = 0; i < HAND_TRACKS; i++)
		while (h->n_open[i])
			hand_exit(h, i);
	vfd_clock_pair(h->w, even, 5000000000 + (even - HAND_START) / 2);
	for (uint32_t i = 0; i < 3; i++)
		vfd_define_process_end(h->w, i, last, 0, 0);
	return vfd_writer_close(h->w, last, 10);
}

static inline void hand_free(struct hand *h)
{
	for (uint32_t i = 0; i < HAND_TRACKS; i++)
		free(h->given[i]);
}

#endif
