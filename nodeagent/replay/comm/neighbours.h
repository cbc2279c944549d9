/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The messages of collective calls, as far as the process records them: their lengths if
 * they differ (LENGTHS records), and the neighbours in a topology. Lengths go to the listener
 * as they come; those of neighbours are also kept until their call, whose messages count in
 * the matrix: the memory grows with the number of neighbours only.
 */
#ifndef VFTR_NODEAGENT_REPLAY_COMM_NEIGHBOURS_H
#define VFTR_NODEAGENT_REPLAY_COMM_NEIGHBOURS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct comm;
struct pending;
struct share;
struct topology; /* of a communicator */
struct traffic;
struct wire_neighbours;

/* Most of each; beyond, messages between neighbours do not count in the matrix. */
#ifndef TRAFFIC_LENGTHS_MAX
#define TRAFFIC_LENGTHS_MAX (1u << 20) /* lengths of a process, of all communicators */
#endif
/* In one direction; one rank may be many of them. A few words say who they are, and each call
 * takes a step for each: a process must not keep its agent busy by that. */
#define NEIGHBOURS_MAX (1u << 16)
/* Lengths of persistent calls of a communicator; a call with lengths in both directions has two.
 * Then the oldest go, as nothing tells that a call is not started any more. */
#define PERSISTENT_MOST 4096u
/* The same of other calls, which have not come yet. */
#define KEPT_MOST 64u

/* Of which call and direction lengths are; the first member of the elements of a list of them, in
 * which the oldest come first. */
struct lengths_key {
	uint32_t ticket;
	bool received, persistent;
};

/* The newest of n elements of so many bytes that has the key, or n. */
size_t lengths_find(const void *list, size_t n, size_t size, uint32_t ticket, bool received);
/* Which element goes first, to make room for one more of its kind: those of the other kind stay.
 * n: there is room. */
size_t lengths_in_the_way(
	struct traffic *t, const void *list, size_t n, size_t size, bool persistent);
/* Counts n more lengths. False, and none is counted: they would be too many. */
bool lengths_take(struct traffic *t, size_t n);

/* NULL, or why the message makes no sense; bytes: of data behind it. */
const char *traffic_define_neighbours(
	struct traffic *t, const struct wire_neighbours *m, size_t bytes);
/* Takes a LENGTHS record; result as before. */
const char *traffic_lengths(struct traffic *t, const uint64_t *words);
/* Counts the messages of a collective call that did not fail, if it is one of neighbours. */
void neighbours_count(struct traffic *t, const struct pending *p);
/*
 * Adds to *s the messages of the call whose ranks are both listed; to be called before
 * neighbours_count().
 */
void neighbours_share(struct traffic *t, const struct pending *p, struct share *s);
/* Sends the neighbours of c to the listener, which has this number for c. */
void neighbours_notify(struct traffic *t, struct comm *c, uint32_t told);
void topology_free(struct traffic *t, struct topology *y);

#endif
