/* SPDX-License-Identifier: BSD-3-Clause */
/* Every corner of Wait, Test and their any, some and all forms. */
#include "transparent.h"

/* An active receive that nobody serves before serve() does. */
static MPI_Request open_receive(int *x)
{
	MPI_Request request;

	OK(MPI_Irecv(x, 1, MPI_INT, rank, 77, comm, &request));
	return request;
}

static void serve(int value)
{
	OK(MPI_Send(&value, 1, MPI_INT, rank, 77, comm));
}

static MPI_Request inactive(int *x)
{
	MPI_Request request;

	OK(MPI_Recv_init(x, 1, MPI_INT, rank, 78, comm, &request));
	return request;
}

static void want_empty(const char *what, const MPI_Status *status)
{
	say_empty(what, status);
	WANT(status, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_INT, 0);
}

static void wait_null(void)
{
	MPI_Request request = MPI_REQUEST_NULL;
	MPI_Status status;
	int x, flag = -1;

	mark(&status, 1);
	OK(MPI_Wait(&request, &status));
	want_empty("wait", &status);
	OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
	mark(&status, 1);
	OK(MPI_Test(&request, &flag, &status));
	CHECK(flag == 1);
	want_empty("test", &status);
	flag = -1;
	mark(&status, 1);
	OK(MPI_Request_get_status(request, &flag, &status));
	CHECK(flag == 1);
	want_empty("get_status", &status);
	request = inactive(&x);
	mark(&status, 1);
	OK(MPI_Wait(&request, &status));
	want_empty("inactive", &status);
	CHECK(request != MPI_REQUEST_NULL);
	flag = -1;
	mark(&status, 1);
	OK(MPI_Test(&request, &flag, &status));
	CHECK(flag == 1 && request != MPI_REQUEST_NULL);
	want_empty("inactive", &status);
	OK(MPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE));
	OK(MPI_Request_free(&request));
}

/* What is not complete leaves status and request as they are. */
static void test_false(void)
{
	MPI_Request requests[2], before[2];
	MPI_Status statuses[2];
	int x, y, flag = -1, index = -5, n = -5, indices[2] = {-7, -7};

	requests[0] = open_receive(&x);
	requests[1] = open_receive(&y);
	memcpy(before, requests, sizeof(before));
	mark(statuses, 2);
	OK(MPI_Test(&requests[0], &flag, &statuses[0]));
	CHECK(flag == 0 && is_marked(&statuses[0]));
	flag = -1;
	OK(MPI_Testany(2, requests, &index, &flag, &statuses[0]));
	say("testany index %d flag %d", index, flag);
	CHECK(flag == 0 && index == MPI_UNDEFINED);
	flag = -1;
	OK(MPI_Testall(2, requests, &flag, statuses));
	CHECK(flag == 0);
	OK(MPI_Testsome(2, requests, &n, indices, statuses));
	say("testsome %d %d %d", n, indices[0], indices[1]);
	CHECK(n == 0 && indices[0] == -7);
	flag = -1;
	OK(MPI_Request_get_status(requests[1], &flag, &statuses[0]));
	CHECK(flag == 0);
	say("statuses untouched %d %d", is_marked(&statuses[0]), is_marked(&statuses[1]));
	CHECK(memcmp(before, requests, sizeof(before)) == 0);
	serve(1);
	flag = -1;
	until_complete(1, requests);
	OK(MPI_Testall(2, requests, &flag, MPI_STATUSES_IGNORE));
	CHECK(flag == 0 && memcmp(before, requests, sizeof(before)) == 0);
	serve(2);
	OK(MPI_Waitall(2, requests, statuses));
	CHECK(x == 1 && y == 2);
}

static void get_status(void)
{
	MPI_Request request, before;
	MPI_Status status;
	int x = 0, flag = 0;

	request = before = open_receive(&x);
	serve(5);
	until_complete(1, &request);
	mark(&status, 1);
	OK(MPI_Request_get_status(request, &flag, &status));
	CHECK(flag == 1 && request == before && x == 5);
	say_status("got", &status, MPI_INT);
	WANT(&status, rank, 77, MPI_INT, 1);
	mark(&status, 1);
	OK(MPI_Test(&request, &flag, &status));
	CHECK(flag == 1 && request == MPI_REQUEST_NULL);
	say_status("tested", &status, MPI_INT);
	WANT(&status, rank, 77, MPI_INT, 1);
}

