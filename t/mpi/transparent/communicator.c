/* SPDX-License-Identifier: BSD-3-Clause */
/* Communicators made in every way, used, compared, named and freed; and their groups. */
#include "transparent.h"

/* Sum of the world ranks of its members, and who is last. */
static void say_members(const char *what, MPI_Comm c)
{
	MPI_Status status;
	int r = -1, n = -1, sum = -1, from = -1, all = rank;

	if (c == MPI_COMM_NULL) {
		say("%s: null", what);
		return;
	}
	OK(MPI_Comm_rank(c, &r));
	OK(MPI_Comm_size(c, &n));
	OK(MPI_Allreduce(&all, &sum, 1, MPI_INT, MPI_SUM, c));
	mark(&status, 1);
	OK(MPI_Sendrecv(&rank, 1, MPI_INT, (r + 1) % n, 3, &from, 1, MPI_INT, MPI_ANY_SOURCE,
		MPI_ANY_TAG, c, &status));
	WANT(&status, (r + n - 1) % n, 3, MPI_INT, 1);
	say("%s: rank %d of %d, sum %d, from %d", what, r, n, sum, from);
}

static const char *compared(MPI_Comm a, MPI_Comm b)
{
	int result = -1;

	OK(MPI_Comm_compare(a, b, &result));
	return result == MPI_IDENT	 ? "ident"
	       : result == MPI_CONGRUENT ? "congruent"
	       : result == MPI_SIMILAR	 ? "similar"
	       : result == MPI_UNEQUAL	 ? "unequal"
					 : "?";
}

static void dup(void)
{
	MPI_Comm a, b;

	OK(MPI_Comm_dup(comm, &a));
	OK(MPI_Comm_dup(a, &b));
	say_members("dup", a);
	say("compare %s %s %s", compared(comm, comm), compared(a, comm), compared(a, b));
	OK(MPI_Comm_free(&a));
	say_members("dup of dup", b);
	OK(MPI_Comm_free(&b));
	CHECK(a == MPI_COMM_NULL && b == MPI_COMM_NULL);
	OK(MPI_Comm_dup(MPI_COMM_SELF, &a));
	say_members("self", a);
	OK(MPI_Comm_free(&a));
}

static void dup_with_info(void)
{
	MPI_Info info, got;
	MPI_Comm a;
	int n = -1;

	OK(MPI_Info_create(&info));
	OK(MPI_Info_set(info, "some_key", "some value"));
	OK(MPI_Comm_dup_with_info(comm, info, &a));
	OK(MPI_Comm_set_info(a, info));
	OK(MPI_Comm_get_info(a, &got));
	OK(MPI_Info_get_nkeys(got, &n));
	say("keys %d", n);
	OK(MPI_Info_free(&got));
	OK(MPI_Info_free(&info));
	say_members("with info", a);
	OK(MPI_Comm_free(&a));
}

/* The new communicator is not there before the request is complete. */
static void idup(void)
{
	MPI_Comm a[3];
	MPI_Request requests[3];
	int flag = 0;

	OK(MPI_Comm_idup(comm, &a[0], &requests[0]));
	while (!flag)
		OK(MPI_Test(&requests[0], &flag, MPI_STATUS_IGNORE));
	say_members("idup", a[0]);
	OK(MPI_Comm_idup(comm, &a[1], &requests[1]));
	OK(MPI_Comm_idup(a[0], &a[2], &requests[2]));
	OK(MPI_Waitall(2, requests + 1, MPI_STATUSES_IGNORE));
	say_members("idup", a[1]);
	say_members("idup", a[2]);
	say("compare %s", compared(a[1], a[2]));
	for (int i = 0; i < 3; i++)
		OK(MPI_Comm_free(&a[i]));
}

static void split(void)
{
	MPI_Comm half, turned, some;

	OK(MPI_Comm_split(comm, rank % 2, rank, &half));
	say_members("half", half);
	OK(MPI_Comm_split(comm, 0, -rank, &turned));
	say_members("turned", turned);
	say("compare %s %s", compared(turned, comm), compared(half, comm));
	OK(MPI_Comm_split(half, rank == 0 ? MPI_UNDEFINED : 7, 0, &some));
	say_members("some", some);
	CHECK((some == MPI_COMM_NULL) == (rank == 0));
	if (some != MPI_COMM_NULL)
		OK(MPI_Comm_free(&some));
	OK(MPI_Comm_free(&half));
	OK(MPI_Comm_free(&turned));
}

