/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Communicators on four ranks.
 *
 *	made	makes one of nearly every kind, names it, and uses it
 *	ports	two groups of ranks that meet by MPI_Comm_accept and connect
 *	spawn	two more processes, used from both sides
 *	spawn_one	the same, but one of two ranks spawns them, and the other one joins later
 *	sessions	the same without MPI_Init
 *	loop N	duplicates and frees N times; prints kB of growth and CPU ns each
 *	threads	three threads that make and use communicators at the same time
 *	bad	a null handle and one made behind the wrappers' back
 */
#include <mpi.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int rank;

static void use(MPI_Comm c, const char *name)
{
	int inter;

	if (c == MPI_COMM_NULL)
		return;
	MPI_Comm_set_name(c, name);
	MPI_Comm_test_inter(c, &inter);
	MPI_Barrier(c);
}

static void topologies(MPI_Comm c)
{
	int dims[2] = {2, 2}, periods[2] = {0, 1}, remain[2] = {0, 1};
	int index[4] = {1, 2, 3, 4}, edges[4] = {1, 0, 3, 2};
	int from = (rank + 3) % 4, to = (rank + 1) % 4, one = 1;
	MPI_Comm cart, row, graph, ring, ring2;

	MPI_Cart_create(c, 2, dims, periods, 0, &cart);
	use(cart, "cart");
	MPI_Cart_sub(cart, remain, &row);
	use(row, "row");
	MPI_Graph_create(c, 4, index, edges, 0, &graph);
	use(graph, "graph");
	MPI_Dist_graph_create_adjacent(c, 1, &from, &one, 1, &to, &one, MPI_INFO_NULL, 0, &ring);
	use(ring, "ring");
	MPI_Dist_graph_create(c, 1, &rank, &one, &to, &one, MPI_INFO_NULL, 0, &ring2);
	use(ring2, "ring2");
	MPI_Comm_free(&ring2);
	MPI_Comm_free(&ring);
	MPI_Comm_free(&graph);
	MPI_Comm_free(&row);
	MPI_Comm_free(&cart);
}

static void groups(MPI_Comm c)
{
	int first[3] = {0, 1, 2}, odd[2] = {1, 3}, odd_back[2] = {3, 1};
	MPI_Group all, some;
	MPI_Comm made;

	MPI_Comm_group(c, &all);
	MPI_Group_incl(all, 3, first, &some);
	MPI_Comm_create(c, some, &made);
	use(made, "create");
	if (made != MPI_COMM_NULL)
		MPI_Comm_free(&made);
	MPI_Group_free(&some);
	for (int i = 0; i < 2 && rank % 2; i++) {
		MPI_Group_incl(all, 2, i ? odd_back : odd, &some);
		MPI_Comm_create_group(c, some, 7, &made);
		use(made, i ? "create_group2" : "create_group");
		MPI_Comm_free(&made);
		MPI_Group_free(&some);
	}
	MPI_Group_free(&all);
}

static void intercommunicators(void)
{
	MPI_Comm half, inter, again, dup, merged, part, created;
	MPI_Group group;
	int zero = 0;

	MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
	use(half, rank % 2 ? "odd" : "even");
	/* leaders are ranks 2 and 3 of the world: the halves are in reverse order */
	MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank % 2 ? 2 : 3, 5, &inter);
	use(inter, "inter");
	MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank % 2 ? 2 : 3, 6, &again);
	use(again, "inter again");
	MPI_Comm_dup(inter, &dup);
	use(dup, "inter dup");
	MPI_Intercomm_merge(dup, rank % 2, &merged);
	use(merged, "merged");
	MPI_Comm_split(dup, rank / 2, 0, &part);
	use(part, rank / 2 ? "inter high" : "inter low");
	MPI_Comm_group(inter, &group);
	MPI_Group_free(&group);
	MPI_Comm_group(half, &group);
	MPI_Group_incl(group, 1, &zero, &group);
	MPI_Comm_create(inter, group, &created);
	use(created, "inter create");
	if (created != MPI_COMM_NULL)
		MPI_Comm_free(&created);
	MPI_Comm_free(&part);
	MPI_Comm_free(&merged);
	MPI_Comm_free(&dup);
	MPI_Comm_free(&again);
	MPI_Comm_free(&inter);
	MPI_Comm_free(&half);
}

