/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the files session*.c share. A process that has joined keeps little: its
 * communicators with their tickets. The agents have the rest.
 */
#ifndef VFTR_LIBHOOK_SESSION_H
#define VFTR_LIBHOOK_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "libhook/vftrace-session.h"
#include "shm/session.h"

#pragma GCC visibility push(hidden)

/* A communicator. Never freed or moved, as a thread may be using it; used again. */
struct session_comm {
	uint32_t number; /* 0: not in use */
	uint32_t rank, size;
	uint32_t posted, collectives; /* tickets */
	uint32_t *sent;		      /* the same, by destination ... */
	uint32_t room;		      /* ... of so many */
};

/* The n-th thing of a kind that is never moved: chunks of a growing size, from pages. */
#define SESSION_CHUNKS 16
#define SESSION_FIRST  64u
struct session_list {
	void *chunk[SESSION_CHUNKS];
	uint32_t n;
};
/* NULL: there is none. */
void *session_at(struct session_list *l, uint32_t i, size_t bytes);
/* Another one, zeroed; NULL: no memory. With session_lock() held. */
void *session_more(struct session_list *l, size_t bytes);

void session_lock(void);
void session_unlock(void);
/* Child of fork(): whoever held it is not here. */
void session_forget_lock(void);

/* Sets the thread's last sentence and returns code. text NULL: that of the code. */
int session_fail(int code, const char *fmt, ...) __attribute__((format(__printf__, 2, 3)));
/* Where a contact for the calling thread is kept, SESSION_CONTACT_MAX + 1 bytes; or NULL. */
char *session_contact_room(void);
/* The thread ends: what it was told, may be used for another one. */
void session_thread_end(void);
/* Whether there is an agent; attaches. VFTRACE_OK, or the code to return. */
int session_ready(void);
/* ... and this process has started. */
int session_started(void);

union session_packet {
	struct wire_session_answer answer;
	char bytes[sizeof(struct wire_session_answer) + SESSION_CONTACT_MAX + 1];
};

/*
 * Asks, and waits for the outcome, until the time is over (timeout_s <= 0: for ever). The
 * code, which session_fail() has been told; p->answer is the outcome, and the text behind it is
 * terminated.
 */
int session_do(struct wire_session *m, const void *data, size_t bytes, double timeout_s,
	union session_packet *p);
/* Only asks; the answer may be pending. */
int session_ask(struct wire_session *m, const void *data, size_t bytes, union session_packet *p);
/* The outcome of request m, which is pending: as session_do(). */
int session_wait(uint32_t request, double timeout_s, union session_packet *p);

/* session-log.c: the time of vftrace_begin_unordered() on this thread, in ticks, or 0. */
uint64_t session_earlier(void);

/* session-comm.c */
struct session_comm *session_comm(int comm);
/* A handle of VFTRACE_COMM_WORLD to PARENT gets another meaning; w->number 0: none. */
int session_comm_set(int comm, const struct wire_session_comm *w);
void session_comms_forget(void);
#define SESSION_TIMEOUT_S 10.0

#pragma GCC visibility pop

#endif
