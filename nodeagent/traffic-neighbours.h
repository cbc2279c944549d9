/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collective calls message by message, as far as the process tells of that: how long
 * each is where they differ (LENGTHS records), and who the neighbours in a topology are.
 * The lengths go to the tap as they come; those of neighbours are kept until their call,
 * whose messages count in the matrix: that costs no more than there are neighbours.
 */
#ifndef VFTR_NODEAGENT_TRAFFIC_NEIGHBOURS_H
#define VFTR_NODEAGENT_TRAFFIC_NEIGHBOURS_H

#include <stddef.h>
#include <stdint.h>

struct comm;
struct message;
struct pending;
struct share;
struct topology; /* of a communicator */
struct traffic;
struct wire_neighbours;

/* What a process may keep of such lengths, all communicators together. */
#ifndef TRAFFIC_LENGTHS_MAX
#define TRAFFIC_LENGTHS_MAX (1u << 20)
#endif

/* NULL, or why the message makes no sense; bytes: of data behind it. */
const char *traffic_define_neighbours(
	struct traffic *t, const struct wire_neighbours *m, size_t bytes);
/* A LENGTHS record; result as before. */
const char *traffic_lengths(struct traffic *t, const uint64_t *words);
/* A collective call that did not fail: counts its messages, if it is one of neighbours. */
void neighbours_count(struct traffic *t, const struct pending *p);
/* Adds those of its messages whose ranks are all listed, before neighbours_count(). */
void neighbours_share(struct traffic *t, const struct pending *p, struct share *s);
/* The tap has this number for c, and is to know its neighbours. */
void neighbours_tell(struct traffic *t, struct comm *c, uint32_t told);
void topology_free(struct traffic *t, struct topology *y);

#endif
