/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program of ISO C, whose names of POSIX are its own: the library may not call these. It ends
 * with 0 if each was called as often as the program does.
 */
#include <stdio.h>

struct node {
	struct node *to;
};

static int calls;

#define OWN(name)                                                                                  \
	__attribute__((noinline)) int name(struct node *n)                                         \
	{                                                                                          \
		calls++;                                                                           \
		return n->to == n;                                                                 \
	}

OWN(access)
OWN(close)
OWN(connect)
OWN(execve)
OWN(fcntl)
OWN(fstat)
OWN(getcwd)
OWN(getsockopt)
OWN(ioctl)
OWN(lstat)
OWN(open)
OWN(pread)
OWN(read)
OWN(readlink)
OWN(setsid)
OWN(setsockopt)
OWN(socket)
OWN(symlink)
OWN(unlink)
OWN(waitpid)

int main(void)
{
	static int (*const all[])(struct node *) = {access, close, connect, execve, fcntl, fstat,
		getcwd, getsockopt, ioctl, lstat, open, pread, read, readlink, setsid, setsockopt,
		socket, symlink, unlink, waitpid};
	const int n = sizeof(all) / sizeof(all[0]);
	struct node a = {&a};
	int good = 0;

	for (int i = 0; i < n; i++)
		good += all[i](&a);
	return good != n || calls != n;
}