static void split_type(void)
{
	MPI_Comm node, none = MPI_COMM_SELF;

	OK(MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node));
	say_members("node", node);
	OK(MPI_Comm_free(&node));
	OK(MPI_Comm_split_type(comm, MPI_UNDEFINED, rank, MPI_INFO_NULL, &none));
	CHECK(none == MPI_COMM_NULL);
}

static void create(void)
{
	MPI_Group all, group;
	MPI_Comm made = MPI_COMM_SELF;
	int last = size - 1;

	OK(MPI_Comm_group(comm, &all));
	OK(MPI_Group_excl(all, 1, &last, &group));
	OK(MPI_Comm_create(comm, group, &made));
	say_members("all but the last", made);
	CHECK((made == MPI_COMM_NULL) == (rank == last));
	if (made != MPI_COMM_NULL)
		OK(MPI_Comm_free(&made));
	/* collective over the group only */
	if (rank != last) {
		OK(MPI_Comm_create_group(comm, group, 17, &made));
		say_members("group", made);
		OK(MPI_Comm_free(&made));
	}
	OK(MPI_Group_free(&group));
	OK(MPI_Comm_create(comm, MPI_GROUP_EMPTY, &made));
	CHECK(made == MPI_COMM_NULL);
	OK(MPI_Group_free(&all));
	CHECK(all == MPI_GROUP_NULL);
}

static void names(void)
{
	char name[MPI_MAX_OBJECT_NAME], longest[MPI_MAX_OBJECT_NAME];
	MPI_Comm a, half;
	MPI_Datatype type;
	int n = -1;

	memset(name, 'x', sizeof(name));
	OK(MPI_Comm_get_name(MPI_COMM_WORLD, name, &n));
	say("world `%s' %d", name, n);
	OK(MPI_Comm_get_name(MPI_COMM_SELF, name, &n));
	say("self `%s' %d", name, n);
	OK(MPI_Comm_dup(comm, &a));
	OK(MPI_Comm_split(comm, rank % 2, 0, &half));
	OK(MPI_Comm_get_name(a, name, &n));
	say("dup named %d", n > 0);
	OK(MPI_Comm_set_name(a, ""));
	OK(MPI_Comm_get_name(a, name, &n));
	CHECK(n == 0 && name[0] == 0);
	memset(longest, 'y', sizeof(longest));
	longest[MPI_MAX_OBJECT_NAME - 1] = 0;
	OK(MPI_Comm_set_name(a, longest));
	OK(MPI_Comm_get_name(a, name, &n));
	CHECK(n == MPI_MAX_OBJECT_NAME - 1 && strcmp(name, longest) == 0);
	OK(MPI_Comm_set_name(half, "half \"of\" them\n"));
	OK(MPI_Comm_get_name(half, name, &n));
	CHECK(strcmp(name, "half \"of\" them\n") == 0 && n == 15);
	OK(MPI_Type_get_name(MPI_INT, name, &n));
	say("type `%s'", name);
	OK(MPI_Type_contiguous(2, MPI_INT, &type));
	OK(MPI_Type_get_name(type, name, &n));
	CHECK(n == 0);
	OK(MPI_Type_free(&type));
	OK(MPI_Comm_free(&a));
	OK(MPI_Comm_free(&half));
}

/* Handles come back again and again, as other sets of ranks. */
static void reused(void)
{
	MPI_Comm c, d;
	int sum = 0, n, x;

	for (int i = 0; i < 40; i++) {
		OK(MPI_Comm_split(comm, rank % (i % 3 + 1), i % 2 ? rank : -rank, &c));
		OK(MPI_Comm_size(c, &n));
		x = rank + i;
		OK(MPI_Allreduce(MPI_IN_PLACE, &x, 1, MPI_INT, MPI_SUM, c));
		sum = sum * 7 + x + n;
		if (i % 4 == 0) {
			OK(MPI_Comm_dup(c, &d));
			OK(MPI_Comm_free(&c));
			c = d;
			OK(MPI_Barrier(c));
		}
		OK(MPI_Comm_free(&c));
	}
	say("sum %d", sum);
}

