/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the sampling file costs its writer: ns and bytes per event of a call tree
 * with short functions, and MB/s against the same bytes written by a plain loop
 * over io_uring, one write after the other. Best of ROUNDS. sampling DIR [MB]
 */
#include <fcntl.h>
#include <liburing.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "nodeagent/vfd-sample.h"
#include "nodeagent/vfd-write.h"

#define ROUNDS	  5
#define FANOUT	  4u
#define DEPTH	  6u
#define PLAIN_IO  (512u << 10)
#define TICK_NS	  0.4
#define MEGABYTES 64u

struct tree {
	struct vfd_lane *l;
	uint32_t child[FANOUT * 2048 + FANOUT]; /* stacks, by caller */
	uint64_t ticks, state, calls;
};

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* 20 to 80 ns between two events */
static inline uint64_t step(struct tree *t)
{
	t->state = t->state * 6364136223846793005u + 1442695040888963407u;
	return t->ticks += 50 + (t->state >> 57);
}

static void define(struct tree *t, uint32_t stack, unsigned depth, uint32_t function)
{
	for (unsigned i = 0; i < FANOUT && depth; i++) {
		uint32_t child = vfd_stack_new(t->l, stack, (function * FANOUT + i) % 64);

		t->child[stack * FANOUT + i] = child;
		define(t, child, depth - 1, function + i);
	}
}

static void call(struct tree *t, uint32_t stack, unsigned depth)
{
	for (unsigned i = 0; i < FANOUT && depth; i++) {
		uint32_t child = t->child[stack * FANOUT + i];

		vfd_enter(t->l, child, step(t));
		call(t, child, depth - 1);
		vfd_exit(t->l, child, step(t));
		t->calls++;
	}
}

struct result {
	double ns, bytes, rate;
};

static struct result encode(const char *path, uint64_t bytes)
{
	struct vfd_setup s = {.path = path, .ns_per_tick = TICK_NS};
	struct vfd_function f = {.process = VFD_NONE, .name = "f"};
	struct vfd_thread thread = {.creator = VFD_NONE};
	static struct tree t;
	struct vfd_writer *w;
	struct vfd_written done;
	double start = seconds(), inside = 0;
	char *error;

	memset(&t, 0, sizeof(t));
	w = vfd_writer_new(&s, &error);
	if (!w) {
		fprintf(stderr, "%s\n", error);
		exit(1);
	}
	for (int i = 0; i < 64; i++)
		vfd_define_function(w, &f);
	t.l = vfd_lane_new(w, &thread);
	define(&t, 0, DEPTH - 1, 0);
	do {
		double before = seconds();

		call(&t, 0, DEPTH - 1);
		inside += seconds() - before;
		while (!vfd_writer_ready(w))
			usleep(100);
		done = vfd_writer_written(w);
	} while (done.bytes < bytes);
	if (vfd_writer_close(w, t.ticks, 60))
		exit(1);
	return (struct result){inside / (double)t.calls / 2 * 1e9,
		(double)done.bytes / (double)t.calls,
		(double)done.bytes / (seconds() - start) / 1e6};
}

static double plain(const char *path, uint64_t bytes)
{
	static unsigned char buf[PLAIN_IO];
	struct io_uring ring;
	double start = seconds();
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);

	if (fd < 0 || io_uring_queue_init(4, &ring, 0))
		return 0;
	for (uint64_t at = 0; at < bytes; at += PLAIN_IO) {
		struct io_uring_sqe *q = io_uring_get_sqe(&ring);
		struct io_uring_cqe *c;

		memset(buf, (int)(at >> 19), sizeof(buf));
		io_uring_prep_write(q, fd, buf, PLAIN_IO, at);
		if (io_uring_submit_and_wait(&ring, 1) < 0 || io_uring_wait_cqe(&ring, &c) ||
			c->res != PLAIN_IO)
			exit(1);
		io_uring_cqe_seen(&ring, c);
	}
	io_uring_queue_exit(&ring);
	close(fd);
	return (double)bytes / (seconds() - start) / 1e6;
}

int main(int argc, char **argv)
{
	const uint64_t bytes = (argc > 2 ? strtoull(argv[2], NULL, 10) : MEGABYTES) << 20;
	struct result best = {1e9, 0, 0};
	double reference = 0;
	char path[4096];

	snprintf(path, sizeof(path), "%s/sampling.vfd", argc > 1 ? argv[1] : ".");
	for (int i = 0; i < ROUNDS; i++) {
		struct result r = encode(path, bytes);
		double p = plain(path, bytes);

		if (r.ns < best.ns)
			best.ns = r.ns;
		if (r.rate > best.rate)
			best.rate = r.rate;
		best.bytes = r.bytes;
		if (p > reference)
			reference = p;
		unlink(path);
	}
	printf("%-58s %10.1f %s\n", "sampling file, time of the writer per enter or exit", best.ns,
		"ns");
	printf("%-58s %10.0f %-12s (plain io_uring: %.0f)\n", "sampling file, written", best.rate,
		"MB/s", reference);
	printf("%-58s %10.2f %-12s %s\n", "the same over plain io_uring, one write after the other",
		best.rate / reference, "x", "at least 0.5");
	return 0;
}
