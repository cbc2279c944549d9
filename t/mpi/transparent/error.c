/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is wrong is wrong in the same way: the class that comes back, and how often
 * an error handler was called for it. Who asks MPI about a bad argument before the
 * call is made raises one error more.
 */
#include <setjmp.h>
#include "transparent.h"

static void say_counted(const char *what, int code)
{
	say("%s: %s, counted %d", what, class_name(code), errors_counted);
	errors_counted = 0;
}

/* Each expression gives an error; a handler on every communicator counts. */
#define WRONG(call) say_counted(#call, call)

static void count_errors(void)
{
	OK(MPI_Comm_set_errhandler(comm, counting));
	OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, counting));
	OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, counting));
	errors_counted = 0;
}

static void count_no_more(void)
{
	OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
	OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
}

static void errors_send(void)
{
	int x[4] = {0};
	MPI_Request request = MPI_REQUEST_NULL;
	MPI_Datatype raw;

	OK(MPI_Type_contiguous(2, MPI_INT, &raw));
	count_errors();
	WRONG(MPI_Send(x, 1, MPI_INT, size, 1, comm));
	WRONG(MPI_Send(x, 1, MPI_INT, -17, 1, comm));
	WRONG(MPI_Send(x, 1, MPI_INT, MPI_ANY_SOURCE, 1, comm));
	WRONG(MPI_Send(x, -1, MPI_INT, 0, 1, comm));
	WRONG(MPI_Send(x, 1, MPI_INT, 0, -5, comm));
	WRONG(MPI_Send(x, 1, MPI_INT, 0, MPI_ANY_TAG, comm));
	WRONG(MPI_Send(x, 1, MPI_DATATYPE_NULL, 0, 1, comm));
	WRONG(MPI_Send(x, 1, raw, 0, 1, comm));
	WRONG(MPI_Send(x, 1, MPI_INT, 0, 1, MPI_COMM_NULL));
	WRONG(MPI_Isend(x, -1, MPI_INT, 0, 1, comm, &request));
	WRONG(MPI_Isend(x, 1, MPI_INT, size + 5, 1, comm, &request));
	WRONG(MPI_Ssend(x, 1, MPI_DATATYPE_NULL, 0, 1, comm));
	WRONG(MPI_Issend(x, 1, MPI_INT, 0, 1, MPI_COMM_NULL, &request));
	WRONG(MPI_Send_init(x, -1, MPI_INT, 0, 1, comm, &request));
	WRONG(MPI_Bsend(x, 4, MPI_INT, size, 1, comm));
	count_no_more();
	OK(MPI_Type_free(&raw));
}

static void errors_receive(void)
{
	int x[4] = {0}, flag;
	MPI_Request request = MPI_REQUEST_NULL;
	MPI_Message message = MPI_MESSAGE_NULL;
	MPI_Status status;

	count_errors();
	WRONG(MPI_Recv(x, -1, MPI_INT, 0, 1, comm, &status));
	WRONG(MPI_Recv(x, 1, MPI_INT, size, 1, comm, &status));
	WRONG(MPI_Recv(x, 1, MPI_INT, 0, -9, comm, MPI_STATUS_IGNORE));
	WRONG(MPI_Recv(x, 1, MPI_DATATYPE_NULL, 0, 1, comm, &status));
	WRONG(MPI_Recv(
		x, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_NULL, MPI_STATUS_IGNORE));
	WRONG(MPI_Irecv(x, -1, MPI_INT, 0, 1, comm, &request));
	WRONG(MPI_Irecv(x, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_NULL, &request));
	WRONG(MPI_Recv_init(x, 1, MPI_INT, size, 1, comm, &request));
	WRONG(MPI_Probe(size, 1, comm, &status));
	WRONG(MPI_Iprobe(0, -9, comm, &flag, MPI_STATUS_IGNORE));
	WRONG(MPI_Mprobe(size, 1, comm, &message, &status));
	WRONG(MPI_Sendrecv(x, 1, MPI_INT, size, 1, x + 2, 1, MPI_INT, 0, 1, comm, &status));
	WRONG(MPI_Sendrecv_replace(
		x, -1, MPI_INT, 0, 1, MPI_ANY_SOURCE, 1, comm, MPI_STATUS_IGNORE));
	count_no_more();
	say("request null %d", request == MPI_REQUEST_NULL);
}

