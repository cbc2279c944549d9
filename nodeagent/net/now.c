/* SPDX-License-Identifier: BSD-3-Clause */
/* The clock of all deadlines, in a file of its own: a unit test has another one in its place. */
#include <time.h>

#include "nodeagent/net/transport.h"

double transport_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec * 1e-9;
}
