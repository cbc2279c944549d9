/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Properties beyond one communicator and MPI: composites over two communicators, chains through
 * several, imbalance that grows and shrinks, OpenMP below MPI, input and output. README says after
 * what.
 *
 *	app-known-mixed FILE
 *
 * Four ranks on one machine; FILE: known_open(), and FILE.data is written.
 */
#include <fcntl.h>
#include <mpi.h>
#include <omp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "known.h"

#define RANKS	  4
#define WORLD	  MPI_COMM_WORLD
#define BIT(rank) (1u << (rank))
#define ALL	  (BIT(RANKS) - 1)
#define OTHERS	  (ALL & ~BIT(known_rank))
#define NOBODY	  KNOWN_NOBODY
#define MANY	  1024

static int data[MANY], all[MANY];
static MPI_Comm halves;		  /* ranks 0 and 1, ranks 2 and 3 */
static MPI_Comm columns;	  /* ranks 0 and 2, ranks 1 and 3 */
static MPI_Comm pairs[RANKS - 1]; /* ranks i and i + 1 */
static MPI_Comm groups;		  /* an intercommunicator of both halves */
static char path[4096];

/* The late one: works until the others have come to their nth call of this turn, and then so many
 * ms more. */
static void bottleneck(unsigned others, int nth, int ms)
{
	struct known_stamp *s = known_inside(__func__);

	known_after(others, nth);
	known_spin(ms);
	known_called(s);
}

/* Nobody waits: the root comes first. */
static void root_first(void)
{
	if (known_rank)
		known_after(BIT(0), 1);
	KNOWN_CALL(LATE_ROOT, 0, 0, MPI_Bcast, data, 1, MPI_INT, 0, WORLD);
}

/* ---- communicators ----------------------------------------------------------------------- */

/* In one half a late root, in the other one a late member of a barrier, at the same time. */
static void two_communicators(void)
{
	if (known_rank % 2)
		bottleneck(BIT(known_rank - 1), 1, 8);
	if (known_rank < 2)
		KNOWN_CALL(LATE_ROOT, 0, 1, MPI_Bcast, data, 1, MPI_INT, 1, halves);
	else
		KNOWN_CALL(BARRIER, 1, NOBODY, MPI_Barrier, halves);
}

/* Rank 0 is late for rank 1 in their row, and so are both for their columns. */
static void rows_then_columns(void)
{
	if (known_rank == 0)
		bottleneck(OTHERS, 1, 8);
	if (known_rank < 2)
		KNOWN_CALL(BARRIER, 0, NOBODY, MPI_Barrier, halves);
	KNOWN_CALL(NXN, 1 + known_rank % 2, NOBODY, MPI_Allreduce, data, all, 1, MPI_INT, MPI_SUM,
		columns);
}

/* Each pair waits for one that has waited in the pair before. */
static void chain_of_pairs(void)
{
	if (known_rank == 0)
		bottleneck(OTHERS, 1, 8);
	if (known_rank > 0)
		KNOWN_CALL(BARRIER, known_rank - 1, NOBODY, MPI_Barrier, pairs[known_rank - 1]);
	if (known_rank + 1 < RANKS)
		KNOWN_CALL(BARRIER, known_rank, NOBODY, MPI_Barrier, pairs[known_rank]);
}

/* On an intercommunicator only the other group waits. */
static void two_groups(void)
{
	if (known_rank == 3)
		bottleneck(OTHERS, 1, 8);
	KNOWN_CALL(BARRIER, 0, known_rank / 2, MPI_Barrier, groups);
}

/* ---- imbalance by time ------------------------------------------------------------------- */

static void growing_imbalance(void)
{
	if (known_rank == 3)
		bottleneck(OTHERS, 1, 2 + 2 * known_turn);
	KNOWN_CALL(BARRIER, 0, NOBODY, MPI_Barrier, WORLD);
}

static void shrinking_imbalance(void)
{
	if (known_rank == 1)
		bottleneck(OTHERS, 1, 2 * (known_turns - known_turn));
	KNOWN_CALL(NXN, 0, NOBODY, MPI_Allreduce, data, all, 1, MPI_INT, MPI_SUM, WORLD);
}

/* ---- OpenMP ------------------------------------------------------------------------------ */

/* A worker of rank 2 is slow: its first thread waits at the end of the region, the other ranks in
 * MPI. */
static void imbalance_in_omp_region(void)
{
	struct known_stamp *s = known_inside(__func__);

#pragma omp parallel num_threads(2)
	{
		if (known_rank == 2 && omp_get_thread_num() == 1) {
			known_after(OTHERS, 1);
			known_spin(8);
		}
	}
	known_called(s);
	KNOWN_CALL(BARRIER, 0, NOBODY, MPI_Barrier, WORLD);
}

/* Rank 1 works on its first thread only. */
static void serial_part(void)
{
	if (known_rank == 1)
		bottleneck(OTHERS, 1, 8);
#pragma omp parallel num_threads(2)
	known_spin(1);
	KNOWN_CALL(NXN, 0, NOBODY, MPI_Allreduce, data, all, 1, MPI_INT, MPI_SUM, WORLD);
}

/* MPI in a region, by its first thread; the other one waits at a barrier of OpenMP. */
static void call_in_omp_master(void)
{
#pragma omp parallel num_threads(2)
	{
#pragma omp master
		{
			if (known_rank == 3)
				bottleneck(OTHERS, 1, 8);
			KNOWN_CALL(NXN, 0, NOBODY, MPI_Allreduce, data, all, 1, MPI_INT, MPI_SUM,
				WORLD);
		}
#pragma omp barrier
	}
}

