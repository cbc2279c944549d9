/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/profile/subtract.h"

#include <stdlib.h>
#include <string.h>
#include "nodeagent/base/util.h"
#include "nodeagent/profile/profile.h"
#include "nodeagent/profile/schema.h"

/*
 * Subtracts before (may be NULL) from the records of now, and removes those of which nothing
 * is left. Both lists are sorted; records in before only belong to removed stacks.
 */
static void subtract_list(
	struct profile *now, const struct profile *before, const struct profile_schema *s)
{
	size_t n, kept = 0, k = 0, n_before = 0;
	char *at = profile_records(now, s, &n);
	const char *was = before ? profile_records(before, s, &n_before) : NULL;

	for (size_t i = 0; i < n; i++) {
		char *record = at + i * s->bytes;
		int order = 1;

		while (k < n_before &&
			(order = profile_record_cmp(s, was + k * s->bytes, record)) < 0)
			k++;
		if (!profile_record_subtract(
			    s, record, k < n_before && !order ? was + k * s->bytes : NULL) &&
			s->rest != APART)
			profile_record_drop(s, record);
		else
			memmove(at + kept++ * s->bytes, record, s->bytes);
	}
	*profile_n(now, s) = kept;
}

static void subtract_lists(struct profile *now, const struct profile *before)
{
	for (enum profile_list i = 0; i < PROFILE_LISTS; i++) {
		const enum profile_rest rest = profile_schema[i].rest;

		if (rest == PROCESS || rest == APART)
			subtract_list(now, before, &profile_schema[i]);
		else if (rest != OWN && rest != KEPT)
			profile_drop_list(now, i);
	}
}

/* ---- stacks ------------------------------------------------------------------ */

static void one_process(struct profile_stack *s)
{
	s->excl_min_ns = s->excl_max_ns = s->excl_ns;
	s->excl_sumsq_ns2 = (unsigned __int128)s->excl_ns * s->excl_ns;
}

/* Subtracts stacks; same[i]: the stack of before that equals stack i of now, or PROFILE_NONE. */
static void subtract_stacks(struct profile *now, const struct profile *before, uint32_t *same)
{
	uint32_t k = 0;

	for (uint32_t i = 0; i < now->n_stacks; i++) {
		struct profile_stack *s = &now->stacks[i];

		same[i] = PROFILE_NONE;
		while (before && k < before->n_stacks && profile_stack_cmp(before, k, now, i) < 0)
			k++;
		if (!before || k >= before->n_stacks || profile_stack_cmp(before, k, now, i))
			continue;
		same[i] = k;
		profile_record_subtract(&profile_schema[PROFILE_STACKS], s, &before->stacks[k]);
		s->excl_ns = MIN(s->excl_ns, s->incl_ns);
		one_process(s);
	}
}

static void keep_above(const struct profile *p, bool *keep, uint32_t stack)
{
	for (; stack != PROFILE_NONE && !keep[stack]; stack = p->stacks[stack].parent)
		keep[stack] = true;
}

/* By stack: true if it has calls or times, is waited for, or is above such a one. The caller
 * frees. */
static bool *stacks_to_keep(const struct profile *p)
{
	bool *keep = xcalloc(p->n_stacks + 1, sizeof(*keep));

	for (uint32_t i = 0; i < p->n_stacks; i++) {
		const struct profile_stack *s = &p->stacks[i];

		if (!s->calls && !s->lost_calls && !s->incl_ns && s->parent != PROFILE_NONE)
			continue;
		keep_above(p, keep, i);
	}
	for (size_t i = 0; i < p->n_waits; i++)
		if (p->waits[i].late_stack)
			keep_above(p, keep, p->waits[i].late_stack - 1);
	return keep;
}

static void renumber(struct profile *p, const uint32_t *to)
{
	for (enum profile_list i = 0; i < PROFILE_LISTS; i++)
		profile_renumber_stacks(p, i, to);
}

static void drop_stacks(struct profile *p)
{
	bool *keep = stacks_to_keep(p);
	uint32_t *to = xmalloc((p->n_stacks + 1) * sizeof(*to)), n = 0;

	for (uint32_t i = 0; i < p->n_stacks; i++)
		to[i] = keep[i] ? n++ : PROFILE_NONE;
	for (uint32_t i = 0; i < p->n_stacks; i++) {
		struct profile_stack s = p->stacks[i];

		if (!keep[i])
			continue;
		if (s.parent != PROFILE_NONE)
			s.parent = to[s.parent];
		p->stacks[to[i]] = s;
	}
	p->n_stacks = n;
	renumber(p, to);
	free(to);
	free(keep);
}

/*
 * The lists go by the numbers of now's stacks: those of before get these, in a copy. The
 * order stays, as both are sorted alike.
 */
static struct profile *with_stacks_of(
	const struct profile *before, const struct profile *now, const uint32_t *same)
{
	struct profile *copy = profile_copy(before);
	uint32_t *to = xmalloc((before->n_stacks + 1) * sizeof(*to));

	memset(to, 0xff, (before->n_stacks + 1) * sizeof(*to));
	for (uint32_t i = 0; i < now->n_stacks; i++)
		if (same[i] != PROFILE_NONE)
			to[same[i]] = i;
	renumber(copy, to);
	free(to);
	profile_pairs_fold(copy, now->pair_ranks);
	return copy;
}

static void subtract_numbers(struct profile *now, const struct profile *before)
{
	profile_record_subtract(&profile_schema[PROFILE_JOB], now, before);
	now->runtime_s -= before->runtime_s < now->runtime_s ? before->runtime_s : now->runtime_s;
	now->start_s = before->end_s;
	if (!now->n_processes || !before->n_processes)
		return;
	profile_record_subtract(
		&profile_schema[PROFILE_PROCESSES], now->processes, before->processes);
	now->processes->runtime_s = now->runtime_s;
}

void profile_subtract(struct profile *now, const struct profile *before)
{
	uint32_t *same = xmalloc((now->n_stacks + 1) * sizeof(*same));
	struct profile *then;

	/* what there is thread by thread goes by the numbers of stacks, too */
	profile_drop_threads(now);
	subtract_stacks(now, before, same);
	then = before ? with_stacks_of(before, now, same) : NULL;
	subtract_lists(now, then);
	EACH(struct profile_function, f, now->functions, now->n_functions) {
		f->min_ns = f->max_ns = f->ns;
		f->sumsq_ns2 = (unsigned __int128)f->ns * f->ns;
	}
	memset(&now->matching, 0, sizeof(now->matching));
	if (before) {
		subtract_numbers(now, before);
		drop_stacks(now);
	}
	profile_free(then);
	free(same);
}

void profile_subtract_devices(
	struct profile *round, struct profile *now, const struct profile *before)
{
	for (enum profile_list i = 0; i < PROFILE_LISTS; i++) {
		if (profile_schema[i].rest != NODE)
			continue;
		subtract_list(now, before, &profile_schema[i]);
		profile_move_list(round, now, i);
	}
}
