/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/replay/tree/slices.h"

#include <stdlib.h>
#include <string.h>

#include "nodeagent/base/util.h"

struct slices *slices_new(uint64_t begin)
{
	struct slices *s = xcalloc(1, sizeof(*s));

	s->begin = begin;
	s->log2 = SLICES_LOG2_LEAST;
	return s;
}

void slices_free(struct slices *s)
{
	free(s);
}

static void join_neighbours(struct slices *s)
{
	const size_t half = SLICES_MOST / 2;

	for (size_t i = 0; i < half; i++)
		for (unsigned k = 0; k < SLICE_COLUMNS; k++)
			s->of[i][k] = s->of[2 * i][k] + s->of[2 * i + 1][k];
	memset(s->of + half, 0, half * sizeof(*s->of));
	s->n = (s->n + 1) / 2;
	for (unsigned k = 0; k < SLICE_COLUMNS; k++)
		s->last[k] /= 2;
	s->log2++;
}

void slices_add_to_several(
	struct slices *s, enum slice_class class, uint64_t since, uint64_t ticks, uint64_t times)
{
	uint64_t from = since - s->begin, to = from + ticks;

	if ((int64_t)from < 0 || to < from)
		return;
	while (to >> s->log2 >= SLICES_MOST)
		join_neighbours(s);
	for (uint64_t i = from >> s->log2; from < to; i++) {
		const uint64_t end = (i + 1) << s->log2, part = (end < to ? end : to) - from;

		s->of[i][slice_column(class)] += times * part;
		from += part;
		s->last[slice_column(class)] = i;
		if (i >= s->n)
			s->n = i + 1;
	}
}

void slices_spread(
	struct slices *s, enum slice_class class, uint64_t since, uint64_t ticks, uint64_t bytes)
{
	const uint64_t from = since - s->begin, to = from + ticks;
	uint64_t end = 0, spread = 0;

	if ((int64_t)from < 0 || to < from)
		return;
	while (to >> s->log2 >= SLICES_MOST)
		join_neighbours(s);
	for (uint64_t i = from >> s->log2; end < to || !end; i++) {
		uint64_t until = bytes;

		end = (i + 1) << s->log2;
		if (end < to)
			until = (uint64_t)((unsigned __int128)bytes * (end - from) / ticks);
		s->of[i][slice_column(class)] += until - spread;
		spread = until;
		if (i >= s->n)
			s->n = i + 1;
	}
}

size_t slices_count(const struct slices *s, uint64_t *begin, uint64_t *ticks)
{
	*begin = s->begin;
	*ticks = (uint64_t)1 << s->log2;
	return s->n;
}

uint64_t slices_of(const struct slices *s, size_t i, enum slice_class class)
{
	const uint64_t most = class < SLICE_READ ? (uint64_t)1 << s->log2 : UINT64_MAX;
	const uint64_t is = s->of[i][slice_column(class)];

	if (class < SLICE_READ && (int64_t)is < 0)
		return 0;
	return is < most ? is : most;
}
