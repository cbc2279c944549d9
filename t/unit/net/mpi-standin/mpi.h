/* SPDX-License-Identifier: BSD-3-Clause */
/* The part of MPI that nodeagent/net/mpi.c uses, for u-mpi.c, which says what each call returns. */
#ifndef VFTR_T_UNIT_NET_MPI_STANDIN_MPI_H
#define VFTR_T_UNIT_NET_MPI_STANDIN_MPI_H

typedef int MPI_Comm, MPI_Datatype, MPI_Request, MPI_Errhandler;
typedef struct {
	int MPI_SOURCE;
} MPI_Status;

enum {
	MPI_SUCCESS = 0,
	MPI_ERR_OTHER = 15,
	MPI_COMM_WORLD = 0,
	MPI_BYTE = 1,
	MPI_ANY_SOURCE = -2,
	MPI_REQUEST_NULL = -1,
	MPI_ERRORS_RETURN = 1,
	MPI_THREAD_FUNNELED = 1
};
#define MPI_STATUS_IGNORE ((MPI_Status *)0)

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided);
int MPI_Finalize(void);
int MPI_Abort(MPI_Comm comm, int status);
int MPI_Comm_set_errhandler(MPI_Comm comm, MPI_Errhandler handler);
int MPI_Comm_rank(MPI_Comm comm, int *rank);
int MPI_Comm_size(MPI_Comm comm, int *size);
int MPI_Isend(const void *buf, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm,
	MPI_Request *request);
int MPI_Irecv(void *buf, int n, MPI_Datatype type, int from, int tag, MPI_Comm comm,
	MPI_Request *request);
int MPI_Recv(
	void *buf, int n, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status *status);
int MPI_Iprobe(int from, int tag, MPI_Comm comm, int *found, MPI_Status *status);
int MPI_Test(MPI_Request *request, int *done, MPI_Status *status);

#endif