static void made(void)
{
	MPI_Comm dup, dup2, late, info, half, some, node;
	MPI_Request request;

	MPI_Comm_dup(MPI_COMM_WORLD, &dup);
	use(dup, "dup");
	MPI_Comm_idup(dup, &late, &request);
	MPI_Comm_dup(dup, &dup2);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	use(dup2, "dup2");
	use(late, "idup");
	MPI_Comm_dup_with_info(late, MPI_INFO_NULL, &info);
	use(info, "info");
	for (int i = 0; i < 2; i++) {
		MPI_Comm_split(dup, rank / 2, 0, &half);
		use(half, i ? (rank / 2 ? "high2" : "low2") : (rank / 2 ? "high" : "low"));
		MPI_Comm_free(&half);
	}
	MPI_Comm_split(dup, rank < 3 ? 1 : MPI_UNDEFINED, -rank, &some);
	use(some, "some");
	if (some != MPI_COMM_NULL)
		MPI_Comm_free(&some);
	MPI_Comm_split_type(dup, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
	use(node, "node");
	MPI_Comm_free(&node);
	groups(dup);
	topologies(dup);
	intercommunicators();
	MPI_Barrier(MPI_COMM_SELF);
	MPI_Comm_free(&info);
	MPI_Comm_free(&late);
	MPI_Comm_free(&dup2);
	MPI_Comm_free(&dup);
}

static void ports(void)
{
	char port[MPI_MAX_PORT_NAME] = "";
	MPI_Comm half, other;

	MPI_Comm_split(MPI_COMM_WORLD, rank / 2, 0, &half);
	if (!rank) {
		MPI_Open_port(MPI_INFO_NULL, port);
		MPI_Send(port, MPI_MAX_PORT_NAME, MPI_CHAR, 2, 0, MPI_COMM_WORLD);
	}
	if (rank == 2)
		MPI_Recv(
			port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	if (rank < 2)
		MPI_Comm_accept(port, MPI_INFO_NULL, 0, half, &other);
	else
		MPI_Comm_connect(port, MPI_INFO_NULL, 0, half, &other);
	use(other, "accepted");
	MPI_Comm_disconnect(&other);
	if (!rank)
		MPI_Close_port(port);
}

static void spawn(char *self)
{
	MPI_Comm parent, children, merged;

	MPI_Comm_get_parent(&parent);
	MPI_Comm_get_parent(&parent);
	if (parent != MPI_COMM_NULL) {
		use(parent, "parent");
		MPI_Barrier(MPI_COMM_WORLD);
		MPI_Intercomm_merge(parent, 1, &merged);
		use(merged, "merged");
		MPI_Comm_free(&merged);
		MPI_Comm_disconnect(&parent);
		return;
	}
	MPI_Comm_spawn(self, (char *[]){"spawn", NULL}, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD,
		&children, MPI_ERRCODES_IGNORE);
	use(children, "children");
	MPI_Intercomm_merge(children, 0, &merged);
	use(merged, "merged");
	MPI_Comm_free(&merged);
	MPI_Comm_disconnect(&children);
}

/* The other one cannot tell who of the others is who. */
static void spawn_by_one(char *self)
{
	MPI_Comm between = MPI_COMM_NULL, some = MPI_COMM_NULL, met, all;
	bool child;

	MPI_Comm_get_parent(&between);
	child = between != MPI_COMM_NULL;
	if (!child && !rank)
		MPI_Comm_spawn(self, (char *[]){"spawn_one", NULL}, 2, MPI_INFO_NULL, 0,
			MPI_COMM_SELF, &between, MPI_ERRCODES_IGNORE);
	if (between != MPI_COMM_NULL)
		MPI_Intercomm_merge(between, child, &some);
	MPI_Intercomm_create(MPI_COMM_WORLD, 0, some, child ? 0 : 1, 3, &met);
	use(met, "met");
	MPI_Intercomm_merge(met, child, &all);
	use(all, "all");
	if (!child)
		MPI_Sendrecv(&(int){rank}, 1, MPI_INT, !rank, 5, &(int){0}, 1, MPI_INT, !rank, 5,
			all, MPI_STATUS_IGNORE);
	MPI_Comm_free(&all);
	MPI_Comm_free(&met);
	if (some != MPI_COMM_NULL)
		MPI_Comm_free(&some);
	if (between != MPI_COMM_NULL)
		MPI_Comm_disconnect(&between);
}

#if MPI_VERSION >= 4
static void sessions(void)
{
	const int even[2] = {0, 2}, odd[2] = {1, 3};
	MPI_Session session;
	MPI_Group all, half, others;
	MPI_Comm c, dup, inter;

	MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
	MPI_Group_from_session_pset(session, "mpi://WORLD", &all);
	MPI_Comm_create_from_group(all, "all of us", MPI_INFO_NULL, MPI_ERRORS_RETURN, &c);
	MPI_Comm_rank(c, &rank);
	use(c, "session");
	MPI_Comm_dup(c, &dup);
	use(dup, "session dup");
	MPI_Group_incl(all, 2, rank % 2 ? odd : even, &half);
	MPI_Group_incl(all, 2, rank % 2 ? even : odd, &others);
	MPI_Intercomm_create_from_groups(
		half, 0, others, 0, "halves", MPI_INFO_NULL, MPI_ERRORS_RETURN, &inter);
	use(inter, "session inter");
	MPI_Comm_free(&inter);
	MPI_Group_free(&others);
	MPI_Group_free(&half);
	MPI_Comm_free(&dup);
	MPI_Comm_free(&c);
	MPI_Group_free(&all);
	MPI_Session_finalize(&session);
}
#endif

static long resident_kb(void)
{
	long kb = -1;
	char line[256];
	FILE *f = fopen("/proc/self/status", "r");

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "RssAnon: %ld", &kb) == 1)
			break;
	if (f)
		fclose(f);
	return kb;
}

