/* SPDX-License-Identifier: BSD-3-Clause */
/* Receiving: wildcards, probes, messages, nobody, cancelled and truncated receives. */
#include "transparent.h"

/* Ranks send to 0 in the order in which they are told to. */
static void any_source(void)
{
	MPI_Status status;
	int data[4], turn = 0;

	if (rank) {
		OK(MPI_Recv(&turn, 1, MPI_INT, 0, 1, comm, MPI_STATUS_IGNORE));
		fill(data, 4, 10 * rank);
		OK(MPI_Send(data, rank % 4, MPI_INT, 0, 100 + rank, comm));
		return;
	}
	for (int r = size - 1; r > 0; r--) {
		OK(MPI_Send(&turn, 1, MPI_INT, r, 1, comm));
		mark(&status, 1);
		OK(MPI_Recv(data, 4, MPI_INT, MPI_ANY_SOURCE, r % 2 ? MPI_ANY_TAG : 100 + r, comm,
			&status));
		say_status("any", &status, MPI_INT);
		WANT(&status, r, 100 + r, MPI_INT, r % 4);
		CHECK(is_filled(data, r % 4, 10 * r));
	}
}

/* The same with every way to ignore the status. */
static void any_source_ignored(void)
{
	MPI_Request requests[2];
	int data[2] = {-1, -1}, turn = 0, index, flag = 0;

	if (rank) {
		for (int i = 0; i < 6; i++) {
			OK(MPI_Recv(&turn, 1, MPI_INT, 0, 1, comm, MPI_STATUS_IGNORE));
			OK(MPI_Send((int[]){rank, i}, 2, MPI_INT, 0, i, comm));
		}
		return;
	}
	for (int r = 1; r < size; r++) {
		for (int i = 0; i < 6; i++) {
			OK(MPI_Send(&turn, 1, MPI_INT, r, 1, comm));
			if (i == 0) {
				OK(MPI_Recv(data, 2, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm,
					MPI_STATUS_IGNORE));
				CHECK(data[0] == r && data[1] == i);
				continue;
			}
			requests[0] = MPI_REQUEST_NULL;
			OK(MPI_Irecv(data, 2, MPI_INT, MPI_ANY_SOURCE, i % 2 ? MPI_ANY_TAG : i,
				comm, &requests[1]));
			if (i == 1)
				OK(MPI_Wait(&requests[1], MPI_STATUS_IGNORE));
			if (i == 2)
				OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
			if (i == 3)
				OK(MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE));
			if (i == 4)
				OK(MPI_Waitsome(2, requests, &flag, &index, MPI_STATUSES_IGNORE));
			for (flag = i < 5; !flag;)
				OK(MPI_Test(&requests[1], &flag, MPI_STATUS_IGNORE));
			CHECK(requests[1] == MPI_REQUEST_NULL);
			CHECK(data[0] == r && data[1] == i);
		}
	}
	say("got %d %d", data[0], data[1]);
}

/* Nobody receives from or is sent to nobody: all modes, all answers the same. */
static void proc_null(void)
{
	MPI_Status status;
	MPI_Message message = MPI_MESSAGE_NULL;
	int x = 17, flag = -1;

	OK(MPI_Send(&x, 1, MPI_INT, MPI_PROC_NULL, 5, comm));
	OK(MPI_Ssend(&x, 1, MPI_INT, MPI_PROC_NULL, 5, comm));
	OK(MPI_Rsend(&x, 1, MPI_INT, MPI_PROC_NULL, 5, comm));
	OK(MPI_Bsend(&x, 1, MPI_INT, MPI_PROC_NULL, 5, comm));
	mark(&status, 1);
	OK(MPI_Recv(&x, 1, MPI_INT, MPI_PROC_NULL, 5, comm, &status));
	say_empty("recv", &status);
	WANT(&status, MPI_PROC_NULL, MPI_ANY_TAG, MPI_INT, 0);
	mark(&status, 1);
	OK(MPI_Probe(MPI_PROC_NULL, 5, comm, &status));
	say_empty("probe", &status);
	WANT(&status, MPI_PROC_NULL, MPI_ANY_TAG, MPI_INT, 0);
	mark(&status, 1);
	OK(MPI_Iprobe(MPI_PROC_NULL, MPI_ANY_TAG, comm, &flag, &status));
	say_empty("iprobe", &status);
	CHECK(flag == 1);
	mark(&status, 1);
	OK(MPI_Mprobe(MPI_PROC_NULL, 5, comm, &message, &status));
	say_empty("mprobe", &status);
	CHECK(message == MPI_MESSAGE_NO_PROC);
	mark(&status, 1);
	OK(MPI_Mrecv(&x, 1, MPI_INT, &message, &status));
	say_empty("mrecv", &status);
	WANT(&status, MPI_PROC_NULL, MPI_ANY_TAG, MPI_INT, 0);
	CHECK(message == MPI_MESSAGE_NULL && x == 17);
}

