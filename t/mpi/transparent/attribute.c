/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Attributes: whoever duplicates, frees or looks at communicators, types and
 * windows calls the user's copy and delete functions.
 */
#include "transparent.h"

static int copied, deleted, copy_fails, delete_fails;

static void say_calls(const char *what)
{
	say("%s: copied %d deleted %d", what, copied, deleted);
}

static int copy_comm(MPI_Comm from, int key, void *extra, void *in, void *out, int *flag)
{
	int n = -1;

	(void)key;
	(void)extra;
	copied++;
	MPI_Comm_size(from, &n);
	CHECK(n > 0);
	*(void **)out = (char *)in + 1;
	*flag = 1;
	return copy_fails ? MPI_ERR_OTHER : MPI_SUCCESS;
}

static int delete_comm(MPI_Comm from, int key, void *value, void *extra)
{
	int result = -1;

	(void)key;
	(void)value;
	(void)extra;
	deleted++;
	MPI_Comm_compare(from, from, &result);
	CHECK(result == MPI_IDENT);
	return delete_fails ? MPI_ERR_OTHER : MPI_SUCCESS;
}

static void reset(void)
{
	copied = deleted = copy_fails = delete_fails = 0;
}

static intptr_t value_of(MPI_Comm c, int key)
{
	void *value = NULL;
	int flag = -1;

	OK(MPI_Comm_get_attr(c, key, &value, &flag));
	return flag ? (intptr_t)value : -1;
}

static void attributes_comm(void)
{
	MPI_Comm a, b, half;
	int key = MPI_KEYVAL_INVALID;

	reset();
	OK(MPI_Comm_create_keyval(copy_comm, delete_comm, &key, NULL));
	CHECK(value_of(comm, key) == -1);
	OK(MPI_Comm_set_attr(comm, key, (void *)100));
	OK(MPI_Comm_dup(comm, &a));
	say_calls("dup");
	CHECK(value_of(a, key) == 101 && copied == 1);
	OK(MPI_Comm_dup(a, &b));
	CHECK(value_of(b, key) == 102 && copied == 2);
	OK(MPI_Comm_split(comm, rank % 2, 0, &half));
	CHECK(value_of(half, key) == -1);
	say_calls("split");
	OK(MPI_Comm_set_attr(a, key, (void *)7));
	CHECK(deleted == 1 && value_of(a, key) == 7);
	OK(MPI_Comm_delete_attr(b, key));
	CHECK(deleted == 2 && value_of(b, key) == -1);
	OK(MPI_Comm_free(&a));
	CHECK(deleted == 3);
	OK(MPI_Comm_free(&b));
	OK(MPI_Comm_free(&half));
	CHECK(deleted == 3);
	OK(MPI_Comm_free_keyval(&key));
	CHECK(key == MPI_KEYVAL_INVALID && deleted == 3);
	say_calls("end");
}

/* Communication, tests and topologies of a communicator call none of them. */
static void attributes_quiet(void)
{
	MPI_Comm cart, idup;
	MPI_Request request;
	int key, x = rank, y, n, flag;

	reset();
	OK(MPI_Comm_create_keyval(copy_comm, delete_comm, &key, NULL));
	OK(MPI_Comm_set_attr(comm, key, (void *)5));
	for (int i = 0; i < 5; i++) {
		OK(MPI_Irecv(&y, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &request));
		OK(MPI_Send(&x, 1, MPI_INT, (rank + 1) % size, i, comm));
		OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
		OK(MPI_Allreduce(&x, &y, 1, MPI_INT, MPI_SUM, comm));
		OK(MPI_Comm_test_inter(comm, &flag));
	}
	OK(MPI_Cart_create(comm, 1, &size, (int[]){0}, 0, &cart));
	OK(MPI_Comm_size(cart, &n));
	OK(MPI_Comm_free(&cart));
	say_calls("used");
	CHECK(copied == 0 && deleted == 0);
	OK(MPI_Comm_idup(comm, &idup, &request));
	OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
	say_calls("idup");
	CHECK(copied == 1);
	OK(MPI_Comm_free(&idup));
	CHECK(deleted == 1);
	OK(MPI_Comm_delete_attr(comm, key));
	OK(MPI_Comm_free_keyval(&key));
}

static void attribute_copy_fails(void)
{
	MPI_Comm a = MPI_COMM_SELF;
	int key;

	reset();
	OK(MPI_Comm_create_keyval(copy_comm, delete_comm, &key, NULL));
	OK(MPI_Comm_set_attr(comm, key, (void *)5));
	copy_fails = 1;
	BAD(MPI_Comm_dup(comm, &a));
	say("null %d", a == MPI_COMM_NULL);
	say_calls("failed");
	copy_fails = 0;
	OK(MPI_Comm_delete_attr(comm, key));
	OK(MPI_Comm_free_keyval(&key));
}

