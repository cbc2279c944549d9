/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the time of a rank was spent for, and what it read and wrote, slice by slice: slices[] of a
 * profile. They begin where the window does, and are a power of 2 ns long, so that there are at most
 * SLICES: those of all ranks, of whatever node, are laid over each other.
 */
#include "nodeagent/gather/internal.h"

#include <stdlib.h>

#include "conf/conf.h"
#include "nodeagent/base/util.h"
#include "nodeagent/process/host.h"
#include "nodeagent/process/process.h"
#include "nodeagent/profile/lists.h"
#include "nodeagent/profile/profile.h"
#include "nodeagent/replay/files.h"
#include "nodeagent/replay/tree/calltree.h"
#include "nodeagent/replay/tree/slices.h"

#define SLICES 128u
#define ROWS   256u /* of all ranks */

struct sums {
	double of[SLICES][SLICE_CLASSES]; /* ns, and bytes */
};

/* Slice [from, to), ns from the begin of the window, of the classes from `first' on, is shared out
 * by the time that lies in each. */
static void share_out(struct sums *s, enum slice_class first, unsigned log2, double from, double to,
	const double *parts)
{
	const double each = (double)((uint64_t)1 << log2);

	for (double at = from < 0.0 ? 0.0 : from; at < to;) {
		const size_t i = (size_t)(at / each);
		const double end = (double)(i + 1) * each, until = end < to ? end : to;

		if (i >= SLICES)
			return;
		for (unsigned k = 0; k < SLICE_COLUMNS; k++)
			s->of[i][first + k] += parts[k] * (until - at) / (to - from);
		at = until;
	}
}

/* first: the class of column 0. */
static void read_slices(const struct gather_from *g, const struct slices *all,
	enum slice_class first, unsigned log2, struct sums *s)
{
	const struct clocks *c = &g->host->clocks;
	uint64_t begin, ticks;
	const size_t n = slices_count(all, &begin, &ticks);
	const int64_t shift = (int64_t)(begin - g->p->window.begin);
	const double ns_before = (shift < 0 ? -1.0 : 1.0) *
				 (double)clocks_ns(c, (uint64_t)(shift < 0 ? -shift : shift)),
		     each = (double)clocks_ns(c, ticks);

	for (size_t i = 0; i < n; i++) {
		double parts[SLICE_COLUMNS];

		for (unsigned k = 0; k < SLICE_COLUMNS; k++) {
			const uint64_t is = slices_of(all, i, first + k);

			parts[k] = (double)(first == SLICE_MPI ? clocks_ns(c, is) : is);
		}
		share_out(s, first, log2, ns_before + (double)i * each,
			ns_before + (double)(i + 1) * each, parts);
	}
}

static uint64_t at_most(double ns, uint64_t most)
{
	return ns < (double)most ? (uint64_t)ns : most;
}

void gather_slices(const struct gather_from *g)
{
	const struct node *root = calltree_root(g->p->ended_tree);
	const struct slices *all = root->extra ? root->extra->slices : NULL,
			    *bytes = files_slices(g->p->files);
	const struct time_window *w = &g->p->window;
	const uint64_t window =
		w->end > w->begin ? clocks_ns(&g->host->clocks, w->end - w->begin) : 0;
	const uint32_t ranks = g->p->size > 0 ? (uint32_t)g->p->size : 1,
		       each = (ranks + ROWS - 1) / ROWS;
	struct sums *s;
	unsigned log2 = 10;

	if (!g->host->conf->iterations_active || !w->whole || !window ||
		g->rank >= PROFILE_UNRANKED)
		return;
	while ((window - 1) >> log2 >= SLICES)
		log2++;
	s = xcalloc(1, sizeof(*s));
	if (all) /* it has called MPI */
		read_slices(g, all, SLICE_MPI, log2, s);
	if (bytes)
		read_slices(g, bytes, SLICE_READ, log2, s);
	for (uint64_t i = 0; i << log2 < window; i++) {
		const uint64_t left = window - (i << log2), whole = (uint64_t)1 << log2;
		struct profile_slice *to = profile_add(g->out, PROFILE_SLICES);

		*to = (struct profile_slice){.rank = g->rank / each * each,
			.log2 = log2,
			.number = i,
			.ranks = 1,
			.ns = left < whole ? left : whole,
			.bytes_read = (uint64_t)(s->of[i][SLICE_READ] + 0.5),
			.bytes_written = (uint64_t)(s->of[i][SLICE_WRITTEN] + 0.5)};
		to->mpi_ns = at_most(s->of[i][SLICE_MPI], to->ns);
		to->wait_ns = at_most(s->of[i][SLICE_WAIT], to->mpi_ns);
	}
	free(s);
}