/* Requests of nobody may well be one and the same handle. */
static void proc_null_requests(void)
{
	enum { N = 12 };
	MPI_Request requests[N];
	MPI_Status statuses[N];
	MPI_Message message;
	int x = 17, flag = -1;

	for (int i = 0; i < N; i++) {
		if (i % 3 == 0)
			OK(MPI_Isend(&x, 1, MPI_INT, MPI_PROC_NULL, i, comm, &requests[i]));
		else if (i % 3 == 1)
			OK(MPI_Irecv(&x, 1, MPI_INT, MPI_PROC_NULL, i, comm, &requests[i]));
		else
			OK(MPI_Issend(&x, 1, MPI_INT, MPI_PROC_NULL, i, comm, &requests[i]));
		CHECK(requests[i] != MPI_REQUEST_NULL);
	}
	mark(statuses, N);
	OK(MPI_Waitall(N, requests, statuses));
	for (int i = 0; i < N; i++)
		CHECK(requests[i] == MPI_REQUEST_NULL);
	for (int i = 1; i < N; i += 3)
		WANT(&statuses[i], MPI_PROC_NULL, MPI_ANY_TAG, MPI_INT, 0);
	say_empty("irecv", &statuses[1]);
	OK(MPI_Improbe(MPI_PROC_NULL, 1, comm, &flag, &message, MPI_STATUS_IGNORE));
	CHECK(flag && message == MPI_MESSAGE_NO_PROC);
	OK(MPI_Imrecv(&x, 1, MPI_INT, &message, requests));
	CHECK(message == MPI_MESSAGE_NULL);
	mark(statuses, 1);
	OK(MPI_Wait(requests, statuses));
	say_empty("imrecv", statuses);
	WANT(statuses, MPI_PROC_NULL, MPI_ANY_TAG, MPI_INT, 0);
}

static void probe(void)
{
	MPI_Status status, again;
	double data[8] = {0};
	int n = -1;

	if (left) {
		OK(MPI_Ssend((double[]){1, 2, 3}, 3, MPI_DOUBLE, peer, 21, comm));
		return;
	}
	mark(&status, 1);
	OK(MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &status));
	say_status("probe", &status, MPI_DOUBLE);
	WANT(&status, peer, 21, MPI_DOUBLE, 3);
	mark(&again, 1);
	OK(MPI_Probe(status.MPI_SOURCE, status.MPI_TAG, comm, &again));
	WANT(&again, peer, 21, MPI_DOUBLE, 3);
	OK(MPI_Probe(status.MPI_SOURCE, MPI_ANY_TAG, comm, MPI_STATUS_IGNORE));
	OK(MPI_Get_count(&status, MPI_DOUBLE, &n));
	OK(MPI_Recv(data, n, MPI_DOUBLE, status.MPI_SOURCE, status.MPI_TAG, comm, &status));
	CHECK(data[2] == 3);
}

static void iprobe(void)
{
	MPI_Status status;
	int data[4], flag = -1;

	mark(&status, 1);
	OK(MPI_Iprobe(MPI_ANY_SOURCE, 98, comm, &flag, &status));
	CHECK(flag == 0 && is_marked(&status));
	if (left) {
		OK(MPI_Send((int[]){1, 2, 3}, 3, MPI_INT, peer, 22, comm));
		return;
	}
	for (flag = 0; !flag;)
		OK(MPI_Iprobe(peer, MPI_ANY_TAG, comm, &flag, &status));
	say_status("iprobe", &status, MPI_INT);
	WANT(&status, peer, 22, MPI_INT, 3);
	flag = -1;
	OK(MPI_Iprobe(MPI_ANY_SOURCE, 22, comm, &flag, MPI_STATUS_IGNORE));
	CHECK(flag == 1);
	OK(MPI_Recv(data, 4, MPI_INT, peer, 22, comm, MPI_STATUS_IGNORE));
	OK(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &flag, MPI_STATUS_IGNORE));
	CHECK(flag == 0);
}