static void errors_request(void)
{
	MPI_Request null = MPI_REQUEST_NULL;
	MPI_Status status;
	int flag = -1, index = -1, n = -1;

	count_errors();
	WRONG(MPI_Waitall(-1, &null, &status));
	WRONG(MPI_Waitany(-1, &null, &index, &status));
	WRONG(MPI_Waitsome(-1, &null, &n, &index, MPI_STATUSES_IGNORE));
	WRONG(MPI_Testall(-2, &null, &flag, MPI_STATUSES_IGNORE));
	WRONG(MPI_Testany(-2, &null, &index, &flag, MPI_STATUS_IGNORE));
	WRONG(MPI_Testsome(-2, &null, &n, &index, &status));
	WRONG(MPI_Waitall(3, NULL, MPI_STATUSES_IGNORE));
	WRONG(MPI_Testall(3, NULL, &flag, MPI_STATUSES_IGNORE));
	WRONG(MPI_Wait(NULL, MPI_STATUS_IGNORE));
	WRONG(MPI_Test(NULL, &flag, MPI_STATUS_IGNORE));
	WRONG(MPI_Startall(-1, &null));
	WRONG(MPI_Start(&null));
	WRONG(MPI_Cancel(&null));
	WRONG(MPI_Request_free(&null));
	count_no_more();
}

static void errors_collective(void)
{
	int x[8] = {0}, y[8];
	MPI_Request request = MPI_REQUEST_NULL;

	count_errors();
	WRONG(MPI_Bcast(x, 1, MPI_INT, size, comm));
	WRONG(MPI_Bcast(x, -1, MPI_INT, 0, comm));
	WRONG(MPI_Bcast(x, 1, MPI_DATATYPE_NULL, 0, comm));
	WRONG(MPI_Bcast(x, 1, MPI_INT, 0, MPI_COMM_NULL));
	WRONG(MPI_Barrier(MPI_COMM_NULL));
	WRONG(MPI_Reduce(x, y, 1, MPI_INT, MPI_OP_NULL, 0, comm));
	WRONG(MPI_Reduce(x, y, 1, MPI_INT, MPI_SUM, -1, comm));
	WRONG(MPI_Allreduce(x, y, 1, MPI_DATATYPE_NULL, MPI_SUM, comm));
	WRONG(MPI_Allreduce(x, y, 1, MPI_INT, MPI_SUM, MPI_COMM_NULL));
	WRONG(MPI_Gather(x, 1, MPI_INT, y, 1, MPI_INT, size, comm));
	WRONG(MPI_Allgather(x, -1, MPI_INT, y, 1, MPI_INT, comm));
	WRONG(MPI_Alltoall(x, 1, MPI_DATATYPE_NULL, y, 1, MPI_INT, comm));
	WRONG(MPI_Scan(x, y, 1, MPI_INT, MPI_OP_NULL, comm));
	WRONG(MPI_Ibcast(x, 1, MPI_INT, 0, MPI_COMM_NULL, &request));
	count_no_more();
}

static void errors_communicator(void)
{
	MPI_Comm other = MPI_COMM_NULL, null = MPI_COMM_NULL;
	MPI_Group group = MPI_GROUP_EMPTY;
	MPI_Datatype type;
	int n = -1, x;

	count_errors();
	WRONG(MPI_Comm_size(MPI_COMM_NULL, &n));
	WRONG(MPI_Comm_rank(MPI_COMM_NULL, &n));
	WRONG(MPI_Comm_dup(MPI_COMM_NULL, &other));
	WRONG(MPI_Comm_split(MPI_COMM_NULL, 0, 0, &other));
	WRONG(MPI_Comm_free(&null));
	WRONG(MPI_Comm_group(MPI_COMM_NULL, &group));
	WRONG(MPI_Comm_create(comm, MPI_GROUP_NULL, &other));
	WRONG(MPI_Comm_remote_size(comm, &n));
	WRONG(MPI_Group_size(MPI_GROUP_NULL, &n));
	WRONG(MPI_Cart_create(comm, 1, (int[]){size + 1}, (int[]){0}, 0, &other));
	WRONG(MPI_Graph_neighbors_count(comm, 0, &n));
	WRONG(MPI_Comm_free_keyval(&(int){MPI_KEYVAL_INVALID}));
	WRONG(MPI_Type_size(MPI_DATATYPE_NULL, &n));
	WRONG(MPI_Type_contiguous(-1, MPI_INT, &type));
	WRONG(MPI_Type_commit(&(MPI_Datatype){MPI_DATATYPE_NULL}));
	WRONG(MPI_Op_free(&(MPI_Op){MPI_SUM}));
	WRONG(MPI_Get_address(&x, NULL));
	WRONG(MPI_Dims_create(7, 1, (int[]){2}));
	count_no_more();
	say("other null %d", other == MPI_COMM_NULL);
}

