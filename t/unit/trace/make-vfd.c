/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * make-vfd DIRECTORY [ROUNDS [whole|counted]]: the sampling files of a job that never ran, with a
 * known number of everything: 2 nodes, 4 ranks, 2 threads each, and a process
 * without MPI. Each round a rank sends to the next one (blocking) and to the one
 * before (not blocking), to another on a split communicator, and takes part in
 * MPI_Allreduce; some messages have no partner; some calls are
 * missing, but for `whole'. `counted' is whole, and has two sums of each thread at
 * each call and exit, and each round two levels.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpi_id.h"
#include "nodeagent/base/util.h"
#include "t/unit/trace/gap.h"

#define RANKS	 4
#define PER_NODE 2
#define STEP	 1000 /* ns, and ticks */

enum function {
	MAIN,
	SOLVE,
	WORK,
	ODD_NAME,
	PARALLEL,
	SEND,
	RECV,
	ISEND,
	IRECV,
	WAITALL,
	ALLREDUCE,
	PUT,
	FILE_WRITE,
	FUNCTIONS
};

static const struct {
	const char *name;
	unsigned mpi; /* 0: none */
} functions[FUNCTIONS] = {
	[MAIN] = {"main", 0},
	[SOLVE] = {"solve", 0},
	[WORK] = {"work", 0},
	[ODD_NAME] = {"operator<\"a;b\\c\"> \xc3\xa9\xff", 0},
	[PARALLEL] = {"parallel", 0},
	[SEND] = {"MPI_Send", VFTR_MPI_SEND},
	[RECV] = {"MPI_Recv", VFTR_MPI_RECV},
	[ISEND] = {"MPI_Isend", VFTR_MPI_ISEND},
	[IRECV] = {"MPI_Irecv", VFTR_MPI_IRECV},
	[WAITALL] = {"MPI_Waitall", VFTR_MPI_WAITALL},
	[ALLREDUCE] = {"MPI_Allreduce", VFTR_MPI_ALLREDUCE},
	[PUT] = {"MPI_Put", VFTR_MPI_PUT},
	[FILE_WRITE] = {"MPI_File_write", VFTR_MPI_FILE_WRITE},
};

struct made_track {
	struct vfd_track *track;
	uint32_t stack[16], depth; /* open, stack[0] is the root */
	uint32_t known[64][2], stacks[64], n;
	uint64_t ticks;
	uint64_t sums[2];
};

static struct vfd_writer *w;
static bool whole; /* no gap, nothing lost */
static bool counted;
static uint32_t counters[4]; /* two sums, an integer, a real number */
static uint32_t function_of[FUNCTIONS], world, halves[2], inter, window, file;

static void count(struct made_track *l)
{
	static const bool real[2];

	l->sums[0] += 3;
	l->sums[1] += 1000000007 * (l->ticks % 7);
	if (counted)
		vfd_counts(l->track, &(struct vfd_counts){2, counters, l->sums}, real, l->ticks);
}

static void tell_levels(struct made_track *l, int rank, uint64_t round)
{
	const double real = rank + (double)round / 8 + 0.01;
	uint64_t value;

	if (!counted)
		return;
	value = (uint64_t)((int64_t)round - 5);
	vfd_counts(l->track, &(struct vfd_counts){1, &counters[2], &value}, &(bool){false},
		l->ticks + 1);
	memcpy(&value, &real, sizeof(value));
	/* late: it belongs before what has been told */
	vfd_counts(l->track, &(struct vfd_counts){1, &counters[3], &value}, &(bool){true},
		l->ticks - STEP / 2);
}

static void enter(struct made_track *l, enum function f)
{
	const uint32_t caller = l->stack[l->depth];
	uint32_t i = 0;

	while (i < l->n && (l->known[i][0] != caller || l->known[i][1] != f))
		i++;
	if (i == l->n) {
		l->known[l->n][0] = caller;
		l->known[l->n][1] = f;
		l->stacks[l->n++] = vfd_stack_new(l->track, caller, function_of[f]);
	}
	l->stack[++l->depth] = l->stacks[i];
	l->ticks += STEP;
	vfd_enter(l->track, l->stacks[i], l->ticks);
	count(l);
}

static void leave(struct made_track *l)
{
	l->ticks += STEP;
	vfd_exit(l->track, l->stack[l->depth--], l->ticks);
	count(l);
}

/* A message of the innermost open call, from its beginning until now + STEP. */
static void message(struct made_track *l, struct vfd_message m)
{
	m.stack = l->stack[l->depth];
	m.start = (int64_t)l->ticks;
	if (!m.end)
		m.end = (int64_t)l->ticks + STEP;
	vfd_message(w, l->track, &m);
}

static struct vfd_message p2p(enum vfd_message_kind kind, int from, int to, uint64_t ticket)
{
	struct vfd_message m = {.kind = kind,
		.comm = world,
		.peer = (uint32_t)(kind == VFD_SEND ? to : from),
		.tag = 10 * from + to,
		.bytes = 100 + ticket,
		.ticket = ticket,
		.flags = VFD_MESSAGE_BLOCKING,
		.sender_thread = VFD_NONE};

