/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the sampling file costs its writer, and how fast it gets written. Pairs of files
 * of the same size: ours, and bytes of no meaning by a loop over io_uring that does no
 * more (as large writes, in order, as many in flight, registered buffers). Each begins
 * when all that precedes is on the disk, and ends when it is there itself (fdatasync).
 * The rate until the file is closed is that of the page cache: the plain loop copies
 * bytes that it did not have to make, as fast as memory goes. Medians over the pairs. A
 * busy machine makes us wait more than a loop that sleeps: sampling DIR [MB]
 */
#include <fcntl.h>
#include <liburing.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "nodeagent/trace/write/writer.h"

#define PAIRS	  7
#define FANOUT	  4u
#define DEPTH	  5u
#define FUNCTIONS 64u
#define IO_BYTES  (512u << 10) /* as vfd-uring.c */
#define IN_FLIGHT 8u
#define TICK_NS	  0.4
#define MEGABYTES 64u
#define WALKED	  (2 * (4 + 16 + 64 + 256 + 1024u)) /* enters and exits of all calls */

struct event {
	uint32_t ticks; /* since the one before: 20 to 80 ns */
	uint32_t stack; /* << 1 | enter */
};

/* A walk through a tree of short functions; what feeds the writer should cost little. */
static struct event walk[WALKED];
static uint32_t walked;

static double seconds(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void add_event(uint32_t stack, bool enter)
{
	static uint64_t state;

	state = state * 6364136223846793005u + 1442695040888963407u;
	walk[walked++] = (struct event){50 + (uint32_t)(state >> 57), stack << 1 | enter};
}

static void define(struct vfd_track *l, uint32_t stack, unsigned depth, uint32_t function)
{
	for (unsigned i = 0; i < FANOUT && depth; i++) {
		uint32_t child = vfd_stack_new(l, stack, (function * FANOUT + i) % FUNCTIONS);

		add_event(child, true);
		define(l, child, depth - 1, function + i);
		add_event(child, false);
	}
}

static uint64_t feed(struct vfd_track *l, uint64_t ticks)
{
	for (uint32_t i = 0; i < walked; i++) {
		ticks += walk[i].ticks;
		if (walk[i].stack & 1)
			vfd_enter(l, walk[i].stack >> 1, ticks);
		else
			vfd_exit(l, walk[i].stack >> 1, ticks);
	}
	return ticks;
}

struct result {
	double closed, synced; /* MB/s */
	double ns;	       /* CPU time of an event */
	double bytes;	       /* in the file, of a call */
	uint64_t size;
};

static void fail(const char *what)
{
	fprintf(stderr, "sampling: %s\n", what);
	exit(1);
}

static void sync_file(const char *path)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || fdatasync(fd))
		fail("fdatasync");
	close(fd);
}

static struct result rates(const char *path, uint64_t bytes, double start)
{
	struct result r = {.size = bytes};

	r.closed = (double)bytes / (seconds(CLOCK_MONOTONIC) - start) / 1e6;
	sync_file(path);
	r.synced = (double)bytes / (seconds(CLOCK_MONOTONIC) - start) / 1e6;
	unlink(path);
	return r;
}

static struct result ours(const char *path, uint64_t bytes)
{
	struct vfd_setup s = {.path = path, .ns_per_tick = TICK_NS};
	struct vfd_function f = {.process = VFD_NONE, .name = "f"};
	struct vfd_thread thread = {.creator = VFD_NONE};
	const double start = seconds(CLOCK_MONOTONIC);
	const double cpu = seconds(CLOCK_THREAD_CPUTIME_ID);
	struct vfd_writer *w;
	struct vfd_written done;
	struct vfd_track *l;
	uint64_t ticks = 0, events = 0;
	struct result r;
	double used;
	char *error;

	w = vfd_writer_new(&s, &error);
	if (!w)
		fail(error);
	for (unsigned i = 0; i < FUNCTIONS; i++)
		vfd_define_function(w, &f);
	l = vfd_track_new(w, &thread);
	walked = 0;
	define(l, 0, DEPTH, 0);
	do {
		ticks = feed(l, ticks);
		events += walked;
		while (!vfd_writer_ready(w)) /* as the agent */
			vfd_writer_wait(w, 1e-3);
		done = vfd_writer_written(w);
	} while (done.bytes < bytes);
	if (vfd_writer_close(w, ticks, 60))
		fail("the file could not be written");
	used = seconds(CLOCK_THREAD_CPUTIME_ID) - cpu;
	r = rates(path, done.bytes, start);
	r.ns = used / (double)events * 1e9;
	r.bytes = (double)done.bytes / (double)events * 2;
	return r;
}

