/* SPDX-License-Identifier: BSD-3-Clause */
/* Every way to send: modes, non-blocking, persistent, both ways at once, partitioned. */
#include "transparent.h"

enum { N = 5, LONG = 60000 };

typedef int send_function(const void *, int, MPI_Datatype, int, int, MPI_Comm);
typedef int start_function(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);

/* A short, an empty and a long message, received as they are told in the status. */
static void receive_three(void)
{
	static int data[LONG + 1];
	MPI_Status status;

	mark(&status, 1);
	OK(MPI_Recv(data, N + 3, MPI_INT, peer, 11, comm, &status));
	say_status("short", &status, MPI_INT);
	WANT(&status, peer, 11, MPI_INT, N);
	CHECK(is_filled(data, N, 100));
	mark(&status, 1);
	OK(MPI_Recv(NULL, 0, MPI_INT, peer, 12, comm, &status));
	say_status("empty", &status, MPI_DOUBLE);
	WANT(&status, peer, 12, MPI_INT, 0);
	mark(&status, 1);
	OK(MPI_Recv(data, LONG + 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &status));
	say_status("long", &status, MPI_INT);
	WANT(&status, peer, 13, MPI_INT, LONG);
	CHECK(is_filled(data, LONG, 300));
	say("data %08x", checksum(data, LONG * sizeof(int)));
}

/* For ready mode: the receives are posted before the sender hears of it. */
static void receive_three_posted(void)
{
	static int data[LONG + N];
	MPI_Request requests[3];
	MPI_Status statuses[3];

	OK(MPI_Irecv(data, N, MPI_INT, peer, 11, comm, &requests[0]));
	OK(MPI_Irecv(NULL, 0, MPI_INT, peer, 12, comm, &requests[1]));
	OK(MPI_Irecv(data + N, LONG, MPI_INT, MPI_ANY_SOURCE, 13, comm, &requests[2]));
	OK(MPI_Send(NULL, 0, MPI_BYTE, peer, 99, comm));
	mark(statuses, 3);
	OK(MPI_Waitall(3, requests, statuses));
	for (int i = 0; i < 3; i++) {
		say_status("posted", &statuses[i], MPI_INT);
		CHECK(requests[i] == MPI_REQUEST_NULL);
	}
	WANT(&statuses[2], peer, 13, MPI_INT, LONG);
	CHECK(is_filled(data, N, 100) && is_filled(data + N, LONG, 300));
}

static void *attach_buffer(int bytes)
{
	void *buffer = malloc(bytes);

	OK(MPI_Buffer_attach(buffer, bytes));
	return buffer;
}

static void detach_buffer(void *attached, int bytes)
{
	void *buffer = NULL;
	int n = -1;

	OK(MPI_Buffer_detach(&buffer, &n));
	CHECK(buffer == attached && n == bytes);
	say("detached %d", n);
	free(attached);
}

static void blocking(send_function *send, bool ready)
{
	static int data[LONG];

	if (!left) {
		ready ? receive_three_posted() : receive_three();
		return;
	}
	if (ready)
		OK(MPI_Recv(NULL, 0, MPI_BYTE, peer, 99, comm, MPI_STATUS_IGNORE));
	fill(data, N, 100);
	OK(send(data, N, MPI_INT, peer, 11, comm));
	OK(send(NULL, 0, MPI_INT, peer, 12, comm));
	fill(data, LONG, 300);
	OK(send(data, LONG, MPI_INT, peer, 13, comm));
}

static void nonblocking(start_function *start, bool ready)
{
	static int data[LONG + N];
	MPI_Request requests[3];
	MPI_Status statuses[3];
	int cancelled = -1;

	if (!left) {
		ready ? receive_three_posted() : receive_three();
		return;
	}
	if (ready)
		OK(MPI_Recv(NULL, 0, MPI_BYTE, peer, 99, comm, MPI_STATUS_IGNORE));
	fill(data, N, 100);
	fill(data + N, LONG, 300);
	OK(start(data, N, MPI_INT, peer, 11, comm, &requests[0]));
	OK(start(NULL, 0, MPI_INT, peer, 12, comm, &requests[1]));
	OK(start(data + N, LONG, MPI_INT, peer, 13, comm, &requests[2]));
	mark(statuses, 3);
	OK(MPI_Waitall(3, requests, statuses));
	for (int i = 0; i < 3; i++) {
		OK(MPI_Test_cancelled(&statuses[i], &cancelled));
		say("request %d null %d cancelled %d", i, requests[i] == MPI_REQUEST_NULL,
			cancelled);
	}
}

