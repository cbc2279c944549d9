/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Call paths of which there are too few stack samples to say anything: the runtime profile shows
 * their time with the nearest caller that has enough. What is known exactly has a row always.
 */
#include "nodeagent/report/log/few-samples.h"

#include <math.h>

#include "conf/conf.h"
#include "nodeagent/base/units.h"
#include "nodeagent/report/log/internal.h"

const struct profile_stack_samples *samples_of_stack(const struct profile *p, uint32_t stack)
{
	const struct profile_stack_samples *s = p->stack_samples;
	size_t n = p->n_stack_samples;

	while (n) { /* sorted by stack */
		const size_t half = n / 2;

		if (s[half].stack == stack)
			return &s[half];
		if (s[half].stack < stack) {
			s += half + 1;
			n -= half + 1;
		} else {
			n = half;
		}
	}
	return NULL;
}

double samples_error_s(uint64_t ns, uint64_t samples)
{
	return 2e-9 * (double)ns / sqrt((double)samples);
}

bool calls_are_known(const struct profile *p, uint64_t calls)
{
	return calls || !p->n_stack_samples;
}

static bool has_few(const struct report *r, const struct profile_stack_samples *s)
{
	const struct profile_stack *at = &r->p->stacks[s->stack];

	return at->estimated && !at->calls && r->parent[s->stack] != PROFILE_NONE &&
	       s->all < (uint64_t)r->c->profile_table_min_samples;
}

/* The one that it is shown with: itself, or a caller. */
static uint32_t shown_with(const struct report *r, const struct few_samples *few, uint32_t stack)
{
	while (few->rows[stack].is_folded)
		stack = r->parent[stack];
	return stack;
}

/* Whatever has called something that is shown is shown, too. */
static void show_callers(const struct report *r, struct few_samples *few)
{
	for (uint32_t i = 0; i < r->p->n_stacks; i++)
		for (uint32_t up = i; !few->rows[up].is_folded && r->parent[up] != PROFILE_NONE;) {
			up = r->parent[up];
			if (!few->rows[up].is_folded)
				break; /* its own turn has come, or will */
			few->rows[up].is_folded = false;
		}
}

static void add_times(const struct report *r, struct few_samples *few)
{
	for (uint32_t i = 0; i < r->p->n_stacks; i++) {
		const uint64_t ns = r->p->stacks[i].excl_ns;

		few->rows[shown_with(r, few, i)].excl_ns += ns;
		if (few->rows[i].is_folded) {
			few->n++;
			few->excl_ns += ns;
		}
	}
	EACH(const struct profile_stack_samples, s, r->p->stack_samples, r->p->n_stack_samples)
		few->rows[shown_with(r, few, s->stack)].samples += s->own;
}

struct few_samples *few_samples_new(const struct report *r)
{
	struct few_samples *few;

	if (!r->p->n_stack_samples || !r->c->profile_table_min_samples)
		return NULL;
	few = xcalloc(1, sizeof(*few) + r->p->n_stacks * sizeof(*few->rows));
	EACH(const struct profile_stack_samples, s, r->p->stack_samples, r->p->n_stack_samples)
		few->rows[s->stack].is_folded = has_few(r, s);
	show_callers(r, few);
	add_times(r, few);
	return few;
}

void few_samples_say(FILE *f, const struct report *r, const struct few_samples *few)
{
	if (!few || !few->n)
		return;
	fprintf(f,
		"%s call %s of fewer than %lld stack samples, with together %.1f %% (%.2f s), %s "
		"part of their callers here:\nprofile_table.min_samples=0 shows all; the JSON file "
		"and flame graphs have them\n",
		quantity_grouped(few->n).text, one_or_many(few->n, "path", "paths"),
		r->c->profile_table_min_samples,
		r->excl_s > 0.0 ? 1e-7 * (double)few->excl_ns / r->excl_s : 0.0,
		1e-9 * (double)few->excl_ns, one_or_many(few->n, "is", "are"));
}
