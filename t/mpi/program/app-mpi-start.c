/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sends 1 number to the next rank with each level of MPI_Pcontrol, 28 in all, of
 * which 18 are while recording is on. -DSESSION: one, in a program that has a
 * session and no MPI_COMM_WORLD; 77 where this MPI has no sessions.
 */
#include <mpi.h>

static void to_next(MPI_Comm comm)
{
	int rank, size, sent = 1, got;

	MPI_Comm_rank(comm, &rank);
	MPI_Comm_size(comm, &size);
	MPI_Sendrecv(&sent, 1, MPI_INT, (rank + 1) % size, 0, &got, 1, MPI_INT,
		(rank + size - 1) % size, 0, comm, MPI_STATUS_IGNORE);
}

#ifndef SESSION
int main(int argc, char **argv)
{
	static const int level[] = {1, 0, 5, 2, 0, 1, -1};

	MPI_Init(&argc, &argv);
	for (int i = 0; i < 7; i++) {
		MPI_Pcontrol(level[i], "what follows is nobody's business", 7.0);
		for (int k = 0; k <= i; k++)
			to_next(MPI_COMM_WORLD);
	}
	return MPI_Finalize();
}
#elif MPI_VERSION >= 4
int main(void)
{
	MPI_Session session, second;
	MPI_Group group;
	MPI_Comm comm;

	MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
	MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &second);
	MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
	MPI_Comm_create_from_group(
		group, "org.vftr.test", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
	to_next(comm);
	MPI_Comm_free(&comm);
	MPI_Group_free(&group);
	MPI_Session_finalize(&second);
	return MPI_Session_finalize(&session);
}
#else
int main(void)
{
	return 77;
}
#endif
