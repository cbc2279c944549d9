/* SPDX-License-Identifier: BSD-3-Clause */
/* The descriptors that the agent's loop waits for: sockets, ends of processes and others. */
#include "nodeagent/process/host.h"

#include <errno.h>
#include <sys/epoll.h>
#include <unistd.h>

int host_watch(struct host *host, int fd, enum watch_kind kind, struct process *p)
{
	struct epoll_event e = {.events = EPOLLIN, .data.u64 = (uintptr_t)p | kind};

	return epoll_ctl(host->epoll, EPOLL_CTL_ADD, fd, &e) ? -errno : 0;
}

void host_close(struct host *host, int *fd)
{
	if (*fd < 0)
		return;
	epoll_ctl(host->epoll, EPOLL_CTL_DEL, *fd, NULL);
	close(*fd);
	*fd = -1;
}
