/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The starts of persistent collective calls of one process. Each has the ticket of its init, and
 * the members of a call are those whose starts have the same number. Which number a start has is
 * known as long as all starts were recorded, and read in the order in which they took place.
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
 * A start of the call with this ticket, which lasted from since until `until`: sets *number, from
 * 1. False: that is not known. *of_process: persistent calls that are kept of all communicators.
 */
bool starts_count(struct starts **s, size_t *of_process, uint32_t ticket, uint64_t since,
	uint64_t until, uint32_t *number);
/* Subtracts the persistent calls of s from *of_process. */
void starts_free(struct starts *s, size_t *of_process);

#endif
