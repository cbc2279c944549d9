/* SPDX-License-Identifier: BSD-3-Clause */
/* For programs that count their own calls: work(n) calls leaf() n times. */
#ifndef VFTR_T_APP_LEAF_H
#define VFTR_T_APP_LEAF_H

#define KEEP	 __attribute__((noinline))
#define UNTRACED __attribute__((no_instrument_function))
#define EVENTS	 300 /* calls of leaf() in a round: more than a block has room for */

static volatile long leaves, works;

KEEP static void leaf(void)
{
	leaves++;
}

KEEP static void work(int n)
{
	works++;
	for (int i = 0; i < n; i++)
		leaf();
}

#endif