static void none_at_all(void)
{
	int index = -5, flag = -1, n = -5;
	MPI_Status status;

	OK(MPI_Waitall(0, NULL, NULL));
	OK(MPI_Waitall(0, NULL, MPI_STATUSES_IGNORE));
	OK(MPI_Testall(0, NULL, &flag, MPI_STATUSES_IGNORE));
	CHECK(flag == 1);
	mark(&status, 1);
	OK(MPI_Waitany(0, NULL, &index, &status));
	CHECK(index == MPI_UNDEFINED);
	say("waitany index %d", index);
	want_empty("waitany", &status);
	flag = index = -1;
	mark(&status, 1);
	OK(MPI_Testany(0, NULL, &index, &flag, &status));
	CHECK(flag == 1 && index == MPI_UNDEFINED);
	want_empty("testany", &status);
	OK(MPI_Waitsome(0, NULL, &n, NULL, MPI_STATUSES_IGNORE));
	CHECK(n == MPI_UNDEFINED);
	n = -5;
	OK(MPI_Testsome(0, NULL, &n, NULL, MPI_STATUSES_IGNORE));
	CHECK(n == MPI_UNDEFINED);
	SAY(MPI_Startall(0, NULL)); /* an error of Open MPI's */
}

static void all_null(void)
{
	MPI_Request requests[3] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
	MPI_Status statuses[3];
	int x, index = -5, flag = -1, n = -5, indices[3] = {-7, -7, -7};

	requests[1] = inactive(&x);
	mark(statuses, 3);
	OK(MPI_Waitall(3, requests, statuses));
	for (int i = 0; i < 3; i++)
		want_empty("waitall", &statuses[i]);
	mark(statuses, 3);
	OK(MPI_Testall(3, requests, &flag, statuses));
	CHECK(flag == 1);
	want_empty("testall", &statuses[1]);
	mark(statuses, 3);
	OK(MPI_Waitany(3, requests, &index, &statuses[0]));
	CHECK(index == MPI_UNDEFINED && is_marked(&statuses[1]));
	want_empty("waitany", &statuses[0]);
	index = flag = -5;
	OK(MPI_Testany(3, requests, &index, &flag, MPI_STATUS_IGNORE));
	CHECK(index == MPI_UNDEFINED && flag == 1);
	mark(statuses, 3);
	OK(MPI_Waitsome(3, requests, &n, indices, statuses));
	CHECK(n == MPI_UNDEFINED && indices[0] == -7 && is_marked(&statuses[0]));
	n = -5;
	OK(MPI_Testsome(3, requests, &n, indices, statuses));
	CHECK(n == MPI_UNDEFINED && indices[2] == -7 && is_marked(&statuses[2]));
	OK(MPI_Request_free(&requests[1]));
}

static void waitall_mixed(void)
{
	MPI_Request requests[6], persistent;
	MPI_Status statuses[6];
	int x[6] = {0};

	requests[0] = MPI_REQUEST_NULL;
	requests[1] = open_receive(&x[1]);
	requests[2] = persistent = inactive(&x[2]);
	OK(MPI_Irecv(&x[3], 1, MPI_INT, MPI_PROC_NULL, 3, comm, &requests[3]));
	requests[4] = open_receive(&x[4]);
	OK(MPI_Isend(&(int){9}, 1, MPI_INT, rank, 77, comm, &requests[5]));
	serve(10);
	mark(statuses, 6);
	OK(MPI_Waitall(6, requests, statuses));
	want_empty("null", &statuses[0]);
	say_status("received", &statuses[1], MPI_INT);
	WANT(&statuses[1], rank, 77, MPI_INT, 1);
	want_empty("inactive", &statuses[2]);
	WANT(&statuses[3], MPI_PROC_NULL, MPI_ANY_TAG, MPI_INT, 0);
	say_status("received", &statuses[4], MPI_INT);
	CHECK(x[1] == 9 && x[4] == 10 && requests[2] == persistent);
	CHECK(requests[1] == MPI_REQUEST_NULL && requests[5] == MPI_REQUEST_NULL);
	OK(MPI_Request_free(&requests[2]));
}

