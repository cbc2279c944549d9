/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Programs at the edges of MPI, by their names as the argument, on one rank. Each
 * prints what it sees of MPI, which must be the same with and without a tracer.
 */
#include <mpi.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int class_of(int code)
{
	int class;

	PMPI_Error_class(code, &class);
	return class;
}

/* 3 messages: one of them by the function that is called at the communicator's end. */
static int refusals = 1;

static int at_end(MPI_Comm comm, int key, void *value, void *state)
{
	int x = 1, y = 0;

	(void)key, (void)value, (void)state;
	MPI_Sendrecv(&x, 1, MPI_INT, 0, 1, &y, 1, MPI_INT, 0, 1, comm, MPI_STATUS_IGNORE);
	return refusals-- > 0 ? MPI_ERR_OTHER : MPI_SUCCESS;
}

static void attributes(void)
{
	MPI_Comm comm, same;
	int key, x = 1, y = 0;

	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_dup(MPI_COMM_WORLD, &comm);
	MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
	MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, at_end, &key, NULL);
	MPI_Comm_set_attr(comm, key, NULL);
	same = comm;
	printf("refused: %d\n", MPI_Comm_free(&comm) != MPI_SUCCESS);
	comm = same;
	MPI_Sendrecv(&x, 1, MPI_INT, 0, 1, &y, 1, MPI_INT, 0, 1, comm, MPI_STATUS_IGNORE);
	printf("freed: %d\n", MPI_Comm_free(&comm) == MPI_SUCCESS);
}

static void bad_partitions(void)
{
#if MPI_VERSION >= 4
	char data[8];
	MPI_Request request = MPI_REQUEST_NULL;

	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	for (int rank = -2000000; rank < 0; rank += 99991) {
		int rc = MPI_Psend_init(
			data, 2, 4, MPI_CHAR, rank, 1, MPI_COMM_SELF, MPI_INFO_NULL, &request);

		printf("class %d\n", class_of(rc));
		rc = MPI_Precv_init(
			data, 2, 4, MPI_CHAR, rank, 1, MPI_COMM_SELF, MPI_INFO_NULL, &request);
		printf("class %d\n", class_of(rc));
	}
#endif
}

/* MPI refuses NULL for what it would read or write, with requests under way. */
static void nulls(void)
{
	void *volatile null = NULL;
	MPI_Request request[2];
	int x = 1, y = 0, at[2], flag;

	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Irecv(&y, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, &request[0]);
	MPI_Isend(&x, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, &request[1]);
	printf("class %d\n", class_of(MPI_Cancel(null)));
	printf("class %d\n", class_of(MPI_Request_free(null)));
	printf("class %d\n", class_of(MPI_Start(null)));
	printf("class %d\n", class_of(MPI_Startall(2, null)));
	printf("class %d\n", class_of(MPI_Wait(null, MPI_STATUS_IGNORE)));
	printf("class %d\n", class_of(MPI_Waitall(2, null, MPI_STATUSES_IGNORE)));
	printf("class %d\n", class_of(MPI_Testall(2, request, null, MPI_STATUSES_IGNORE)));
	printf("class %d\n", class_of(MPI_Waitany(2, request, null, MPI_STATUS_IGNORE)));
	printf("class %d\n", class_of(MPI_Testany(2, request, null, &flag, MPI_STATUS_IGNORE)));
	printf("class %d\n", class_of(MPI_Waitsome(2, request, null, at, MPI_STATUSES_IGNORE)));
	printf("class %d\n", class_of(MPI_Testsome(2, request, null, at, MPI_STATUSES_IGNORE)));
#ifndef OPEN_MPI /* where these two end the program */
	printf("class %d\n", class_of(MPI_Mrecv(&x, 1, MPI_INT, null, MPI_STATUS_IGNORE)));
	printf("class %d\n", class_of(MPI_Imrecv(&x, 1, MPI_INT, null, &request[0])));
#endif
	MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
}

