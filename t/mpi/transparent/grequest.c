/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Generalized requests: whoever completes them calls the user's functions, and
 * how often is for the user to see.
 */
#include "transparent.h"

struct state {
	int queried, freed, cancelled;
	int cancelled_complete;
	int fails; /* what the query function returns */
	MPI_Datatype type;
};

static int query(void *extra, MPI_Status *status)
{
	struct state *s = extra;

	s->queried++;
	MPI_Status_set_elements(status, s->type, 6);
	MPI_Status_set_cancelled(status, s->cancelled);
	status->MPI_SOURCE = 123;
	status->MPI_TAG = 456;
	return s->fails;
}

static int release(void *extra)
{
	((struct state *)extra)->freed++;
	return MPI_SUCCESS;
}

static int cancel(void *extra, int complete)
{
	struct state *s = extra;

	s->cancelled++;
	s->cancelled_complete = complete;
	return MPI_SUCCESS;
}

static MPI_Request start(struct state *s)
{
	MPI_Request request;

	*s = (struct state){.type = MPI_INT};
	OK(MPI_Grequest_start(query, release, cancel, s, &request));
	return request;
}

static void say_state(const char *what, const struct state *s)
{
	say("%s: queried %d freed %d cancelled %d", what, s->queried, s->freed, s->cancelled);
}

static void grequest_wait(void)
{
	struct state s;
	MPI_Request request = start(&s);
	MPI_Status status;
	int flag = -1;

	mark(&status, 1);
	OK(MPI_Test(&request, &flag, &status));
	CHECK(!flag && s.queried == 0);
	OK(MPI_Request_get_status(request, &flag, &status));
	CHECK(!flag);
	say_state("open", &s);
	OK(MPI_Grequest_complete(request));
	say_state("complete", &s);
	mark(&status, 1);
	OK(MPI_Wait(&request, &status));
	say_status("waited", &status, MPI_INT);
	say_state("waited", &s);
	WANT(&status, 123, 456, MPI_INT, 6);
	CHECK(request == MPI_REQUEST_NULL && s.freed == 1);
}

static void grequest_get_status(void)
{
	struct state s;
	MPI_Request request = start(&s);
	MPI_Status status;
	int flag = -1;

	OK(MPI_Grequest_complete(request));
	for (int i = 0; i < 3; i++) {
		mark(&status, 1);
		OK(MPI_Request_get_status(request, &flag, i == 1 ? MPI_STATUS_IGNORE : &status));
		CHECK(flag && s.freed == 0);
		say_state("asked", &s);
	}
	WANT(&status, 123, 456, MPI_INT, 6);
	OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
	say_state("ignored", &s);
	CHECK(s.freed == 1);
}

static void grequest_waitall(void)
{
	struct state s[3];
	MPI_Request requests[4];
	MPI_Status statuses[4];

	for (int i = 0; i < 3; i++) {
		requests[i] = start(&s[i]);
		OK(MPI_Grequest_complete(requests[i]));
	}
	OK(MPI_Irecv(NULL, 0, MPI_INT, MPI_PROC_NULL, 1, comm, &requests[3]));
	mark(statuses, 4);
	OK(MPI_Waitall(4, requests, statuses));
	for (int i = 0; i < 3; i++) {
		say_status("one", &statuses[i], MPI_INT);
		say_state("one", &s[i]);
		CHECK(s[i].freed == 1);
	}
}

