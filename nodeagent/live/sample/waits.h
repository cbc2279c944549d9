/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a thread waits for in a call of MPI: messages of blocking calls, and the requests that it
 * has posted and whose completion was not seen. Nothing is changed.
 */
#ifndef VFTR_NODEAGENT_LIVE_SAMPLE_WAITS_H
#define VFTR_NODEAGENT_LIVE_SAMPLE_WAITS_H

#include <stdbool.h>
#include <stdint.h>

struct thread_ring;
struct unpublished;
struct where;
struct where_place;

/* A thread in a call of MPI. */
struct waiting_thread {
	const struct thread_ring *thread;
	const struct unpublished *words;
	uint32_t function; /* as in mpi_id.h */
	uint32_t rank;	   /* of its process */
	bool alone;	   /* its process has one thread, and no signal has stopped it */
};

/* Adds the messages to w; a collective call goes into the thread's place. */
void waits_look(const struct waiting_thread *who, struct where *w, struct where_place *place);

#endif