/* Only the window returns errors: what is said of another function ends the program. */
static void no_group(void)
{
	int memory[4];
	MPI_Win window;

	MPI_Win_create(memory, sizeof(memory), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
	MPI_Win_set_errhandler(window, MPI_ERRORS_RETURN);
	printf("class %d\n", class_of(MPI_Win_start(MPI_GROUP_NULL, 0, window)));
	printf("class %d\n", class_of(MPI_Win_post(MPI_GROUP_NULL, 0, window)));
	MPI_Win_free(&window);
}

/* Types that are good though nobody saw them committed, or saw them freed: 4 * 400 bytes. */
static void types(void)
{
	int ints[100] = {0}, got[100], n[3], combiner, numbers[2];
	MPI_Datatype hundred, pair, of[1];
	MPI_Aint addresses[1];

	PMPI_Type_contiguous(100, MPI_INT, &hundred);
	PMPI_Type_commit(&hundred);
	for (int i = 0; i < 4; i++) {
		MPI_Sendrecv(ints, 1, hundred, 0, 1, got, 1, hundred, 0, 1, MPI_COMM_WORLD,
			MPI_STATUS_IGNORE);
		if (i != 1)
			continue;
		MPI_Type_contiguous(2, hundred, &pair);
		MPI_Type_get_envelope(pair, &n[0], &n[1], &n[2], &combiner);
		MPI_Type_get_contents(pair, n[0], n[1], n[2], numbers, addresses, of);
		MPI_Type_free(&of[0]); /* MPICH: another reference to the first one */
		MPI_Type_free(&pair);
	}
	MPI_Type_free(&hundred);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	printf("class %d\n", class_of(MPI_Send(ints, 1, MPI_DATATYPE_NULL, 0, 1, MPI_COMM_WORLD)));
}

/* Of 0 elements MPICH never looks at the type; Open MPI does. */
static void no_type(void)
{
#ifdef OPEN_MPI
	MPI_Datatype unset = MPI_INT;
#else
	MPI_Datatype unset = (MPI_Datatype)0xcc000000; /* where no type is yet */
#endif
	int x = 1, y = 2, n = 0, at = 0;

	MPI_Alltoallw(&x, &n, &at, &unset, &y, &n, &at, &unset, MPI_COMM_WORLD);
	printf("%d\n", y);
}

/* Threads that meet communicators whose beginning nobody saw. */
enum { THREADS = 4, COMMS = 200 };
static MPI_Comm behind[COMMS];
static pthread_barrier_t together;

static void *meet(void *number)
{
	const int me = (int)(long)number;

	for (int i = 0; i < COMMS; i++) {
		int x = i, y = 0;

		pthread_barrier_wait(&together);
		MPI_Sendrecv(
			&x, 1, MPI_INT, 0, me, &y, 1, MPI_INT, 0, me, behind[i], MPI_STATUS_IGNORE);
		if (y != i)
			printf("wrong data\n");
	}
	return NULL;
}

static void handler(MPI_Comm *comm, int *code, ...)
{
	(void)comm, (void)code;
}

static void unknown(void)
{
	MPI_Comm handed[] = {MPI_COMM_WORLD, MPI_COMM_SELF};
	MPI_Errhandler mine, now;
	pthread_t thread[THREADS];

	MPI_Comm_create_errhandler(handler, &mine);
	for (int i = 0; i < 2; i++)
		MPI_Comm_set_errhandler(handed[i], mine);
	for (int i = 0; i < COMMS; i++)
		PMPI_Comm_dup(MPI_COMM_SELF, &behind[i]);
	pthread_barrier_init(&together, NULL, THREADS);
	for (long i = 0; i < THREADS; i++)
		pthread_create(&thread[i], NULL, meet, (void *)i);
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	for (int i = 0; i < 2; i++) {
		PMPI_Comm_get_errhandler(handed[i], &now);
		printf("the error handler is mine: %d\n", now == mine);
	}
	for (int i = 0; i < COMMS; i++)
		PMPI_Comm_free(&behind[i]);
}

/* 4 starts of a receive, the second ends with an error, the third behind our back. */
static void persistent(void)
{
	int a[4] = {0}, b[1];
	MPI_Request request;
	MPI_Comm comm;

	MPI_Comm_dup(MPI_COMM_SELF, &comm);
	MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
	MPI_Recv_init(b, 1, MPI_INT, 0, 1, comm, &request);
	for (int i = 0; i < 4; i++) {
		int rc;

		MPI_Start(&request);
		MPI_Send(a, i == 1 ? 4 : 1, MPI_INT, 0, 1, comm);
		rc = i == 2 ? PMPI_Wait(&request, MPI_STATUS_IGNORE)
			    : MPI_Wait(&request, MPI_STATUS_IGNORE);
		printf("start %d: class %d\n", i, class_of(rc));
		if (request == MPI_REQUEST_NULL)
			MPI_Recv_init(b, 1, MPI_INT, 0, 1, comm, &request);
	}
	MPI_Request_free(&request);
	MPI_Comm_free(&comm);
}

/* Requests that are completed, or made, behind our back. */
static void behind_our_back(void)
{
	MPI_Request r[64];
	int a = 1, b[32], sum = 0;

	for (int round = 0; round < 300; round++) {
		for (int i = 0; i < 32; i++) {
			if (round % 3 == 1)
				PMPI_Irecv(&b[i], 1, MPI_INT, 0, i, MPI_COMM_SELF, &r[i]);
			else
				MPI_Irecv(&b[i], 1, MPI_INT, 0, i, MPI_COMM_SELF, &r[i]);
			MPI_Isend(&a, 1, MPI_INT, 0, i, MPI_COMM_SELF, &r[32 + i]);
		}
		if (round % 3 == 0)
			PMPI_Waitall(64, r, MPI_STATUSES_IGNORE);
		else
			MPI_Waitall(64, r, MPI_STATUSES_IGNORE);
		for (int i = 0; i < 32; i++)
			sum += b[i];
	}
	printf("sum %d\n", sum);
}

/* Threads whose handles go from one to the other. */
static void *reuse(void *number)
{
	const int me = (int)(long)number;
	int wrong = 0;

	for (int i = 0; i < 1000; i++) {
		int x = i, y = 0, z = 0, at, flag = 0;
		MPI_Request r[2];

		MPI_Irecv(&y, 1, MPI_INT, MPI_ANY_SOURCE, me, MPI_COMM_SELF, &r[0]);
		MPI_Irecv(&z, 1, MPI_INT, 0, 100 + me, MPI_COMM_SELF, &r[1]);
		MPI_Send(&x, 1, MPI_INT, 0, me, MPI_COMM_SELF);
		if (i % 2)
			MPI_Wait(&r[0], MPI_STATUS_IGNORE);
		else
			MPI_Waitany(2, r, &at, MPI_STATUS_IGNORE);
		MPI_Send(&x, 1, MPI_INT, 0, 100 + me, MPI_COMM_SELF);
		while (!flag)
			MPI_Testall(2, r, &flag, MPI_STATUSES_IGNORE);
		wrong += y != i || z != i;
	}
	if (wrong)
		printf("%d wrong\n", wrong);
	return NULL;
}

static void threads(void)
{
	pthread_t thread[THREADS];

	for (long i = 0; i < THREADS; i++)
		pthread_create(&thread[i], NULL, reuse, (void *)i);
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	printf("joined\n");
}

static void many(void)
{
	enum { N = 100000 };
	MPI_Request *r = malloc(2 * N * sizeof(*r));
	int a = 1, *b = calloc(N, sizeof(*b)), sum = 0;

	for (int i = 0; i < N; i++)
		MPI_Irecv(&b[i], 1, MPI_INT, 0, 1, MPI_COMM_SELF, &r[i]);
	for (int i = 0; i < N; i++)
		MPI_Isend(&a, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &r[N + i]);
	MPI_Waitall(2 * N, r, MPI_STATUSES_IGNORE);
	for (int i = 0; i < N; i++)
		sum += b[i];
	printf("sum %d\n", sum);
	free(r);
	free(b);
}

/* Left by a jump near the top of the stack, all other calls come from further down. */
static jmp_buf out;

static void jump(MPI_Comm *comm, int *code, ...)
{
	(void)comm, (void)code;
	longjmp(out, 1);
}

static int __attribute__((noinline)) further_down(MPI_Comm comm, int n)
{
	enum { N = 1000 };
	volatile char deep[4096];
	MPI_Request r[2 * N];
	int a[] = {1}, b[N], sum = 0;

	deep[n] = 1;
	for (int i = 0; i < N; i++)
		MPI_Irecv(&b[i], 1, MPI_INT, 0, 1, comm, &r[i]);
	for (int i = 0; i < N; i++)
		MPI_Isend(a, 1, MPI_INT, 0, 1, comm, &r[N + i]);
	MPI_Waitall(2 * N, r, MPI_STATUSES_IGNORE);
	for (int i = 0; i < N; i++)
		sum += b[i];
	return sum + deep[n] - 1;
}

static void jumps(void)
{
	enum { N = 700 };
	MPI_Errhandler jumping;
	MPI_Comm comm;
	MPI_Request r[N + 1];
	int x[4] = {0}, y;

	MPI_Comm_dup(MPI_COMM_SELF, &comm);
	MPI_Comm_create_errhandler(jump, &jumping);
	MPI_Comm_set_errhandler(comm, jumping);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, jumping);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, jumping);
	for (int i = 0; i < N; i++)
		r[i] = MPI_REQUEST_NULL;
	MPI_Irecv(&y, 1, MPI_INT, 0, 2, comm, &r[N]);
	MPI_Send(x, 4, MPI_INT, 0, 2, comm);
	if (!setjmp(out))
		MPI_Waitall(N + 1, r, MPI_STATUSES_IGNORE);
	else
		printf("jumped\n");
	for (int i = 0; i < 100; i++)
		printf("%d\n", further_down(comm, i));
}

