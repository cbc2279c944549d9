/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Merging is the one operation on node profiles: between agents, of files,
 * and of checkpoints. It is associative: any tree over the same sequence of
 * nodes gives the same result to the last bit, but for what is told apart where
 * a limit adds the rest up: more than PROFILE_LATE_MAX late ranks at a stack in
 * waits[] and causes[], more than PROFILE_FILES_MAX files in posix_files[]; and but
 * for the form of rank_ranges[] where two nodes have one rank, or nodes with one
 * host name have very many; and but for rank_times[] of more than PROFILE_RANKS_MAX
 * ranks where two nodes have one rank, which counts once or twice. It is
 * not commutative, as processes without a rank are numbered in the order of the
 * nodes, which is that of the host names everywhere.
 */
#ifndef VFTR_NODEAGENT_PROFILE_MERGE_H
#define VFTR_NODEAGENT_PROFILE_MERGE_H

struct profile;

/*
 * Both valid or NULL; both are consumed, the result is a's, b's or new. Stacks
 * are matched by whole paths, not by hash alone. Unranked processes of b are
 * numbered after those of a. If both are given, processes[] and the lists of
 * single threads are dropped (profile_drop_processes()). The time is proportional
 * to the sizes of a and b.
 */
struct profile *profile_merge(struct profile *a, struct profile *b);

/* Sorts agents[] and dead[]; elements that compare equal are shown in the same way. */
void profile_sort(struct profile *p);

#endif