/* The same three requests, started ten times, alone and together. */
static void persistent(start_function *start_of, bool ready)
{
	static int data[LONG + N];
	MPI_Request requests[3], before[3];
	MPI_Status status;
	int index, flag = 0;

	if (left) {
		OK(start_of(data, N, MPI_INT, peer, 11, comm, &requests[0]));
		OK(start_of(NULL, 0, MPI_INT, peer, 12, comm, &requests[1]));
		OK(start_of(data + N, LONG, MPI_INT, peer, 13, comm, &requests[2]));
	} else {
		OK(MPI_Recv_init(data, N, MPI_INT, peer, 11, comm, &requests[0]));
		OK(MPI_Recv_init(NULL, 0, MPI_INT, MPI_ANY_SOURCE, 12, comm, &requests[1]));
		OK(MPI_Recv_init(data + N, LONG, MPI_INT, peer, MPI_ANY_TAG, comm, &requests[2]));
	}
	memcpy(before, requests, sizeof(before));
	for (int i = 0; i < 10; i++) {
		memset(data, 0, sizeof(data));
		if (left) {
			if (ready)
				OK(MPI_Recv(NULL, 0, MPI_BYTE, peer, 99, comm, MPI_STATUS_IGNORE));
			fill(data, N, i);
			fill(data + N, LONG, -i);
		}
		if (i % 2) {
			OK(MPI_Startall(3, requests));
		} else {
			for (int j = 0; j < 3; j++)
				OK(MPI_Start(&requests[j]));
		}
		if (!left && ready)
			OK(MPI_Send(NULL, 0, MPI_BYTE, peer, 99, comm));
		for (int j = 0; j < 2; j++) {
			mark(&status, 1);
			OK(MPI_Wait(&requests[j], &status));
			if (!left && i < 2)
				say_status("persistent", &status, MPI_INT);
		}
		mark(&status, 1);
		OK(MPI_Waitany(3, requests, &index, &status));
		CHECK(index == 2);
		/* Open MPI may exchange that of a buffered send when it is started */
		CHECK(start_of == MPI_Bsend_init || memcmp(before, requests, sizeof(before)) == 0);
		if (!left) {
			WANT(&status, peer, 13, MPI_INT, LONG);
			CHECK(is_filled(data, N, i) && is_filled(data + N, LONG, -i));
		}
		OK(MPI_Testany(3, requests, &index, &flag, &status));
		CHECK(flag && index == MPI_UNDEFINED);
	}
	for (int j = 0; j < 3; j++) {
		OK(MPI_Request_free(&requests[j]));
		CHECK(requests[j] == MPI_REQUEST_NULL);
	}
}

static void buffered(
	void (*run)(send_function *, start_function *), send_function *send, start_function *start)
{
	const int bytes = 30 * (LONG + N) * (int)sizeof(int) + 100 * MPI_BSEND_OVERHEAD;
	void *buffer = attach_buffer(bytes);

	run(send, start);
	detach_buffer(buffer, bytes);
}

static void run_blocking(send_function *send, start_function *start)
{
	(void)start;
	blocking(send, false);
}

static void run_nonblocking(send_function *send, start_function *start)
{
	(void)send;
	nonblocking(start, false);
}

static void run_persistent(send_function *send, start_function *start)
{
	(void)send;
	persistent(start, false);
}

#define BLOCKING(name, function, ready)                                                            \
	static void name(void)                                                                     \
	{                                                                                          \
		blocking(function, ready);                                                         \
	}
#define NONBLOCKING(name, function, ready)                                                         \
	static void name(void)                                                                     \
	{                                                                                          \
		nonblocking(function, ready);                                                      \
	}
