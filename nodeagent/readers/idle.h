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
/* Mean number of CPUs that were idle since idle_begin(); 0: not known. To be called 0.1 s later or
 * more, as the kernel counts in ticks of 10 ms. */
double idle_since(const struct idle *i);

#endif
