/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A server that keeps pairs of keys and values, and its clients, over TCP; traced as one
 * session. Without an agent it runs just the same.
 *	key-value server ADDRESS PORT CLIENTS
 *	key-value client ADDRESS PORT REQUESTS
 */
#include <arpa/inet.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "vftrace-dynamic.h"

#define CLIENTS_MAX 64
#define KEYS	    256
#define PUT	    1
#define GET	    2

struct request {
	int rank; /* of the client in the session */
	int what, key, value;
};

static struct sockaddr_in address(char **argv)
{
	struct sockaddr_in a = {.sin_family = AF_INET};

	a.sin_port = htons((unsigned short)atoi(argv[3]));
	if (inet_pton(AF_INET, argv[2], &a.sin_addr) != 1)
		exit(2);
	return a;
}

/* Tracing that does not work is said, and otherwise no reason to stop. */
static void traced(const char *what, int code)
{
	if (code && code != VFTRACE_NO_AGENT)
		fprintf(stderr, "key-value: %s: %s\n", what, vftrace_last_error());
}

static int serve(char **argv)
{
	struct sockaddr_in a = address(argv);
	struct pollfd f[CLIENTS_MAX];
	int n = atoi(argv[4]), listener = socket(AF_INET, SOCK_STREAM, 0), one = 1, open = n;
	int value[KEYS] = {0};
	struct request r;

	if (n < 1 || n > CLIENTS_MAX)
		return 2;
	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(listener, (struct sockaddr *)&a, sizeof(a)) || listen(listener, n))
		return 1;
	traced("join", vftrace_join(0, "server", NULL));
	traced("expect", vftrace_expect(n + 1, 0, NULL));
	traced("start", vftrace_start(20));
	for (int i = 0; i < n; i++)
		f[i] = (struct pollfd){accept(listener, NULL, NULL), POLLIN, 0};
	while (open) {
		poll(f, (nfds_t)n, -1);
		for (int i = 0; i < n; i++) {
			if (!(f[i].revents & (POLLIN | POLLHUP)))
				continue;
			if (recv(f[i].fd, &r, sizeof(r), MSG_WAITALL) != sizeof(r)) {
				close(f[i].fd);
				f[i].fd = -1;
				open--;
				continue;
			}
			vftrace_log_receive(VFTRACE_COMM_WORLD, r.rank, r.what, sizeof(r));
			if (r.what == PUT)
				value[r.key % KEYS] = r.value;
			r.value = value[r.key % KEYS];
			vftrace_log_send(VFTRACE_COMM_WORLD, r.rank, 0, sizeof(r));
			if (send(f[i].fd, &r, sizeof(r), MSG_NOSIGNAL) != sizeof(r))
				return 1;
		}
	}
	traced("finish", vftrace_finish(20));
	return 0;
}

static int ask(char **argv)
{
	struct sockaddr_in a = address(argv);
	int n = atoi(argv[4]), server, rank = 1;
	struct request r = {.rank = 0};

	traced("join", vftrace_join(-1, "client", NULL));
	traced("start", vftrace_start(20));
	vftrace_comm_rank(VFTRACE_COMM_WORLD, &rank);
	server = socket(AF_INET, SOCK_STREAM, 0);
	if (connect(server, (struct sockaddr *)&a, sizeof(a)))
		return 1;
	for (int i = 0; i < n; i++) {
		int mine = rank * 1000 + i / 2;

		r = (struct request){rank, i % 2 ? GET : PUT, rank, mine};
		vftrace_log_send(VFTRACE_COMM_WORLD, 0, r.what, sizeof(r));
		if (send(server, &r, sizeof(r), MSG_NOSIGNAL) != sizeof(r) ||
			recv(server, &r, sizeof(r), MSG_WAITALL) != sizeof(r))
			return 1;
		vftrace_log_receive(VFTRACE_COMM_WORLD, 0, 0, sizeof(r));
		if (r.value != mine)
			return 3;
	}
	close(server);
	traced("finish", vftrace_finish(20));
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 5 && !strcmp(argv[1], "server"))
		return serve(argv);
	if (argc == 5 && !strcmp(argv[1], "client"))
		return ask(argv);
	fprintf(stderr, "key-value server|client ADDRESS PORT CLIENTS|REQUESTS\n");
	return 2;
}