static void arrival(struct io_uring *ring)
{
	struct io_uring_cqe *c;

	if (io_uring_wait_cqe(ring, &c) || c->res <= 0)
		fail("io_uring");
	io_uring_cqe_seen(ring, c);
}

static struct result plain(const char *path, uint64_t bytes)
{
	static unsigned char buf[IN_FLIGHT][IO_BYTES];
	struct iovec vectors[IN_FLIGHT];
	struct io_uring ring;
	const double start = seconds(CLOCK_MONOTONIC);
	const int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
	uint64_t n = 0;

	for (unsigned i = 0; i < IN_FLIGHT; i++)
		vectors[i] = (struct iovec){buf[i], IO_BYTES};
	if (fd < 0 || io_uring_queue_init(IN_FLIGHT, &ring, 0) ||
		io_uring_register_buffers(&ring, vectors, IN_FLIGHT))
		fail("plain io_uring is not possible here");
	for (uint64_t at = 0; at < bytes; at += IO_BYTES, n++) {
		const unsigned i = n % IN_FLIGHT;
		const uint64_t left = bytes - at;
		struct io_uring_sqe *q;

		/* writes to one file are done one after the other */
		if (n >= IN_FLIGHT)
			arrival(&ring);
		memset(buf[i], (int)n, IO_BYTES);
		q = io_uring_get_sqe(&ring);
		io_uring_prep_write_fixed(
			q, fd, buf[i], left < IO_BYTES ? (unsigned)left : IO_BYTES, at, (int)i);
		if (io_uring_submit(&ring) < 0)
			fail("io_uring_submit");
	}
	for (uint64_t i = n < IN_FLIGHT ? 0 : n - IN_FLIGHT; i < n; i++)
		arrival(&ring);
	io_uring_queue_exit(&ring);
	close(fd);
	return rates(path, bytes, start);
}

static int by_value(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(const double *values)
{
	double v[PAIRS];

	memcpy(v, values, sizeof(v));
	qsort(v, PAIRS, sizeof(*v), by_value);
	return v[PAIRS / 2];
}

static void print_end(const char *what, const double *o, const double *p, const char *bound)
{
	double ratio[PAIRS], least = 1e9, most = 0;

	for (int i = 0; i < PAIRS; i++) {
		ratio[i] = o[i] / p[i];
		least = ratio[i] < least ? ratio[i] : least;
		most = ratio[i] > most ? ratio[i] : most;
	}
	printf("sampling file, until it is %-31s %10.0f %-12s (plain io_uring: %.0f)\n", what,
		median(o), "MB/s", median(p));
	printf("%-58s %10.2f %-12s %s (%.2f to %.2f)\n",
		"the same over plain io_uring, median of pairs", median(ratio), "x", bound, least,
		most);
}

int main(int argc, char **argv)
{
	const uint64_t bytes = (argc > 2 ? strtoull(argv[2], NULL, 10) : MEGABYTES) << 20;
	double closed[2][PAIRS], synced[2][PAIRS], ns = 1e9, per_call = 0;
	char path[4096];

	snprintf(path, sizeof(path), "%s/sampling.vfd", argc > 1 ? argv[1] : ".");
	unlink(path);
	for (int i = 0; i < PAIRS; i++) {
		struct result p, o;

		if (i & 1)
			p = plain(path, bytes);
		o = ours(path, bytes);
		if (!(i & 1))
			p = plain(path, o.size);
		closed[0][i] = o.closed;
		closed[1][i] = p.closed;
		synced[0][i] = o.synced;
		synced[1][i] = p.synced;
		ns = o.ns < ns ? o.ns : ns;
		per_call = o.bytes;
	}
	printf("%-58s %10.1f %-12s at most 3\n",
		"sampling file, CPU time of the writer per enter or exit", ns, "ns");
	printf("%-58s %10.0f %-12s (%.0f million calls/s)\n", "the same, as bytes of the file",
		per_call / 2 / ns * 1e3, "MB/s", 1e3 / ns / 2);
	print_end("on the disk", synced[0], synced[1], "at least 0.5");
	print_end("closed, in memory", closed[0], closed[1], "memory, not the disk");
	return 0;
}
