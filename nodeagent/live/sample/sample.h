/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Looks at the processes of this node while they run. A look takes about 20 ns for each call path
 * of each thread, and reads shared memory only: no process notices. What a sampler keeps
 * between two looks is freed with it.
 *
 * Of threads in constructs of OpenMP the words that are not published yet (at most 1022) are not
 * seen: their time is that of the calls that were open before.
 */
#ifndef VFTR_NODEAGENT_LIVE_SAMPLE_SAMPLE_H
#define VFTR_NODEAGENT_LIVE_SAMPLE_SAMPLE_H

struct host;
struct live_view;
struct process;
struct sampler;

struct sampler *sampler_new(struct host *host);
void sampler_free(struct sampler *s);
/* A process is let go (process/ended.h): what it has counted stays in the views of all samplers. */
void samplers_let_go(struct process *p);

/*
 * A view of this node alone, by its processes as they are now; "now" in it is the time since the
 * last look. Reads rings and messages, so processes may end meanwhile. n_all is 1, the agent's
 * number and what it has sent are 0: the caller fills them in.
 */
void sampler_look(struct sampler *s, struct live_view *v);

#endif
