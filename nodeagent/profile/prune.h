/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Call paths with little time, added up: below each caller the profile of a job has one row for
 * those of each kind (PRUNED_KINDS), and the profiles of the nodes have all of them. So where each
 * node of a large job has paths of its own, the job has few rows. Sums over the rows stay as they
 * were, and so does the time in MPI and in waits.
 *
 * The weight of a call path is the exclusive time, in ns, of it and of all paths that it calls, and
 * that of the work of GPUs which they started: a caller weighs no less than what it calls. A path
 * is a row of the job if its weight over all nodes is 1 / PRUNE_PART of all exclusive time or more,
 * or if a lock, a parallel region or a main loop is told of by its name. Without GPUs no more than
 * PRUNE_PART paths that do not call each other have so much.
 *
 * Nodes may prune before they are merged. All exclusive time is less where nodes are missing in the
 * end, so they prune what has less than half of that part. The result is then the same, to the
 * byte, as long as the missing nodes have no more than half of all time.
 */
#ifndef VFTR_NODEAGENT_PROFILE_PRUNE_H
#define VFTR_NODEAGENT_PROFILE_PRUNE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct conf;
struct profile;

#define PRUNED_NAME "(other call paths)"
#define PRUNE_PART  100000u

#define PRUNE_NEVER  UINT64_MAX /* for `from' */
#define PRUNE_ALWAYS UINT64_MAX /* a weight: a row, whatever its time is */

/*
 * _(KIND, name): rows of their own below one caller, so that tables that go by the functions' names
 * still tell waits and MPI from computing. All names end with PRUNED_NAME. MPI and OPENMP begin
 * with what names of their functions begin with.
 */
#define PRUNED_KINDS(_)                                                                            \
	_(FUNCTION, PRUNED_NAME)                                                                   \
	_(MPI, "MPI_* " PRUNED_NAME)                                                               \
	_(OPENMP_WAIT, "omp_* waits " PRUNED_NAME)                                                 \
	_(IDLE, "(idle) " PRUNED_NAME)                                                             \
	_(LOCK_WAIT, "lock waits " PRUNED_NAME)

enum pruned_kind {
#define PRUNED_KIND(kind, name) PRUNED_##kind,
	PRUNED_KINDS(PRUNED_KIND)
#undef PRUNED_KIND
		PRUNED_KINDS_END
};

/* The kind of row to which a function's call paths are added up, by its name; a row has its own. */
enum pruned_kind pruned_kind(const char *name);
/* True for the names of such rows. */
bool is_pruned_name(const char *name);

/* By stack: its weight in ns, or PRUNE_ALWAYS. The caller frees. Sums of those of several nodes
 * end at PRUNE_ALWAYS: prune_add(). */
uint64_t *prune_weights(const struct profile *p);
/* All exclusive time in ns, up to PRUNE_ALWAYS. */
uint64_t prune_total_ns(const struct profile *p);

static inline uint64_t prune_add(uint64_t a, uint64_t b)
{
	return a > PRUNE_ALWAYS - b ? PRUNE_ALWAYS : a + b;
}

/*
 * Leaves the stacks i with keep[i] and their callers, and adds the others up. keep[] is changed.
 * The number and times of a row PRUNED_NAME are sums over call paths, its inclusive time is its
 * exclusive one, and it is of no rank: nor is what other lists have of it, as ranks are not known
 * (0). If anything is added up, drops processes[] and the lists of single threads. below_ns, paths:
 * those of struct profile_pruned, which is only made then.
 */
void prune_others(struct profile *p, bool *keep, uint64_t below_ns, uint64_t paths);

/* The rows of PRUNED_KINDS in a profile. */
struct pruned_rows {
	size_t n;
	uint64_t excl_ns;
};
struct pruned_rows pruned_rows(const struct profile *p);

/* profile.prune: jobs with more call paths are pruned; PRUNE_NEVER: none is. */
uint64_t prune_from(const struct conf *c);

/*
 * Prunes the profile of a job if it has more than `from' call paths, or is pruned in part already.
 * To be called after profile_name_far().
 */
void prune_job(struct profile *p, uint64_t from);

#endif
