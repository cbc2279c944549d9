/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * app-in-step WHAT [SECONDS [FOLDER]]: a ring of 100 messages per rank, and then
 *
 *	ok		every rank ends well, 0 says what it reads from standard input
 *	status		rank 0 exits with 7 after MPI_Finalize
 *	early		rank 0 exits with 7 before MPI_Finalize, the others wait for it
 *	silent		the same with 0
 *	kill		rank 0 kills itself with 9 before MPI_Finalize
 *	last		the rank with the highest number does
 *	abort		each sends itself 10000 messages; that rank calls MPI_Abort with 9
 *	wait		SECONDS pass before MPI_Finalize; each writes its pid to FOLDER/RANK
 *	signal		the same; a rank that gets SIGUSR1 in that time says so
 */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, size;
static volatile sig_atomic_t got;

static void on_signal(int unused)
{
	got++;
}

static void pass(void)
{
	int mine = rank, theirs;

	MPI_Sendrecv(&mine, 1, MPI_INT, (rank + 1) % size, 0, &theirs, 1, MPI_INT,
		(rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void talk(void)
{
	MPI_Comm own;
	int mine = rank, theirs;

	MPI_Comm_dup(MPI_COMM_SELF, &own);
	for (int i = 0; i < 10000; i++)
		MPI_Sendrecv(
			&mine, 1, MPI_INT, 0, 0, &theirs, 1, MPI_INT, 0, 0, own, MPI_STATUS_IGNORE);
	MPI_Barrier(MPI_COMM_WORLD);
}

static void stay(double seconds)
{
	double until = MPI_Wtime() + seconds;

	while (MPI_Wtime() < until)
		usleep(1000);
}

static void put_pid(const char *folder)
{
	char path[4096];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%d", folder, rank);
	f = fopen(path, "w");
	if (f) {
		fprintf(f, "%d\n", (int)getpid());
		fclose(f);
	}
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "ok";
	double seconds = argc > 2 ? atof(argv[2]) : 0;
	char line[64];

	signal(SIGUSR1, on_signal);
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	for (int i = 0; i < 100; i++)
		pass();
	if (argc > 3)
		put_pid(argv[3]);
	if (!strcmp(what, "ok") && rank == 0)
		while (fgets(line, sizeof(line), stdin))
			printf("stdin: %s", line);
	if (!strcmp(what, "early") && rank == 0)
		_Exit(7);
	if (!strcmp(what, "silent") && rank == 0)
		_Exit(0);
	if ((!strcmp(what, "kill") && rank == 0) || (!strcmp(what, "last") && rank == size - 1))
		kill(getpid(), SIGKILL);
	if (!strcmp(what, "abort"))
		talk();
	if (!strcmp(what, "abort") && rank == size - 1)
		MPI_Abort(MPI_COMM_WORLD, 9);
	if (!strcmp(what, "abort"))
		MPI_Barrier(MPI_COMM_WORLD);
	stay(seconds);
	if (got)
		printf("rank %d: %d signal\n", rank, (int)got);
	MPI_Finalize();
	return !strcmp(what, "status") && rank == 0 ? 7 : 0;
}