static void mprobe(void)
{
	MPI_Message message = MPI_MESSAGE_NULL, second;
	MPI_Status status;
	int data[8] = {0};

	if (left) {
		OK(MPI_Send((int[]){1, 2, 3}, 3, MPI_INT, peer, 23, comm));
		OK(MPI_Send((int[]){4, 5}, 2, MPI_INT, peer, 23, comm));
		return;
	}
	mark(&status, 1);
	OK(MPI_Mprobe(MPI_ANY_SOURCE, 23, comm, &message, &status));
	say_status("mprobe", &status, MPI_INT);
	WANT(&status, peer, 23, MPI_INT, 3);
	OK(MPI_Mprobe(peer, MPI_ANY_TAG, comm, &second, MPI_STATUS_IGNORE));
	CHECK(message != second);
	mark(&status, 1);
	OK(MPI_Mrecv(data, 8, MPI_INT, &second, &status));
	say_status("mrecv", &status, MPI_INT);
	WANT(&status, peer, 23, MPI_INT, 2);
	CHECK(data[0] == 4 && second == MPI_MESSAGE_NULL);
	OK(MPI_Mrecv(data, 8, MPI_INT, &message, MPI_STATUS_IGNORE));
	CHECK(data[2] == 3 && message == MPI_MESSAGE_NULL);
}

static void improbe(void)
{
	MPI_Message message = MPI_MESSAGE_NULL;
	MPI_Request request;
	MPI_Status status;
	static int data[50000];
	int flag = -1;

	mark(&status, 1);
	OK(MPI_Improbe(MPI_ANY_SOURCE, 97, comm, &flag, &message, &status));
	CHECK(flag == 0 && is_marked(&status));
	if (left) {
		fill(data, COUNT_OF(data), 5);
		OK(MPI_Send(data, COUNT_OF(data), MPI_INT, peer, 24, comm));
		return;
	}
	for (flag = 0; !flag;)
		OK(MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &flag, &message, &status));
	say_status("improbe", &status, MPI_INT);
	OK(MPI_Imrecv(data, COUNT_OF(data), MPI_INT, &message, &request));
	CHECK(message == MPI_MESSAGE_NULL && request != MPI_REQUEST_NULL);
	mark(&status, 1);
	OK(MPI_Wait(&request, &status));
	say_status("imrecv", &status, MPI_INT);
	WANT(&status, peer, 24, MPI_INT, COUNT_OF(data));
	CHECK(is_filled(data, COUNT_OF(data), 5));
}

static void truncated(void)
{
	MPI_Status status;
	int data[4] = {-1, -1, -1, -1}, class = -1;

	if (left) {
		OK(MPI_Send((int[]){1, 2, 3, 4}, 4, MPI_INT, peer, 25, comm));
		OK(MPI_Send((int[]){5}, 1, MPI_INT, peer, 25, comm));
		return;
	}
	mark(&status, 1);
	OK(MPI_Error_class(
		BAD(MPI_Recv(data, 2, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &status)),
		&class));
	CHECK(class == MPI_ERR_TRUNCATE && data[2] == -1 && data[3] == -1);
	say("source %d tag %d", status.MPI_SOURCE, status.MPI_TAG);
	OK(MPI_Recv(data, 2, MPI_INT, peer, 25, comm, &status));
	CHECK(data[0] == 5);
}