/* The same communicator through Fortran's handle and back. */
static void converted(void)
{
	MPI_Fint f = MPI_Comm_c2f(comm);
	MPI_Comm back = MPI_Comm_f2c(f);
	MPI_Request request;
	int x = -1;

	CHECK(back == comm);
	OK(MPI_Irecv(&x, 1, MPI_INT, rank, 1, back, &request));
	f = MPI_Request_c2f(request);
	OK(MPI_Send(&rank, 1, MPI_INT, rank, 1, comm));
	request = MPI_Request_f2c(f);
	OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
	CHECK(x == rank);
	CHECK(MPI_Type_f2c(MPI_Type_c2f(MPI_DOUBLE)) == MPI_DOUBLE);
	say_members("converted", back);
}

static void disconnected(void)
{
	MPI_Comm c;
	int x;

	OK(MPI_Comm_dup(comm, &c));
	OK(MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, 1, &x, 1, MPI_INT, MPI_ANY_SOURCE, 1,
		c, MPI_STATUS_IGNORE));
	OK(MPI_Comm_disconnect(&c));
	CHECK(c == MPI_COMM_NULL);
	say("from %d", x);
}

#if MPI_VERSION >= 4
static void idup_with_info(void)
{
	MPI_Comm c;
	MPI_Request request;

	OK(MPI_Comm_idup_with_info(comm, MPI_INFO_NULL, &c, &request));
	OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
	say_members("idup", c);
	OK(MPI_Comm_free(&c));
}

static void from_group(void)
{
	MPI_Group group;
	MPI_Comm c;

	OK(MPI_Comm_group(comm, &group));
	OK(MPI_Comm_create_from_group(group, "transparent", MPI_INFO_NULL, MPI_ERRORS_RETURN, &c));
	say_members("from group", c);
	OK(MPI_Group_free(&group));
	OK(MPI_Comm_free(&c));
}
#endif

const struct program communicator_programs[] = {{"dup", dup, ANY},
	{"dup_with_info", dup_with_info, ANY}, {"idup", idup, ANY}, {"split", split, ANY},
	{"split_type", split_type, ANY}, {"create", create, 2}, {"names", names, ANY},
	{"reused", reused, ANY}, {"converted", converted, ANY}, {"disconnected", disconnected, ANY},
#if MPI_VERSION >= 4
	{"idup_with_info", idup_with_info, ANY}, {"from_group", from_group, ANY},
#endif
	{NULL, NULL, 0}};

static void groups_made(void)
{
	MPI_Group all, a, b, c;
	int range[1][3] = {{size - 1, 0, -1}}, n = -1, result = -1, mine = -1;
	int ranks[2] = {0, size - 1}, out[3] = {-9, -9, -9}, in[3] = {0, size - 1, MPI_PROC_NULL};

	OK(MPI_Comm_group(comm, &all));
	OK(MPI_Group_range_incl(all, 1, range, &a));
	OK(MPI_Group_compare(all, a, &result));
	CHECK(result == (size > 1 ? MPI_SIMILAR : MPI_IDENT));
	OK(MPI_Group_translate_ranks(all, 3, in, a, out));
	CHECK(out[0] == size - 1 && out[1] == 0 && out[2] == MPI_PROC_NULL);
	OK(MPI_Group_incl(all, 2, ranks, &b));
	OK(MPI_Group_difference(all, b, &c));
	OK(MPI_Group_size(c, &n));
	OK(MPI_Group_rank(c, &mine));
	say("difference: %d of %d", mine, n);
	OK(MPI_Group_translate_ranks(all, 1, ranks, c, out));
	CHECK(out[0] == MPI_UNDEFINED);
	OK(MPI_Group_free(&a));
	OK(MPI_Group_union(b, c, &a));
	OK(MPI_Group_compare(a, all, &result));
	say("union: %d", result == MPI_SIMILAR);
	OK(MPI_Group_free(&a));
	OK(MPI_Group_intersection(b, c, &a));
	OK(MPI_Group_compare(a, MPI_GROUP_EMPTY, &result));
	CHECK(result == MPI_IDENT);
	if (a != MPI_GROUP_EMPTY)
		OK(MPI_Group_free(&a));
	OK(MPI_Group_free(&b));
	OK(MPI_Group_range_excl(all, 1, (int[][3]){{0, size - 1, 2}}, &b));
	OK(MPI_Group_size(b, &n));
	CHECK(n == size / 2);
	if (b != MPI_GROUP_EMPTY)
		OK(MPI_Group_free(&b));
	if (c != MPI_GROUP_EMPTY)
		OK(MPI_Group_free(&c));
	OK(MPI_Group_free(&all));
}

const struct program group_programs[] = {{"groups_made", groups_made, 2}, {NULL, NULL, 0}};
