/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/process/ended.h"

#include <string.h>
#include "conf/conf.h"
#include "nodeagent/process/host.h"
#include "nodeagent/replay/gpu/gpu.h"
#include "nodeagent/process/observer.h"
#include "nodeagent/process/pids.h"
#include "nodeagent/process/process.h"
#include "nodeagent/process/regions.h"
#include "nodeagent/process/rounds.h"
#include "nodeagent/base/util.h"

#define KEPT	1000u /* as they are; they have the first numbers of those without a rank */
#define AT_ONCE 64u

struct ended_process {
	uint32_t kept, let_go, n_waiting;
	bool told;		 /* that more are kept, and why */
	struct process *waiting; /* through next_live */
};

/* Without anything that others may still ask it for when it has ended. */
static bool nobody_asks(const struct process *p)
{
	bool ranked = p->rank >= 0 || p->job_rank != WIRE_UNKNOWN ||
		      (p->rank_hint >= 0 && !p->parent_traced);

	return !ranked && p->end != PROCESS_RUNNING && !p->match && !p->session_match &&
	       !p->session && !gpu_is_used(p->gpu);
}

/* Why each is needed at the end, or NULL. Those that are let go are no ranks below KEPT. */
static const char *why_all_are_kept(const struct host *host)
{
	if (rounds_begun(host))
		return "the files of rounds are made from them";
	if (rank_list_reaches(host->conf->logfile_for_ranks, KEPT))
		return "logfile_for_ranks may ask for logs of them";
	return NULL;
}

static void say_that_all_are_kept(struct host *host, const char *why)
{
	if (!host->ended_processes->told)
		host_warn(host, false,
			"more than %u processes have ended, and the agent keeps each of them "
			"whole, "
			"with 25 KB of memory or more: %s",
			KEPT, why);
	host->ended_processes->told = true;
}

static void let_go(struct process *p)
{
	struct host *host = p->host;

	p->rank = (int)(PROFILE_UNRANKED + KEPT + host->ended_processes->let_go++);
	observers_tell(host, let_go, p);
	regions_let_go(p);
	pids_let_go(p);
	process_free(p);
}

void ended_process_add(struct process *p)
{
	struct host *host = p->host;
	struct ended_process *ended = host->ended_processes;
	const char *why;

	if (!nobody_asks(p))
		return;
	if (!ended)
		ended = host->ended_processes = xcalloc(1, sizeof(*ended));
	if (ended->kept < KEPT) {
		ended->kept++;
		return;
	}
	why = why_all_are_kept(host);
	if (why) {
		say_that_all_are_kept(host, why);
		return;
	}
	p->next_live = ended->waiting;
	ended->waiting = p;
	if (++ended->n_waiting < AT_ONCE)
		return;
	clocks_calibrate(&host->clocks);
	while (ended->waiting) {
		p = ended->waiting;
		ended->waiting = p->next_live;
		let_go(p);
	}
	ended->n_waiting = 0;
}

uint32_t ended_process_number(const struct host *host, uint32_t k)
{
	return PROFILE_UNRANKED + k +
	       (host->ended_processes && k >= KEPT ? host->ended_processes->let_go : 0);
}