/* The handler of the communicator is called, not that of another. */
static int of_first, of_second;

static void first_handler(MPI_Comm *where, int *code, ...)
{
	(void)where;
	(void)code;
	of_first++;
}

static void second_handler(MPI_Comm *where, int *code, ...)
{
	int result = -1;

	MPI_Comm_compare(*where, comm, &result);
	say("handler: %s, same communicator %d", class_name(*code), result == MPI_IDENT);
	of_second++;
}

static void handlers(void)
{
	MPI_Errhandler first, second, got;
	MPI_Comm other;

	of_first = of_second = 0;
	OK(MPI_Comm_create_errhandler(first_handler, &first));
	OK(MPI_Comm_create_errhandler(second_handler, &second));
	OK(MPI_Comm_set_errhandler(comm, first));
	OK(MPI_Comm_dup(comm, &other));
	OK(MPI_Comm_set_errhandler(comm, second));
	OK(MPI_Comm_get_errhandler(other, &got));
	CHECK(got == first);
	OK(MPI_Errhandler_free(&got));
	BAD(MPI_Send(NULL, 1, MPI_INT, size, 1, other));
	BAD(MPI_Send(NULL, 1, MPI_INT, size, 1, comm));
	OK(MPI_Comm_call_errhandler(other, MPI_ERR_OTHER));
	OK(MPI_Comm_call_errhandler(comm, MPI_ERR_TYPE));
	say("first %d second %d", of_first, of_second);
	CHECK(of_first == 2 && of_second == 2);
	OK(MPI_Errhandler_free(&first));
	OK(MPI_Errhandler_free(&second));
	BAD(MPI_Recv(NULL, -1, MPI_INT, 0, 1, comm, MPI_STATUS_IGNORE));
	CHECK(of_second == 3);
	OK(MPI_Comm_free(&other));
}

/* A truncated message calls the handler once, wherever it is found. */
static void handler_truncated(void)
{
	MPI_Request requests[2];
	MPI_Status statuses[2];
	int x[2] = {0}, y[2] = {0};

	OK(MPI_Comm_set_errhandler(comm, counting));
	OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, counting));
	if (left) {
		for (int i = 0; i < 4; i++)
			OK(MPI_Send((int[]){1, 2}, 2, MPI_INT, peer, 3, comm));
	} else {
		errors_counted = 0;
		say_counted("recv", MPI_Recv(x, 1, MPI_INT, peer, 3, comm, statuses));
		OK(MPI_Irecv(x, 1, MPI_INT, MPI_ANY_SOURCE, 3, comm, requests));
		say_counted("wait", MPI_Wait(requests, MPI_STATUS_IGNORE));
		OK(MPI_Irecv(x, 1, MPI_INT, peer, MPI_ANY_TAG, comm, &requests[0]));
		OK(MPI_Irecv(y, 2, MPI_INT, peer, MPI_ANY_TAG, comm, &requests[1]));
		until_complete(2, requests);
		errors_counted = 0;
		say_counted("waitall", MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
		CHECK(y[1] == 2);
	}
	OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
}

static jmp_buf landing;
static volatile int jumps;

static void jumping_handler(MPI_Comm *where, int *code, ...)
{
	(void)where;
	(void)code;
	jumps++;
	longjmp(landing, 1);
}

/* The handler leaves the call by longjmp; afterwards all goes on. */
static void handler_jumps(void)
{
	MPI_Errhandler jumping;
	MPI_Status status;
	volatile int i;
	int x = 0;

	jumps = 0;
	OK(MPI_Comm_create_errhandler(jumping_handler, &jumping));
	OK(MPI_Comm_set_errhandler(comm, jumping));
	for (i = 0; i < 5; i++) {
		if (setjmp(landing) == 0) {
			MPI_Send(&x, 1, MPI_INT, size + 1, 1, comm);
			CHECK(!"came back");
		}
		mark(&status, 1);
		OK(MPI_Sendrecv(&rank, 1, MPI_INT, rank, 1, &x, 1, MPI_INT, MPI_ANY_SOURCE,
			MPI_ANY_TAG, comm, &status));
		CHECK(x == rank);
		say_status("after", &status, MPI_INT);
	}
	CHECK(jumps == 5);
	OK(MPI_Errhandler_free(&jumping));
}

