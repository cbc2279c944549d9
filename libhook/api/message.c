/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Packets to and from the agent. Never raises SIGPIPE; waits as patience.h says, on
 * a socket that is waited for a slice at a time. The system is called directly: the C
 * library's functions are cancellation points, and the program's calls are not.
 */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>
#include "libhook/process.h"
#include "shm/system.h"

/* After a call that has failed: 1: repeat it; 0: do not, *error is set. */
static bool again(struct patience *patience, int *error)
{
	*error = -errno;
	if (errno != EINTR && errno != EAGAIN && errno != EWOULDBLOCK)
		return false;
	*error = -ETIMEDOUT;
	return vftr_patience_left(patience);
}

static int send_packet(int fd, const struct msghdr *m, struct patience *patience)
{
	int error = 0;

	while (syscall(SYS_sendmsg, fd, m, MSG_NOSIGNAL) < 0)
		if (!again(patience, &error))
			return error;
	return 0;
}

int vftr_message_send_on(int fd, struct wire_head *head, size_t fixed, const struct wire_text *text,
	struct patience *patience)
{
	struct iovec part[4] = {{head, fixed}};
	struct msghdr m = {.msg_iov = part, .msg_iovlen = 1};

	head->text_bytes = 0;
	for (int i = 0; text && i < 3 && text->s[i]; i++) {
		size_t bytes = strlen(text->s[i]) + 1;

		part[m.msg_iovlen].iov_base = (void *)(uintptr_t)text->s[i];
		part[m.msg_iovlen++].iov_len = bytes;
		head->text_bytes += (uint32_t)bytes;
	}
	return send_packet(fd, &m, patience);
}

void vftr_message_throw(int fd, enum wire_kind kind)
{
	struct wire_head m = {.kind = kind, .ticks = vftr_process_ticks()};

	if (syscall(SYS_sendto, fd, &m, sizeof(m), MSG_DONTWAIT | MSG_NOSIGNAL, NULL, 0) < 0)
		return;
}

int vftr_message_receive_on(
	int socket, void *buffer, size_t bytes, int *fd, size_t *got, struct patience *patience)
{
	union {
		struct cmsghdr align;
		char room[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec part = {buffer, bytes};
	struct msghdr m = {.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control)};
	struct cmsghdr *c;
	ssize_t n;
	int error = 0;

	*fd = -1;
	while ((n = syscall(SYS_recvmsg, socket, &m, MSG_CMSG_CLOEXEC)) < 0)
		if (!again(patience, &error))
			return error;
	for (c = CMSG_FIRSTHDR(&m); c; c = CMSG_NXTHDR(&m, c))
		if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS)
			memcpy(fd, CMSG_DATA(c), sizeof(*fd));
	*got = (size_t)n;
	return n == 0 ? -ECONNRESET : 0;
}

bool vftr_socket_is(int fd)
{
	struct stat st;

	return !sys_fstat(fd, &st) && S_ISSOCK(st.st_mode) &&
	       st.st_ino == vftr_process.socket_inode;
}

static bool socket_is_ours(void)
{
	return load_relaxed(&vftr_own.here) && vftr_process.socket >= 0 &&
	       vftr_socket_is(vftr_process.socket);
}

static int prepare(struct wire_head *head)
{
	if (!socket_is_ours())
		return -EBADF;
	if (!head->ticks)
		head->ticks = vftr_process_ticks();
	return 0;
}

/* Counts a message that was sent: the agent reads until it has received as many. */
static int sent(int error)
{
	if (error == -ETIMEDOUT)
		vftr_process_give_up();
	if (!error && vftr_process.app)
		add_release_u64(&vftr_process.app->definitions, 1); /* pairs with drain_process() */
	return error;
}

int vftr_message_send(struct wire_head *head, size_t fixed, const struct wire_text *text)
{
	int error = prepare(head);
	struct patience patience;

	if (error)
		return error;
	vftr_patience_begin(&patience);
	return sent(vftr_message_send_on(vftr_process.socket, head, fixed, text, &patience));
}

int vftr_message_send_data(struct wire_head *head, size_t fixed, const void *data, size_t bytes)
{
	struct iovec part[2] = {{head, fixed}, {(void *)(uintptr_t)data, bytes}};
	struct msghdr m = {.msg_iov = part, .msg_iovlen = bytes ? 2 : 1};
	int error = prepare(head);
	struct patience patience;

	if (error)
		return error;
	head->text_bytes = (uint32_t)bytes;
	vftr_patience_begin(&patience);
	return sent(send_packet(vftr_process.socket, &m, &patience));
}

int vftr_message_receive(void *buffer, size_t bytes, int *fd, size_t *got)
{
	struct patience patience;
	int error;

	if (!socket_is_ours())
		return -EBADF;
	vftr_patience_begin(&patience);
	error = vftr_message_receive_on(vftr_process.socket, buffer, bytes, fd, got, &patience);
	if (error == -ETIMEDOUT)
		vftr_process_give_up();
	return error;
}

bool vftr_socket_answers(int fd)
{
	char byte;
	ssize_t n = syscall(SYS_recvfrom, fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT, NULL, NULL);

	return n > 0 || (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR));
}

bool vftr_agent_alive(void)
{
	return socket_is_ours() && vftr_socket_answers(vftr_process.socket);
}

void vftr_agent_kick(void)
{
	char doorbell = 0;

	/* an empty-handed byte: the agent only needs to wake up */
	if (socket_is_ours() && syscall(SYS_sendto, vftr_process.socket, &doorbell, 1,
					MSG_DONTWAIT | MSG_NOSIGNAL, NULL, 0) < 0)
		return;
}
