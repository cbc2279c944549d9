/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/company.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "nodeagent/agent.h"
#include "nodeagent/collate.h"
#include "nodeagent/launch.h"
#include "nodeagent/peer.h"
#include "nodeagent/siblings.h"
#include "nodeagent/util.h"

static bool have_met, is_sibling;

static void tell_failure(void)
{
	if (have_met || !is_sibling)
		return;
	puts(AGENTS_FAILED);
	fflush(stdout);
}

void company_expect(const struct agent *a)
{
	const char *tasks = getenv("SLURM_STEP_NUM_TASKS");

	is_sibling = a->sibling;
	atexit(tell_failure);
	/* each on its own, they would write the same files */
	if (!a->several && !peer_wanted() && tasks && atol(tasks) > 1 && getenv("SLURM_PROCID"))
		die(125,
			"this step of %s agents has no MPI that they could meet by: give srun "
			"--mpi=pmix (Open MPI) or --mpi=pmi2 (MPICH), or start them with --peers",
			tasks);
}

void company_refuse(struct agent *a, const char *why)
{
	complain("%s%s", why,
		peer_wanted() && !a->several
			? "; of agents that a launcher starts, each node has one"
			: "");
	tell_failure();
	have_met = true;
	if (peer_wanted() && !a->several)
		siblings_refuse(a);
	exit(125);
}

void company_met(const struct agent *a)
{
	const char *host, *nodes = getenv("SLURM_STEP_NODELIST");

	have_met = true;
	if (!a->sibling || (a->peer && a->peer->rank != 0))
		return;
	if (nodes && nodes[0])
		printf(AGENTS_NODES "%s\n", nodes);
	printf(AGENTS_READY);
	if (!a->peer)
		printf(" %s", a->host);
	for (unsigned i = 0; (host = collate_host(a->peer, i)); i++)
		printf(" %s", host);
	putchar('\n');
	fflush(stdout);
}