static void own_classes(void)
{
	int class = -1, code = -1, of_code = -1, n, *last, flag;
	char text[MPI_MAX_ERROR_STRING];

	OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &last, &flag));
	say("last used code %d", *last);
	OK(MPI_Add_error_class(&class));
	OK(MPI_Add_error_code(class, &code));
	OK(MPI_Add_error_string(code, "our own mistake"));
	OK(MPI_Error_class(code, &of_code));
	OK(MPI_Error_string(code, text, &n));
	say("class %d code %d: %s", class, code, text);
	CHECK(of_code == class && n == 15);
	OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &last, &flag));
	say("last used code %d", *last);
	for (int i = 0; i <= MPI_ERR_LASTCODE && i < 60; i++) {
		if (MPI_Error_string(i, text, &n) == MPI_SUCCESS)
			say("%d: %s", i, text);
	}
}

static void window_handler(MPI_Win *where, int *code, ...)
{
	(void)where;
	(void)code;
	errors_counted++;
}

static void file_handler(MPI_File *where, int *code, ...)
{
	(void)where;
	(void)code;
	errors_counted++;
}

static void errors_window(void)
{
	MPI_Errhandler handler;
	MPI_Win win;
	int x = 0, data[2] = {0};

	OK(MPI_Win_create_errhandler(window_handler, &handler));
	OK(MPI_Win_create(data, sizeof(data), sizeof(int), MPI_INFO_NULL, comm, &win));
	OK(MPI_Win_set_errhandler(win, handler));
	OK(MPI_Win_fence(0, win));
	count_errors();
	WRONG(MPI_Put(&x, 1, MPI_INT, size + 1, 0, 1, MPI_INT, win));
	WRONG(MPI_Put(&x, -1, MPI_INT, 0, 0, 1, MPI_INT, win));
	WRONG(MPI_Get(&x, 1, MPI_DATATYPE_NULL, 0, 0, 1, MPI_INT, win));
	WRONG(MPI_Accumulate(&x, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_OP_NULL, win));
	WRONG(MPI_Win_free(&(MPI_Win){MPI_WIN_NULL}));
	WRONG(MPI_Win_fence(0, MPI_WIN_NULL));
	count_no_more();
	OK(MPI_Win_fence(0, win));
	OK(MPI_Win_free(&win));
	OK(MPI_Errhandler_free(&handler));
}

static void errors_file(void)
{
	MPI_Errhandler handler, got;
	MPI_File file = MPI_FILE_NULL;
	int x;

	errors_counted = 0;
	WRONG(MPI_File_open(comm, "no/such/file", MPI_MODE_RDONLY, MPI_INFO_NULL, &file));
	OK(MPI_File_create_errhandler(file_handler, &handler));
	OK(MPI_File_get_errhandler(MPI_FILE_NULL, &got));
	CHECK(got == MPI_ERRORS_RETURN);
	OK(MPI_File_set_errhandler(MPI_FILE_NULL, handler));
	WRONG(MPI_File_open(comm, "no/such/file", MPI_MODE_RDONLY, MPI_INFO_NULL, &file));
	WRONG(MPI_File_delete("no/such/file", MPI_INFO_NULL));
	OK(MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN));
	WRONG(MPI_File_read(MPI_FILE_NULL, &x, 1, MPI_INT, MPI_STATUS_IGNORE));
	WRONG(MPI_File_close(&file));
	OK(MPI_Errhandler_free(&handler));
}

const struct program error_programs[] = {{"errors_send", errors_send, ANY},
	{"errors_receive", errors_receive, ANY}, {"errors_request", errors_request, ANY},
	{"errors_collective", errors_collective, ANY},
	{"errors_communicator", errors_communicator, ANY}, {"handlers", handlers, ANY},
	{"handler_truncated", handler_truncated, PAIR}, {"handler_jumps", handler_jumps, ANY},
	{"own_classes", own_classes, ANY}, {"errors_window", errors_window, ANY},
	{"errors_file", errors_file, ANY}, {NULL, NULL, 0}};
