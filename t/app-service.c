/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A process of a service, without MPI: step() 100 times, spread over SECONDS, and in each
 * leaf() twice.
 *	app-service SECONDS [EXIT STATUS]
 */
#include <stdlib.h>
#include <unistd.h>

#define STEPS 100

static volatile int sink;

static void leaf(void)
{
	sink++;
}

static void step(void)
{
	leaf();
	leaf();
}

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) : 0;

	for (int i = 0; i < STEPS; i++) {
		step();
		usleep((useconds_t)(seconds * 1e6 / STEPS));
	}
	return argc > 2 ? atoi(argv[2]) : 0;
}
