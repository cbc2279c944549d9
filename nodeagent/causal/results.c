/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/causal/results.h"

#include <stdlib.h>

/* match_table keeps neighbours of its second number together; kinds are few. */
static struct match_key key_of(uint32_t kind, uint32_t path, uint32_t line, uint32_t other)
{
	return (struct match_key){(uint64_t)path << 32 | other, (uint64_t)kind << 32 | line};
}

struct causal_row *results_row(
	struct results *s, uint32_t kind, uint32_t path, uint32_t line, uint32_t other)
{
	const struct match_key key = key_of(kind, path, line, other);
	const uintptr_t at = (uintptr_t)match_table_find(&s->at, key.a, key.b);

	if (at)
		return &s->rows[at - 1];
	*APPEND(s->rows, s->n, s->cap) =
		(struct causal_row){.kind = kind, .path = path, .line = line, .other = other};
	match_table_add(&s->at, key.a, key.b, (void *)(uintptr_t)s->n);
	return &s->rows[s->n - 1];
}

ORDER_BY(by_time, struct causal_row,
	FALLING(ns) ?: RISING(kind) ?: RISING(path) ?: RISING(line) ?: RISING(other))

void results_sort(struct results *s)
{
	if (s->n)
		qsort(s->rows, s->n, sizeof(*s->rows), by_time);
	for (size_t i = 0; i < s->n; i++) {
		const struct causal_row *row = &s->rows[i];
		const struct match_key key = key_of(row->kind, row->path, row->line, row->other);

		match_table_add(&s->at, key.a, key.b, (void *)(uintptr_t)(i + 1));
	}
}

const struct causal_row *results_find(const struct results *s, uint32_t path, uint32_t line)
{
	const struct match_key key = key_of(0, path, line, CAUSAL_NONE);
	const uintptr_t at = (uintptr_t)match_table_find(&s->at, key.a, key.b);

	return at ? &s->rows[at - 1] : NULL;
}

void results_free(struct results *s)
{
	match_table_free(&s->at);
	free(s->rows);
}
