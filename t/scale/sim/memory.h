/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counts the memory of each simulated agent: malloc() and its relatives of this program add to
 * the account that is set, and what is freed is taken from the account that is set then.
 */
#ifndef VFTR_T_SCALE_SIM_MEMORY_H
#define VFTR_T_SCALE_SIM_MEMORY_H

#include <stdbool.h>

struct memory_account {
	long now, most; /* bytes, as malloc_usable_size() has them */
};

/* False with a sanitizer, which has an allocator of its own: nothing is counted. */
extern const bool memory_is_counted;

/* All that follows is for this account, or NULL: for nobody. Returns the one before. */
struct memory_account *memory_use(struct memory_account *account);
/* Bytes that were not allocated here, or are let go, for the account that is set. */
void memory_add(long bytes);

#endif
