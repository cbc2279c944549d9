/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * To which ranks the waits for ranks go back, by what these did. A wait for rank B is shared out to
 * the call paths in which B was meanwhile (causes[] of the profile). Where B was in a call of MPI
 * that waits itself, that part goes on to the ranks for which it waits there, and so on. How much
 * of it, and to whom, is estimated: a profile has waits by call path and late rank, and by pairs of
 * ranks, not by both; and what a call takes beyond its waits is shared evenly by the ranks that
 * make it. The sum of all costs is that of all waits for ranks.
 */
#ifndef VFTR_NODEAGENT_REPORT_DELAYS_DELAYS_H
#define VFTR_NODEAGENT_REPORT_DELAYS_DELAYS_H

#include <stddef.h>
#include <stdint.h>

struct profile;
struct waits;

#define DELAYS_ROUNDS_MAX 64 /* ranks in a chain; what goes further stays where it is then */
/* What ranks did in call paths, times those for whom others wait there: what comes to further ones
 * stays there. Smaller in tests. */
#ifndef DELAYS_EDGES_MAX
#define DELAYS_EDGES_MAX (1u << 22) /* 64 MiB */
#endif

struct delay {
	uint32_t rank;	  /* PROFILE_ELSEWHERE: of ranks that are not told apart */
	uint32_t stack;	  /* in which it was; PROFILE_NONE: not known */
	double cost_ns;	  /* waits of all ranks that go back to this */
	double direct_ns; /* part of it: of ranks that waited for this one */
	/* by how much this rank was longer in this call path than the mean of all ranks; NAN: not
	 * known, as it is known of the rank with the greatest time only */
	double own_ns;
};

/* By rising rank, those of one by falling cost. Each rank for which others have waited is there. */
struct delays {
	struct delay *at;
	size_t n;
};

/* Sets *d; to be freed by delays_done(). It takes time with the number of causes[] of p times the
 * late ranks of a place, up to DELAYS_EDGES_MAX, for each round. */
void delays_of(const struct profile *p, struct delays *d);
/* Those of a rank; *n: their number. */
const struct delay *delays_of_rank(const struct delays *d, uint32_t rank, size_t *n);
/*
 * Sets the costs of w's causes, waits of the same profile, and sorts these by falling cost. Waits
 * for threads have no other cost than their time. *d must outlive w.
 */
void delays_join(const struct delays *d, struct waits *w);
void delays_done(struct delays *d);

#endif
