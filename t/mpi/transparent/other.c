/* SPDX-License-Identifier: BSD-3-Clause */
/* The rest: info, memory, versions, control, the tools interface, sessions. */
#include "transparent.h"

static void info(void)
{
	MPI_Info a, b;
	char value[40] = "untouched", key[MPI_MAX_INFO_KEY + 1];
	int n = -1, flag = -1, length = -1;

	OK(MPI_Info_create(&a));
	OK(MPI_Info_set(a, "first", "1"));
	OK(MPI_Info_set(a, "second", "with blanks  in it "));
	OK(MPI_Info_get_nkeys(a, &n));
	CHECK(n == 2);
	OK(MPI_Info_get_nthkey(a, 0, key));
	say("key `%s'", key);
	OK(MPI_Info_get(a, "third", 39, value, &flag));
	CHECK(!flag && strcmp(value, "untouched") == 0);
	SAY(MPI_Info_get(a, "second", 4, value, &flag)); /* too short is an error in MPICH */
	say("value `%s' %d", value, flag);
	CHECK(flag && strcmp(value, "with") == 0);
	OK(MPI_Info_get_valuelen(a, "second", &length, &flag));
	say("length %d", length);
	OK(MPI_Info_dup(a, &b));
	OK(MPI_Info_delete(a, "first"));
	OK(MPI_Info_get(b, "first", 39, value, &flag));
	CHECK(flag && strcmp(value, "1") == 0);
	OK(MPI_Info_free(&a));
	OK(MPI_Info_free(&b));
	CHECK(a == MPI_INFO_NULL);
	OK(MPI_Info_get(MPI_INFO_ENV, "command", 39, value, &flag));
}

static void memory(void)
{
	int *x = NULL;

	OK(MPI_Alloc_mem(1000 * sizeof(int), MPI_INFO_NULL, &x));
	fill(x, 1000, 3);
	CHECK(is_filled(x, 1000, 3));
	OK(MPI_Free_mem(x));
	say("freed");
}

static void buffer_attached(void)
{
	static char a[2000 + MPI_BSEND_OVERHEAD];
	void *got = NULL;
	int n = -1, x = -1;
	MPI_Status status;

	OK(MPI_Buffer_attach(a, sizeof(a)));
	BAD(MPI_Buffer_attach(a, sizeof(a)));
	OK(MPI_Bsend(&rank, 1, MPI_INT, rank, 2, comm));
	OK(MPI_Recv(&x, 1, MPI_INT, MPI_ANY_SOURCE, 2, comm, &status));
	OK(MPI_Buffer_detach(&got, &n));
	CHECK(got == a && n == (int)sizeof(a) && x == rank);
	say("detached %d", n == (int)sizeof(a));
}

static void versions(void)
{
	char text[MPI_MAX_LIBRARY_VERSION_STRING], name[MPI_MAX_PROCESSOR_NAME];
	int n = -1, major = -1, minor = -1, level = -1, flag = -1;
	double t;

	OK(MPI_Get_version(&major, &minor));
	CHECK(major == MPI_VERSION && minor == MPI_SUBVERSION);
	OK(MPI_Get_library_version(text, &n));
	say("%08x %d", checksum(text, n), n);
	OK(MPI_Get_processor_name(name, &n));
	CHECK(n == (int)strlen(name));
	OK(MPI_Query_thread(&level));
	CHECK(level == provided_level);
	OK(MPI_Is_thread_main(&flag));
	CHECK(flag);
	t = MPI_Wtime();
	CHECK(MPI_Wtime() >= t && MPI_Wtick() > 0);
	CHECK(MPI_Aint_diff(MPI_Aint_add(100, 20), 100) == 20);
	say("level %d", level);
}

