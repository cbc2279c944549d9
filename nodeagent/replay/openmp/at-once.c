/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/replay/openmp/at-once.h"

#include <stdlib.h>
#include <string.h>

#include "nodeagent/base/util.h"

ORDER_BY(by_end, struct at_once_span, RISING(to))
ORDER_BY(by_begin, struct at_once_span, RISING(from))

static struct at_once_span *copy_of(
	const struct at_once *a, int (*order)(const void *, const void *))
{
	struct at_once_span *spans = xmalloc(a->n_spans * sizeof(*spans));

	memcpy(spans, a->spans, a->n_spans * sizeof(*spans));
	qsort(spans, a->n_spans, sizeof(*spans), order);
	return spans;
}

uint32_t at_once_most(const struct at_once *a)
{
	struct at_once_span *come, *go;
	uint32_t most = a->most;
	size_t gone = 0;

	if (!a->n_spans)
		return most;
	come = copy_of(a, by_begin);
	go = copy_of(a, by_end);
	for (size_t i = 0; i < a->n_spans; i++) {
		while (gone < i && go[gone].to <= come[i].from)
			gone++;
		most = MAX(most, (uint32_t)(i + 1 - gone));
	}
	free(come);
	free(go);
	return most;
}

/* Keeps those that may still meet others. */
static void forget_half(struct at_once *a)
{
	const size_t half = a->n_spans / 2;

	a->most = at_once_most(a);
	qsort(a->spans, a->n_spans, sizeof(*a->spans), by_end);
	memmove(a->spans, a->spans + half, (a->n_spans - half) * sizeof(*a->spans));
	a->n_spans -= half;
}

void at_once_add(struct at_once *a, uint64_t from, uint64_t to)
{
	if (a->n_spans >= AT_ONCE_SPANS)
		forget_half(a);
	*LIST_ADD(a, spans) = (struct at_once_span){from, MAX(from, to)};
}

void at_once_free(struct at_once *a)
{
	free(a->spans);
	*a = (struct at_once){0};
}