static void grequest_any_some(void)
{
	struct state s[3];
	MPI_Request requests[3];
	MPI_Status statuses[3];
	int index = -1, flag = -1, n = -1, indices[3] = {-7, -7, -7};

	for (int i = 0; i < 3; i++)
		requests[i] = start(&s[i]);
	OK(MPI_Testany(3, requests, &index, &flag, &statuses[0]));
	CHECK(!flag);
	OK(MPI_Grequest_complete(requests[1]));
	mark(statuses, 3);
	OK(MPI_Waitany(3, requests, &index, &statuses[0]));
	CHECK(index == 1);
	say_status("any", &statuses[0], MPI_INT);
	OK(MPI_Grequest_complete(requests[2]));
	OK(MPI_Grequest_complete(requests[0]));
	OK(MPI_Waitsome(3, requests, &n, indices, MPI_STATUSES_IGNORE));
	say("some %d: %d %d %d", n, indices[0], indices[1], indices[2]);
	CHECK(n == 2);
	for (int i = 0; i < 3; i++)
		say_state("any or some", &s[i]);
}

static void grequest_cancel(void)
{
	struct state s;
	MPI_Request request = start(&s);
	MPI_Status status;
	int cancelled = -1;

	OK(MPI_Cancel(&request));
	say_state("cancelled", &s);
	CHECK(s.cancelled == 1 && s.cancelled_complete == 0);
	OK(MPI_Grequest_complete(request));
	mark(&status, 1);
	OK(MPI_Wait(&request, &status));
	OK(MPI_Test_cancelled(&status, &cancelled));
	CHECK(cancelled == 1);
	say_status("cancelled", &status, MPI_INT);
	say_state("waited", &s);
}

static void grequest_freed(void)
{
	struct state s;
	MPI_Request request = start(&s), copy = request;

	OK(MPI_Request_free(&request));
	CHECK(request == MPI_REQUEST_NULL);
	say_state("freed", &s);
	OK(MPI_Grequest_complete(copy));
	say_state("complete", &s);
	CHECK(s.freed == 1);
}

/* The error of a user's function is the error of the wait. */
static void grequest_fails(void)
{
	struct state s;
	MPI_Request request = start(&s);
	MPI_Status status;
	int flag = -1;

	s.fails = MPI_ERR_OTHER;
	OK(MPI_Grequest_complete(request));
	mark(&status, 1);
	SAY(MPI_Test(&request, &flag, &status));
	say("flag %d source %d tag %d null %d", flag, status.MPI_SOURCE, status.MPI_TAG,
		request == MPI_REQUEST_NULL);
	say_state("failed", &s);
}

/* A status made by hand. */
static void status_set(void)
{
	MPI_Status status, copy;
	MPI_Fint fortran[32];

	memset(&status, 0, sizeof(status));
	status.MPI_SOURCE = 3;
	status.MPI_TAG = 4;
	OK(MPI_Status_set_elements(&status, MPI_DOUBLE, 5));
	OK(MPI_Status_set_cancelled(&status, 0));
	say_status("set", &status, MPI_DOUBLE);
	WANT(&status, 3, 4, MPI_DOUBLE, 5);
	OK(MPI_Status_set_elements_x(&status, MPI_BYTE, (MPI_Count)3 << 31));
	{
		MPI_Count large = 0;

		OK(MPI_Get_elements_x(&status, MPI_BYTE, &large));
		CHECK(large == (MPI_Count)3 << 31);
	}
	OK(MPI_Status_set_cancelled(&status, 1));
	OK(MPI_Status_c2f(&status, fortran));
	mark(&copy, 1);
	OK(MPI_Status_f2c(fortran, &copy));
	CHECK(copy.MPI_SOURCE == 3 && copy.MPI_TAG == 4);
	OK(MPI_Status_set_elements(&copy, MPI_BYTE, 2));
	say_status("there and back", &copy, MPI_BYTE);
}

const struct program grequest_programs[] = {{"grequest_wait", grequest_wait, ANY},
	{"grequest_get_status", grequest_get_status, ANY},
	{"grequest_waitall", grequest_waitall, ANY}, {"grequest_any_some", grequest_any_some, ANY},
	{"grequest_cancel", grequest_cancel, ANY}, {"grequest_freed", grequest_freed, ANY},
	{"grequest_fails", grequest_fails, ANY}, {"status_set", status_set, ANY}, {NULL, NULL, 0}};
