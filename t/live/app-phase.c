/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * app-phase ROUNDS: two short functions that are called as often, of which one, phase(), takes a
 * hundred times longer in the second half. It has two thirds of all work.
 */
#include <stdint.h>
#include <stdlib.h>

#define KEEP	 __attribute__((noipa))
#define UNTRACED __attribute__((no_instrument_function))

static volatile uint64_t sink;

UNTRACED static void work(unsigned n)
{
	uint64_t x = sink;

	for (unsigned i = 0; i < n; i++)
		x = x * 6364136223846793005u + 1442695040888963407u;
	sink = x;
}

KEEP static void phase(unsigned n)
{
	work(n);
}

KEEP static void other(void)
{
	work(10);
}

KEEP static void both(unsigned calls, unsigned length)
{
	for (unsigned i = 0; i < calls; i++) {
		phase(length);
		other();
	}
}

int main(int argc, char **argv)
{
	const unsigned rounds = argc > 1 ? (unsigned)atoi(argv[1]) : 1;

	for (unsigned i = 0; i < 100 * rounds; i++)
		both(1000, 10);
	for (unsigned i = 0; i < rounds; i++)
		both(1000, 1000);
}
