/* SPDX-License-Identifier: BSD-3-Clause */
/* How many of the CPUs that the calling thread may use have nothing to do. */
#ifndef VFTR_NODEAGENT_READERS_IDLE_H
#define VFTR_NODEAGENT_READERS_IDLE_H

struct idle;

/* stat: the path of /proc/stat, but in tests; outlives it. */
struct idle *idle_new(const char *stat);
void idle_free(struct idle *i);

/* Looks at what was idle until now. */
void idle_begin(struct idle *i);
/* CPUs that were idle since then, on average: 1.5, if one was and another half of the time. 0 if it
 * is not known. The time since then is to be some clock ticks, or a tenth of a second. */
double idle_since(const struct idle *i);

#endif
