/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Strangers at an agent's port: COUNT connections from as many as ADDRESSES addresses of the
 * loopback network that say what they say, and come again when they are sent away, until
 * FILE is there. Prints how many came.
 *	app-strangers PORT KIND COUNT ADDRESSES FILE
 * KIND: hello, with a proof that is none; idle; old, of version 1 of the protocol; garbage
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

static unsigned char words[272];
static size_t n_words;
static unsigned addresses;
static int epoll;

static void prepare(const char *kind)
{
	static const uint32_t head[] = {2, 0x01020304, 1, 1, 0, 2};

	memcpy(words, "vftrpeer", 8);
	memcpy(words + 8, head, sizeof(head));
	n_words = sizeof(words);
	if (!strcmp(kind, "old")) {
		words[8] = 1;
		n_words = 144;
	} else if (!strcmp(kind, "idle")) {
		n_words = 0;
	} else if (!strcmp(kind, "garbage")) {
		memset(words, 0x5a, sizeof(words));
	} else if (strcmp(kind, "hello")) {
		exit(2);
	}
}

static int come(unsigned port)
{
	static unsigned turn;
	struct sockaddr_in from = {.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK + turn++ % addresses)};
	struct sockaddr_in to = {.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
		.sin_port = htons((uint16_t)port)};
	struct epoll_event e = {.events = EPOLLOUT | EPOLLRDHUP};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), on = 1;

	if (fd < 0)
		return 0;
	setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof(on));
	if (bind(fd, (struct sockaddr *)&from, sizeof(from)) ||
		(connect(fd, (struct sockaddr *)&to, sizeof(to)) && errno != EINPROGRESS)) {
		close(fd);
		return 0;
	}
	e.data.fd = fd;
	epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &e);
	return 1;
}

/* 1: it is gone. */
static int on_event(const struct epoll_event *e)
{
	struct epoll_event then = {.events = EPOLLRDHUP, .data.fd = e->data.fd};

	if (e->events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) {
		close(e->data.fd);
		return 1;
	}
	if (n_words && send(e->data.fd, words, n_words, MSG_NOSIGNAL) < 0)
		return 0;
	epoll_ctl(epoll, EPOLL_CTL_MOD, e->data.fd, &then);
	return 0;
}

int main(int argc, char **argv)
{
	struct rlimit limit;
	unsigned long came = 0, there = 0, count;
	unsigned port;

	if (argc != 6)
		return 2;
	port = (unsigned)atoi(argv[1]);
	prepare(argv[2]);
	count = strtoul(argv[3], NULL, 10);
	addresses = (unsigned)atoi(argv[4]);
	getrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
	epoll = epoll_create1(0);
	while (access(argv[5], F_OK)) {
		struct epoll_event e[256];
		int n;

		for (int i = 0; i < 500 && there < count && come(port); i++) {
			there++;
			came++;
		}
		n = epoll_wait(epoll, e, 256, 20);
		for (int i = 0; i < n; i++)
			there -= (unsigned long)on_event(&e[i]);
	}
	printf("%lu\n", came);
	return 0;
}
