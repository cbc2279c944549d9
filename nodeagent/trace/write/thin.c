/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Thinning, with a least duration (filter.time), and while a file grows towards its limit
 * (sampling.max_size): calls that are shorter than a least duration, and frames below a depth, are
 * left out. How long a call takes is known at its end, so the enters of the innermost open frames
 * wait until they are old enough; a call that ends before leaves nothing but a count. The file says
 * from where on, and how many.
 */
#include "nodeagent/trace/write/internal.h"

void thin_level(struct track *l, uint64_t units)
{
	static const struct vfd_thinning rows[] = {VFD_THINNING_ROWS};
	const struct vfd_thinning *row = &rows[l->writer->level];
	const double least = (double)row->ns * l->writer->units_per_ns;

	l->level = l->writer->level;
	l->thin_units = least < 0x1p62 ? (uint64_t)least : UINT64_MAX;
	if (l->thin_units < l->writer->least_units)
		l->thin_units = l->writer->least_units;
	l->thin_depth = row->depth;
	l->thin_precise = row->precise;
	l->sampler.interval = l->writer->interval_units * row->slower;
	track_put_mark(l, VFD_MARK_THINNING, l->thin_units, l->thin_depth, units);
}

static void release_first(struct track *l)
{
	const struct track_pending first = l->waiting[0];

	l->n_waiting--;
	memmove(l->waiting, l->waiting + 1, l->n_waiting * sizeof(l->waiting[0]));
	track_put_enter(l, first.stack, first.units);
}

void thin_release(struct track *l, uint64_t units, bool all)
{
	while (l->n_waiting && (all || (units > l->waiting[0].units &&
					       units - l->waiting[0].units >= l->thin_units)))
		release_first(l);
}

static bool exempt(const struct track *l, uint32_t stack)
{
	return !l->thin_precise && l->writer->precise[l->stacks[stack].function];
}

void thin_enter(struct track *l, uint32_t stack, uint64_t units)
{
	if (!stack)
		return;
	if (exempt(l, stack)) {
		/* what it is called from tells where it is */
		thin_release(l, units, true);
		track_put_enter(l, stack, units);
		return;
	}
	thin_release(l, units, false);
	if (l->stacks[stack].depth > l->thin_depth) {
		thin_count(l, 1);
		return;
	}
	if (l->n_waiting == PENDING_MOST)
		release_first(l);
	l->waiting[l->n_waiting++] = (struct track_pending){stack, units};
}

void thin_exit(struct track *l, uint32_t stack, uint64_t units)
{
	thin_release(l, units, false);
	if (l->n_waiting && l->waiting[l->n_waiting - 1].stack == stack) {
		l->n_waiting--;
		thin_count(l, 1);
	} else if (stack == l->fast.current || !stack || exempt(l, stack)) {
		/* frames that still wait lie above it, and end with it */
		thin_count(l, l->n_waiting);
		l->n_waiting = 0;
		track_put_exit(l, stack, units);
	}
}