/* With further arguments of any kind, which nobody reads. */
static void pcontrol(void)
{
	int x = -1;

	OK(MPI_Pcontrol(2));
	OK(MPI_Pcontrol(0));
	OK(MPI_Sendrecv(
		&rank, 1, MPI_INT, rank, 1, &x, 1, MPI_INT, rank, 1, comm, MPI_STATUS_IGNORE));
	OK(MPI_Pcontrol(7, "text", 1.5, &x));
	OK(MPI_Pcontrol(-1));
	OK(MPI_Pcontrol(1));
	CHECK(x == rank);
	say("controlled");
}

/* Requests opened while paused, completed when not, and the other way round. */
static void pcontrol_requests(void)
{
	MPI_Request requests[4];
	MPI_Status statuses[4];
	int in[2] = {-1, -1};

	OK(MPI_Pcontrol(0));
	OK(MPI_Irecv(&in[0], 1, MPI_INT, MPI_ANY_SOURCE, 1, comm, &requests[0]));
	OK(MPI_Isend(&rank, 1, MPI_INT, rank, 1, comm, &requests[1]));
	OK(MPI_Pcontrol(1));
	OK(MPI_Irecv(&in[1], 1, MPI_INT, rank, MPI_ANY_TAG, comm, &requests[2]));
	OK(MPI_Isend(&rank, 1, MPI_INT, rank, 2, comm, &requests[3]));
	mark(statuses, 4);
	OK(MPI_Waitall(2, requests, statuses));
	OK(MPI_Pcontrol(0));
	OK(MPI_Waitall(2, requests + 2, statuses + 2));
	OK(MPI_Pcontrol(1));
	say_status("paused", &statuses[0], MPI_INT);
	say_status("not paused", &statuses[2], MPI_INT);
	CHECK(in[0] == rank && in[1] == rank);
}

static void tools(void)
{
	int level = -1, n = -1;

	OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &level));
	OK(MPI_T_cvar_get_num(&n));
	say("control variables %d", n > 0);
	OK(MPI_T_pvar_get_num(&n));
	OK(MPI_T_category_get_num(&n));
	OK(MPI_T_finalize());
}

#if MPI_VERSION >= 4
static void session(void)
{
	MPI_Session s;
	MPI_Group group;
	MPI_Comm c;
	char name[MPI_MAX_PSET_NAME_LEN];
	int n = -1, length = sizeof(name), sum = -1;

	OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &s));
	OK(MPI_Session_get_num_psets(s, MPI_INFO_NULL, &n));
	OK(MPI_Session_get_nth_pset(s, MPI_INFO_NULL, 0, &length, name));
	say("psets %d, first %s", n, name);
	OK(MPI_Group_from_session_pset(s, "mpi://WORLD", &group));
	OK(MPI_Group_size(group, &n));
	CHECK(n == size);
	OK(MPI_Comm_create_from_group(group, "session", MPI_INFO_NULL, MPI_ERRORS_RETURN, &c));
	OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, c));
	CHECK(sum == size * (size - 1) / 2);
	OK(MPI_Group_free(&group));
	OK(MPI_Comm_free(&c));
	OK(MPI_Session_finalize(&s));
	CHECK(s == MPI_SESSION_NULL);
}

static void large_collectives(void)
{
	const MPI_Count n = 2;
	int x[2] = {rank, 1}, y[2] = {-1, -1};

	OK(MPI_Allreduce_c(x, y, n, MPI_INT, MPI_SUM, comm));
	CHECK(y[1] == size);
	OK(MPI_Bcast_c(y, n, MPI_INT, 0, comm));
	OK(MPI_Allreduce_c(MPI_IN_PLACE, y, n, MPI_INT, MPI_MAX, comm));
	say("large %d %d", y[0], y[1]);
}
#endif

const struct program other_programs[] = {{"info", info, ANY}, {"memory", memory, ANY},
	{"buffer_attached", buffer_attached, ANY}, {"versions", versions, ANY},
	{"pcontrol", pcontrol, ANY}, {"pcontrol_requests", pcontrol_requests, ANY},
	{"tools", tools, ANY},
#if MPI_VERSION >= 4
	{"session", session, ANY}, {"large_collectives", large_collectives, ANY},
#endif
	{NULL, NULL, 0}};
