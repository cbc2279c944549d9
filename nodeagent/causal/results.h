/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows of results by what they are of: kind, path, line and another path. */
#ifndef VFTR_NODEAGENT_CAUSAL_RESULTS_H
#define VFTR_NODEAGENT_CAUSAL_RESULTS_H

#include "nodeagent/base/map.h"
#include "nodeagent/causal/causal.h"

struct results {
	struct causal_row *rows;
	size_t n, cap;
	struct match_table at; /* index + 1 */
};

/* The row of a key, made of zeros if need be; valid until the next call. */
struct causal_row *results_row(
	struct results *s, uint32_t kind, uint32_t path, uint32_t line, uint32_t other);
/* Sorts the rows, the greatest ns first. */
void results_sort(struct results *s);
/* The row of kind 0, this path and line, and no other path; NULL: there is none. */
const struct causal_row *results_find(const struct results *s, uint32_t path, uint32_t line);
void results_free(struct results *s);

#endif