#define PERSISTENT(name, function, ready)                                                          \
	static void name(void)                                                                     \
	{                                                                                          \
		persistent(function, ready);                                                       \
	}
BLOCKING(send, MPI_Send, false)
BLOCKING(ssend, MPI_Ssend, false)
BLOCKING(rsend, MPI_Rsend, true)
NONBLOCKING(isend, MPI_Isend, false)
NONBLOCKING(issend, MPI_Issend, false)
NONBLOCKING(irsend, MPI_Irsend, true)
PERSISTENT(send_init, MPI_Send_init, false)
PERSISTENT(ssend_init, MPI_Ssend_init, false)
PERSISTENT(rsend_init, MPI_Rsend_init, true)

static void bsend(void)
{
	buffered(run_blocking, MPI_Bsend, NULL);
}

static void ibsend(void)
{
	buffered(run_nonblocking, NULL, MPI_Ibsend);
}

static void bsend_init(void)
{
	buffered(run_persistent, NULL, MPI_Bsend_init);
}

/* Persistent requests to and from nowhere: active once started, complete at once. */
static void persistent_proc_null(void)
{
	MPI_Request requests[2];
	MPI_Status statuses[2];
	int x = 5;

	OK(MPI_Send_init(&x, 1, MPI_INT, MPI_PROC_NULL, 1, comm, &requests[0]));
	OK(MPI_Recv_init(&x, 1, MPI_INT, MPI_PROC_NULL, 2, comm, &requests[1]));
	for (int i = 0; i < 3; i++) {
		OK(MPI_Startall(2, requests));
		mark(statuses, 2);
		OK(MPI_Waitall(2, requests, statuses));
		say_empty("receive from nowhere", &statuses[1]);
		CHECK(requests[0] != MPI_REQUEST_NULL && requests[1] != MPI_REQUEST_NULL);
	}
	OK(MPI_Request_free(&requests[0]));
	OK(MPI_Request_free(&requests[1]));
	CHECK(x == 5);
}

/* Along a line: the ends send to and receive from nowhere. */
static void sendrecv(void)
{
	const int up = rank + 1 < size ? rank + 1 : MPI_PROC_NULL;
	const int down = rank > 0 ? rank - 1 : MPI_PROC_NULL;
	int out[3] = {rank, rank + 1, rank + 2}, in[4] = {-1, -1, -1, -1};
	MPI_Status status;

	mark(&status, 1);
	OK(MPI_Sendrecv(out, 3, MPI_INT, up, 31, in, 4, MPI_INT, down, 31, comm, &status));
	say_status("from below", &status, MPI_INT);
	WANT(&status, down, rank ? 31 : MPI_ANY_TAG, MPI_INT, rank ? 3 : 0);
	CHECK(in[0] == (rank ? rank - 1 : -1) && in[3] == -1);
	OK(MPI_Sendrecv(out, 3, MPI_INT, down, 32, in, 4, MPI_INT, up, MPI_ANY_TAG, comm,
		MPI_STATUS_IGNORE));
	say("from above %d %d", in[0], in[2]);
}

static void sendrecv_any(void)
{
	const int up = (rank + 1) % size, down = (rank + size - 1) % size;
	double out[2] = {rank + 0.5, -rank}, in[2] = {0, 0};
	MPI_Status status;

	mark(&status, 1);
	OK(MPI_Sendrecv(out, 2, MPI_DOUBLE, up, 40 + rank, in, 4, MPI_FLOAT, MPI_ANY_SOURCE,
		MPI_ANY_TAG, comm, &status));
	say_status("any", &status, MPI_FLOAT);
	CHECK(status.MPI_SOURCE == down && status.MPI_TAG == 40 + down);
	CHECK(memcmp(&in[0], &(double){down + 0.5}, sizeof(double)) == 0);
}