static void waitany_one(void)
{
	MPI_Request requests[5];
	MPI_Status status;
	int x[5] = {0}, index = -5, flag = -5;

	requests[0] = MPI_REQUEST_NULL;
	requests[1] = inactive(&x[1]);
	requests[2] = MPI_REQUEST_NULL;
	requests[3] = open_receive(&x[3]);
	requests[4] = open_receive(&x[4]);
	serve(20);
	mark(&status, 1);
	OK(MPI_Waitany(5, requests, &index, &status));
	say("waitany index %d", index);
	say_status("any", &status, MPI_INT);
	CHECK(index == 3 && x[3] == 20 && requests[3] == MPI_REQUEST_NULL);
	WANT(&status, rank, 77, MPI_INT, 1);
	OK(MPI_Testany(5, requests, &index, &flag, &status));
	CHECK(flag == 0);
	serve(21);
	until_complete(1, &requests[4]);
	OK(MPI_Testany(5, requests, &index, &flag, MPI_STATUS_IGNORE));
	CHECK(flag == 1 && index == 4 && x[4] == 21);
	OK(MPI_Request_free(&requests[1]));
}

static void waitsome_three(void)
{
	MPI_Request requests[6];
	MPI_Status statuses[6];
	int x[6] = {0}, n = -5, indices[6] = {-7, -7, -7, -7, -7, -7};

	for (int i = 0; i < 6; i++)
		requests[i] = i % 2 ? open_receive(&x[i]) : MPI_REQUEST_NULL;
	for (int i = 0; i < 2; i++)
		serve(i);
	until_complete(4, requests);
	mark(statuses, 6);
	OK(MPI_Waitsome(6, requests, &n, indices, statuses));
	say("waitsome %d: %d %d", n, indices[0], indices[1]);
	CHECK(n == 2 && indices[0] + indices[1] == 4);
	say_status("some", &statuses[0], MPI_INT);
	say_status("some", &statuses[1], MPI_INT);
	CHECK(is_marked(&statuses[2]));
	serve(5);
	until_complete(6, requests);
	OK(MPI_Testsome(6, requests, &n, indices, MPI_STATUSES_IGNORE));
	CHECK(n == 1 && indices[0] == 5 && x[5] == 5);
	OK(MPI_Testsome(6, requests, &n, indices, MPI_STATUSES_IGNORE));
	CHECK(n == MPI_UNDEFINED);
}

/* The second of three fails: MPI_ERR_IN_STATUS, each status says its own. */
static void error_in_status(bool ignored, bool test)
{
	MPI_Request requests[3];
	MPI_Status statuses[3];
	int x[6] = {0}, flag = -1;

	if (left) {
		for (int i = 0; i < 3; i++)
			OK(MPI_Send((int[]){1, 2, 3}, i == 1 ? 3 : 1, MPI_INT, peer, i, comm));
		return;
	}
	for (int i = 0; i < 3; i++)
		OK(MPI_Irecv(&x[2 * i], 1, MPI_INT, MPI_ANY_SOURCE, i, comm, &requests[i]));
	until_complete(3, requests);
	mark(statuses, 3);
	if (test)
		BAD(MPI_Testall(3, requests, &flag, ignored ? MPI_STATUSES_IGNORE : statuses));
	else
		BAD(MPI_Waitall(3, requests, ignored ? MPI_STATUSES_IGNORE : statuses));
	if (test)
		say("flag %d", flag);
	for (int i = 0; i < 3; i++) {
		say("request %d null %d", i, requests[i] == MPI_REQUEST_NULL);
		if (!ignored)
			say("source %d tag %d error %s", statuses[i].MPI_SOURCE,
				statuses[i].MPI_TAG, class_name(statuses[i].MPI_ERROR));
		if (requests[i] != MPI_REQUEST_NULL)
			SAY(MPI_Wait(&requests[i], MPI_STATUS_IGNORE));
	}
	if (ignored)
		CHECK(is_marked(&statuses[0]) && is_marked(&statuses[2]));
	CHECK(x[0] == 1 && x[3] == 0 && x[4] == 1);
}

static void waitall_error(void)
{
	error_in_status(false, false);
}

static void waitall_error_ignored(void)
{
	error_in_status(true, false);
}

