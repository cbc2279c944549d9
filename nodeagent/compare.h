/* SPDX-License-Identifier: BSD-3-Clause */
/* Members of two elements: their order, for comparisons by several keys, and their extremes. */
#ifndef VFTR_NODEAGENT_COMPARE_H
#define VFTR_NODEAGENT_COMPARE_H

/* Returns from the comparison, unless x and y are equal. */
#define COMPARE(x, y)                                                                              \
	do {                                                                                       \
		if ((x) != (y))                                                                    \
			return (x) < (y) ? -1 : 1;                                                 \
	} while (0)

/* to->member becomes the lesser, or the greater, of both. */
#define LEAST(to, from, member)                                                                    \
	((to)->member = (from)->member < (to)->member ? (from)->member : (to)->member)
#define MOST(to, from, member)                                                                     \
	((to)->member = (from)->member > (to)->member ? (from)->member : (to)->member)

#endif
