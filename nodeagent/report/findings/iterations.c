/* SPDX-License-Identifier: BSD-3-Clause */
/* Iterations of the main loop that are far longer than others of their kind. */
#include <stdlib.h>

#include "nodeagent/report/findings/internal.h"
#include "nodeagent/report/main-loop.h"

/* What they took beyond the median of their kind, summed over ranks. */
static double lost_in(const struct main_loop *l)
{
	double s = 0.0;

	for (size_t i = 0; i < l->n_slow; i++) {
		const struct loop_step *at = &l->steps[l->slow[i]];

		s += fmax(0.0, at->mean - loop_usual_s(l, at)) * (double)at->n * at->ranks;
	}
	return s;
}

static void say_slow(const struct facts *facts, struct finding *f, const struct main_loop *l)
{
	const struct loop_step *longest = &l->steps[l->slow[0]];
	char *path = short_path(facts->r, l->stack);
	char *why = loop_cause_text(facts->r, l, longest);

	finding_say(f,
		"%zu of %" PRIu64 " iterations %s %s %s far longer than others of their kind, by "
		"%s; the longest, number %" PRIu64 ", took %s in place of %s%s%s.",
		l->n_slow, l->n, l->is_separated ? "between calls of" : "of", path,
		l->n_slow == 1 ? "is" : "are", amount_of(facts, f->seconds).text, longest->at,
		quantity_seconds(longest->most).text,
		quantity_seconds(loop_usual_s(l, longest)).text, why ? ": " : "", why ?: "");
	prove_stack(f, facts->r, l->stack);
	prove_count(f, "iterations", l->n);
	prove_count(f, "slow", l->n_slow);
	prove_count(f, "most_at", longest->at);
	prove_seconds(f, "most_s", longest->most);
	prove_seconds(f, "median_s", l->median);
	prove_text(f, "cause", loop_cause_name(longest->cause));
	free(path);
	free(why);
}

bool look_slow_iterations(const struct facts *facts, struct finding *f)
{
	struct main_loop l;
	bool found;

	if (!main_loop_of(facts->p, &l))
		return false;
	found = l.n_slow;
	if (found) {
		f->seconds = lost_in(&l);
		say_slow(facts, f, &l);
	}
	main_loop_done(&l);
	return found;
}
