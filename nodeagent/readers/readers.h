/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The rings of a host are read by one thread, or by several if that is not enough (agent.readers).
 *
 * They read in rounds of two parts. In the first, all threads share the rings, each ring read by
 * one thread, up to the first word that concerns more than the ring's own thread; nearly all words,
 * enters and exits of known paths, do not. In the second part the agent's thread alone takes the
 * words that were left, in the order of processes and rings: new paths, messages, OpenMP, the
 * sampling file, damage. So a replay and its tree are used by several threads one after the other,
 * all else by the agent's thread, and results do not depend on the number of threads.
 */
#ifndef VFTR_NODEAGENT_READERS_READERS_H
#define VFTR_NODEAGENT_READERS_READERS_H

#include <stdint.h>

struct host;
struct readers;

/* stat: the path of /proc/stat, but in tests; outlives it. */
struct readers *readers_new(struct host *host, const char *stat);
void readers_free(struct readers *r);

/* Reads all rings as drain_host() does, by all threads that take part. Returns the bytes. */
uint64_t readers_drain(struct readers *r);

/* Threads that take part now, the agent's among them. */
unsigned readers_number(const struct readers *r);
/* Bytes that were read side by side so far. */
uint64_t readers_together(const struct readers *r);

/* Gives all threads the CPUs and the nice value that the agent's has now. */
void readers_follow(const struct readers *r);

#endif
