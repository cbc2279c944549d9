/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Speaks the wire protocol wrongly, to see what the other side makes of it.
 *
 *	app-wire old SOCKET	a process of another version; prints the answer
 *	app-wire noise SOCKET	random packets, truncated ones, none at all
 *	app-wire refuse SOCKET	an agent of another version: refuses everyone
 *	app-wire silent SOCKET	an agent that accepts and never answers
 *	app-wire babble SOCKET	an agent that answers with random bytes
 *
 * Agents serve until they are killed.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include "shm/wire.h"

static uint64_t seed = 88172645463325252u;

static uint64_t random_number(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

static void fill(void *to, size_t bytes)
{
	unsigned char *p = to;

	while (bytes--)
		*p++ = (unsigned char)random_number();
}

static int open_socket(const char *path, struct sockaddr_un *a)
{
	int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);

	memset(a, 0, sizeof(*a));
	a->sun_family = AF_UNIX;
	if (fd < 0 || strlen(path) >= sizeof(a->sun_path))
		exit(99);
	strcpy(a->sun_path, path);
	return fd;
}

static int connect_to(const char *path)
{
	struct sockaddr_un a;
	int fd = open_socket(path, &a);

	if (connect(fd, (struct sockaddr *)&a, sizeof(a))) {
		perror(path);
		exit(99);
	}
	return fd;
}

static int old_process(const char *path, bool off)
{
	static const char text[] = "/bin/old\0old\0/";
	struct {
		struct wire_hello hello;
		char text[sizeof(text)];
	} m = {.hello = {.head = {.kind = WIRE_HELLO, .text_bytes = sizeof(text)},
		       .version = WIRE_VERSION + 41,
		       .pid = getpid()}};
	char reply[4096];
	size_t head = sizeof(struct wire_head);
	int fd = connect_to(path);
	ssize_t n;

	memcpy(m.text, text, sizeof(text));
	if (send(fd, &m, sizeof(m.hello) + sizeof(text), 0) < 0)
		return 99;
	n = recv(fd, reply, sizeof(reply) - 1, 0);
	if (off && n >= (ssize_t)sizeof(struct wire_welcome)) {
		struct wire_welcome *w = (void *)reply;

		puts(w->head.kind == WIRE_WELCOME && w->off ? "off" : "on");
		return 0;
	}
	if (n <= (ssize_t)head || ((struct wire_head *)(void *)reply)->kind != WIRE_REFUSED)
		return 98;
	reply[n] = '\0';
	puts(reply + head);
	return 0;
}

static int noise(const char *path)
{
	union {
		struct wire_head head;
		char bytes[8192];
	} m;

	for (int i = 0; i < 200; i++) {
		int fd = connect_to(path);

		for (int k = 0; k < 20; k++) {
			size_t bytes = random_number() % sizeof(m);

			fill(&m, sizeof(m));
			m.head.kind = (uint32_t)(random_number() % (WIRE_KINDS + 2));
			if (random_number() % 2)
				m.head.text_bytes %= 256;
			if (send(fd, &m, bytes, MSG_NOSIGNAL) < 0)
				break;
		}
		close(fd);
	}
	return 0;
}

static int bad_agent(const char *path, const char *how)
{
	static const char text[] = "this agent is of version 7, the process of version 1";
	struct sockaddr_un a;
	int fd = open_socket(path, &a);

	strcat(a.sun_path, "-");
	unlink(a.sun_path);
	if (bind(fd, (struct sockaddr *)&a, sizeof(a)) || listen(fd, 16) ||
		rename(a.sun_path, path)) {
		perror(path);
		return 99;
	}
	for (;;) {
		char m[8192] = {0};
		int peer = accept(fd, NULL, NULL);
		size_t bytes = sizeof(struct wire_head) + sizeof(text);

		if (peer < 0 || recv(peer, m, sizeof(m), 0) <= 0 || !strcmp(how, "silent"))
			continue;
		if (!strcmp(how, "babble")) {
			bytes = random_number() % 512;
			fill(m, bytes);
		} else {
			struct wire_head head = {.kind = WIRE_REFUSED, .text_bytes = sizeof(text)};

			memcpy(m, &head, sizeof(head));
			memcpy(m + sizeof(head), text, sizeof(text));
		}
		send(peer, m, bytes, MSG_NOSIGNAL);
		if (!strcmp(how, "refuse"))
			close(peer);
	}
}

int main(int argc, char **argv)
{
	if (argc == 3 && (!strcmp(argv[1], "old") || !strcmp(argv[1], "off")))
		return old_process(argv[2], argv[1][1] == 'f');
	if (argc == 3 && !strcmp(argv[1], "noise"))
		return noise(argv[2]);
	if (argc == 3 && (!strcmp(argv[1], "refuse") || !strcmp(argv[1], "silent") ||
				 !strcmp(argv[1], "babble")))
		return bad_agent(argv[2], argv[1]);
	fprintf(stderr, "usage: app-wire old|noise|refuse|silent|babble SOCKET\n");
	return 2;
}
