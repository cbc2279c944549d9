/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/process-past.h"

#include <string.h>
#include "conf/conf.h"
#include "nodeagent/agent.h"
#include "nodeagent/gather.h"
#include "nodeagent/gpu.h"
#include "nodeagent/pids.h"
#include "nodeagent/process.h"
#include "nodeagent/regions.h"
#include "nodeagent/rounds.h"
#include "nodeagent/util.h"

#define KEPT	1000u /* as they are; they have the first numbers of those without a rank */
#define AT_ONCE 64u

struct process_past {
	uint32_t kept, let_go, n_waiting;
	struct process *waiting; /* through next_live */
};

/* Without anything that others may still ask it for when it has ended. */
static bool nobody_asks(const struct process *p)
{
	const struct agent *a = p->agent;
	bool ranked = p->rank >= 0 || p->job_rank != WIRE_UNKNOWN ||
		      (p->rank_hint >= 0 && !p->parent_traced);

	return !ranked && p->end != PROCESS_RUNNING && !p->match && !p->session_match &&
	       !p->session && !gpu_is_used(p->gpu) && !a->budget && !rounds_begun() &&
	       !strcmp(a->conf->logfile_for_ranks, "none");
}

static void let_go(struct process *p)
{
	struct agent *a = p->agent;

	p->rank = (int)(PROFILE_UNRANKED + KEPT + a->past->let_go++);
	gather_let_go(a, p);
	regions_let_go(p);
	pids_let_go(p);
	process_free(p);
}

void process_past_add(struct process *p)
{
	struct agent *a = p->agent;
	struct process_past *past = a->past;

	if (!nobody_asks(p))
		return;
	if (!past)
		past = a->past = xcalloc(1, sizeof(*past));
	if (past->kept < KEPT) {
		past->kept++;
		return;
	}
	p->next_live = past->waiting;
	past->waiting = p;
	if (++past->n_waiting < AT_ONCE)
		return;
	clocks_calibrate(&a->clocks);
	while (past->waiting) {
		p = past->waiting;
		past->waiting = p->next_live;
		let_go(p);
	}
	past->n_waiting = 0;
}

uint32_t process_past_number(const struct agent *a, uint32_t k)
{
	return PROFILE_UNRANKED + k + (a->past && k >= KEPT ? a->past->let_go : 0);
}