/* Through every completion, with the status and without. */
static void truncated_requests(void)
{
	MPI_Request request;
	MPI_Status status;
	int data[4], flag = 0, index = -5, n = -5;

	if (left) {
		for (int i = 0; i < 12; i++)
			OK(MPI_Send((int[]){1, 2, 3, 4}, 4, MPI_INT, peer, i, comm));
		OK(MPI_Send(NULL, 0, MPI_INT, peer, 50, comm));
		return;
	}
	OK(MPI_Recv(NULL, 0, MPI_INT, peer, 50, comm, MPI_STATUS_IGNORE));
	for (int i = 0; i < 12; i++) {
		MPI_Status *s = i % 2 ? MPI_STATUS_IGNORE : &status;

		memset(data, 0xff, sizeof(data));
		OK(MPI_Irecv(data, 1, MPI_INT, i % 3 ? MPI_ANY_SOURCE : peer, i, comm, &request));
		until_complete(1, &request);
		mark(&status, 1);
		flag = 1;
		if (i / 2 == 0)
			BAD(MPI_Wait(&request, s));
		if (i / 2 == 1)
			BAD(MPI_Test(&request, &flag, s));
		if (i / 2 == 2)
			BAD(MPI_Waitany(1, &request, &index, s));
		if (i / 2 == 3)
			BAD(MPI_Testany(1, &request, &index, &flag, s));
		if (i / 2 == 4)
			BAD(MPI_Waitall(1, &request, i % 2 ? MPI_STATUSES_IGNORE : s));
		if (i / 2 == 5)
			BAD(MPI_Testsome(1, &request, &n, &index, i % 2 ? MPI_STATUSES_IGNORE : s));
		say("index %d n %d flag %d null %d", index, n, flag, request == MPI_REQUEST_NULL);
		if (i % 2 == 0)
			say("source %d tag %d error %s", status.MPI_SOURCE, status.MPI_TAG,
				status.MPI_ERROR == 4711 ? "as before"
							 : class_name(status.MPI_ERROR));
		CHECK(data[1] == -1 && data[3] == -1);
		if (request != MPI_REQUEST_NULL)
			MPI_Request_free(&request);
	}
}

static void cancel_receive(void)
{
	MPI_Request request;
	MPI_Status status;
	int x = 3, cancelled = -1, flag = -1;

	OK(MPI_Irecv(&x, 1, MPI_INT, MPI_ANY_SOURCE, 4, comm, &request));
	OK(MPI_Cancel(&request));
	CHECK(request != MPI_REQUEST_NULL);
	mark(&status, 1);
	OK(MPI_Wait(&request, &status));
	OK(MPI_Test_cancelled(&status, &cancelled));
	say("cancelled %d", cancelled);
	CHECK(cancelled == 1 && request == MPI_REQUEST_NULL && x == 3);
	OK(MPI_Irecv(&x, 1, MPI_INT, peer, MPI_ANY_TAG, comm, &request));
	OK(MPI_Cancel(&request));
	for (flag = 0; !flag;)
		OK(MPI_Test(&request, &flag, &status));
	OK(MPI_Test_cancelled(&status, &cancelled));
	CHECK(cancelled == 1 && x == 3);
	OK(MPI_Irecv(&x, 1, MPI_INT, peer, MPI_ANY_TAG, comm, &request));
	OK(MPI_Cancel(&request));
	OK(MPI_Request_free(&request));
	CHECK(request == MPI_REQUEST_NULL);
	OK(MPI_Irecv(&x, 1, MPI_INT, peer, MPI_ANY_TAG, comm, &request));
	OK(MPI_Cancel(&request));
	OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
	OK(MPI_Sendrecv(
		NULL, 0, MPI_INT, peer, 4, NULL, 0, MPI_INT, peer, 4, MPI_COMM_WORLD, &status));
	/* they have all left: the next message meets none of them */
	OK(MPI_Sendrecv(&rank, 1, MPI_INT, peer, 4, &x, 1, MPI_INT, peer, 4, comm, &status));
	CHECK(x == peer);
}

/* The message is there already: a cancel is too late, and the data arrives. */
static void cancel_too_late(void)
{
	MPI_Request request;
	MPI_Status status;
	int x = -1, cancelled = -1, flag = 0;

	if (left) {
		OK(MPI_Send(&(int){8}, 1, MPI_INT, peer, 5, comm));
		return;
	}
	OK(MPI_Irecv(&x, 1, MPI_INT, peer, MPI_ANY_TAG, comm, &request));
	while (!flag)
		OK(MPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE));
	OK(MPI_Cancel(&request));
	mark(&status, 1);
	OK(MPI_Wait(&request, &status));
	OK(MPI_Test_cancelled(&status, &cancelled));
	say_status("late", &status, MPI_INT);
	CHECK(cancelled == 0 && x == 8);
}

