/* SPDX-License-Identifier: BSD-3-Clause */
/* Merging the lists of two profiles that are sorted by unique keys: communication, threads. */
#include <stdlib.h>
#include <string.h>

#include "nodeagent/profile-mpi.h"
#include "nodeagent/profile.h"
#include "nodeagent/util.h"

static void shift(uint32_t *rank, uint32_t by)
{
	if (*rank >= PROFILE_UNRANKED && *rank != PROFILE_ELSEWHERE)
		*rank += by;
}

void profile_mpi_shift(struct profile *p, uint32_t by)
{
	for (size_t i = 0; i < p->n_functions; i++) {
		shift(&p->functions[i].rank_min, by);
		shift(&p->functions[i].rank_max, by);
	}
	for (size_t i = 0; i < p->n_pairs; i++) {
		shift(&p->pairs[i].from, by);
		shift(&p->pairs[i].to, by);
	}
	for (size_t i = 0; i < p->n_thread_ranges; i++) {
		shift(&p->thread_ranges[i].rank_min, by);
		shift(&p->thread_ranges[i].rank_max, by);
	}
	for (size_t i = 0; i < p->n_places; i++) {
		shift(&p->places[i].first, by);
		shift(&p->places[i].last, by);
	}
}

/* Of two names the first in the alphabet: whoever is asked first must not matter. */
static void join_texts(char **to, char *from)
{
	if (!*to || (from && strcmp(from, *to) < 0)) {
		free(*to);
		*to = from;
	} else {
		free(from);
	}
}

static void merge_list(struct profile *a, struct profile *b, const struct profile_list *l)
{
	size_t *count = (size_t *)((char *)a + l->count), *rest = (size_t *)((char *)b + l->count);
	char **array = (char **)((char *)a + l->array), **other = (char **)((char *)b + l->array);
	const size_t size = l->element_bytes;
	char *x = *array, *x_end = x + *count * size, *y = *other, *y_end = y + *rest * size;
	char *out = xcalloc(*count + *rest, size), *to = out;

	while (x < x_end || y < y_end) {
		int order = x == x_end ? 1 : y == y_end ? -1 : l->cmp(x, y);

		memcpy(to, order <= 0 ? x : y, size);
		if (order == 0 && l->add) {
			l->add(to, y);
			if (l->text != SIZE_MAX)
				join_texts((char **)(to + l->text), *(char **)(y + l->text));
		}
		x += order <= 0 ? size : 0;
		y += order > 0 || (order == 0 && l->add) ? size : 0;
		to += size;
	}
	free(*array);
	free(*other);
	*array = out;
	*count = (to - out) / size;
	*other = NULL;
	*rest = 0;
}

/* Neighbouring ranks of one host become one place; of overlapping places the first stays. */
static void join_places(struct profile *p)
{
	size_t kept = 0;

	for (size_t i = 0; i < p->n_places; i++) {
		struct profile_place next = p->places[i];
		struct profile_place *last = kept ? &p->places[kept - 1] : NULL;

		if (last && next.first <= last->last)
			next.first = last->last + 1;
		if (next.first > next.last) {
			free(next.host);
			continue;
		}
		if (last && next.first == last->last + 1 && next.first != PROFILE_UNRANKED &&
			!strcmp(last->host, next.host)) {
			last->last = next.last;
			free(next.host);
			continue;
		}
		p->places[kept++] = next;
	}
	p->n_places = kept;
}

void profile_mpi_merge(
	struct profile *a, struct profile *b, const uint32_t *place_a, const uint32_t *place_b)
{
	for (size_t i = 0; i < a->n_messages; i++)
		a->messages[i].stack = place_a[a->messages[i].stack];
	for (size_t i = 0; i < b->n_messages; i++)
		b->messages[i].stack = place_b[b->messages[i].stack];
	for (size_t i = 0; i < a->n_thread_ranges; i++)
		a->thread_ranges[i].stack = place_a[a->thread_ranges[i].stack];
	for (size_t i = 0; i < b->n_thread_ranges; i++)
		b->thread_ranges[i].stack = place_b[b->thread_ranges[i].stack];
	for (size_t i = 0; i < a->n_openmp; i++)
		a->openmp[i].stack = place_a[a->openmp[i].stack];
	for (size_t i = 0; i < b->n_openmp; i++)
		b->openmp[i].stack = place_b[b->openmp[i].stack];
	for (size_t i = 0; i < PROFILE_N_LISTS; i++)
		merge_list(a, b, &profile_lists[i]);
	join_places(a);
	a->lost_messages += b->lost_messages;
	a->open_requests += b->open_requests;
	a->ambiguous_sends += b->ambiguous_sends;
	a->ambiguous_receives += b->ambiguous_receives;
}
