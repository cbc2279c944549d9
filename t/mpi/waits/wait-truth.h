/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * For programs whose waits are known, by four ranks on one node: a function for each property,
 * which the ranks call again and again, as in the APART test suite. Each rank works until its own
 * time, then it calls MPI. What it does is stamped; at the end rank 0 prints for each property and
 * kind what was waited for which rank, by the definitions of vftr-analysis(7) alone:
 *
 *	PROPERTY KIND LATE_RANK SECONDS WAITS
 *
 * The first argument is a file, which is made: it tells them how far the others are without MPI.
 */
#ifndef T_MPI_WAITS_WAIT_TRUTH_H
#define T_MPI_WAITS_WAIT_TRUTH_H

#include <fcntl.h>
#include <mpi.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define RANKS	4
#define TURNS	6
#define TURN_MS 40
#define MOST	128 /* stamps of a rank for one property */
#define NOBODY	(-1)

/* Calls that wait, then those that others wait for. */
enum kind { LATE_SENDER, BARRIER, NXN, LATE_ROOT, EARLY_ROOT, SCAN, KINDS, SEND };

static const char *const names[KINDS] = {
	"late_sender", "barrier", "nxn", "late_root", "early_root", "scan"};

struct stamp {
	int64_t came; /* others wait for this */
	int64_t enter,
		leave; /* of the call that waits; of several stamps, if it completes several */
	int64_t kind, group, turn;
	int64_t peer; /* world rank: the root; of a send, the receiver */
};

static int rank, turn;
static struct stamp stamps[MOST];
static int n_stamps;
static int64_t origin;	       /* of all ranks, of this property */
static _Atomic int64_t *steps; /* of each rank, in the file */
static int data[RANKS], all[RANKS];

__attribute__((no_instrument_function)) static int64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

/* Busy with something else until this time of the turn. */
static void work_until(int ms)
{
	int64_t at = origin + (turn * TURN_MS + ms) * INT64_C(1000000);
	struct timespec t = {at / 1000000000, at % 1000000000};

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL))
		;
}

/* A call that blocks. */
#define STAMP(kind, group, peer, call)                                                             \
	do {                                                                                       \
		struct stamp *s_ = &stamps[n_stamps++];                                            \
		*s_ = (struct stamp){0, 0, 0, kind, group, turn, peer};                            \
		s_->came = s_->enter = now();                                                      \
		call;                                                                              \
		s_->leave = now();                                                                 \
	} while (0)

/* A call that begins what COMPLETED waits for. */
#define BEGUN(kind, group, peer, call)                                                             \
	do {                                                                                       \
		stamps[n_stamps++] = (struct stamp){now(), 0, 0, kind, group, turn, peer};         \
		call;                                                                              \
	} while (0)

/* A call that completes what has begun last, n of these. */
#define COMPLETED(n, call)                                                                         \
	do {                                                                                       \
		int64_t enter_ = now(), leave_;                                                    \
		call;                                                                              \
		leave_ = now();                                                                    \
		for (int k_ = 1; k_ <= (n); k_++) {                                                \
			stamps[n_stamps - k_].enter = enter_;                                      \
			stamps[n_stamps - k_].leave = leave_;                                      \
		}                                                                                  \
	} while (0)

/* Until this rank is about to make its call for the nth time, and then as long as it may take. */
static inline void after(int other, int64_t n)
{
	const struct timespec nap = {0, 3000000};

	do
		nanosleep(&nap, NULL);
	while (atomic_load(&steps[other]) < n);
}

/* ---- the truth --------------------------------------------------------------------------- */

struct wait {
	int64_t ns, n;
};

/* Whether a of rank ra needs b of rank rb. */
static int needs(const struct stamp *a, int ra, const struct stamp *b, int rb)
{
	if (a->turn != b->turn || a->group != b->group || ra == rb || !a->leave)
		return 0;
	switch (a->kind) {
	case LATE_SENDER:
		return b->kind == SEND && b->peer == ra;
	case BARRIER:
	case NXN:
		return b->kind == a->kind;
	case LATE_ROOT:
		return b->kind == a->kind && rb == a->peer;
	case EARLY_ROOT:
		return b->kind == a->kind && ra == a->peer;
	case SCAN:
		return b->kind == a->kind && rb < ra;
	}
	return 0;
}

/* All that is completed together with stamp i, which is the first of these. */
static void judge(
	const struct stamp of[][MOST], const int *n, int ra, int i, struct wait waits[KINDS][RANKS])
{
	const struct stamp *first = &of[ra][i];
	int64_t until = first->enter, kind = 0;
	int late = NOBODY;

	for (const struct stamp *a = first; a < of[ra] + n[ra] && a->enter == first->enter; a++)
		for (int rb = 0; rb < RANKS; rb++)
			for (int k = 0; k < n[rb]; k++)
				if (needs(a, ra, &of[rb][k], rb) && of[rb][k].came > until) {
					until = of[rb][k].came;
					kind = a->kind;
					late = rb;
				}
	if (late == NOBODY)
		return;
	waits[kind][late].ns += (until < first->leave ? until : first->leave) - first->enter;
	waits[kind][late].n++;
}

static void tell(const char *name)
{
	static struct stamp of[RANKS][MOST];
	struct wait waits[KINDS][RANKS] = {0};
	int n[RANKS];

	MPI_Gather(&n_stamps, 1, MPI_INT, n, 1, MPI_INT, 0, MPI_COMM_WORLD);
	MPI_Gather(
		stamps, sizeof(stamps), MPI_BYTE, of, sizeof(stamps), MPI_BYTE, 0, MPI_COMM_WORLD);
	n_stamps = 0;
	if (rank)
		return;
	for (int r = 0; r < RANKS; r++)
		for (int i = 0; i < n[r]; i++)
			if (!i || of[r][i].enter != of[r][i - 1].enter)
				judge(of, n, r, i, waits);
	for (int kind = 0; kind < KINDS; kind++)
		for (int r = 0; r < RANKS; r++)
			if (waits[kind][r].n)
				printf("%s %s %d %.9f %d\n", name, names[kind], r,
					1e-9 * (double)waits[kind][r].ns, (int)waits[kind][r].n);
}

struct property {
	void (*run)(void);
	const char *name;
};

#define PROPERTY(name)                                                                             \
	{                                                                                          \
		name, #name                                                                        \
	}

static void play(const struct property *p)
{
	origin = now() + 20 * 1000000;
	MPI_Bcast(&origin, 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
	for (turn = 0; turn < TURNS; turn++)
		p->run();
	tell(p->name);
}

/* Begins MPI. */
static void begin_properties(int *argc, char ***argv)
{
	const size_t bytes = RANKS * sizeof(*steps);
	int size, fd;

	MPI_Init(argc, argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	if (size != RANKS || *argc < 2) {
		fprintf(stderr, "four ranks and a file, please\n");
		MPI_Abort(MPI_COMM_WORLD, 2);
	}
	fd = open((*argv)[1], O_RDWR | O_CREAT, 0600);
	if (fd < 0 || ftruncate(fd, (off_t)bytes) ||
		(steps = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)) ==
			MAP_FAILED) {
		perror((*argv)[1]);
		MPI_Abort(MPI_COMM_WORLD, 2);
	}
	close(fd);
}

#endif