/* MPI in a region, by its other thread; the first one waits at the end. */
static void call_by_omp_worker(void)
{
#pragma omp parallel num_threads(2)
	if (omp_get_thread_num() == 1) {
		if (known_rank == 0) {
			bottleneck(OTHERS, 1, 8);
			for (int r = 1; r < RANKS; r++)
				KNOWN_CALL(SEND, r, r, MPI_Send, data, 1, MPI_INT, r, 0, WORLD);
		} else {
			KNOWN_CALL(LATE_SENDER, known_rank, 0, MPI_Recv, data, 1, MPI_INT, 0, 0,
				WORLD, MPI_STATUS_IGNORE);
		}
	}
}

/* Threads wait for each other, ranks do not. */
static void threads_in_critical(void)
{
	_Atomic int at_the_door = 0;

#pragma omp parallel num_threads(2)
	{
		atomic_fetch_add(&at_the_door, 1);
#pragma omp critical
		{
			while (atomic_load(&at_the_door) < 2)
				known_spin(1);
			known_spin(3);
		}
	}
	root_first();
}

/* ---- input and output -------------------------------------------------------------------- */

static void write_out(unsigned others)
{
	struct known_stamp *s = known_inside(__func__);
	const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	known_after(others, 1);
	for (int i = 0; i < 20000; i++)
		if (pwrite(fd, data, sizeof(data), 0) != sizeof(data))
			MPI_Abort(WORLD, 2);
	close(fd);
	known_called(s);
}

/* One rank writes, and the others wait for it. */
static void io_by_one(void)
{
	if (known_rank == 2)
		write_out(OTHERS);
	KNOWN_CALL(BARRIER, 0, NOBODY, MPI_Barrier, WORLD);
}

/* Each rank writes its part by MPI; nobody waits. */
static void io_by_mpi(void)
{
	MPI_File f;

	MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f);
	for (int i = 0; i < 50; i++)
		MPI_File_write_at(f, (MPI_Offset)sizeof(data) * known_rank, data, MANY, MPI_INT,
			MPI_STATUS_IGNORE);
	MPI_File_close(&f);
	root_first();
}

/* ---- where ranks wait for something else --------------------------------------------------- */

static void waits_elsewhere(void)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += until.tv_nsec / 995000000;
	until.tv_nsec = (until.tv_nsec + 5000000) % 1000000000;
	pthread_mutex_lock(&lock);
	pthread_cond_timedwait(&never, &lock, &until);
	pthread_mutex_unlock(&lock);
	root_first();
}

/* ------------------------------------------------------------------------------------------ */

static const struct known_property properties[] = {
	KNOWN_PROPERTY(two_communicators, "late_root MPI_Bcast two_communicators 1 bottleneck"),
	{NULL, "two_communicators", "barrier MPI_Barrier two_communicators 3 bottleneck"},
	KNOWN_PROPERTY(rows_then_columns,
		"nxn MPI_Allreduce rows_then_columns 0,1 bottleneck,MPI_Barrier"),
	KNOWN_PROPERTY(chain_of_pairs,
		"barrier MPI_Barrier chain_of_pairs 0,1,2 bottleneck,MPI_Barrier,MPI_Barrier"),
	KNOWN_PROPERTY(two_groups, "barrier MPI_Barrier two_groups 3 bottleneck"),
	KNOWN_PROPERTY(growing_imbalance, "barrier MPI_Barrier growing_imbalance 3 bottleneck"),
	KNOWN_PROPERTY(shrinking_imbalance, "nxn MPI_Allreduce shrinking_imbalance 1 bottleneck"),
	KNOWN_PROPERTY(
		imbalance_in_omp_region, "barrier MPI_Barrier imbalance_in_omp_region 2 omp_join"),
	KNOWN_PROPERTY(serial_part, "nxn MPI_Allreduce serial_part 1 bottleneck"),
	KNOWN_PROPERTY(call_in_omp_master, "nxn MPI_Allreduce call_in_omp_master 3 bottleneck"),
	KNOWN_PROPERTY(call_by_omp_worker, "late_sender MPI_Recv call_by_omp_worker 0 bottleneck"),
	KNOWN_PROPERTY(threads_in_critical, NULL),
	KNOWN_PROPERTY(io_by_one, "barrier MPI_Barrier io_by_one 2 write_out"),
	KNOWN_PROPERTY(io_by_mpi, NULL),
	KNOWN_PROPERTY(waits_elsewhere, NULL),
};
#define PROPERTIES (int)(sizeof(properties) / sizeof(properties[0]))

int main(int argc, char **argv)
{
	int rank, size, provided;

	MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
	MPI_Comm_rank(WORLD, &rank);
	MPI_Comm_size(WORLD, &size);
	if (size != RANKS || argc != 2) {
		fprintf(stderr, "four ranks and a file, please\n");
		MPI_Abort(WORLD, 2);
	}
	known_open(argv[1], rank, size);
	snprintf(path, sizeof(path), "%s.data", argv[1]);
	MPI_Comm_split(WORLD, rank / 2, rank, &halves);
	MPI_Comm_split(WORLD, rank % 2, rank, &columns);
	MPI_Intercomm_create(halves, 0, WORLD, rank < 2 ? 2 : 0, 0, &groups);
	for (int i = 0; i < RANKS - 1; i++)
		MPI_Comm_split(
			WORLD, rank == i || rank == i + 1 ? 0 : MPI_UNDEFINED, rank, &pairs[i]);
	known_play(properties, PROPERTIES);
	MPI_Finalize();
	return 0;
}
