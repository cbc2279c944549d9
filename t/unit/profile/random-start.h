/* SPDX-License-Identifier: BSD-3-Clause */
/* For random-profile.h: how a run was started, on which nodes, and of what executables. */
#ifndef VFTR_T_RANDOM_START_H
#define VFTR_T_RANDOM_START_H

#include "nodeagent/base/util.h"
#include "nodeagent/profile/profile.h"
#include "t/lib/dice.h"

/* By other dice than the rest, which stays as it was. There is an agent. */
static inline void throw_start(uint32_t node, struct profile *p)
{
	static const char *const commands[] = {
		NULL, "", "mpirun\n-np\n2\n./a b\n", "x\\ny'\\\\\n\n\"\xff\x1b[31m\n", "./a\n"};
	struct dice own = {.state = node + 1}, *d = &own;
	struct profile_agent *a = p->agents;

	if (throw_dice(d, 4)) {
		a->cpu_model = throw_dice(d, 4) ? xasprintf("CPU %u", throw_dice(d, 3)) : NULL;
		a->kernel = xstrdup("Linux 6.1");
		a->memory_bytes = (uint64_t)(1 + throw_dice(d, 2)) << 33;
		a->cpus = 8u << throw_dice(d, 2);
		a->threads = p->threads;
	}
	for (uint32_t i = 0; i < 3; i++)
		if (throw_dice(d, 3))
			*ADD_ELEMENT(p, builds) = (struct profile_build){
				xasprintf("/opt/bin/app%u", i), xasprintf("%02x", throw_dice(d, 2)),
				xasprintf("GCC %u", 11 + throw_dice(d, 3))};
	if (!throw_dice(d, 4))
		return;

	const char *command = commands[throw_dice(d, ARRAY_SIZE(commands))];

	*ADD_ELEMENT(p, starts) = (struct profile_start){.agent = throw_dice(d, 2),
		.whose = throw_dice(d, PROFILE_START_KINDS),
		.time_s = 1700000000 + throw_dice(d, 2),
		.zone_s = 1800 * ((int)throw_dice(d, 5) - 2),
		.left = throw_dice(d, 3) ? 0 : 7,
		.command = command ? xstrdup(command) : NULL,
		.directory = throw_dice(d, 2) ? xstrdup("/home/a user") : NULL,
		.job = throw_dice(d, 2) ? xasprintf("%u", 100 + throw_dice(d, 2)) : NULL,
		.tags = throw_dice(d, 2) ? xstrdup("case=a, b\nsize=\n") : NULL,
		.mpi = throw_dice(d, 2) ? xasprintf("MPI %u", throw_dice(d, 2)) : NULL};
}

#endif
