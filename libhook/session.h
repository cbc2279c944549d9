/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Declarations for the files of libhook/session/. A process that has joined keeps its communicators
 * and their tickets; the agents keep all else.
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
	uint32_t *sent;		      /* tickets of sends, by destination: */
	uint32_t room;		      /* length of sent[] */
};

/* A list whose items never move: chunks of a growing size, from pages. */
#define SESSION_CHUNKS 16
#define SESSION_FIRST  64u
struct session_list {
	void *chunk[SESSION_CHUNKS];
	uint32_t n;
};
/* Item i, of `bytes` bytes; NULL: there is none. */
void *vftr_session_at(struct session_list *l, uint32_t i, size_t bytes);
/* A new item, zeroed; NULL: no memory. With vftr_session_lock() held. */
void *vftr_session_more(struct session_list *l, size_t bytes);

/*
 * Blocks all signals until vftr_session_unlock(). Whoever has the lock must not take it again, as
 * vftr_session_fail() does, and others that speak to the program or the agent.
 */
void vftr_session_lock(void);
void vftr_session_unlock(void);
/* Child of fork(): the thread that held the lock is not here. */
void vftr_session_forget_lock(void);

/* Sets the sentence of vftrace_last_error() and returns code. fmt NULL: the code's own text. */
int vftr_session_fail(int code, const char *fmt, ...) __attribute__((format(__printf__, 2, 3)));
/* SESSION_CONTACT_MAX + 1 bytes for a contact, the calling thread's until it ends; or NULL. */
char *vftr_session_contact_room(void);
/* To be called at the end of a thread: another one may use its room for texts. */
void vftr_session_thread_end(void);
/* Attaches if need be. VFTRACE_OK, or the code to return. */
int vftr_session_ready(void);
/* The same, and the process must have started. */
int vftr_session_started(void);

union session_packet {
	struct wire_session_answer answer;
	char bytes[sizeof(struct wire_session_answer) + SESSION_CONTACT_MAX + 1];
};

/*
 * Sends request m and waits for the outcome, at most timeout_s (<= 0: for ever). Returns the
 * code, after vftr_session_fail() if it is an error; p->answer is the outcome, and the text
 * behind it is terminated.
 */
int vftr_session_do(struct wire_session *m, const void *data, size_t bytes, double timeout_s,
	union session_packet *p);
/* Only sends the request; the answer may be pending. */
int vftr_session_ask(
	struct wire_session *m, const void *data, size_t bytes, union session_packet *p);
/* Waits for the outcome of a pending request, as vftr_session_do(). */
int vftr_session_wait(uint32_t request, double timeout_s, union session_packet *p);

/* log.c: the time of vftrace_begin_unordered() on this thread, in ticks, or 0. */
uint64_t vftr_session_earlier(void);

/* communicator.c: the communicator of a handle, or NULL. */
struct session_comm *vftr_session_comm(int comm);
/*
 * Sets the communicator of a handle from VFTRACE_COMM_WORLD to VFTRACE_COMM_PARENT; w->number 0: it
 * has none. With vftr_session_lock() held; so VFTRACE_ERROR_LIMIT (no memory) comes without
 * vftr_session_fail().
 */
int vftr_session_comm_set(int comm, const struct wire_session_comm *w);
void vftr_session_comms_forget(void);
#define SESSION_TIMEOUT_S 10.0

#pragma GCC visibility pop

#endif