/* What an MPI's own file code calls is not the program's. */
static void file(void)
{
	MPI_Datatype vector;
	MPI_File f;
	char data[64] = "data";
	int n;
	MPI_Status status;

	MPI_Type_vector(4, 1, 2, MPI_INT, &vector);
	MPI_Type_commit(&vector);
	MPI_File_open(
		MPI_COMM_WORLD, "edges.data", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f);
	MPI_File_set_view(f, 0, MPI_INT, vector, "native", MPI_INFO_NULL);
	MPI_File_write_all(f, data, 8, MPI_INT, &status);
	MPI_Get_count(&status, MPI_INT, &n);
	printf("wrote %d\n", n);
	MPI_File_close(&f);
	MPI_Type_free(&vector);
}

static void plain(void)
{
	MPI_Comm comm;
	MPI_Datatype pair;

	MPI_Comm_dup(MPI_COMM_WORLD, &comm);
	MPI_Type_contiguous(2, MPI_INT, &pair);
	MPI_Type_commit(&pair);
	MPI_Barrier(comm);
	MPI_Type_free(&pair);
	MPI_Comm_free(&comm);
}

static const struct {
	const char *name;
	void (*run)(void);
} programs[] = {{"attributes", attributes}, {"bad_partitions", bad_partitions}, {"nulls", nulls},
	{"no_group", no_group}, {"types", types}, {"no_type", no_type}, {"unknown", unknown},
	{"persistent", persistent}, {"behind", behind_our_back}, {"many", many}, {"jumps", jumps},
	{"threads", threads}, {"file", file}, {"plain", plain}};

int main(int argc, char **argv)
{
	int level;

	MPI_Init_thread(&argc, &argv,
		argc > 1 && (!strcmp(argv[1], "unknown") || !strcmp(argv[1], "threads"))
			? MPI_THREAD_MULTIPLE
			: MPI_THREAD_SINGLE,
		&level);
	for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++)
		if (argc > 1 && !strcmp(argv[1], programs[i].name))
			programs[i].run();
	MPI_Finalize();
	return 0;
}
