/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The requests of the call that a thread waits in, as the memory of its process has them
 * (shm/look.h): read from outside, without stopping anybody, only while somebody looks. Whatever is
 * there, the reading is bounded, and what is no sense is taken for not known.
 */
#ifndef VFTR_NODEAGENT_LIVE_SAMPLE_REQUESTS_H
#define VFTR_NODEAGENT_LIVE_SAMPLE_REQUESTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define REQUESTS_MOST 4096u /* of a call; of one with more nothing is known */

struct thread_ring;

/* By rising number. The caller frees `number'. */
struct requests {
	uint32_t *number;
	size_t n;
};

/* Of MPI_Wait and its kin. False, and n is 0: not known, as the thread was on its way, the system
 * lets us not read, or the call has no request that was recorded. */
bool requests_read(struct requests *r, const struct thread_ring *t, uint32_t function);
bool requests_have(const struct requests *r, uint32_t number);

#endif
