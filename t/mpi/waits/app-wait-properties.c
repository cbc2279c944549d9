/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Programs whose waits are known, one function for each, as the properties of the APART test
 * suite: each rank works until its own time, then they call MPI, again and again. Every call is
 * stamped before and after; at the end rank 0 prints for each property and kind what was waited
 * for which rank, by the definitions of vftr-analysis(7) alone:
 *
 *	PROPERTY KIND LATE_RANK SECONDS WAITS
 *
 *	app-wait-properties FILE
 *
 * Four ranks on one node. FILE, which is made, tells them how far the others are without MPI.
 */
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
#define MOST	64 /* stamps of a rank for one property */
#define NOBODY	(-1)

enum kind { LATE_SENDER, BARRIER, NXN, LATE_ROOT, EARLY_ROOT, SCAN, KINDS, SEND };

static const char *const names[KINDS] = {
	"late_sender", "barrier", "nxn", "late_root", "early_root", "scan"};

struct stamp {
	int64_t enter, leave;
	int64_t kind, group, turn;
	int64_t peer; /* world rank: the root; of a send, the receiver */
};

static int rank, turn;
static MPI_Comm halves; /* ranks 0 and 2, ranks 1 and 3 */
static struct stamp stamps[MOST];
static int n_stamps;
static int64_t origin;	       /* of all ranks, of this property */
static _Atomic int64_t *steps; /* of each rank, in FILE */

static int64_t now(void)
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

#define STAMP(kind, group, peer, call)                                                             \
	do {                                                                                       \
		struct stamp *s_ = &stamps[n_stamps++];                                            \
		*s_ = (struct stamp){0, 0, kind, group, turn, peer};                               \
		s_->enter = now();                                                                 \
		call;                                                                              \
		s_->leave = now();                                                                 \
	} while (0)

/* ---- the properties ---------------------------------------------------------------------- */

static int data[RANKS], all[RANKS];

