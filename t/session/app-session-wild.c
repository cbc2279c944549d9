/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A process that says random things to the agent about its session.
 *	app-session-wild SOCKET SEED PACKETS
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include "shm/clock.h"
#include "shm/session.h"

static unsigned seed;

static unsigned randomly(unsigned n)
{
	seed = seed * 1664525u + 1013904223u;
	return (seed >> 8) % n;
}

/* Mostly a small number, as these are the ones that mean something. */
static uint32_t number(void)
{
	switch (randomly(8)) {
	case 0:
		return UINT32_MAX;
	case 1:
		return SESSION_COMM_FIRST + randomly(6);
	case 2:
		return seed;
	}
	return randomly(5);
}

static int hello(const char *path)
{
	struct {
		struct wire_hello m;
		char text[3];
	} h = {.m = {.head = {.kind = WIRE_HELLO, .text_bytes = 3, .ticks = clock_counter()},
		       .version = WIRE_VERSION,
		       .rank_hint = WIRE_UNKNOWN,
		       .size_hint = WIRE_UNKNOWN,
		       .raw_ns = clock_raw_ns()}};
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	char answer[4096];
	int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);

	h.m.pid = getpid();
	snprintf(to.sun_path, sizeof(to.sun_path), "%s", path);
	if (connect(fd, (struct sockaddr *)&to, sizeof(to)) ||
		send(fd, &h, sizeof(h.m) + sizeof(h.text), 0) < 0 ||
		recv(fd, answer, sizeof(answer), 0) <= 0)
		exit(2);
	return fd;
}

int main(int argc, char **argv)
{
	static struct {
		struct wire_session m;
		char text[WIRE_TEXT_MAX];
	} p;
	static char answer[65536];
	int fd, n = argc > 3 ? atoi(argv[3]) : 0, sane = 0;

	if (argc < 4)
		return 2;
	seed = (unsigned)atoi(argv[2]);
	fd = hello(argv[1]);
	for (int i = 0; i < n; i++) {
		uint32_t bytes = randomly(20) ? randomly(64) : randomly(WIRE_TEXT_MAX);

		p.m = (struct wire_session){.operation = randomly(SESSION_OPERATIONS + 1),
			.request = number(),
			.comm = number(),
			.number = (int32_t)number(),
			.count = (int32_t)number()};
		if (randomly(3)) { /* otherwise it is over soon */
			p.m.operation = 1 + randomly(SESSION_OPERATIONS - 1);
			p.m.request = (uint32_t)i + 1;
		}
		for (uint32_t k = 0; k < bytes; k++)
			p.text[k] = randomly(4) ? "abc#S: \0"[randomly(8)] : (char)randomly(256);
		p.m.head = (struct wire_head){WIRE_SESSION, bytes, clock_counter()};
		if (send(fd, &p, sizeof(p.m) + bytes, MSG_NOSIGNAL) < 0 ||
			recv(fd, answer, sizeof(answer), 0) <= 0) {
			close(fd);
			fd = hello(argv[1]);
			continue;
		}
		sane++;
	}
	printf("%d answers\n", sane);
	return !sane;
}