static void cancel_persistent(void)
{
	MPI_Request request, before;
	MPI_Status status;
	int x = 6, cancelled = -1;

	OK(MPI_Recv_init(&x, 1, MPI_INT, peer, 6, comm, &request));
	before = request;
	for (int i = 0; i < 3; i++) {
		OK(MPI_Start(&request));
		OK(MPI_Cancel(&request));
		mark(&status, 1);
		OK(MPI_Wait(&request, &status));
		OK(MPI_Test_cancelled(&status, &cancelled));
		CHECK(cancelled == 1 && request == before && x == 6);
	}
	OK(MPI_Sendrecv(
		NULL, 0, MPI_INT, peer, 6, NULL, 0, MPI_INT, peer, 6, MPI_COMM_WORLD, &status));
	OK(MPI_Start(&request));
	OK(MPI_Sendrecv(
		&rank, 1, MPI_INT, peer, 6, NULL, 0, MPI_INT, MPI_PROC_NULL, 0, comm, &status));
	OK(MPI_Wait(&request, &status));
	CHECK(x == peer);
	OK(MPI_Request_free(&request));
}

/* Some MPIs cannot cancel a send; the receiver is told what became of it. */
static void cancel_send(void)
{
	static int data[50000];
	MPI_Request request;
	MPI_Status status;
	int cancelled = -1;

	if (!left) {
		OK(MPI_Recv(&cancelled, 1, MPI_INT, peer, 8, comm, MPI_STATUS_IGNORE));
		say("cancelled %d", cancelled);
		if (!cancelled)
			OK(MPI_Recv(data, COUNT_OF(data), MPI_INT, peer, 7, comm, &status));
		return;
	}
	OK(MPI_Issend(data, COUNT_OF(data), MPI_INT, peer, 7, comm, &request));
	OK(MPI_Cancel(&request));
	OK(MPI_Send(&(int){0}, 1, MPI_INT, peer, 8, comm));
	mark(&status, 1);
	OK(MPI_Wait(&request, &status));
	OK(MPI_Test_cancelled(&status, &cancelled));
	CHECK(cancelled == 0 || cancelled == 1);
}

/* Two receives of one wildcard are filled in the order of posting. */
static void order(void)
{
	MPI_Request requests[4];
	MPI_Status statuses[4];
	int data[4] = {0};

	for (int i = 0; i < 4; i++)
		OK(MPI_Irecv(&data[i], 1, MPI_INT, i % 2 ? peer : MPI_ANY_SOURCE,
			i < 2 ? MPI_ANY_TAG : 9, comm, &requests[i]));
	for (int i = 0; i < 4; i++)
		OK(MPI_Send(&(int){i + 1}, 1, MPI_INT, peer, 9, comm));
	mark(statuses, 4);
	OK(MPI_Waitall(4, requests, statuses));
	for (int i = 0; i < 4; i++) {
		say_status("order", &statuses[i], MPI_INT);
		CHECK(data[i] == i + 1);
	}
}

/* Part of an item: the count is undefined, elements are not. */
static void partial_count(void)
{
	MPI_Datatype pair;
	MPI_Status status;
	int data[8], n = -1, elements = -1;

	OK(MPI_Type_contiguous(2, MPI_INT, &pair));
	OK(MPI_Type_commit(&pair));
	mark(&status, 1);
	OK(MPI_Sendrecv(
		(int[]){1, 2, 3}, 3, MPI_INT, peer, 1, data, 4, pair, peer, 1, comm, &status));
	OK(MPI_Get_count(&status, pair, &n));
	OK(MPI_Get_elements(&status, pair, &elements));
	CHECK(n == MPI_UNDEFINED && elements == 3);
	say_status("partial", &status, pair);
	mark(&status, 1);
	OK(MPI_Sendrecv(NULL, 0, pair, peer, 1, data, 4, pair, peer, 1, comm, &status));
	OK(MPI_Get_count(&status, pair, &n));
	CHECK(n == 0);
	say_status("none", &status, pair);
	OK(MPI_Type_free(&pair));
}

const struct program receive_programs[] = {{"any_source", any_source, ANY},
	{"any_source_ignored", any_source_ignored, ANY}, {"proc_null", proc_null, ANY},
	{"proc_null_requests", proc_null_requests, ANY}, {"probe", probe, PAIR},
	{"iprobe", iprobe, PAIR}, {"mprobe", mprobe, PAIR}, {"improbe", improbe, PAIR},
	{"truncated", truncated, PAIR}, {"truncated_requests", truncated_requests, PAIR},
	{"cancel_receive", cancel_receive, PAIR}, {"cancel_too_late", cancel_too_late, PAIR},
	{"cancel_persistent", cancel_persistent, PAIR}, {"cancel_send", cancel_send, PAIR},
	{"order", order, PAIR}, {"partial_count", partial_count, PAIR}, {NULL, NULL, 0}};
