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
	for (size_t i = 0; i < p->n_open; i++) {
		shift(&p->open[i].rank_min, by);
		shift(&p->open[i].rank_max, by);
	}
	for (size_t i = 0; i < p->n_thread_ranges; i++) {
		shift(&p->thread_ranges[i].rank_min, by);
		shift(&p->thread_ranges[i].rank_max, by);
	}
	for (size_t i = 0; i < p->n_thread_pairs; i++) {
		shift(&p->thread_pairs[i].from, by);
		shift(&p->thread_pairs[i].to, by);
	}
	for (size_t i = 0; i < p->n_gpu_streams; i++)
		shift(&p->gpu_streams[i].rank, by);
	for (size_t i = 0; i < p->n_gpu_devices; i++)
		shift(&p->gpu_devices[i].rank, by);
	for (size_t i = 0; i < p->n_user_counters; i++)
		shift(&p->user_counters[i].rank, by);
	shift(&p->matching.worst_from, by);
	shift(&p->matching.worst_to, by);
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

/* Of equal ones that of the lesser ranks, so that the order of adding does not matter. */
static bool is_worse(const struct profile_matching *a, const struct profile_matching *b)
{
	if (!a->violations || !b->violations)
		return a->violations;
	if (a->worst_ns != b->worst_ns)
		return a->worst_ns > b->worst_ns;
	return a->worst_from != b->worst_from ? a->worst_from < b->worst_from
					      : a->worst_to < b->worst_to;
}

static void add_matching(struct profile_matching *to, const struct profile_matching *from)
{
	if (is_worse(from, to)) {
		to->worst_ns = from->worst_ns;
		to->worst_from = from->worst_from;
		to->worst_to = from->worst_to;
	}
	for (int i = 0; i < PROFILE_MATCH_LABELS; i++)
		to->pairs[i] += from->pairs[i];
	for (int i = 0; i < PROFILE_MATCH_REASONS; i++) {
		to->unmatched_sends[i] += from->unmatched_sends[i];
		to->unmatched_receives[i] += from->unmatched_receives[i];
	}
	to->not_shipped += from->not_shipped;
	to->lost_sends += from->lost_sends;
	to->lost_receives += from->lost_receives;
	to->late += from->late;
	to->overflow += from->overflow;
	to->too_long += from->too_long;
	to->violations += from->violations;
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
	for (size_t i = 0; i < a->n_open; i++)
		a->open[i].stack = place_a[a->open[i].stack];
	for (size_t i = 0; i < b->n_open; i++)
		b->open[i].stack = place_b[b->open[i].stack];
	for (size_t i = 0; i < a->n_openmp; i++)
		a->openmp[i].stack = place_a[a->openmp[i].stack];
	for (size_t i = 0; i < b->n_openmp; i++)
		b->openmp[i].stack = place_b[b->openmp[i].stack];
	for (size_t i = 0; i < a->n_counts; i++)
		a->counts[i].stack = place_a[a->counts[i].stack];
	for (size_t i = 0; i < b->n_counts; i++)
		b->counts[i].stack = place_b[b->counts[i].stack];
	profile_gpu_place(a, place_a);
	profile_gpu_place(b, place_b);
	profile_openacc_place(a, place_a);
	profile_openacc_place(b, place_b);
	profile_pairs_fold(a, b->pair_ranks);
	profile_pairs_fold(b, a->pair_ranks);
	for (size_t i = 0; i < PROFILE_N_LISTS; i++)
		merge_list(a, b, &profile_lists[i]);
	profile_pairs_limit(a, PROFILE_PAIRS_MAX);
	join_places(a);
	a->lost_messages += b->lost_messages;
	a->open_requests += b->open_requests;
	a->ambiguous_sends += b->ambiguous_sends;
	a->ambiguous_receives += b->ambiguous_receives;
	add_matching(&a->matching, &b->matching);
}
