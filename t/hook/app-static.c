/* SPDX-License-Identifier: BSD-3-Clause */
/* Counted calls without jumps, for fully static programs: app-static FILE */
#include "app-counter.h"

KEEP static void leaf(void)
{
	COUNT("leaf");
}

KEEP static void twice(int n)
{
	COUNT("twice");
	leaf();
	leaf();
	if (n)
		twice(n - 1);
}

int main(int argc, char **argv)
{
	COUNT("main");
	for (int i = 0; i < 1000; i++)
		twice(i % 5);
	counter_write(argc > 1 ? argv[1] : "counts", "w");
	return 0;
}
