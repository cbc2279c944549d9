/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Another tool on the profiling interface: counts some calls, and writes them to
 * the file $TOOL_COUNTS.PID at the end, a line "CALLS NAME" each. Like real ones it
 * has a communicator, an attribute and requests of its own, which it uses inside of
 * the wrappers: by PMPI_ names or, with INNER_MPI, by those that tools intercept.
 * With NEXT it hands a call on to the next library that has the function, and not
 * to PMPI_. The extension MPIX_Query_cuda_support is there as one that ours lacks.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#ifdef INNER_MPI
#define INNER(function) MPI_##function
#else
#define INNER(function) PMPI_##function
#endif

#ifdef NEXT
#define REAL(function) ((__typeof__(&PMPI_##function))dlsym(RTLD_NEXT, "MPI_" #function))
#else
#define REAL(function) PMPI_##function
#endif

#define FUNCTIONS(_)                                                                               \
	_(Init) _(Send) _(Recv) _(Isend) _(Irecv) _(Waitall) _(Allreduce) _(Wtime) _(Finalize)

enum {
#define ID(function) function,
	FUNCTIONS(ID) Query,
	N_FUNCTIONS
};
static const char *const names[] = {
#define NAME(function) "MPI_" #function,
	FUNCTIONS(NAME) "MPIX_Query_cuda_support"};

static long calls[N_FUNCTIONS];
static int inside; /* one of our wrappers: do not count what we do ourselves */
static int written;
static MPI_Comm own = MPI_COMM_NULL;
static int key = MPI_KEYVAL_INVALID, value = 4711;

static void check(int good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "app-pmpi-tool: %s\n", what);
	abort();
}

static void write_counts(void)
{
	const char *base = getenv("TOOL_COUNTS");
	char file[4096];
	long sum = 0;
	FILE *f;

	for (int i = 0; i < N_FUNCTIONS; i++)
		sum += calls[i];
	if (!sum || !base || written++)
		return;
	snprintf(file, sizeof(file), "%s.%ld", base, (long)getpid());
	f = fopen(file, "w");
	check(f != NULL, "cannot write the counts");
	for (int i = 0; i < N_FUNCTIONS; i++)
		fprintf(f, "%ld %s\n", calls[i], names[i]);
	check(!fclose(f), "cannot write the counts");
}

/* For the case that nobody told us of the end. */
static void __attribute__((destructor)) last_chance(void)
{
	write_counts();
}

static void count(int id)
{
	if (!inside++)
		calls[id]++;
}

/* Messages to ourselves, through requests and a communicator the program knows not. */
static void own_messages(void)
{
	int sent[2] = {calls[Send], calls[Waitall]}, got[2] = {-1, -1};
	MPI_Request requests[3];
	MPI_Status statuses[3];

	if (inside > 1 || own == MPI_COMM_NULL)
		return;
	for (int i = 0; i < 2; i++)
		INNER(Irecv)(&got[i], 1, MPI_INT, MPI_ANY_SOURCE, i, own, &requests[i]);
	INNER(Send)(&sent[0], 1, MPI_INT, 0, 0, own);
	INNER(Isend)(&sent[1], 1, MPI_INT, 0, 1, own, &requests[2]);
	INNER(Waitall)(3, requests, statuses);
	check(got[0] == sent[0] && got[1] == sent[1], "own messages got lost");
	check(statuses[1].MPI_SOURCE == 0 && statuses[1].MPI_TAG == 1, "own status");
}

static void own_attribute(void)
{
	int *found = NULL, there = 0;

	if (inside > 1 || key == MPI_KEYVAL_INVALID)
		return;
	INNER(Comm_get_attr)(MPI_COMM_WORLD, key, &found, &there);
	check(there && found == &value, "own attribute");
}

int MPI_Init(int *argc, char ***argv)
{
	int rc;

	count(Init);
	rc = REAL(Init)(argc, argv);
	INNER(Comm_dup)(MPI_COMM_SELF, &own);
	INNER(Comm_create_keyval)(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &key, NULL);
	INNER(Comm_set_attr)(MPI_COMM_WORLD, key, &value);
	inside--;
	return rc;
}

int MPI_Finalize(void)
{
	int rc;

	count(Finalize);
	if (own != MPI_COMM_NULL)
		INNER(Comm_free)(&own);
	rc = REAL(Finalize)();
	inside--;
	write_counts();
	return rc;
}

int MPI_Send(const void *buf, int n, MPI_Datatype type, int dest, int tag, MPI_Comm comm)
{
	int rc;

	count(Send);
	own_attribute();
	rc = REAL(Send)(buf, n, type, dest, tag, comm);
	inside--;
	return rc;
}

int MPI_Recv(
	void *buf, int n, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Status *status)
{
	int rc;

	count(Recv);
	rc = REAL(Recv)(buf, n, type, source, tag, comm, status);
	inside--;
	return rc;
}

int MPI_Isend(const void *buf, int n, MPI_Datatype type, int dest, int tag, MPI_Comm comm,
	MPI_Request *request)
{
	int rc;

	count(Isend);
	own_attribute();
	rc = REAL(Isend)(buf, n, type, dest, tag, comm, request);
	inside--;
	return rc;
}

int MPI_Irecv(void *buf, int n, MPI_Datatype type, int source, int tag, MPI_Comm comm,
	MPI_Request *request)
{
	int rc;

	count(Irecv);
	rc = REAL(Irecv)(buf, n, type, source, tag, comm, request);
	inside--;
	return rc;
}

int MPI_Waitall(int n, MPI_Request requests[], MPI_Status statuses[])
{
	int rc;

	count(Waitall);
	own_messages();
	rc = REAL(Waitall)(n, requests, statuses);
	inside--;
	return rc;
}

int MPI_Allreduce(const void *in, void *out, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
	int rc;

	count(Allreduce);
	own_messages();
	rc = REAL(Allreduce)(in, out, n, type, op, comm);
	inside--;
	return rc;
}

int MPIX_Query_cuda_support(void);

double MPI_Wtime(void)
{
	double t;

	count(Wtime);
	t = REAL(Wtime)();
	inside--;
	return t;
}

int MPIX_Query_cuda_support(void)
{
	int (*real)(void), has;

	count(Query);
	*(void **)&real = dlsym(RTLD_NEXT, "MPIX_Query_cuda_support");
	has = real ? real() : 0;
	inside--;
	return has;
}
