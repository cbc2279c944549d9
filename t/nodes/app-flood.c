/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A neighbour that asks much of an agent. SOCKET is the agent's.
 *
 *	app-flood idle SOCKET N PROCESSES	N connections from each of PROCESSES that say
 *						nothing; "ready", then until its stdin ends
 *	app-flood threads SOCKET N THREADS	N times HELLO, then THREADs; no answer is read
 *	app-flood regions SOCKET N		one process; region numbers from 2^20 - 1 down
 *	app-flood names SOCKET N		one process; N names of 16000 bytes
 *	app-flood bad SOCKET N			N processes that say HELLO and nonsense
 *	app-flood notes SOCKET N		one process; N different notes
 *	app-flood escape SOCKET			a program with a name for terminals
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>
#include "shm/wire.h"

static const char *path, *program = "/bin/flood";

static int open_connection(void)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);

	strncpy(a.sun_path, path, sizeof(a.sun_path) - 1);
	if (fd < 0 || connect(fd, (struct sockaddr *)&a, sizeof(a))) {
		perror(path);
		exit(99);
	}
	return fd;
}

/* False: the other side has hung up. */
static int say(int fd, struct wire_head *m, size_t fixed, const char *text)
{
	char packet[20000];
	size_t n = strlen(text) + 1;

	m->text_bytes = (uint32_t)n;
	memcpy(packet, m, fixed);
	memcpy(packet + fixed, text, n);
	return send(fd, packet, fixed + n, MSG_NOSIGNAL) >= 0;
}

static int greet(void)
{
	struct wire_hello h = {.head = {.kind = WIRE_HELLO},
		.version = WIRE_VERSION,
		.pid = getpid(),
		.ppid = getppid(),
		.rank_hint = WIRE_UNKNOWN,
		.size_hint = WIRE_UNKNOWN};
	int fd = open_connection();

	say(fd, &h.head, sizeof(h), program);
	return fd;
}

static void hear(int fd)
{
	char answer[WIRE_TEXT_MAX];

	if (recv(fd, answer, sizeof(answer), 0) < 0)
		exit(98);
}

static void idle(int n, int processes)
{
	int ready[2];
	char c;

	if (pipe(ready))
		exit(97);
	for (int i = 0; i < processes; i++)
		if (!fork()) {
			for (int k = 0; k < n; k++)
				open_connection();
			if (write(ready[1], "x", 1) != 1)
				exit(96);
			while (read(0, &c, 1) > 0)
				;
			_exit(0);
		}
	for (int i = 0; i < processes; i++)
		if (read(ready[0], &c, 1) != 1)
			exit(95);
	puts("ready");
	fflush(stdout);
	while (read(0, &c, 1) > 0)
		;
	while (wait(NULL) > 0)
		;
}

static void threads(int n, int each)
{
	struct wire_thread t = {.head = {.kind = WIRE_THREAD}};

	for (int i = 0; i < n; i++) {
		int fd = greet();

		for (int k = 0; k < each && say(fd, &t.head, sizeof(t), "thread"); k++)
			t.tid++;
	}
}

/* The last packet is answered: all that came before it has been read. */
static void finish(int fd)
{
	struct wire_number m = {.head = {.kind = WIRE_STACK, .text_bytes = 0}};

	if (send(fd, &m, sizeof(m), MSG_NOSIGNAL) > 0)
		hear(fd);
}

static void regions(int n, int from, size_t bytes)
{
	struct wire_region r = {.head = {.kind = WIRE_REGION}};
	char name[16001];
	int fd = greet();

	hear(fd);
	memset(name, 'n', bytes);
	name[bytes] = '\0';
	for (int i = 0; i < n; i++) {
		r.number = (uint64_t)(from ? from - i : i);
		if (!say(fd, &r.head, sizeof(r), name))
			return;
	}
	finish(fd);
}

static void bad(int n)
{
	struct wire_head nonsense = {.kind = WIRE_KINDS + 7};
	char c;

	for (int i = 0; i < n; i++) {
		int fd, status;

		if (fork()) {
			if (wait(&status) < 0 || status)
				exit(94);
			continue;
		}
		fd = greet();
		hear(fd);
		say(fd, &nonsense, sizeof(nonsense), "");
		_exit(recv(fd, &c, 1, 0) > 0);
	}
}

static void notes(int n)
{
	struct wire_head note = {.kind = WIRE_NOTE};
	int fd = greet();

	hear(fd);
	for (int i = 0; i < n; i++) {
		char text[32] = "note ";

		for (int k = 0; k < 10; k++) /* numbers would make them one kind */
			text[5 + k] = (char)('a' + (i >> k & 1));
		say(fd, &note, sizeof(note), text);
	}
	finish(fd);
}

int main(int argc, char **argv)
{
	struct rlimit limit;
	int n, m;

	if (argc < 3)
		return 93;
	path = argv[2];
	n = argc > 3 ? atoi(argv[3]) : 1;
	m = argc > 4 ? atoi(argv[4]) : 1;
	getrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
	if (!strcmp(argv[1], "idle"))
		idle(n, m);
	else if (!strcmp(argv[1], "threads"))
		threads(n, m);
	else if (!strcmp(argv[1], "regions"))
		regions(n, (1 << 20) - 1, 4);
	else if (!strcmp(argv[1], "names"))
		regions(n, 0, 16000);
	else if (!strcmp(argv[1], "bad"))
		bad(n);
	else if (!strcmp(argv[1], "notes"))
		notes(n);
	else if (!strcmp(argv[1], "escape")) {
		program = "/bin/\033[31mred\007";
		bad(1);
	} else {
		return 92;
	}
	return 0;
}