static void attribute_delete_fails(void)
{
	MPI_Comm a;
	int key;

	reset();
	OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_comm, &key, NULL));
	OK(MPI_Comm_dup(comm, &a));
	OK(MPI_Comm_set_attr(a, key, (void *)5));
	delete_fails = 1;
	BAD(MPI_Comm_free(&a));
	say("null %d", a == MPI_COMM_NULL);
	say_calls("failed");
	delete_fails = 0;
	if (a != MPI_COMM_NULL)
		SAY(MPI_Comm_free(&a));
	OK(MPI_Comm_free_keyval(&key));
}

static int copy_type(MPI_Datatype from, int key, void *extra, void *in, void *out, int *flag)
{
	(void)from;
	(void)key;
	(void)extra;
	copied++;
	*(void **)out = in;
	*flag = 1;
	return MPI_SUCCESS;
}

static int delete_type(MPI_Datatype from, int key, void *value, void *extra)
{
	(void)from;
	(void)key;
	(void)value;
	(void)extra;
	deleted++;
	return MPI_SUCCESS;
}

static void attributes_type(void)
{
	MPI_Datatype a, b;
	int key, x[2] = {1, 2}, y[2];

	reset();
	OK(MPI_Type_create_keyval(copy_type, delete_type, &key, NULL));
	OK(MPI_Type_contiguous(2, MPI_INT, &a));
	OK(MPI_Type_set_attr(a, key, x));
	OK(MPI_Type_commit(&a));
	for (int i = 0; i < 5; i++)
		OK(MPI_Sendrecv(x, 1, a, rank, 1, y, 1, a, rank, 1, comm, MPI_STATUS_IGNORE));
	say_calls("used");
	OK(MPI_Type_dup(a, &b));
	CHECK(copied == 1 && deleted == 0);
	OK(MPI_Type_free(&a));
	OK(MPI_Type_free(&b));
	CHECK(deleted == 2);
	OK(MPI_Type_free_keyval(&key));
	say_calls("end");
}

static int delete_win(MPI_Win from, int key, void *value, void *extra)
{
	(void)from;
	(void)key;
	(void)value;
	(void)extra;
	deleted++;
	return MPI_SUCCESS;
}

static void attributes_window(void)
{
	MPI_Win win;
	int key, *base, flag = 0, data[4], *unit;
	MPI_Aint *bytes;

	reset();
	OK(MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, delete_win, &key, NULL));
	OK(MPI_Win_create(data, sizeof(data), 4, MPI_INFO_NULL, comm, &win));
	OK(MPI_Win_set_attr(win, key, data));
	OK(MPI_Win_get_attr(win, MPI_WIN_BASE, &base, &flag));
	CHECK(flag && base == data);
	OK(MPI_Win_get_attr(win, MPI_WIN_SIZE, &bytes, &flag));
	CHECK(flag && *bytes == 16);
	OK(MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, &unit, &flag));
	CHECK(flag && *unit == 4);
	OK(MPI_Win_free(&win));
	CHECK(deleted == 1);
	OK(MPI_Win_free_keyval(&key));
	say_calls("end");
}

/* What MPI_COMM_WORLD has from the beginning. */
static void attributes_predefined(void)
{
	static const struct {
		const char *name;
		int key;
	} keys[] = {{"tag_ub", MPI_TAG_UB}, {"host", MPI_HOST}, {"io", MPI_IO},
		{"wtime_is_global", MPI_WTIME_IS_GLOBAL}, {"appnum", MPI_APPNUM}};
	int *value, flag;

	for (int i = 0; i < COUNT_OF(keys); i++) {
		flag = -1;
		OK(MPI_Comm_get_attr(MPI_COMM_WORLD, keys[i].key, &value, &flag));
		say("%s flag %d value %d", keys[i].name, flag, flag ? *value : 0);
		OK(MPI_Comm_get_attr(comm, keys[i].key, &value, &flag));
		say("duplicate %s flag %d", keys[i].name, flag);
	}
}

const struct program attribute_programs[] = {{"attributes_comm", attributes_comm, ANY},
	{"attributes_quiet", attributes_quiet, ANY},
	{"attribute_copy_fails", attribute_copy_fails, ANY},
	{"attribute_delete_fails", attribute_delete_fails, ANY},
	{"attributes_type", attributes_type, ANY}, {"attributes_window", attributes_window, ANY},
	{"attributes_predefined", attributes_predefined, ANY}, {NULL, NULL, 0}};
