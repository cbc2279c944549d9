/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counters of the user's (vftrace-session(3)): what a process has defined, and of each
 * how often it was set, least, greatest, mean and last value. The sampling file gets
 * each value. What comes from the process is checked.
 */
#ifndef VFTR_NODEAGENT_USER_COUNTERS_H
#define VFTR_NODEAGENT_USER_COUNTERS_H

#include <stdbool.h>
#include <stdint.h>

struct agent;
struct process;
struct profile;
struct profile_user_counter;
struct replay;
struct user_counters;
struct wire_counter;

/* A value: an integer or a real number, as its counter is. */
union user_value {
	int64_t integer;
	double real;
	uint64_t bits; /* as they stand in the record */
};

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

/* Message of the process; number, type and texts are untrusted. */
void user_counters_define(
	struct process *p, const struct wire_counter *m, const char *name, const char *unit);
void user_counters_free(struct user_counters *u);

/* Counter `number` takes this value; NULL: it is not defined, or that is no value. */
struct user_counter *user_counters_set(
	struct user_counters *u, uint32_t number, union user_value value, uint64_t ticks);

/* A round of a session begins (rounds.h); or least and greatest are those of this one alone. */
void user_counters_new_round(struct user_counters *u);
void user_counters_only_round(struct user_counters *u);

/* a < b, as values of such a counter. */
bool user_value_less(bool real, union user_value a, union user_value b);

/* replay-user-counters.c: a USER_COUNTER record. Returns the words taken. */
unsigned replay_user_counter(struct replay *r, const uint64_t *word, unsigned left, uint64_t w);

/* To the profile: those of one process; then, when all are there, in their order. */
void user_counters_gather(
	const struct agent *a, const struct process *p, uint32_t rank, struct profile *out);
void user_counters_store(struct profile *p);

/* The parts of profile_user_counter.name; the caller frees. */
char *user_counter_name(const struct profile_user_counter *c);
/* Points into the name; "" if there is none. */
const char *user_counter_unit(const struct profile_user_counter *c);
/* "-17", "2.5"; the caller frees. */
char *user_value_text(bool real, uint64_t bits);

#endif
