/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/tool/open/serve.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "nodeagent/base/util.h"

#define REQUEST_BYTES 16384u

/* For serve_stop() in a handler of a signal. */
static volatile sig_atomic_t stopped, listener = -1;

/* accept() returns, also if it is called only after this. */
void serve_stop(void)
{
	const int error = errno;

	stopped = 1;
	if (listener >= 0)
		shutdown(listener, SHUT_RDWR);
	errno = error;
}

int serve_listen(uint16_t port)
{
	const struct sockaddr_in at = {.sin_family = AF_INET,
		.sin_port = htons(port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;

	if (fd < 0)
		return -errno;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(fd, (const struct sockaddr *)&at, sizeof(at)) || listen(fd, 4)) {
		const int error = -errno;

		close(fd);
		return error;
	}
	return fd;
}

/* The head of a request, up to its empty line. False: there is none. */
static bool read_request(int fd, char *text)
{
	size_t n = 0;

	while (n < REQUEST_BYTES - 1) {
		const ssize_t got = read(fd, text + n, REQUEST_BYTES - 1 - n);

		if (got <= 0)
			return false;
		n += (size_t)got;
		text[n] = '\0';
		if (strlen(text) < n)
			return false;
		if (strstr(text, "\r\n\r\n"))
			return true;
	}
	return false;
}

/* The value of a header line, or NULL; the caller frees. */
static char *header_of(const char *request, const char *name)
{
	const size_t bytes = strlen(name);

	for (const char *line = strstr(request, "\r\n"); line; line = strstr(line, "\r\n")) {
		line += 2;
		if (!strncasecmp(line, name, bytes) && line[bytes] == ':') {
			const char *value = line + bytes + 1;

			value += strspn(value, " \t");
			return xasprintf("%.*s", (int)strcspn(value, "\r"), value);
		}
	}
	return NULL;
}

/* With or without a port. */
static bool is_host(const char *host, const char *name)
{
	const size_t bytes = strlen(name);

	return !strncmp(host, name, bytes) && (!host[bytes] || host[bytes] == ':');
}

/* Another name that leads here by DNS is not ours. */
static bool is_for_us(const char *request, const struct served *s)
{
	char *origin = header_of(request, "Origin"), *host = header_of(request, "Host");
	const bool is_page = origin && !strcmp(origin, s->origin);
	const bool is_here = host && (is_host(host, "127.0.0.1") || is_host(host, "localhost"));

	free(origin);
	free(host);
	return is_page && is_here;
}

static bool is_for_file(const char *request, const char *method, const struct served *s)
{
	const size_t bytes = strlen(method), path = strlen(s->path);

	return !strncmp(request, method, bytes) && request[bytes] == ' ' &&
	       !strncmp(request + bytes + 1, s->path, path) && request[bytes + 1 + path] == ' ';
}

static bool write_all(int fd, const char *text)
{
	size_t n = strlen(text);

	while (n) {
		const ssize_t put = send(fd, text, n, MSG_NOSIGNAL);

		if (put < 0)
			return false;
		text += put;
		n -= (size_t)put;
	}
	return true;
}

static void answer(int fd, const struct served *s, const char *status, uint64_t bytes)
{
	char *head = xasprintf("HTTP/1.1 %s\r\n"
			       "Access-Control-Allow-Origin: %s\r\n"
			       "Access-Control-Allow-Methods: GET, HEAD\r\n"
			       "Access-Control-Allow-Private-Network: true\r\n"
			       "Cache-Control: no-store\r\n"
			       "Content-Type: application/octet-stream\r\n"
			       "Content-Length: %" PRIu64 "\r\n"
			       "Connection: close\r\n\r\n",
		status, s->origin, bytes);

	write_all(fd, head);
	free(head);
}

static bool send_file(int fd, const struct served *s)
{
	off_t at = 0;

	while ((uint64_t)at < s->bytes)
		/* a call that a signal has ended may have sent a part */
		if (stopped || sendfile(fd, s->file, &at, s->bytes - (uint64_t)at) <= 0)
			return false;
	return true;
}

/* True: the whole file was fetched. */
static bool take_request(int fd, const struct served *s)
{
	char *request = xcalloc(1, REQUEST_BYTES);
	bool done = false;

	if (read_request(fd, request)) {
		if (!is_for_us(request, s)) {
			answer(fd, s, "403 Forbidden", 0);
		} else if (!strncmp(request, "OPTIONS ", 8)) {
			answer(fd, s, "204 No Content", 0);
		} else if (is_for_file(request, "HEAD", s)) {
			answer(fd, s, "200 OK", s->bytes);
		} else if (is_for_file(request, "GET", s)) {
			answer(fd, s, "200 OK", s->bytes);
			done = send_file(fd, s);
		} else {
			answer(fd, s, "404 Not Found", 0);
		}
	}
	free(request);
	return done;
}

int serve_once(int listening, const struct served *s)
{
	const struct timeval silent = {.tv_sec = SERVE_SILENT_S};
	bool done = false;
	int error = 0;

	listener = listening;
	while (!done && !error && !stopped) {
		int fd = accept4(listening, NULL, NULL, SOCK_CLOEXEC);

		if (fd < 0)
			error = errno == ECONNABORTED ? 0 : -errno;
		if (fd < 0)
			continue;
		setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &silent, sizeof(silent));
		setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &silent, sizeof(silent));
		done = take_request(fd, s);
		shutdown(fd, SHUT_WR);
		close(fd);
	}
	listener = -1;
	return done ? 0 : stopped ? -EINTR : error;
}