static void late_sender(void)
{
	int to = rank - 1;

	work_until(rank % 2 ? 5 * rank : 0);
	if (rank % 2)
		STAMP(SEND, 0, to, MPI_Send(data, 1, MPI_INT, to, 1, MPI_COMM_WORLD));
	else
		STAMP(LATE_SENDER, 0, NOBODY,
			MPI_Recv(data, 1, MPI_INT, rank + 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

/* In turn another one is last; the others have waited for nothing. */
static void late_sender_in_waitall(void)
{
	MPI_Request requests[RANKS];

	if (rank) {
		work_until(5 + 4 * ((rank + turn) % 3));
		STAMP(SEND, 0, 0, MPI_Send(data, 1, MPI_INT, 0, 2, MPI_COMM_WORLD));
		return;
	}
	work_until(0);
	for (int i = 1; i < RANKS; i++)
		MPI_Irecv(&all[i], 1, MPI_INT, i, 2, MPI_COMM_WORLD, &requests[i - 1]);
	STAMP(LATE_SENDER, 0, NOBODY, MPI_Waitall(RANKS - 1, requests, MPI_STATUSES_IGNORE));
}

static void imbalance_at_barrier(void)
{
	work_until(5 * rank);
	STAMP(BARRIER, 0, NOBODY, MPI_Barrier(MPI_COMM_WORLD));
}

static void imbalance_at_alltoall(void)
{
	work_until(rank == 2 ? 15 : 0);
	STAMP(NXN, 0, NOBODY, MPI_Alltoall(data, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD));
}

static void imbalance_at_allreduce(void)
{
	work_until(rank == turn % RANKS ? 12 : rank);
	STAMP(NXN, 0, NOBODY, MPI_Allreduce(data, all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
}

static void late_broadcast(void)
{
	work_until(rank == 1 ? 12 : 0);
	STAMP(LATE_ROOT, 0, 1, MPI_Bcast(data, 1, MPI_INT, 1, MPI_COMM_WORLD));
}

static void late_scatter(void)
{
	work_until(rank == 2 ? 12 : 0);
	STAMP(LATE_ROOT, 0, 2, MPI_Scatter(all, 1, MPI_INT, data, 1, MPI_INT, 2, MPI_COMM_WORLD));
}

static void early_reduce(void)
{
	work_until(rank == 0 ? 0 : 5 + 3 * rank);
	STAMP(EARLY_ROOT, 0, 0, MPI_Reduce(data, all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD));
}

static void early_gather(void)
{
	work_until(rank == 3 ? 0 : 14 - 4 * rank);
	STAMP(EARLY_ROOT, 0, 3, MPI_Gather(data, 1, MPI_INT, all, 1, MPI_INT, 3, MPI_COMM_WORLD));
}

static void late_in_scan(void)
{
	work_until(rank == 1 ? 12 : 0);
	STAMP(SCAN, 0, NOBODY, MPI_Scan(data, all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
}

/* In one half a late root, in the other one a late member of a barrier. */
static void two_communicators(void)
{
	work_until(rank > 1 ? 12 : 0);
	if (rank % 2)
		STAMP(BARRIER, 1, NOBODY, MPI_Barrier(halves));
	else
		STAMP(LATE_ROOT, 0, 2, MPI_Bcast(data, 1, MPI_INT, 1, halves));
}

/* Until this rank is about to make its call for the nth time, and then as long as it may take. */
static void after(int other, int64_t n)
{
	const struct timespec nap = {0, 3000000};

	do
		nanosleep(&nap, NULL);
	while (atomic_load(&steps[other]) < n);
}

/* Nobody waits: what a call needs was there before. */
static void nobody_waits(void)
{
	const int64_t n = 4 * turn + 1;

	if (rank)
		after(0, n);
	atomic_store(&steps[rank], n);
	STAMP(LATE_ROOT, 0, 0, MPI_Bcast(data, 1, MPI_INT, 0, MPI_COMM_WORLD));
	for (int r = 0; r < RANKS && rank == 1; r++)
		if (r != 1)
			after(r, n + 1);
	atomic_store(&steps[rank], n + 1);
	STAMP(EARLY_ROOT, 1, 1, MPI_Reduce(data, all, 1, MPI_INT, MPI_SUM, 1, MPI_COMM_WORLD));
	if (rank)
		after(rank - 1, n + 2);
	atomic_store(&steps[rank], n + 2);
	STAMP(SCAN, 2, NOBODY, MPI_Scan(data, all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
	if (rank == 0)
		after(2, n + 3);
	atomic_store(&steps[rank], n + 3);
	if (rank == 2)
		STAMP(SEND, 3, 0, MPI_Send(data, 1, MPI_INT, 0, 3, MPI_COMM_WORLD));
	if (rank == 0)
		STAMP(LATE_SENDER, 3, NOBODY,
			MPI_Recv(data, 1, MPI_INT, 2, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

static const struct {
	void (*run)(void);
	const char *name;
} properties[] = {
#define PROPERTY(name)                                                                             \
	{                                                                                          \
		name, #name                                                                        \
	}
	PROPERTY(late_sender),
	PROPERTY(late_sender_in_waitall),
	PROPERTY(imbalance_at_barrier),
	PROPERTY(imbalance_at_alltoall),
	PROPERTY(imbalance_at_allreduce),
	PROPERTY(late_broadcast),
	PROPERTY(late_scatter),
	PROPERTY(early_reduce),
	PROPERTY(early_gather),
	PROPERTY(late_in_scan),
	PROPERTY(two_communicators),
	PROPERTY(nobody_waits),
};

/* ---- the truth --------------------------------------------------------------------------- */

struct wait {
	int64_t ns, n;
};

/* Whether call a of rank ra needs call b of rank rb. */
static int needs(const struct stamp *a, int ra, const struct stamp *b, int rb)
{
	if (a->turn != b->turn || a->group != b->group || ra == rb)
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

static void judge(
	const struct stamp of[][MOST], const int *n, int ra, int i, struct wait waits[KINDS][RANKS])
{
	const struct stamp *a = &of[ra][i];
	int64_t until = a->enter;
	int late = NOBODY;

	for (int rb = 0; rb < RANKS; rb++)
		for (int k = 0; k < n[rb]; k++)
			if (needs(a, ra, &of[rb][k], rb) && of[rb][k].enter > until) {
				until = of[rb][k].enter;
				late = rb;
			}
	if (late == NOBODY)
		return;
	waits[a->kind][late].ns += (until < a->leave ? until : a->leave) - a->enter;
	waits[a->kind][late].n++;
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
			judge(of, n, r, i, waits);
	for (int kind = 0; kind < KINDS; kind++)
		for (int r = 0; r < RANKS; r++)
			if (waits[kind][r].n)
				printf("%s %s %d %.9f %d\n", name, names[kind], r,
					1e-9 * (double)waits[kind][r].ns, (int)waits[kind][r].n);
}

static void play(int i)
{
	origin = now() + 20 * 1000000;
	MPI_Bcast(&origin, 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
	for (turn = 0; turn < TURNS; turn++)
		properties[i].run();
	tell(properties[i].name);
}

static void open_steps(const char *path)
{
	const size_t size = RANKS * sizeof(*steps);
	const int fd = open(path, O_RDWR | O_CREAT, 0600);

	if (fd < 0 || ftruncate(fd, (off_t)size) ||
		(steps = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)) ==
			MAP_FAILED) {
		perror(path);
		MPI_Abort(MPI_COMM_WORLD, 2);
	}
	close(fd);
}

int main(int argc, char **argv)
{
	int size;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	if (size != RANKS || argc != 2) {
		fprintf(stderr, "four ranks and a file, please\n");
		MPI_Abort(MPI_COMM_WORLD, 2);
	}
	open_steps(argv[1]);
	MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &halves);
	for (size_t i = 0; i < sizeof(properties) / sizeof(properties[0]); i++)
		play((int)i);
	MPI_Comm_free(&halves);
	MPI_Finalize();
	return 0;
}
