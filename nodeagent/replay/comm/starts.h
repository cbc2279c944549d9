/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Numbers the starts of persistent collective calls of one process. A start has the ticket of its
 * init; starts with the same ticket and number, on all members, are one call. The number of a start
 * is known as long as all starts were recorded, and read in the order in which they took place.
 */
#ifndef VFTR_NODEAGENT_REPLAY_COMM_STARTS_H
#define VFTR_NODEAGENT_REPLAY_COMM_STARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Persistent calls that are told apart: of a communicator, and of all of a process. */
#ifndef STARTS_MAX
#define STARTS_MAX     4096u
#define STARTS_ALL_MAX (1u << 18)
#endif

struct starts; /* of one communicator; NULL: none yet */

/*
 * Sets *number, from 1, of a start of the call with this ticket, which lasted from since until
 * `until`. Returns false if it is not known. *of_process: number of persistent calls that are kept,
 * over all communicators of the process.
 */
bool starts_count(struct starts **s, size_t *of_process, uint32_t ticket, uint64_t since,
	uint64_t until, uint32_t *number);
/* Subtracts the persistent calls of s from *of_process. */
void starts_free(struct starts *s, size_t *of_process);

#endif
