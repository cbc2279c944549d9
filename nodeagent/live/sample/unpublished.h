/* SPDX-License-Identifier: BSD-3-Clause */
/* What a thread has recorded of its communication and not published yet: nothing is changed. */
#ifndef VFTR_NODEAGENT_LIVE_SAMPLE_UNPUBLISHED_H
#define VFTR_NODEAGENT_LIVE_SAMPLE_UNPUBLISHED_H

#include <stdbool.h>
#include <stddef.h>
#include "shm/message.h"

struct map32;
struct thread_ring;

struct unpublished {
	bool moved; /* it has entered or left something */
	bool known; /* the call of MPI that is open has recorded m, a blocking SEND or COLLECTIVE */
	struct message m;
	bool receives; /* it is in a blocking receive or probe, as long as it has not moved on ...
			*/
	struct message receive; /* ... that this POST would be of */
	/* locks of OpenMP and the C library, by OPENMP_LOCK() */
	bool has_waited; /* there was a WAIT ... */
	uint32_t wanted; /* ... and the thread is in it for this lock; 0: it is in none */
	uint32_t region; /* of that wait (openmp_region_key()) */
	uint32_t held;	 /* by a critical or ordered region that is open, or 0 */
	struct got_lock {
		uint32_t number;
		uint64_t since; /* ticks; 0: it was given back */
	} * got;		/* without a region, in their order */
	size_t n_got, cap_got;
	size_t inside;	/* frames that were opened since it got that one, and are open */
	size_t left;	/* frames that had been published, and have ended */
	size_t entered; /* others that are open */
	/* messages and others with a request, and DONEs */
	struct message *posted, *done;
	size_t n_posted, cap_posted, n_done, cap_done;
};

/* called: number of a communicator -> number + 1 of the last collective call on it. */
void unpublished_read(struct unpublished *u, const struct thread_ring *t, struct map32 *called);
void unpublished_free(struct unpublished *u);

#endif
