/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The imbalance of times over ranks, by the formula that the key
 * profile_table.imbalance_formula names; vftr-config(5) has the formulas.
 */
#ifndef VFTR_NODEAGENT_REPORT_IMBALANCE_H
#define VFTR_NODEAGENT_REPORT_IMBALANCE_H

#include <stdint.h>

/* Times in ns of n ranks; min and max are two of them. */
struct spread {
	uint64_t n;
	uint64_t sum, min, max;
	uint32_t rank_min, rank_max; /* the ranks with min and max */
	unsigned __int128 sumsq;     /* sum of the times' squares, ns^2 */
};

/*
 * The imbalance in percent, and in *rank (rank may be NULL) the rank that causes it; "deviation" is
 * below 0 if that rank has the least time. If all times are 0: 0 ("balance": 100), and the rank of
 * the maximum. An unknown formula is "deviation".
 */
double imbalance(const char *formula, const struct spread *s, uint32_t *rank);

/* The same in two steps, for many: the formula of that name, static; its value. */
struct imbalance_formula;
const struct imbalance_formula *imbalance_formula(const char *name);
double imbalance_by(
	const struct imbalance_formula *formula, const struct spread *s, uint32_t *rank);
/* The rank alone. */
uint32_t imbalance_rank(const struct imbalance_formula *formula, const struct spread *s);

#endif
