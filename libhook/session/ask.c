/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Requests to the agent, and waiting for their outcome on a futex in the control page.
 * Nobody holds a lock while he waits. Also what threads are told of errors.
 */
#include "libhook/session.h"

#include <errno.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "libhook/process.h"
#include "libhook/successor.h"
#include "shm/spin.h"
#include "shm/system.h"

#define EXPORT	 __attribute__((visibility("default")))
#define LOOK_NS	 200000000 /* how often a waiting thread sees whether the agent lives */
#define GRACE_S	 1.0	   /* for the reason of a time-out */
#define NO_LIMIT 1e18

/* Texts that calls return to a thread. If we are loaded late, thread-local memory is scarce. */
struct words {
	char error[512];
	char contact[SESSION_CONTACT_MAX + 1];
	struct words *next; /* in `unused` */
};

static __thread struct words *words __attribute__((tls_model("initial-exec")));
static struct words *unused;
static uint32_t lock, requests;
static sigset_t signals; /* that were blocked before the lock was taken */

static const char *const texts[VFTRACE_CODES] = {
	[VFTRACE_OK] = "no error",
	[VFTRACE_NO_AGENT] = "there is no node agent: this process is not traced",
	[VFTRACE_ERROR_NOT_JOINED] = "this process has not joined a session",
	[VFTRACE_ERROR_NOT_STARTED] = "the session has not started here",
	[VFTRACE_ERROR_ALREADY] = "this call has been made before",
	[VFTRACE_ERROR_NUMBER] = "another process has this number, or there are fewer processes",
	[VFTRACE_ERROR_CONTACT] = "the contact is of no process of this session",
	[VFTRACE_ERROR_TIMEOUT] = "other processes did not call it in time",
	[VFTRACE_ERROR_ABORTED] = "a process of the session has called vftrace_abort()",
	[VFTRACE_ERROR_DEAD] = "a process that takes part has died",
	[VFTRACE_ERROR_MISMATCH] = "the other processes made another call, or with other arguments",
	[VFTRACE_ERROR_ARGUMENT] = "an argument is out of range or missing",
	[VFTRACE_ERROR_BUSY] = "another thread is in such a call",
	[VFTRACE_ERROR_LIMIT] = "a limit is reached",
	[VFTRACE_ERROR_AGENT_GONE] = "a node agent does not answer",
};

EXPORT const char *vftrace_error_text(int code)
{
	return code >= 0 && code < VFTRACE_CODES ? texts[code] : "an unknown code";
}

EXPORT const char *vftrace_last_error(void)
{
	return words ? words->error : "";
}

/* A signal handler of the holder would wait for ever. */
void vftr_session_lock(void)
{
	sigset_t all, blocked;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &blocked);
	spin_lock(&lock);
	signals = blocked;
}

void vftr_session_unlock(void)
{
	sigset_t blocked = signals;

	spin_unlock(&lock);
	pthread_sigmask(SIG_SETMASK, &blocked, NULL);
}

void vftr_session_forget_lock(void)
{
	store_release(&lock, 0);
}

/* The calling thread's texts; NULL: no memory. */
static struct words *own_words(void)
{
	void *room;

