/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where the threads of this node are, from shared memory: no process is stopped, asked, or
 * notices. A look takes about 1 us for each thread and its frames.
 *
 * Of threads in constructs of OpenMP the words that are not published yet are not seen, as in
 * sample.h: they may be elsewhere by now.
 */
#ifndef VFTR_NODEAGENT_LIVE_SAMPLE_STACKS_H
#define VFTR_NODEAGENT_LIVE_SAMPLE_STACKS_H

struct host;
struct where;

/* Fills in w for this node as it is now. What is published should have been read just before. */
void stacks_look(struct host *host, struct where *w);

#endif
