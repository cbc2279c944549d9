/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * app-branches LEVELS DEEP: four functions of which each calls the three others, LEVELS deep, make
 * (3^(LEVELS+1) - 1) / 2 call paths below main; two that call each other, DEEP more.
 */
#include <stdlib.h>

static volatile long sum;

static void north(int level);
static void east(int level);
static void south(int level);
static void west(int level);

#define BRANCH(name, one, two, three)                                                              \
	static void name(int level)                                                                \
	{                                                                                          \
		sum += level;                                                                      \
		if (!level)                                                                        \
			return;                                                                    \
		one(level - 1);                                                                    \
		two(level - 1);                                                                    \
		three(level - 1);                                                                  \
	}

BRANCH(north, east, south, west)
BRANCH(east, north, south, west)
BRANCH(south, north, east, west)
BRANCH(west, north, east, south)

static void again(int level);

static void down(int level)
{
	sum += level;
	if (level > 1)
		again(level - 1);
}

static void again(int level)
{
	sum -= level;
	if (level > 1)
		down(level - 1);
}

int main(int argc, char **argv)
{
	north(argc > 1 ? atoi(argv[1]) : 3);
	down(argc > 2 ? atoi(argv[2]) : 4);
	return 0;
}
