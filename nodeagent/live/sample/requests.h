/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The requests that a thread waits for in its call of MPI, read from the memory of its process
 * (shm/look.h) while a viewer looks. The process is not stopped, and may change them meanwhile:
 * reading is bounded whatever is there, and requests that make no sense are taken as not known.
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

/*
 * Reads the requests of MPI_Wait or a function like it. Returns false, with n 0, if they are not
 * known: the thread has moved on, the system forbids reading, or no request of the call was
 * recorded.
 */
bool requests_read(struct requests *r, const struct thread_ring *t, uint32_t function);
bool requests_have(const struct requests *r, uint32_t number);

#endif
