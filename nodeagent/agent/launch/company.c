/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/agent/launch/company.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "nodeagent/agent/roles/agent.h"
#include "nodeagent/collate/collate.h"
#include "nodeagent/agent/launch/launch.h"
#include "nodeagent/net/transport.h"
#include "nodeagent/base/util.h"

/* At the end of this process, whatever ends it. */
static void tell_failure(int status, void *agent)
{
	const struct agent *a = agent;

	if (a->have_met || a->form != FORM_SIBLING)
		return;
	puts(AGENTS_FAILED);
	fflush(stdout);
}

void company_expect(struct agent *a)
{
	const char *tasks = getenv("SLURM_STEP_NUM_TASKS");

	on_exit(tell_failure, a);
	/* each on its own, they would write the same files */
	if (!a->several && !peer_wanted() && tasks && atol(tasks) > 1 && getenv("SLURM_PROCID"))
		die(125,
			"this step of %s agents has no MPI that they could meet by: give srun "
			"--mpi=pmix (Open MPI) or --mpi=pmi2 (MPICH), or start them with --peers",
			tasks);
}

bool company_refuse(struct agent *a, const char *why)
{
	const bool by_launcher = peer_wanted() && !a->several;

	complain("%s%s", why,
		by_launcher ? "; of agents that a launcher starts, each node has one" : "");
	tell_failure(0, a);
	a->have_met = true;
	return by_launcher;
}

void company_met(struct agent *a)
{
	const char *host, *nodes = getenv("SLURM_STEP_NODELIST");

	a->have_met = true;
	if (a->form != FORM_SIBLING || (a->host.transport && a->host.transport->rank != 0))
		return;
	if (nodes && nodes[0])
		printf(AGENTS_NODES "%s\n", nodes);
	printf(AGENTS_READY);
	if (!a->host.transport)
		printf(" %s", a->host.name);
	for (unsigned i = 0; (host = collate_host(a->host.transport, i)); i++)
		printf(" %s", host);
	putchar('\n');
	fflush(stdout);
}
