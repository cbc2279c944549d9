/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counters of the user's (vftrace-session(3)): what a process has defined, and of each
 * how often it was set, least, greatest, mean and last value. What comes from the
 * process is checked.
 */
#ifndef VFTR_NODEAGENT_REPLAY_USER_COUNTERS_H
#define VFTR_NODEAGENT_REPLAY_USER_COUNTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "nodeagent/base/user-value.h"

struct user_counters;
struct wire_counter;

struct user_counter {
	char *name, *unit; /* NULL: not defined; unit "": none */
	bool real;
	uint32_t sampled; /* its number in the sampling file, or 0 */
	uint64_t values;  /* how often it was set; what follows is valid if it was */
	uint64_t last_at; /* ticks */
	union user_value min, max, last;
	double sum;
	bool in_round; /* set in this round of a session, and then: */
	union user_value round_min, round_max;
};

/*
 * Message of the process; number, type and texts are untrusted. *all: its counters so far,
 * NULL at first. False: it breaks a rule, and nothing is defined.
 */
bool user_counters_define(struct user_counters **all, const struct wire_counter *m,
	const char *name, const char *unit);
void user_counters_free(struct user_counters *u);

/* Counter `number` has this value at `ticks`. Returns the counter, owned by u, or NULL: it is
 * not defined, or the value is not finite. u may be NULL. */
struct user_counter *user_counters_set(
	struct user_counters *u, uint32_t number, union user_value value, uint64_t ticks);

/*
 * user_counters_new_round(): a round of a session begins. user_counters_only_round(): least and
 * greatest become those of the present round.
 */
void user_counters_new_round(struct user_counters *u);
void user_counters_only_round(struct user_counters *u);

/* All *n of them, in the order of their numbers; u may be NULL. */
const struct user_counter *user_counters_all(const struct user_counters *u, size_t *n);

#endif
