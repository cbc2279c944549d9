/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A random tree of processes, which are attached level by level, with communicators of
 * their own, and random messages among them by way of memory they share. Each message
 * has its number as size; which one a receiver gets is decided here.
 *	app-session-tree SEED MESSAGES
 * Prints "messages N" of all that were received.
 */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "vftrace-session.h"

#define DEPTH	 3
#define CHILDREN 3
#define MOST	 65536
#define CIRCLES	 256
#define TAGS	 3

struct message {
	int circle, from, to, tag;
	int taken;
};

/* Those who are in a communicator, under one number. */
struct circle {
	int size;
	atomic_int sent; /* members that have */
};

static struct shared {
	atomic_int lock, n, received, circles, failed;
	struct circle circle[CIRCLES];
	struct message message[MOST];
} * shared;

static unsigned seed, first_seed;

static unsigned randomly(unsigned n)
{
	seed = seed * 1664525u + 1013904223u;
	return (seed >> 10) % n;
}

static void check(const char *what, int code)
{
	if (!code)
		return;
	printf("%d: %s: %s\n", (int)getpid(), what, vftrace_last_error());
	fflush(stdout);
	shared->failed++;
	_exit(1);
}

static void lock(void)
{
	while (atomic_exchange(&shared->lock, 1))
		usleep(10);
}

static void unlock(void)
{
	shared->lock = 0;
}

static void send_some(int circle, int comm, int rank, int size, int n)
{
	for (int i = 0; i < n; i++) {
		int to = (int)randomly((unsigned)size), tag = (int)randomly(TAGS), number;

		lock();
		number = shared->n;
		if (number < MOST) {
			check("send", vftrace_log_send(comm, to, tag, (uint64_t)number));
			shared->message[number] = (struct message){circle, rank, to, tag, 0};
			shared->n++;
		}
		unlock();
	}
}

/* All that are for us, the channels in a random sequence. */
static void receive_all(int circle, int comm, int rank, int size)
{
	int channels = size * TAGS, first = (int)randomly((unsigned)channels);

	for (int k = 0; k < channels; k++) {
		int c = (first + k) % channels;

		for (int i = 0; i < shared->n; i++) {
			struct message *m = &shared->message[i];

			if (m->circle != circle || m->to != rank || m->taken ||
				m->from != c / TAGS || m->tag != c % TAGS)
				continue;
			m->taken = 1;
			shared->received++;
			check("receive", vftrace_log_receive(comm, m->from, m->tag, (uint64_t)i));
		}
	}
}

static void talk(int circle, int comm, int n)
{
	int rank, size;

	check("rank", vftrace_comm_rank(comm, &rank));
	check("size", vftrace_comm_size(comm, &size));
	send_some(circle, comm, rank, size, n / 2);
	lock();
	shared->circle[circle].size = size;
	unlock();
	receive_all(circle, comm, rank, size); /* what is there by now */
	send_some(circle, comm, rank, size, n - n / 2);
	shared->circle[circle].sent++;
	while (shared->circle[circle].sent < size && !shared->failed)
		usleep(500);
	receive_all(circle, comm, rank, size);
}

static void live(int depth, const char *contact, int n, int world, int number, int family);

static void spawn(int depth, int world, int comm, int rank, int n)
{
	int children = 1 + (int)(seed % CHILDREN), all, circles, family;
	const char *contact = NULL;
	char theirs[4096];

	if (!rank) {
		circles = atomic_fetch_add(&shared->circles, 2) + 2;
		check("children", vftrace_children(&contact));
		snprintf(theirs, sizeof(theirs), "%s", contact);
		for (int i = 0; i < children; i++) {
			seed = seed * 31 + 7;
			if (!fork()) {
				seed ^= (unsigned)i << 20;
				live(depth + 1, theirs, n, circles - 1, i, circles - 2);
			}
		}
		shared->circle[world].size = circles - 2; /* for the other parents */
		contact = theirs;
	}
	check("attach", vftrace_attach(0, comm, children, contact, 20, &all));
	family = shared->circle[world].size;
	talk(family, all, n);
}

/* A process: its world, the communicators it makes, its parents, its children. */
static void live(int depth, const char *contact, int n, int world, int number, int family)
{
	const char *mine = contact;
	int rank, size, comm, all[64], parent;

	check("join", vftrace_join(depth ? -1 : number, "node", &mine));
	if (!depth)
		check("expect", vftrace_expect(3, 0, NULL));
	check("start", vftrace_start(20));
	vftrace_comm_rank(VFTRACE_COMM_WORLD, &rank);
	vftrace_comm_size(VFTRACE_COMM_WORLD, &size);
	if (depth) {
		check("parent", vftrace_parent(&parent));
		talk(family, parent, n);
	}
	talk(world, VFTRACE_COMM_WORLD, n);
	for (int i = 0; i < size; i++)
		all[i] = size - 1 - i;
	check("create", vftrace_comm_create(VFTRACE_COMM_WORLD, size, all, 20, &comm));
	talk(CIRCLES - 1 - world, comm, n);
	if (depth < DEPTH - 1) {
		seed = first_seed * 131u + (unsigned)world * 7919u +
		       (unsigned)depth; /* the same in all of a world */
		spawn(depth, world, VFTRACE_COMM_WORLD, rank, n);
	}
	check("free", vftrace_comm_free(&comm));
	check("finish", vftrace_finish(20));
	while (wait(NULL) > 0)
		;
	_exit(0);
}

int main(int argc, char **argv)
{
	int n = argc > 2 ? atoi(argv[2]) : 20;

	seed = argc > 1 ? (unsigned)atoi(argv[1]) : 1;
	shared = mmap(
		NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		return 1;
	shared->circles = 1;
	for (int i = 0; i < 3; i++) {
		seed += 17;
		if (!fork())
			live(0, NULL, n, 0, i, 0);
	}
	while (wait(NULL) > 0)
		;
	printf("messages %d of %d\n", shared->received, shared->n);
	return shared->failed != 0;
}