static void sendrecv_replace(void)
{
	const int up = (rank + 1) % size, down = (rank + size - 1) % size;
	static int data[LONG];
	MPI_Status status;

	for (int n = 0; n <= LONG; n += LONG / 3) {
		fill(data, n, 7 * rank);
		mark(&status, 1);
		OK(MPI_Sendrecv_replace(data, n, MPI_INT, up, n, down, MPI_ANY_TAG, comm, &status));
		say_status("replaced", &status, MPI_INT);
		WANT(&status, down, n, MPI_INT, n);
		CHECK(is_filled(data, n, 7 * down));
	}
	OK(MPI_Sendrecv_replace(data, 2, MPI_INT, up, 9, down, 9, comm, MPI_STATUS_IGNORE));
	say("first %d", data[0]);
}

static void sendrecv_replace_proc_null(void)
{
	int data[2] = {4, 5};
	MPI_Status status;

	mark(&status, 1);
	OK(MPI_Sendrecv_replace(
		data, 2, MPI_INT, MPI_PROC_NULL, 1, MPI_PROC_NULL, 1, comm, &status));
	say_empty("replaced by nothing", &status);
	CHECK(data[0] == 4 && data[1] == 5);
}

/* Tags from 0 to the largest; each communicator keeps its own messages. */
static void tags_and_communicators(void)
{
	MPI_Comm other;
	MPI_Status status;
	int *largest, flag = 0, x = -1, y = -1;

	OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &largest, &flag));
	CHECK(flag && *largest >= 32767);
	OK(MPI_Comm_dup(comm, &other));
	if (peer >= size) {
		say("no partner");
	} else if (left) {
		OK(MPI_Send(&(int){1}, 1, MPI_INT, peer, *largest, comm));
		OK(MPI_Send(&(int){2}, 1, MPI_INT, peer, *largest, other));
		OK(MPI_Send(&(int){3}, 1, MPI_INT, peer, 0, MPI_COMM_WORLD));
	} else {
		OK(MPI_Recv(&x, 1, MPI_INT, peer, 0, MPI_COMM_WORLD, &status));
		CHECK(x == 3);
		mark(&status, 1);
		OK(MPI_Recv(&y, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, other, &status));
		say_status("other", &status, MPI_INT);
		CHECK(y == 2 && status.MPI_TAG == *largest);
		OK(MPI_Recv(&x, 1, MPI_INT, peer, MPI_ANY_TAG, comm, MPI_STATUS_IGNORE));
		CHECK(x == 1);
	}
	OK(MPI_Comm_free(&other));
}

static void to_self(void)
{
	MPI_Request request;
	MPI_Status status;
	int in = 0, out = 42 + rank;

	OK(MPI_Isend(&out, 1, MPI_INT, 0, 3, MPI_COMM_SELF, &request));
	mark(&status, 1);
	OK(MPI_Recv(&in, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &status));
	say_status("self", &status, MPI_INT);
	WANT(&status, 0, 3, MPI_INT, 1);
	OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
	OK(MPI_Irecv(&in, 1, MPI_INT, rank, 4, comm, &request));
	OK(MPI_Send(&(int){7}, 1, MPI_INT, rank, 4, comm));
	mark(&status, 1);
	OK(MPI_Wait(&request, &status));
	say_status("own rank", &status, MPI_INT);
	CHECK(in == 7);
}

#if MPI_VERSION >= 4
/* MPICH 4.0 leaves the status of these two unset, and dies with MPI_PROC_NULL. */
static void isendrecv(void)
{
	const int up = (rank + 1) % size, down = (rank + size - 1) % size;
	int out[2] = {rank, -rank}, in[3] = {-9, -9, -9};
	MPI_Request request;
	MPI_Status status;

	OK(MPI_Isendrecv(
		out, 2, MPI_INT, up, 5, in, 3, MPI_INT, down, MPI_ANY_TAG, comm, &request));
	mark(&status, 1);
	OK(MPI_Wait(&request, &status));
	CHECK(in[0] == down && in[2] == -9 && request == MPI_REQUEST_NULL);
}

