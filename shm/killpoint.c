/* SPDX-License-Identifier: BSD-3-Clause */
#include "shm/killpoint.h"

#ifdef VFTR_KILLPOINTS
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void vftr_killpoint(const char *name)
{
	static long left = -1;
	const char *want = getenv("VFTR_KILLPOINT");
	const char *colon = want ? strrchr(want, ':') : NULL;

	if (!colon || strncmp(want, name, (size_t)(colon - want)) || name[colon - want])
		return;
	if (left < 0)
		left = atol(colon + 1);
	if (--left <= 0)
		kill(getpid(), SIGKILL);
}
#else
typedef int killpoints_are_off; /* an empty unit is not C */
#endif
