/* SPDX-License-Identifier: BSD-3-Clause */
/*
 *	app-mpi-errors			says what it has
 *	app-mpi-errors CASE		makes this mistake, which is fatal
 *	app-mpi-errors CASE return	the same with MPI_ERRORS_RETURN: says the class
 *	app-mpi-errors CASE handler	the same with a handler, which says it
 *	app-mpi-errors all return	one mistake after the other; or with handler
 *
 * In the first form the other ranks wait for the last one in MPI_Recv, for ever.
 * There are a few more cases than it says it has: see outside().
 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static int rank, size, calls;
static int data[64];
static MPI_Request requests[4];
static int which[4], n;

static void tell(MPI_Comm *comm, int *code, ...)
{
	int class;

	(void)comm;
	MPI_Error_class(*code, &class);
	printf("rank %d: handler called, class %d\n", rank, class);
	calls++;
}

/* Into a buffer that is too small; from and to oneself. */
static void too_long(int tag)
{
	MPI_Isend(data, 20, MPI_INT, rank, tag, MPI_COMM_WORLD, &requests[1]);
	MPI_Irecv(data + 32, 2, MPI_INT, rank, tag, MPI_COMM_WORLD, &requests[0]);
}

static int bad_rank(void)
{
	return MPI_Send(data, 1, MPI_INT, size, 1, MPI_COMM_WORLD);
}

static int bad_source(void)
{
	return MPI_Recv(data, 1, MPI_INT, size + 7, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static int bad_tag(void)
{
	return MPI_Isend(data, 1, MPI_INT, rank, -20, MPI_COMM_WORLD, requests);
}

static int bad_count(void)
{
	return MPI_Irecv(data, -1, MPI_INT, rank, 1, MPI_COMM_WORLD, requests);
}

static int bad_root(void)
{
	return MPI_Bcast(data, 1, MPI_INT, size, MPI_COMM_WORLD);
}

static int no_comm(void)
{
	return MPI_Send(data, 1, MPI_INT, rank, 1, MPI_COMM_NULL);
}

static int no_comm_collective(void)
{
	return MPI_Barrier(MPI_COMM_NULL);
}

static int no_type(void)
{
	return MPI_Send(data, 1, MPI_DATATYPE_NULL, rank, 1, MPI_COMM_WORLD);
}

static int raw_type(void)
{
	MPI_Datatype raw;

	MPI_Type_contiguous(2, MPI_INT, &raw);
	return MPI_Send(data, 1, raw, rank, 1, MPI_COMM_WORLD);
}

static int no_op(void)
{
	return MPI_Allreduce(data, data + 32, 1, MPI_INT, MPI_OP_NULL, MPI_COMM_WORLD);
}

static int truncated_recv(void)
{
	MPI_Isend(data, 20, MPI_INT, rank, 3, MPI_COMM_WORLD, requests);
	return MPI_Recv(data + 32, 2, MPI_INT, rank, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static int truncated_sendrecv(void)
{
	return MPI_Sendrecv(data, 20, MPI_INT, rank, 4, data + 32, 2, MPI_INT, rank, 4,
		MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static int truncated_wait(void)
{
	too_long(5);
	return MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
}

static int truncated_waitall(void)
{
	too_long(6);
	return MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

static int truncated_testsome(void)
{
	int code = MPI_SUCCESS;

	too_long(7);
	for (n = 0; code == MPI_SUCCESS && n != MPI_UNDEFINED;)
		code = MPI_Testsome(2, requests, &n, which, MPI_STATUSES_IGNORE);
	return code;
}

static int not_persistent(void)
{
	MPI_Request request = MPI_REQUEST_NULL;

	return MPI_Start(&request);
}

static const struct {
	const char *name;
	int (*run)(void);
} cases[] = {{"bad_rank", bad_rank}, {"bad_source", bad_source}, {"bad_tag", bad_tag},
	{"bad_count", bad_count}, {"bad_root", bad_root}, {"no_comm", no_comm},
	{"no_comm_collective", no_comm_collective}, {"no_type", no_type}, {"raw_type", raw_type},
	{"no_op", no_op}, {"truncated_recv", truncated_recv},
	{"truncated_sendrecv", truncated_sendrecv}, {"truncated_wait", truncated_wait},
	{"truncated_waitall", truncated_waitall}, {"truncated_testsome", truncated_testsome},
	{"not_persistent", not_persistent}};

/* Outside of MPI_Init and MPI_Finalize. */
static int outside(const char *name)
{
	if (!strcmp(name, "before_init"))
		return MPI_Send(data, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
	MPI_Init(NULL, NULL);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (!strcmp(name, "abort") && !rank)
		return MPI_Abort(MPI_COMM_WORLD, 42);
	if (!strcmp(name, "abort"))
		return MPI_Recv(data, 1, MPI_INT, 0, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	if (!strcmp(name, "twice"))
		return MPI_Init(NULL, NULL);
	MPI_Finalize();
	return MPI_Barrier(MPI_COMM_WORLD); /* after_finalize */
}

static void handle_errors(const char *how)
{
	MPI_Errhandler handler = MPI_ERRORS_RETURN;

	if (!strcmp(how, "handler"))
		MPI_Comm_create_errhandler(tell, &handler);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, handler);
}

static void run_case(int i)
{
	int class = -1, code;

	for (int k = 0; k < 4; k++)
		requests[k] = MPI_REQUEST_NULL;
	code = cases[i].run();
	if (code != MPI_SUCCESS)
		MPI_Error_class(code, &class);
	printf("rank %d: %s: class %d, %d calls of the handler\n", rank, cases[i].name, class, calls);
}

int main(int argc, char **argv)
{
	const int n_cases = sizeof(cases) / sizeof(cases[0]);
	int all = argc > 2 && !strcmp(argv[1], "all"), i = 0;

	for (; !all && i < n_cases && argc > 1 && strcmp(cases[i].name, argv[1]) != 0; i++)
		;
	if (argc < 2) {
		for (i = 0; i < n_cases; i++)
			puts(cases[i].name);
		return 0;
	}
	if (i == n_cases)
		return outside(argv[1]);
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	if (argc > 2)
		handle_errors(argv[2]);
	else if (rank != size - 1)
		MPI_Recv(data, 1, MPI_INT, size - 1, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	do {
		run_case(i);
	} while (all && ++i < n_cases);
	MPI_Finalize();
	return 0;
}