static void isendrecv_replace(void)
{
	const int up = (rank + 1) % size, down = (rank + size - 1) % size;
	int data[2] = {rank, -rank};
	MPI_Request request;
	MPI_Status status;

	OK(MPI_Isendrecv_replace(data, 2, MPI_INT, up, 5, MPI_ANY_SOURCE, 5, comm, &request));
	mark(&status, 1);
	OK(MPI_Waitall(1, &request, &status));
	CHECK(data[0] == down && data[1] == -down);
}

/* Four partitions sent, received as two, three rounds, made ready in every way. */
static void partitioned(void)
{
	MPI_Request request;
	MPI_Status status;
	int data[8] = {0}, flag;

	if (left)
		OK(MPI_Psend_init(data, 4, 2, MPI_INT, peer, 6, comm, MPI_INFO_NULL, &request));
	else
		OK(MPI_Precv_init(data, 2, 4, MPI_INT, peer, 6, comm, MPI_INFO_NULL, &request));
	for (int round = 0; round < 3; round++) {
		flag = 0;
		fill(data, 8, left ? 10 * round : -100);
		OK(MPI_Start(&request));
		if (left && round == 0) {
			for (int i = 3; i >= 0; i--)
				OK(MPI_Pready(i, request));
		} else if (left && round == 1) {
			OK(MPI_Pready_range(0, 3, request));
		} else if (left) {
			int partitions[] = {2, 0, 3, 1};

			OK(MPI_Pready_list(4, partitions, request));
		} else {
			while (!flag)
				OK(MPI_Parrived(request, 1, &flag));
		}
		mark(&status, 1);
		OK(MPI_Wait(&request, &status));
		CHECK(request != MPI_REQUEST_NULL);
		if (!left) {
			say("arrived: source %d tag %d", status.MPI_SOURCE, status.MPI_TAG);
			CHECK(is_filled(data, 8, 10 * round));
		}
	}
	OK(MPI_Request_free(&request));
}

/* The large-count functions, with small counts. */
static void large_count(void)
{
	const MPI_Count n = 3;
	MPI_Request request;
	MPI_Status status;
	MPI_Count got = -1;
	int data[3] = {1, 2, 3};

	if (left) {
		OK(MPI_Send_c(data, n, MPI_INT, peer, 1, comm));
		OK(MPI_Isend_c(data, n, MPI_INT, peer, 2, comm, &request));
		OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
	} else {
		mark(&status, 1);
		OK(MPI_Recv_c(data, n + 9, MPI_INT, peer, 1, comm, &status));
		say_status("large", &status, MPI_INT);
		OK(MPI_Get_count_c(&status, MPI_INT, &got));
		CHECK(got == 3);
		OK(MPI_Irecv_c(data, n, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &request));
		OK(MPI_Wait(&request, &status));
		say_status("large", &status, MPI_INT);
	}
	OK(MPI_Sendrecv_replace_c(data, n, MPI_INT, peer, 3, peer, 3, comm, &status));
	say_status("large", &status, MPI_INT);
}
#endif

const struct program send_programs[] = {{"send", send, PAIR}, {"ssend", ssend, PAIR},
	{"rsend", rsend, PAIR}, {"bsend", bsend, PAIR}, {"isend", isend, PAIR},
	{"issend", issend, PAIR}, {"irsend", irsend, PAIR}, {"ibsend", ibsend, PAIR},
	{"send_init", send_init, PAIR}, {"ssend_init", ssend_init, PAIR},
	{"rsend_init", rsend_init, PAIR}, {"bsend_init", bsend_init, PAIR},
	{"persistent_proc_null", persistent_proc_null, ANY}, {"sendrecv", sendrecv, ANY},
	{"sendrecv_any", sendrecv_any, ANY}, {"sendrecv_replace", sendrecv_replace, ANY},
	{"sendrecv_replace_proc_null", sendrecv_replace_proc_null, ANY},
	{"tags_and_communicators", tags_and_communicators, ANY}, {"to_self", to_self, ANY},
#if MPI_VERSION >= 4
	{"isendrecv", isendrecv, ANY}, {"isendrecv_replace", isendrecv_replace, ANY},
	{"partitioned", partitioned, PAIR}, {"large_count", large_count, PAIR},
#endif
	{NULL, NULL, 0}};
