/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The addresses of contacts, for those who must not wait: a name server may take its time,
 * or never answer. Threads ask it; numbers need none. What is here is called by one thread.
 */
#ifndef VFTR_NODEAGENT_LOOKUP_H
#define VFTR_NODEAGENT_LOOKUP_H

#include <stdbool.h>

struct addresses;
struct contact;
struct lookup;

/*
 * Begins to look up all of c, of which it keeps a copy. bell: an eventfd that is rung when
 * the answer is there, until the lookup is taken or dropped; -1: none. Many at a time wait
 * for each other.
 */
struct lookup *lookup_begin(const struct contact *c, int bell);

/*
 * False: there is no answer yet. Else *l has been freed and is NULL, *a is the caller's, as
 * of addresses_of(), and *why a text that stays, or NULL.
 */
bool lookup_take(struct lookup **l, struct addresses *a, const char **why);

/* Nobody wants to know any more; NULL is allowed. */
void lookup_drop(struct lookup *l);

/* lookup_take(), for at most so many seconds. */
bool lookup_wait(struct lookup **l, struct addresses *a, const char **why, double most_s);

#endif
