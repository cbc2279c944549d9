/* SPDX-License-Identifier: BSD-3-Clause */
/* The rank that ended badly first, and how; the launcher then ends the others. */
#ifndef VFTR_NODEAGENT_PROFILE_FIRST_END_H
#define VFTR_NODEAGENT_PROFILE_FIRST_END_H

#include <stddef.h>

struct json;
struct profile;
struct profile_process;

/*
 * A sentence about a node or a job: the rank that ended badly first, when (in seconds since
 * the first process began, of its node if that has not compared its clock), and how the others
 * ended. Ends on different nodes are compared within the errors of their times; if these overlap,
 * all ranks that may have been first are named. NULL: no rank ended badly, or only one by a signal,
 * which the logs name anyway. The caller frees it.
 */
char *first_end_sentence(const struct profile *p);

struct profile_bad_end;
/* The one that was first for certain, in p; or NULL. */
const struct profile_bad_end *first_end(const struct profile *p);

/* Order: ends whose time is known by the clock of all nodes first; of these the earliest first. */
int bad_end_cmp(const struct profile_bad_end *x, const struct profile_bad_end *y);
/* The first one that had ended for certain, by the clock of all; NULL: none is known. */
const struct profile_bad_end *first_certain_end(const struct profile *p);

/*
 * The first of dead[] that counts as a bad end, and in *n how many do; NULL: none. A process of no
 * MPI rank that SIGTERM ended while a process above it went on, and ended well, is a
 * worker that was not needed any more.
 */
const struct profile_process *first_death(const struct profile *p, size_t *n);

/* Writes the member first_end: null if no rank ended badly. */
void json_first_end(struct json *j, const struct profile *p);

#endif