static void testall_error(void)
{
	error_in_status(false, true);
}

static void testall_error_ignored(void)
{
	error_in_status(true, true);
}

static void waitsome_error(void)
{
	MPI_Request requests[3];
	MPI_Status statuses[3];
	int x[6] = {0}, n = -5, indices[3] = {-7, -7, -7};

	if (left) {
		for (int round = 0; round < 2; round++)
			for (int i = 0; i < 3; i++)
				OK(MPI_Send(
					(int[]){1, 2, 3}, i == 1 ? 3 : 1, MPI_INT, peer, i, comm));
		return;
	}
	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < 3; i++)
			OK(MPI_Irecv(&x[2 * i], 1, MPI_INT, peer, i, comm, &requests[i]));
		until_complete(3, requests);
		mark(statuses, 3);
		if (round == 0)
			BAD(MPI_Waitsome(3, requests, &n, indices, statuses));
		else
			BAD(MPI_Testsome(3, requests, &n, indices, MPI_STATUSES_IGNORE));
		say("%d: %d %d %d", n, indices[0], indices[1], indices[2]);
		for (int i = 0; i < 3; i++) {
			say("request %d null %d", i, requests[i] == MPI_REQUEST_NULL);
			if (round == 0)
				say("source %d tag %d error %s", statuses[i].MPI_SOURCE,
					statuses[i].MPI_TAG, class_name(statuses[i].MPI_ERROR));
			if (requests[i] != MPI_REQUEST_NULL)
				SAY(MPI_Wait(&requests[i], MPI_STATUS_IGNORE));
		}
	}
}

/* Freed while active: the communication goes on all the same. */
static void free_active(void)
{
	enum { N = 300 };
	static int in[N], out[N];
	MPI_Request request;
	MPI_Status status;
	int last = -1;

	memset(in, 0, sizeof(in));
	for (int i = 0; i < N; i++) {
		OK(MPI_Irecv(&in[i], 1, MPI_INT, i % 2 ? peer : MPI_ANY_SOURCE, 5, comm, &request));
		OK(MPI_Request_free(&request));
		CHECK(request == MPI_REQUEST_NULL);
	}
	OK(MPI_Sendrecv(NULL, 0, MPI_INT, peer, 6, NULL, 0, MPI_INT, peer, 6, comm, &status));
	for (int i = 0; i < N; i++) {
		out[i] = i + 1;
		OK(MPI_Isend(&out[i], 1, MPI_INT, peer, 5, comm, &request));
		OK(MPI_Request_free(&request));
	}
	/* of equal tag and communicator: what came after them tells they are in */
	OK(MPI_Sendrecv(&rank, 1, MPI_INT, peer, 5, &last, 1, MPI_INT, peer, 5, comm, &status));
	CHECK(last == peer && is_filled(in, N, 1));
	say("data %08x", checksum(in, sizeof(in)));
}

static void free_bad(void)
{
	MPI_Request request = MPI_REQUEST_NULL;

	BAD(MPI_Request_free(&request));
	BAD(MPI_Cancel(&request));
	BAD(MPI_Start(&request));
}

/* Handles come back thousands of times, as something else each time. */
static void handles_reused(void)
{
	MPI_Request a, b, c[3];
	MPI_Status status;
	int in[4] = {0}, out, flag, index;
	unsigned sum = 0;

	for (int i = 0; i < 3000; i++) {
		out = i;
		OK(MPI_Irecv(
			in, i % 3 + 1, MPI_INT, i % 2 ? MPI_ANY_SOURCE : rank, i % 7, comm, &a));
		OK(MPI_Isend(&out, 1, MPI_INT, rank, i % 7, comm, &b));
		switch (i % 5) {
		case 0:
			OK(MPI_Wait(&b, MPI_STATUS_IGNORE));
			OK(MPI_Wait(&a, &status));
			break;
		case 1:
			OK(MPI_Wait(&a, &status));
			OK(MPI_Request_free(&b));
			break;
		case 2:
			for (flag = 0; !flag;)
				OK(MPI_Test(&a, &flag, &status));
			OK(MPI_Wait(&b, MPI_STATUS_IGNORE));
			break;
		case 3:
			c[0] = MPI_REQUEST_NULL, c[1] = a, c[2] = MPI_REQUEST_NULL;
			OK(MPI_Waitany(3, c, &index, &status));
			CHECK(index == 1);
			OK(MPI_Waitall(1, &b, MPI_STATUSES_IGNORE));
			break;
		default:
			c[0] = a, c[1] = b;
			OK(MPI_Waitall(2, c, MPI_STATUSES_IGNORE));
			status.MPI_SOURCE = rank, status.MPI_TAG = i % 7;
		}
		CHECK(in[0] == i && status.MPI_SOURCE == rank && status.MPI_TAG == i % 7);
		sum = sum * 31 + in[0] + status.MPI_TAG;
	}
	say("sum %u", sum);
}

