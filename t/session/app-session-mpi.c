/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An MPI program whose ranks are in a session, too, with another process behind them: each
 * rank to the next one, ROUNDS times, over MPI and in the session.
 *	app-session-mpi ROUNDS
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include "vftrace-session.h"

static int failed(const char *what, int code)
{
	if (code)
		printf("%s: %s\n", what, vftrace_last_error());
	return code;
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 1, rank, size, own, all, x = 0;
	const char *contact = NULL;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	if (failed("join", vftrace_join(rank + 1, "rank", &contact)) ||
		failed("expect", vftrace_expect(size + 1, 0, NULL)) ||
		failed("start", vftrace_start(20)))
		MPI_Abort(MPI_COMM_WORLD, 1);
	vftrace_comm_rank(VFTRACE_COMM_WORLD, &own);
	vftrace_comm_size(VFTRACE_COMM_WORLD, &all);
	for (int i = 0; i < rounds; i++) {
		MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, 0, &x, 1, MPI_INT,
			(rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		vftrace_log_send(VFTRACE_COMM_WORLD, (own + 1) % all, 7, 64);
		vftrace_log_receive(VFTRACE_COMM_WORLD, (own + all - 1) % all, 7, 64);
	}
	failed("finish", vftrace_finish(20));
	MPI_Finalize();
	return 0;
}