	if (kind == VFD_RECEIVE) {
		m.match = VFD_MATCH_EXACT;
		m.sender_ticket = ticket;
		m.sender_thread = 0;
	}
	return m;
}

static void call(struct made_track *l, enum function f, struct vfd_message m)
{
	enter(l, f);
	message(l, m);
	leave(l);
}

static void call_later(struct made_track *l, enum function f, struct vfd_message m)
{
	m.flags = 0;
	m.end = (int64_t)l->ticks + 6 * STEP; /* in MPI_Waitall */
	call(l, f, m);
}

static void one_round(struct made_track *l, int rank, uint64_t round)
{
	const int next = (rank + 1) % RANKS, before = (rank + RANKS - 1) % RANKS;
	const int other = (rank + 2) % RANKS;
	struct vfd_message m;

	enter(l, SOLVE);
	call(l, SEND, p2p(VFD_SEND, rank, next, round));
	call(l, RECV, p2p(VFD_RECEIVE, before, rank, round));
	call_later(l, ISEND, p2p(VFD_SEND, rank, before, round));
	call_later(l, IRECV, p2p(VFD_RECEIVE, next, rank, round));
	enter(l, WAITALL);
	l->ticks += 3 * STEP;
	leave(l);
	m = p2p(VFD_SEND, rank, other, round);
	m.comm = halves[rank % 2];
	call(l, SEND, m);
	m = p2p(VFD_RECEIVE, other, rank, round);
	m.comm = halves[rank % 2];
	m.match = round % 2 ? VFD_MATCH_AMBIGUOUS : VFD_MATCH_EXACT;
	call(l, RECV, m);
	enter(l, WORK);
	enter(l, ODD_NAME);
	leave(l);
	leave(l);
	m = (struct vfd_message){.kind = VFD_COLLECTIVE,
		.comm = world,
		.peer = VFD_NONE,
		.sends = 4,
		.receives = 4,
		.bytes = 32,
		.bytes_received = 32,
		.ticket = round,
		.function = VFTR_MPI_ALLREDUCE,
		.flags = VFD_MESSAGE_BLOCKING};
	call(l, ALLREDUCE, m);
	tell_levels(l, rank, round);
	leave(l);
}

/* What has no partner, or no place in some formats. */
static void odd_ones(struct made_track *l, int rank)
{
	const int other = (rank + 2) % RANKS;
	struct vfd_message m = p2p(VFD_SEND, rank, other, 0);

	m.comm = inter;
	call(l, SEND, m);
	m = p2p(VFD_RECEIVE, other, rank, 0);
	m.comm = inter;
	call(l, RECV, m);
	m = p2p(VFD_RECEIVE, (rank + 1) % RANKS, rank, 0);
	m.match = VFD_MATCH_NONE;
	call(l, RECV, m);
	call(l, SEND, p2p(VFD_SEND, rank, (rank + 1) % RANKS, 1000000));
	m = (struct vfd_message){.kind = VFD_RMA,
		.comm = window,
		.peer = 0,
		.bytes = 64,
		.function = VFTR_MPI_PUT,
		.flags = VFD_MESSAGE_BLOCKING};
	call(l, PUT, m);
	m = (struct vfd_message){.kind = VFD_FILE,
		.comm = file,
		.peer = VFD_NONE,
		.bytes = 4096,
		.offset = 8192,
		.flags = VFD_MESSAGE_BLOCKING | VFD_MESSAGE_WRITE};
	call(l, FILE_WRITE, m);
}