/* Two thousand at once, completed from the last to the first, and in one call. */
static void many_requests(void)
{
	enum { N = 1000 };
	static MPI_Request requests[2 * N];
	static MPI_Status statuses[2 * N];
	static int in[N], out[N];

	for (int round = 0; round < 2; round++) {
		memset(in, 0, sizeof(in));
		for (int i = 0; i < N; i++)
			OK(MPI_Irecv(&in[i], 1, MPI_INT, i % 2 ? peer : MPI_ANY_SOURCE, i, comm,
				&requests[i]));
		for (int i = 0; i < N; i++) {
			out[i] = 3 + i;
			OK(MPI_Isend(&out[i], 1, MPI_INT, peer, i, comm, &requests[N + i]));
		}
		mark(statuses, 2 * N);
		if (round == 0) {
			OK(MPI_Waitall(2 * N, requests, statuses));
		} else {
			for (int i = 2 * N - 1; i >= 0; i--)
				OK(MPI_Wait(&requests[i], &statuses[i]));
		}
		CHECK(is_filled(in, N, 3));
		for (int i = 0; i < N; i++)
			WANT(&statuses[i], peer, i, MPI_INT, 1);
		for (int i = 0; i < 2 * N; i++)
			CHECK(requests[i] == MPI_REQUEST_NULL);
	}
	say("data %08x", checksum(in, sizeof(in)));
}

/* Requests outlive their communicator's handle and their datatype's. */
static void freed_beneath(void)
{
	MPI_Request requests[2];
	MPI_Status statuses[2];
	MPI_Comm other;
	MPI_Datatype pair;
	int in[2] = {0}, out[2] = {rank, 5};

	OK(MPI_Comm_dup(comm, &other));
	OK(MPI_Type_contiguous(2, MPI_INT, &pair));
	OK(MPI_Type_commit(&pair));
	OK(MPI_Irecv(in, 1, pair, MPI_ANY_SOURCE, MPI_ANY_TAG, other, &requests[0]));
	OK(MPI_Isend(out, 1, pair, (rank + 1) % size, 4, other, &requests[1]));
	OK(MPI_Type_free(&pair));
	OK(MPI_Comm_free(&other));
	CHECK(pair == MPI_DATATYPE_NULL && other == MPI_COMM_NULL);
	mark(statuses, 2);
	OK(MPI_Waitall(2, requests, statuses));
	say_status("outlived", &statuses[0], MPI_INT);
	WANT(&statuses[0], (rank + size - 1) % size, 4, MPI_INT, 2);
	CHECK(in[0] == (rank + size - 1) % size && in[1] == 5);
}

const struct program completion_programs[] = {{"wait_null", wait_null, ANY},
	{"test_false", test_false, ANY}, {"get_status", get_status, ANY},
	{"none_at_all", none_at_all, ANY}, {"all_null", all_null, ANY},
	{"waitall_mixed", waitall_mixed, ANY}, {"waitany_one", waitany_one, ANY},
	{"waitsome_three", waitsome_three, ANY}, {"waitall_error", waitall_error, PAIR},
	{"waitall_error_ignored", waitall_error_ignored, PAIR},
	{"testall_error", testall_error, PAIR},
	{"testall_error_ignored", testall_error_ignored, PAIR},
	{"waitsome_error", waitsome_error, PAIR}, {"free_active", free_active, PAIR},
	{"free_bad", free_bad, ANY}, {"handles_reused", handles_reused, ANY},
	{"many_requests", many_requests, PAIR}, {"freed_beneath", freed_beneath, ANY},
	{NULL, NULL, 0}};
