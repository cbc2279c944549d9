/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Looks the addresses of contacts up without waiting: a name server may be slow, or never
 * answer. The C library asks it in the background, for up to 20 names at a time; numbers
 * need none. All functions are called by one thread.
 */
#ifndef VFTR_NODEAGENT_NET_TCP_LOOKUP_H
#define VFTR_NODEAGENT_NET_TCP_LOOKUP_H

#include <stdbool.h>

struct addresses;
struct contact;
struct lookup;

/* Begins to look up all hosts of c, of which it keeps a copy. */
struct lookup *lookup_begin(const struct contact *c);

/*
 * False: there is no answer yet. Else *l has been freed and is NULL; *a, which the caller
 * frees, has all addresses of the contact, with ports, each once, in its order, loopback
 * addresses last; *why is NULL, or, if there are no addresses, a static text.
 */
bool lookup_take(struct lookup **l, struct addresses *a, const char **why);

/*
 * To be called when the answer is not wanted any more; l may be NULL. A look-up without an
 * answer yet stays in *dropped, from where a later call frees it.
 */
void lookup_drop(struct lookup *l, struct lookup **dropped);

/* lookup_take(), for at most so many seconds. */
bool lookup_wait(struct lookup **l, struct addresses *a, const char **why, double most_s);

#endif
