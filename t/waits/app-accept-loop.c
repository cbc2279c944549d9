/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A server that accepts one client after the other on one port: two spawned ones, on the hosts that
 * are named. All talk as long as agents may need to tell each other who has met whom.
 */
#include <mpi.h>
#include <time.h>

enum { CLIENTS_MAX = 2, TALKS = 100, PAUSE_NS = 20000000 };

static void talk(MPI_Comm other)
{
	const struct timespec pause = {.tv_nsec = PAUSE_NS};
	int sent = 1, got;

	for (int i = 0; i < TALKS; i++) {
		MPI_Sendrecv(
			&sent, 1, MPI_INT, 0, 5, &got, 1, MPI_INT, 0, 5, other, MPI_STATUS_IGNORE);
		nanosleep(&pause, NULL);
	}
}

/* It waits for a port from then on. */
static MPI_Comm spawn_client(char *program, char *host)
{
	char hello = 0;
	MPI_Comm child;
	MPI_Info info;

	MPI_Info_create(&info);
	MPI_Info_set(info, "host", host);
	MPI_Comm_spawn(
		program, MPI_ARGV_NULL, 1, info, 0, MPI_COMM_WORLD, &child, MPI_ERRCODES_IGNORE);
	MPI_Info_free(&info);
	MPI_Send(&hello, 1, MPI_CHAR, 0, 9, child);
	return child;
}

static void serve(MPI_Comm child, char *port)
{
	MPI_Comm client;

	MPI_Send(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, 9, child);
	MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &client);
	talk(client);
	MPI_Comm_free(&client);
	MPI_Comm_free(&child);
}

static void be_client(MPI_Comm parent)
{
	char port[MPI_MAX_PORT_NAME];
	MPI_Comm server;

	MPI_Recv(port, 1, MPI_CHAR, 0, 9, parent, MPI_STATUS_IGNORE);
	MPI_Recv(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, 9, parent, MPI_STATUS_IGNORE);
	MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &server);
	talk(server);
	MPI_Comm_free(&server);
	MPI_Comm_free(&parent);
}

int main(int argc, char **argv)
{
	char port[MPI_MAX_PORT_NAME] = "";
	MPI_Comm parent, clients[CLIENTS_MAX];

	MPI_Init(&argc, &argv);
	MPI_Comm_get_parent(&parent);
	if (parent != MPI_COMM_NULL) {
		be_client(parent);
	} else {
		MPI_Open_port(MPI_INFO_NULL, port);
		for (int i = 0; i < CLIENTS_MAX && i + 1 < argc; i++)
			clients[i] = spawn_client(argv[0], argv[i + 1]);
		for (int i = 0; i < CLIENTS_MAX && i + 1 < argc; i++)
			serve(clients[i], port);
		MPI_Close_port(port);
	}
	MPI_Finalize();
	return 0;
}