	if (words)
		return words;
	vftr_session_lock();
	words = unused;
	if (words)
		unused = words->next;
	vftr_session_unlock();
	if (words)
		return words;
	room = mmap(
		NULL, sizeof(*words), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	words = room == MAP_FAILED ? NULL : room;
	return words;
}

char *vftr_session_contact_room(void)
{
	return own_words() ? words->contact : NULL;
}

void vftr_session_thread_end(void)
{
	if (!words)
		return;
	words->error[0] = '\0';
	vftr_session_lock();
	words->next = unused;
	unused = words;
	vftr_session_unlock();
	words = NULL;
}

int vftr_session_fail(int code, const char *fmt, ...)
{
	va_list args;

	if (code == VFTRACE_OK || !own_words())
		return code;
	words->error[0] = '\0';
	if (fmt) {
		va_start(args, fmt);
		vsnprintf(words->error, sizeof(words->error), fmt, args);
		va_end(args);
	}
	if (!words->error[0])
		snprintf(words->error, sizeof(words->error), "%s", vftrace_error_text(code));
	return code;
}

/* ---- lists -------------------------------------------------------------------- */

static unsigned chunk_of(uint32_t i, uint32_t *first)
{
	unsigned k = 0;

	for (*first = 0; i >= *first + (SESSION_FIRST << k); k++)
		*first += SESSION_FIRST << k;
	return k;
}

void *vftr_session_at(struct session_list *l, uint32_t i, size_t bytes)
{
	uint32_t first;
	unsigned k;

	if (i >= load_acquire(&l->n)) /* pairs with vftr_session_more() */
		return NULL;
	k = chunk_of(i, &first);
	return (char *)l->chunk[k] + (i - first) * bytes;
}

void *vftr_session_more(struct session_list *l, size_t bytes)
{
	uint32_t first, i = l->n;
	unsigned k = chunk_of(i, &first);
	void *room;

	if (k >= SESSION_CHUNKS)
		return NULL;
	if (!l->chunk[k]) {
		room = mmap(NULL, (SESSION_FIRST << k) * bytes, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (room == MAP_FAILED)
			return NULL;
		l->chunk[k] = room;
	}
	store_release(&l->n, i + 1);
	return (char *)l->chunk[k] + (i - first) * bytes;
}

/* ---- requests ------------------------------------------------------------------ */

int vftr_session_ask(
	struct wire_session *m, const void *data, size_t bytes, union session_packet *p)
{
	struct thread *t = &vftr_thread;
	int saved_errno = errno, error = -EBUSY, fd = -1;
	size_t got = 0;

	if (thread_is_busy(t)) /* a signal handler has come in between */
		return vftr_session_fail(VFTRACE_ERROR_BUSY, NULL);
	m->head.kind = WIRE_SESSION;
	if (!m->request)
		m->request = add_relaxed_u32(&requests, 1) + 1;
	if (m->operation == SESSION_FREE) /* what the thread has recorded, speaks of it */
		vftr_thread_publish(t);
	busy_begin(t);
	vftr_process_lock();
	error = process_is_on() ? vftr_message_send_data(&m->head, sizeof(*m), data, bytes)
				: -EBADF;
	if (!error)
		error = vftr_message_receive(p->bytes, sizeof(p->bytes) - 1, &fd, &got);
	if (error && error != -EBADF) /* a late answer would be taken for another one */
		vftr_agent_failed(error);
	vftr_process_unlock();
	busy_end(t);
	if (fd >= 0)
		sys_close(fd);
	errno = saved_errno;
	if (error)
		return vftr_session_fail(VFTRACE_ERROR_AGENT_GONE,
			"the node agent does not answer: %s", vftr_error_text(-error));
	if (got < sizeof(p->answer) || p->answer.head.kind != WIRE_SESSION_ANSWER ||
		p->answer.code < 0 || p->answer.code >= VFTRACE_CODES)
		return vftr_session_fail(VFTRACE_ERROR_AGENT_GONE,
			"the node agent is of another version than this library; use both of "
			"one installation of vftr");
	p->bytes[got] = '\0';
	return p->answer.pending
		       ? VFTRACE_OK
		       : vftr_session_fail(p->answer.code, "%s", p->bytes + sizeof(p->answer));
}

static double now_s(void)
{
	return 1e-9 * (double)clock_raw_ns();
}

static void sleep_until_outcome(uint32_t seen, double left_s)
{
	struct timespec limit = {0, LOOK_NS};
	int saved_errno = errno;

	if (left_s < 1e-9 * LOOK_NS)
		limit.tv_nsec = left_s > 0 ? (long)(left_s * 1e9) + 1 : 1;
	syscall(SYS_futex, &vftr_process.agent->outcomes, FUTEX_WAIT, seen, &limit, NULL, 0);
	errno = saved_errno;
}

/* The outcome, or an answer that is pending still at that time. */
static int look_until(uint32_t request, double until, union session_packet *p)
{
	for (;;) {
		struct wire_session ask = {.operation = SESSION_ASK, .number = (int32_t)request};
		uint32_t seen = process_is_on() ? load_acquire(&vftr_process.agent->outcomes) : 0;
		int code = vftr_session_ask(&ask, NULL, 0, p);

		if (code || !p->answer.pending || now_s() >= until)
			return code;
		while (load_acquire(&vftr_process.agent->outcomes) == seen && now_s() < until &&
			vftr_agent_alive())
			sleep_until_outcome(seen, until - now_s());
	}
}

int vftr_session_wait(uint32_t request, double timeout_s, union session_packet *p)
{
	double until = timeout_s > 0 ? now_s() + timeout_s : NO_LIMIT;
	struct wire_session stop = {.operation = SESSION_GIVE_UP, .number = (int32_t)request};
	const char *leader;
	int code = look_until(request, until, p);

	if (code || !p->answer.pending)
		return code;
	code = vftr_session_ask(&stop, NULL, 0, p);
	if (code || !p->answer.pending)
		return code;
	code = look_until(request, now_s() + GRACE_S, p);
	if (code || !p->answer.pending)
		return code;
	p->answer.code = VFTRACE_ERROR_AGENT_GONE;
	leader = p->bytes + sizeof(p->answer);
	return vftr_session_fail(VFTRACE_ERROR_AGENT_GONE,
		"after %g s, %s, which leads the session, has not answered", timeout_s,
		leader[0] ? leader : "the agent");
}

int vftr_session_do(struct wire_session *m, const void *data, size_t bytes, double timeout_s,
	union session_packet *p)
{
	int code = vftr_session_ask(m, data, bytes, p);

	if (code || !p->answer.pending)
		return code;
	return vftr_session_wait(m->request, timeout_s, p);
}
