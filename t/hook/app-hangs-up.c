/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * app-hangs-up SOCKET: an agent that ends as a process comes. It takes one connection, hangs up
 * without reading, and is gone with its socket.
 */
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	int listener = socket(AF_UNIX, SOCK_SEQPACKET, 0), caller;
	struct pollfd said;

	if (argc != 2 || strlen(argv[1]) >= sizeof(at.sun_path))
		return 2;
	strcpy(at.sun_path, argv[1]);
	if (listener < 0 || bind(listener, (struct sockaddr *)&at, sizeof(at)) ||
		listen(listener, 1)) {
		perror(argv[1]);
		return 1;
	}
	caller = accept(listener, NULL, NULL);
	unlink(argv[1]);
	close(listener);
	said.fd = caller;
	said.events = POLLIN;
	poll(&said, 1, -1);
	close(caller);
	return 0;
}
