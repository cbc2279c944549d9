/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * For tests of `vftr where': app-mpi-where DIR HOW [RANK]. Ranks hang until DIR/end is there. HOW:
 *
 *   barrier	all but RANK, which has done one barrier less, are in a barrier
 *   ring	each sends to the next one, and nobody receives
 *   receive	each receives from the next one, tag 7, and nobody sends: rank 1 in
 *		MPI_Sendrecv, whose send is taken, 2 in MPI_Probe, 3 from any rank with any
 *		tag, 4 in MPI_Mprobe
 *   mixed	all but 1 and 5 are in a barrier; 1 computes, and 5 sends to 0
 *   requests	each waits for a receive from the next one, tag 7; those with an odd number
 *		for three from the one before, tag 8, and for a barrier, too
 *
 * Each writes its pid to DIR/pid.RANK when it is about to hang. Of all but a barrier nothing
 * but a signal makes an end.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define APART __attribute__((noinline, noipa))

static int rank, ranks;

static int __attribute__((no_instrument_function)) there_is(const char *dir, const char *name)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return !access(path, F_OK);
}

static void __attribute__((no_instrument_function)) tell(const char *dir)
{
	char path[4096], soon[4096];
	FILE *f;

	snprintf(path, sizeof(path), "%s/pid.%d", dir, rank);
	snprintf(soon, sizeof(soon), "%s/soon.%d", dir, rank);
	f = fopen(soon, "w");
	if (!f || fprintf(f, "%d\n", (int)getpid()) < 0 || fclose(f) || rename(soon, path))
		exit(1);
}

static APART void stay_away(const char *dir)
{
	while (!access(dir, F_OK) && !there_is(dir, "end"))
		usleep(100000);
}

static APART void meet(void)
{
	MPI_Barrier(MPI_COMM_WORLD);
}

static APART void exchange(int send, int next)
{
	int word = rank;

	MPI_Message message;

	if (send)
		MPI_Ssend(&word, 1, MPI_INT, next, 7, MPI_COMM_WORLD);
	else if (rank == 1)
		MPI_Sendrecv(&rank, 1, MPI_INT, 0, 9, &word, 1, MPI_INT, next, 7, MPI_COMM_WORLD,
			MPI_STATUS_IGNORE);
	else if (rank == 2)
		MPI_Probe(next, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	else if (rank == 3)
		MPI_Recv(&word, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD,
			MPI_STATUS_IGNORE);
	else if (rank == 4)
		MPI_Mprobe(next, 7, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
	else
		MPI_Recv(&word, 1, MPI_INT, next, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* Others, which are over, have the numbers of the requests before. */
static APART void wait_for_requests(int next, int before)
{
	MPI_Request request[5];
	int words[5], n = 0;

	for (int i = 0; i < 2; i++) {
		MPI_Irecv(&words[0], 1, MPI_INT, before, 5, MPI_COMM_WORLD, &request[0]);
		MPI_Isend(&rank, 1, MPI_INT, next, 5, MPI_COMM_WORLD, &request[1]);
		MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
	}
	MPI_Irecv(&words[0], 1, MPI_INT, next, 7, MPI_COMM_WORLD, &request[n++]);
	if (rank % 2 == 0) {
		MPI_Wait(request, MPI_STATUS_IGNORE);
		return;
	}
	while (n < 4) {
		MPI_Irecv(&words[n], 1, MPI_INT, before, 8, MPI_COMM_WORLD, &request[n]);
		n++;
	}
	MPI_Ibarrier(MPI_COMM_WORLD, &request[n++]);
	MPI_Waitall(n, request, MPI_STATUSES_IGNORE);
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	for (int i = 0; i < 3; i++)
		meet();
	tell(argv[1]);
	if (!strcmp(argv[2], "mixed")) {
		if (rank == 1)
			stay_away(argv[1]);
		if (rank == 5)
			exchange(1, 0);
	} else if (!strcmp(argv[2], "requests")) {
		wait_for_requests((rank + 1) % ranks, (rank + ranks - 1) % ranks);
	} else if (strcmp(argv[2], "barrier")) {
		exchange(!strcmp(argv[2], "ring"), (rank + 1) % ranks);
	} else if (argc > 3 && rank == atoi(argv[3])) {
		stay_away(argv[1]);
	}
	meet();
	MPI_Finalize();
	return 0;
}
