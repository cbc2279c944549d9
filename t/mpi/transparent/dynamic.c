/* SPDX-License-Identifier: BSD-3-Clause */
/* Processes that meet later: by ports, and spawned ones. The child is child.c. */
#include "transparent.h"

static void parent_none(void)
{
	MPI_Comm parent = MPI_COMM_SELF;

	OK(MPI_Comm_get_parent(&parent));
	CHECK(parent == MPI_COMM_NULL);
	say("no parent");
}

/* The even ranks accept, the odd ranks connect. */
static void connect_accept(void)
{
	char port[MPI_MAX_PORT_NAME] = "";
	MPI_Comm half, inter, merged;
	MPI_Status status;
	int n = -1, x = -1, sum = -1, r;

	OK(MPI_Comm_split(comm, left, rank, &half));
	OK(MPI_Comm_rank(half, &r));
	if (rank == 0) {
		OK(MPI_Open_port(MPI_INFO_NULL, port));
		OK(MPI_Send(port, sizeof(port), MPI_CHAR, 1, 1, comm));
	} else if (rank == 1) {
		OK(MPI_Recv(port, sizeof(port), MPI_CHAR, 0, 1, comm, MPI_STATUS_IGNORE));
	}
	if (left)
		OK(MPI_Comm_accept(r ? garbage_array : port, MPI_INFO_NULL, 0, half, &inter));
	else
		OK(MPI_Comm_connect(r ? garbage_array : port, MPI_INFO_NULL, 0, half, &inter));
	OK(MPI_Comm_remote_size(inter, &n));
	say("remote size %d", n);
	mark(&status, 1);
	if (r < n) {
		OK(MPI_Sendrecv(
			&rank, 1, MPI_INT, r, 4, &x, 1, MPI_INT, r, MPI_ANY_TAG, inter, &status));
		say_status("connected", &status, MPI_INT);
		CHECK(x == (rank ^ 1));
	}
	OK(MPI_Intercomm_merge(inter, !left, &merged));
	OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, merged));
	CHECK(sum == size * (size - 1) / 2);
	OK(MPI_Comm_free(&merged));
	OK(MPI_Comm_disconnect(&inter));
	OK(MPI_Comm_free(&half));
	if (rank == 0)
		OK(MPI_Close_port(port));
}

static void child_path(char *path, size_t bytes)
{
	const char *slash = strrchr(own_file, '/');

	snprintf(path, bytes, "%.*schild-%s", slash ? (int)(slash - own_file) + 1 : 0, own_file,
		slash ? slash + 1 : own_file);
}

/* Talks with the children as child.c expects it. */
static void with_children(MPI_Comm children, int wanted)
{
	MPI_Status status;
	int n = -1, sum = -1, x[2] = {-1, -1};

	OK(MPI_Comm_remote_size(children, &n));
	CHECK(n == wanted);
	if (rank == 0) {
		for (int i = 0; i < n; i++) {
			mark(&status, 1);
			OK(MPI_Recv(x, 2, MPI_INT, i, MPI_ANY_TAG, children, &status));
			say_status("child", &status, MPI_INT);
			say("child says %d %d", x[0], x[1]);
			OK(MPI_Send(&(int){x[0] * 3}, 1, MPI_INT, i, 8, children));
		}
	}
	OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, children));
	say("children's sum %d", sum);
	OK(MPI_Comm_disconnect(&children));
}

static void spawn(void)
{
	char path[500];
	char *argv[] = {"one", "two words", NULL};
	MPI_Comm children;
	int codes[2] = {-7, -7};

	child_path(path, sizeof(path));
	if (rank == 0)
		OK(MPI_Comm_spawn(path, argv, 2, MPI_INFO_NULL, 0, comm, &children, codes));
	else
		OK(MPI_Comm_spawn(NULL, garbage_array, NO_COUNT, MPI_INFO_NULL, 0, comm, &children,
			MPI_ERRCODES_IGNORE));
	say("codes %d %d", codes[0], codes[1]);
	with_children(children, 2);
}

static void spawn_multiple(void)
{
	char path[500];
	char *commands[2] = {path, path}, *first[] = {"first", NULL}, *second[] = {"second", NULL};
	char **argvs[2] = {first, second};
	int counts[2] = {1, 1}, codes[2] = {-7, -7};
	MPI_Info infos[2] = {MPI_INFO_NULL, MPI_INFO_NULL};
	MPI_Comm children;

	child_path(path, sizeof(path));
	OK(MPI_Comm_spawn_multiple(2, commands, argvs, counts, infos, 0, comm, &children,
		rank ? MPI_ERRCODES_IGNORE : codes));
	say("codes %d %d", codes[0], codes[1]);
	with_children(children, 2);
}

const struct program dynamic_programs[] = {{"parent_none", parent_none, ANY},
	{"connect_accept", connect_accept, 2}, {"spawn", spawn, ANY},
	{"spawn_multiple", spawn_multiple, ANY}, {NULL, NULL, 0}};
