/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Slurm kills what is left of a step when its tasks have ended, also an agent that they
 * have started for themselves. It says in its WELCOME that it is such a one; the process then
 * ends when the agent has answered to BYE: at once, or, to the last one, by its own end when
 * the files of this node are written. It waits for a bounded time, whatever becomes of the agent.
 */
#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "libhook/emit.h"
#include "libhook/process.h"
#include "shm/clock.h"

#define SLICE_MS 100
#define ABORT_MS 5000

/* Looks for MAY_END; an answer to another thread's request is left for that thread. */
static bool may_end(int fd)
{
	struct wire_head m;

	return syscall(SYS_recvfrom, fd, &m, sizeof(m), MSG_DONTWAIT | MSG_PEEK, NULL, NULL) ==
		       sizeof(m) &&
	       m.kind == WIRE_MAY_END;
}

/* The system call itself leaves in the time what was left of it: each has one of its own. */
static long poll_slice(struct pollfd *p)
{
	struct timespec slice = {0, SLICE_MS * 1000000};

	p->revents = 0;
	return syscall(SYS_ppoll, p, 1, &slice, NULL, 0);
}

void vftr_last_words_wait(void)
{
	const uint64_t until = clock_raw_ns() + (uint64_t)vftr_process.last_words_ms * 1000000;
	const struct timespec moment = {0, 1000000};
	struct pollfd p = {.fd = vftr_process.socket, .events = POLLIN | POLLRDHUP};

	if (!vftr_process.last_words_ms || p.fd < 0 || !vftr_socket_is(p.fd))
		return;
	while (clock_raw_ns() < until) {
		if (poll_slice(&p) <= 0)
			continue;
		if (p.revents & (POLLHUP | POLLRDHUP | POLLERR | POLLNVAL) || may_end(p.fd))
			return;
		syscall(SYS_nanosleep, &moment, NULL);
	}
	if (vftr_patience_over())
		vftr_say_late(vftr_process.last_words_ms);
}

/* False: not within that time, or never. A signal that asks the process to end is held back
 * meanwhile, and waits no longer. */
static bool answer_comes(void)
{
	const uint64_t until = clock_raw_ns() + (uint64_t)ABORT_MS * 1000000;
	struct pollfd p = {.fd = vftr_process.socket, .events = POLLIN};

	while (clock_raw_ns() < until && !vftr_process_is_to_end())
		if (poll_slice(&p) > 0)
			return p.revents & POLLIN;
	return false;
}

/*
 * The agent answers to STACK when it has read what the thread has published, and in a step it first
 * writes what it knows where the innermost frame is MPI_Abort. The answer itself is not needed, and
 * may be cut off.
 */
static void ask_and_wait(struct thread *t)
{
	struct wire_number request = {.head = {.kind = WIRE_STACK}, .number = t->index};
	char answer[256];
	size_t got;
	int fd, error;

	vftr_thread_publish(t);
	vftr_process_lock();
	error = vftr_message_send(&request.head, sizeof(request), NULL);
	if (!error)
		error = answer_comes() ? vftr_message_receive(answer, sizeof(answer), &fd, &got)
				       : -ETIMEDOUT;
	if (error && error != -EBADF) /* a late answer would be taken for another one */
		vftr_process_switch_off();
	vftr_process_unlock();
}

void vftr_before_abort(void)
{
	struct thread *t = &vftr_thread;
	const int saved_errno = errno;

	if (!t->busy && process_is_on() && !vftr_thread_is_vfork_child(t) && t->ring.base &&
		t->state != THREAD_OFF) {
		busy_begin(t);
		ask_and_wait(t);
		busy_end(t);
	}
	errno = saved_errno;
}
