/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The functions by which wrappers of other interfaces (MPI, CUDA) record. Functions with a
 * known name have a fixed id (shm/record.h) instead of an address. All calls are
 * async-signal-safe, never fail, and keep errno.
 */
#ifndef VFTR_LIBHOOK_EMIT_H
#define VFTR_LIBHOOK_EMIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "shm/atomic.h"
#include "shm/wire.h"

/* A frame with a fixed id begins or ends on the calling thread. */
void vftr_enter_id(uint32_t id);
void vftr_exit_id(uint32_t id);

/*
 * The frame of an MPI function, by its index in the table, begins: it was called by the code at
 * this return address. Where call sites are not wanted this is vftr_enter_id(). Always
 * returns true.
 */
extern bool (*vftr_enter_call)(size_t function, const void *site)
	__attribute__((visibility("hidden")));
/*
 * vftr_enter_call() for a call inside another call of MPI, by a callback or by a signal handler,
 * which may have interrupted the outer call anywhere: its call site is recorded for this call
 * alone.
 */
void vftr_enter_call_within(size_t function, const void *site);

/*
 * Stores one record of record_words(word[0]) words, at most EMIT_WORDS, inside
 * of the frame that is open on the calling thread; it has no time of its own.
 * The last word must not be zero. While recording is paused only the completion of a request that
 * was posted before is stored.
 */
#define EMIT_WORDS 6
void vftr_emit(const uint64_t *word);
/* The same for records of one, three, four and six words. */
void vftr_emit_1(uint64_t a);
void vftr_emit_3(uint64_t a, uint64_t b, uint64_t c);
void vftr_emit_4(uint64_t a, uint64_t b, uint64_t c, uint64_t d);
void vftr_emit_6(uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e, uint64_t f);

/*
 * vftr_receive_begin(): the calling thread is about to wait in a blocking receive or probe; words:
 * message_receive() and message_pair(source, tag). vftr_receive_end(): it has returned. They cost
 * two stores and one.
 */
void vftr_receive_begin(uint64_t receive, uint64_t from);
void vftr_receive_end(void);

/*
 * Tells the agent where this process keeps the messages that its threads wait for; nothing happens
 * unless the process is attached. *look must stay valid until the process ends.
 */
struct mpi_look;
void vftr_look_at(const struct mpi_look *look);

/*
 * To be called for MPI_Pcontrol(level, name), where name may be any pointer: if the user wants
 * regions of these calls, begins (level 1) or ends (level -1) one.
 */
void vftr_pcontrol_region(int level, const char *name, const void *site);
/* True if the user wants regions of MPI_Pcontrol. */
bool vftr_pcontrol_wanted(void);

/*
 * In MPI_Abort, whose frame is open on the calling thread: waits until the agent has read what this
 * thread has recorded and, in a step that a launcher is about to kill, has written it; 5 s at most.
 */
void vftr_before_abort(void);

/* True if this process records now or may do so later. */
bool vftr_active(void);

/* Not 0: no communication is recorded. Set by vftr_messages_follow(). */
extern uint32_t vftr_messages_off __attribute__((visibility("hidden")));
/* True if communication may be recorded: not if the user wants none, or the agent is gone. */
static inline bool vftr_messages_wanted(void)
{
	return !load_relaxed(&vftr_messages_off);
}
/* True if the length of each message of a collective call is to be recorded, where they differ. */
bool vftr_lengths_wanted(void);

/*
 * Defines what later records name: sends the agent a message of shm/wire.h with
 * `bytes` of data behind its fixed part; waits for an agent that is behind, as patience.h
 * says. Later records on this thread, and on threads that learn of it from this one, are
 * read after it.
 */
void vftr_define(struct wire_head *message, size_t fixed, const void *data, size_t bytes);

/* This process is world rank `rank` of `size` in the MPI job `job`. library: what its MPI says it
 * is, cut to WIRE_LIBRARY; or "". */
void vftr_set_rank(struct wire_rank *place, const char *library);

/*
 * Before main(): leaves this process untraced, and prints WHAT: MORE, unless what
 * is NULL or the user has switched tracing off.
 */
void vftr_stay_off(const char *what, const char *more) __attribute__((visibility("hidden")));

#endif
