/* SPDX-License-Identifier: BSD-3-Clause */
/*
 *	app-mpi-death COUNTS
 *
 * Ranks 0 and 1 send each other messages without end; what each has sent and
 * received stands in the mapped file COUNTS. Rank 2 sends 100 messages to
 * rank 0, and then kills itself inside of MPI_Recv, where it waits for a
 * message that never comes: its alarm handler does it, when the others have sent 2000.
 */
#include <fcntl.h>
#include <mpi.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

static volatile long *counts; /* of rank r: [2 * r] sent, [2 * r + 1] received */

static void die(int signal)
{
	if (counts[0] < 2000) {
		alarm(1);
		return;
	}
	counts[6] = 1;
	kill(getpid(), SIGKILL);
	(void)signal;
}

int main(int argc, char **argv)
{
	char message[64] = "";
	int rank, fd = open(argv[1], O_RDWR);

	counts = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (int i = 0; i < 100 && rank != 1; i++) {
		if (rank == 2) {
			MPI_Send(message, 16, MPI_CHAR, 0, 2, MPI_COMM_WORLD);
			counts[4]++;
		} else {
			MPI_Recv(message, 64, MPI_CHAR, 2, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			counts[1]++;
		}
	}
	if (rank == 2) {
		signal(SIGALRM, die);
		alarm(1);
		MPI_Recv(message, 64, MPI_CHAR, 0, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	}
	for (;;) {
		MPI_Send(message, 32, MPI_CHAR, 1 - rank, 1, MPI_COMM_WORLD);
		counts[2 * rank]++;
		MPI_Recv(message, 64, MPI_CHAR, 1 - rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		counts[2 * rank + 1]++;
	}
}
