/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A process of a service, without MPI: step() 100 times, spread over SECONDS, and in each
 * leaf() twice. With FILE it makes FILE.here.HOST.PID after the first, and waits in the middle
 * until FILE is there.
 *	app-service SECONDS [EXIT STATUS [FILE]]
 */
#include <fcntl.h>
#include <stdio.h>
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

static void __attribute__((no_instrument_function)) meet(int i, const char *file)
{
	char host[64] = "", here[4096];

	if (i == 0) {
		gethostname(host, sizeof(host) - 1);
		snprintf(here, sizeof(here), "%s.here.%s.%d", file, host, (int)getpid());
		close(open(here, O_WRONLY | O_CREAT, 0600));
	}
	while (i == STEPS / 2 && access(file, F_OK))
		usleep(10000);
}

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) : 0;

	for (int i = 0; i < STEPS; i++) {
		step();
		if (argc > 3)
			meet(i, argv[3]);
		usleep((useconds_t)(seconds * 1e6 / STEPS));
	}
	return argc > 2 ? atoi(argv[2]) : 0;
}