static double cpu_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void loop(int n)
{
	double start = 0;
	long before = 0;
	MPI_Comm a, b;

	for (int i = -n / 4; i < n; i++) {
		if (i == 0) {
			start = cpu_seconds();
			before = resident_kb();
		}
		MPI_Comm_dup(MPI_COMM_WORLD, &a);
		MPI_Comm_split(a, rank % 2, 0, &b);
		MPI_Comm_free(&b);
		MPI_Comm_free(&a);
	}
	if (!rank)
		printf("kb %ld\nns %.0f\n", resident_kb() - before,
			1e9 * (cpu_seconds() - start) / n);
}

static void *make_and_use(void *parent)
{
	MPI_Comm made;

	for (int i = 0; i < 20; i++) {
		MPI_Comm_dup(*(MPI_Comm *)parent, &made);
		MPI_Comm_set_name(made, "of a thread");
		MPI_Barrier(made);
		MPI_Comm_free(&made);
	}
	return NULL;
}

static void threads(void)
{
	pthread_t thread[3];
	MPI_Comm parent[3];

	for (int i = 0; i < 3; i++)
		MPI_Comm_dup(MPI_COMM_WORLD, &parent[i]);
	for (int i = 0; i < 3; i++)
		pthread_create(&thread[i], NULL, make_and_use, &parent[i]);
	for (int i = 0; i < 3; i++) {
		pthread_join(thread[i], NULL);
		MPI_Comm_free(&parent[i]);
	}
}

static int errors;

static void count_error(MPI_Comm *c, int *code, ...)
{
	(void)c, (void)code;
	errors++;
}

static void bad(void)
{
	MPI_Errhandler handler;
	MPI_Comm hidden;
	int rc;

	MPI_Comm_create_errhandler(count_error, &handler);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, handler);
	rc = MPI_Barrier(MPI_COMM_NULL);
	printf("null: %s, handler called %d times\n", rc ? "error" : "success", errors);
	errors = 0;
	PMPI_Comm_dup(MPI_COMM_WORLD, &hidden);
	MPI_Comm_set_name(hidden, "hidden");
	MPI_Barrier(hidden);
	MPI_Barrier(hidden);
	MPI_Comm_free(&hidden);
	printf("hidden: handler called %d times\n", errors);
	MPI_Errhandler_free(&handler);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "made";
	int level = MPI_THREAD_SINGLE;

#if MPI_VERSION >= 4
	if (!strcmp(what, "sessions")) {
		sessions();
		return 0;
	}
#endif
	if (!strcmp(what, "threads"))
		MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
	else
		MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Barrier(MPI_COMM_WORLD);
	if (!strcmp(what, "made"))
		made();
	else if (!strcmp(what, "ports"))
		ports();
	else if (!strcmp(what, "spawn"))
		spawn(argv[0]);
	else if (!strcmp(what, "spawn_one"))
		spawn_by_one(argv[0]);
	else if (!strcmp(what, "loop"))
		loop(argc > 2 ? atoi(argv[2]) : 1000);
	else if (level == MPI_THREAD_MULTIPLE)
		threads();
	else if (!strcmp(what, "bad"))
		bad();
	MPI_Finalize();
	return 0;
}