static void define_counters(void)
{
	static const struct vfd_counter told[] = {
		{.name = "instructions", .symbol = "I", .source = "perf"},
		{.name = "PAPI_TOT_CYC", .symbol = "C", .unit = "cycles", .source = "papi"},
		{.name = "queue \"q\"", .kind = VFD_COUNTER_INTEGER, .source = "user"},
		{.name = "temperature", .unit = "K", .kind = VFD_COUNTER_REAL, .source = "user"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(told); i++) {
		struct vfd_counter c = told[i];

		c.process = VFD_NONE;
		counters[i] = vfd_define_counter(w, &c);
	}
}

static void define(unsigned node)
{
	static const struct wire_run all = {0, 1, RANKS}, even = {0, 2, 2}, odd = {1, 2, 2};
	struct vfd_comm c = {
		.id = 7, .name = "MPI_COMM_WORLD", .size = RANKS, .runs = &all, .n_runs = 1};
	struct vfd_object o = {.kind = WIRE_OBJECT_WINDOW, .name = "window"};

	world = vfd_define_comm(w, &c);
	for (uint32_t i = 0; i < 2; i++) {
		c = (struct vfd_comm){.id = 8 + i, .kind = WIRE_COMM_SPLIT, .size = RANKS / 2};
		c.name = i ? "odd" : "even";
		c.runs = i ? &odd : &even;
		c.n_runs = 1;
		halves[i] = vfd_define_comm(w, &c);
	}
	/* each node calls the ranks of the other one the remote ones */
	c = (struct vfd_comm){.id = 20, .kind = WIRE_COMM_INTER, .name = "nodes", .size = PER_NODE};
	c.remote_size = PER_NODE;
	c.runs = node ? (struct wire_run[]){{2, 1, 2}, {0, 1, 2}}
		      : (struct wire_run[]){{0, 1, 2}, {2, 1, 2}};
	c.n_runs = 2;
	inter = vfd_define_comm(w, &c);
	o.comm = world;
	window = vfd_define_object(w, &o);
	o = (struct vfd_object){.kind = WIRE_OBJECT_FILE, .name = "out.dat", .comm = world};
	file = vfd_define_object(w, &o);
	for (unsigned i = 0; i < FUNCTIONS; i++) {
		struct vfd_function f = {.process = VFD_NONE, .name = functions[i].name};

		f.kind = functions[i].mpi ? VFD_FUNCTION_MPI : VFD_FUNCTION_CODE;
		f.index = functions[i].mpi;
		if (!functions[i].mpi)
			f.module = "/opt/heat";
		function_of[i] = vfd_define_function(w, &f);
	}
}

static void begin_track(struct made_track *l, uint32_t process, uint32_t number)
{
	struct vfd_thread t = {.process = process,
		.number = number,
		.creator = number ? 0 : VFD_NONE,
		.tid = 100 + (int)(2 * process + number),
		.name = number ? "" : "heat",
		.openmp = number > 0,
		.openmp_level = 1,
		.openmp_number = number,
		.start = 1000};

	*l = (struct made_track){.track = vfd_track_new(w, &t), .ticks = 1000 + 17 * process + number};
	if (number)
		vfd_track_openmp(l->track, 1, number);
}

static void one_process(uint32_t process, int rank, uint64_t rounds)
{
	struct made_track first, second;

	begin_track(&first, process, 0);
	begin_track(&second, process, 1);
	enter(&first, MAIN);
	for (uint64_t i = 0; i < rounds; i++) {
		if (rank >= 0)
			one_round(&first, rank, i);
		enter(&second, PARALLEL);
		enter(&second, WORK);
		leave(&second);
		leave(&second);
	}
	if (rank >= 0)
		odd_ones(&first, rank);
	enter(&second, PARALLEL);
	second.ticks += 10 * STEP;
	if (!whole) {
		vfd_lost(first.track, 5, first.ticks + STEP / 2);
		put_gap(second.track, second.stack[second.depth], second.ticks);
	}
	leave(&second);
	if (rank != 3) /* rank 3 was killed in main */
		leave(&first);
	vfd_track_end(first.track, first.ticks + STEP);
	vfd_track_end(second.track, second.ticks + STEP);
}

static void one_node(const char *dir, unsigned node, uint64_t rounds)
{
	struct vfd_setup s = {.application = "/opt/heat",
		.start_unix_ns = 1700000000000000000,
		.start_ticks = 1000,
		.start_raw_ns = 1000,
		.ns_per_tick = 1,
		.job_unix_ns = 1700000000000000000,
		.way = OUTFILE_PWRITE};
	struct vfd_process p = {.executable = "/opt/heat", .start = 1000, .size = RANKS};
	const uint64_t end = 2000 + (rounds + 2) * 60 * STEP;
	char *error = NULL, *path;
	int rc;

	s.host = node ? "nodeB" : "nodeA";
	s.path = path = xasprintf("%s/heat_%s.vfd", dir, s.host);
	w = vfd_writer_new(&s, &error);
	if (!w)
		die(99, "%s", error);
	define(node);
	if (counted)
		define_counters();
	for (int i = 0; i < PER_NODE + (node == 0); i++) {
		p.rank = i < PER_NODE ? (int)(PER_NODE * node) + i : -1;
		p.job = p.rank < 0 ? 0 : 99;
		p.pid = 100 + i; /* the same on both nodes */
		p.parent = VFD_NONE;
		one_process(vfd_define_process(w, &p), p.rank, rounds);
	}
	vfd_clock_pair(w, end, end);
	rc = vfd_writer_close(w, end, 10);
	if (rc)
		die(99, "%s: error %d", path, rc);
	free(path);
}

int main(int argc, char **argv)
{
	const uint64_t rounds = argc > 2 ? strtoull(argv[2], NULL, 10) : 3;

	if (argc < 2)
		die(2, "usage: make-vfd DIRECTORY [ROUNDS [whole|counted]]");
	whole = argc > 3;
	counted = whole && !strcmp(argv[3], "counted");
	one_node(argv[1], 0, rounds);
	one_node(argv[1], 1, rounds);
	return 0;
}
