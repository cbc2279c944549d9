/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The lists of a profile by name, and the operations that are the same for all of them.
 * lists.def has the lists and their records. A keyed list is sorted by its key, each
 * key once; the others have an order of their own (profile.h).
 */
#ifndef VFTR_NODEAGENT_PROFILE_LISTS_H
#define VFTR_NODEAGENT_PROFILE_LISTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct profile;

enum profile_list {
#define PROFILE_PART(NAME, ...)	 PROFILE_##NAME,
#define PROFILE_TEXTS(NAME, ...) PROFILE_##NAME,
#define PROFILE_LIST(NAME, ...)	 PROFILE_##NAME,
#include "nodeagent/profile/lists.def"
	PROFILE_LISTS,
};

/*
 * For a keyed list whose records from `first` on are in any order, with repeated keys: sorts
 * them, and adds up those of one key. profile_combine(): all of its records.
 */
void profile_combine_from(struct profile *p, enum profile_list which, size_t first);
void profile_combine(struct profile *p, enum profile_list which);

/*
 * Replaces stack i by to[i]. Records of a keyed list are removed if a stack in their key becomes
 * PROFILE_NONE. The records keep their order: call profile_combine() next.
 */
void profile_renumber_stacks(struct profile *p, enum profile_list which, const uint32_t *to);

/*
 * Replaces each rank by to(arg, rank); removes records if a rank in their key becomes PROFILE_NONE.
 * The others keep their order, too.
 */
void profile_renumber_ranks(struct profile *p, enum profile_list which,
	uint32_t (*to)(const void *arg, uint32_t rank), const void *arg);

/*
 * Settles all keyed lists after profile_add(), where stack i has become to[i]: renumbers them
 * as above, then profile_combine(); merges pairs and ranges of ranks where possible, and
 * files beyond PROFILE_FILES_MAX.
 */
void profile_settle_lists(struct profile *p, const uint32_t *to);

/*
 * Between such additions, for lists that would grow with each process: adds up those of one key in
 * keyed lists that have more than twice as many records as after the last time; after: how many
 * these were, 0 at first. Bounds waits[] and posix_files[], too, the latter to twice
 * PROFILE_FILES_MAX. Not for pairs[], see profile_pairs_make_room().
 */
void profile_lists_make_room(struct profile *p, size_t after[PROFILE_LISTS]);

/* The next three are for lists, not for a PROFILE_PART, which is struct profile itself. */

/* One more record of the list, its last one: zeros. It may move the others. */
void *profile_add(struct profile *p, enum profile_list which);
/* Replaces to's list by that of `from`, which is empty then. */
void profile_move_list(struct profile *to, struct profile *from, enum profile_list which);
/* Empties the list. */
void profile_drop_list(struct profile *p, enum profile_list which);

/*
 * limits/pairs.c. fold: puts groups of `ranks` ranks, a power of 2, in place of the ranks in
 * pairs[] and thread_pairs[], and PROFILE_ELSEWHERE in place of those that have no groups, see
 * pair_ranks. limit: if one of the lists has more than `most` entries, or pair_ranks is not 0
 * already, the same with the smallest groups by which each list has at most `left`, which is not
 * more than `most`. join: what limit would do with the lists of both together, but before that is
 * done: then they never need room for more. valid: NULL, or what is wrong with the lists.
 */
void profile_pairs_fold(struct profile *p, uint32_t ranks);
void profile_pairs_limit(struct profile *p, size_t most, size_t left);
void profile_pairs_join(struct profile *a, struct profile *b, size_t most, size_t left);
/*
 * For a list pairs[] to whose end ranks were added one by one, in any order: groups them by
 * pair_ranks, sorts all, adds up those of one key, and limits them to PROFILE_PAIRS_MAX or
 * PROFILE_PAIRS_GROUPED. make_room, between such additions: the same once there are so many
 * that a node of a large job would need much memory for all.
 */
void profile_pairs_settle(struct profile *p);
void profile_pairs_make_room(struct profile *p);
/* Groups thread_pairs[], which came later, by pair_ranks. */
void profile_pairs_group_threads(struct profile *p);
const char *profile_pairs_valid(const struct profile *p);

/*
 * far.c: gives ranks on other nodes (PROFILE_FAR) the numbers that they have in the whole, or makes
 * them PROFILE_ELSEWHERE, in pairs[] PROFILE_FAR. To be called once for a profile that is shown,
 * not before merging.
 */
void profile_name_far(struct profile *p);
/* True if it would change what is shown. */
bool profile_has_far(const struct profile *p);

/*
 * limits/waits.c: for each kind at each stack keeps the PROFILE_LATE_MAX entries (a late rank, or
 * its thread at its stack) with the most time in waits[], which is sorted, and adds the others up
 * as one of PROFILE_ELSEWHERE. In causes[], where more ranks are told apart than that, those that
 * waits[] doesn't tell apart become PROFILE_ELSEWHERE.
 */
void profile_waits_limit(struct profile *p);

/*
 * limits/rank-times.c: if rank_times[], which is sorted, is of more than `most' ranks, keeps the
 * `extremes' ranks with the most and with the least of each measure, and adds the others up by
 * node, see profile_rank_time.others; the same for processes without a rank, of which the node is
 * not known.
 */
void profile_rank_times_limit(struct profile *p, uint64_t most, size_t extremes);
/* The same of memory_ranks[], see profile_memory_rank.others: limits/memory-ranks.c. */
void profile_memory_ranks_limit(struct profile *p, uint64_t most, size_t extremes);
/* limits/gpus.c: the same of gpu_streams[], streams and devices apart, and of gpu_devices[]. */
void profile_gpu_streams_limit(struct profile *p, uint64_t most, size_t extremes);
void profile_gpu_devices_limit(struct profile *p, uint64_t most, size_t extremes);
/*
 * limits/user-counters.c: if user_counters[], with what user_rests[] has of it, is more than `most'
 * entries, keeps of each counter the `extremes' with the greatest and the least value and mean, and
 * adds the others up in user_rests[]; and of all counters the `names' first in the alphabet.
 */
void profile_user_counters_limit(struct profile *p, uint64_t most, size_t extremes, size_t names);

/*
 * limits/comms.c: of comms[] keeps the `most' with the most members, of equal ones the lowest ids,
 * and adds the others up in comm_rests[].
 */
void profile_comms_limit(struct profile *p, size_t most);

/*
 * limits/gpu-links.c: if gpu_links[], with what gpu_link_rests[] has of it, is more than `most'
 * entries, keeps of each kind the `extremes' with the most and the least calls, bytes, time and
 * speed, and adds the others up in gpu_link_rests[].
 */
void profile_gpu_links_limit(struct profile *p, uint64_t most, size_t extremes);

/*
 * limits/ends.c: of dead[], which is sorted, keeps the first `most'. If ends[] are more than
 * `most', with those that have gone before, keeps the `of_each' earliest, and of each fate the
 * `of_each' lowest ranks. The others are counted.
 */
void profile_dead_limit(struct profile *p, size_t most);
void profile_ends_limit(struct profile *p, size_t most, size_t of_each);

/* limits/files.c: keeps the entries of posix_files[] with the most time, and makes the rest one, so
 * that there are at most `most`, which is not 0. */
void profile_files_limit(struct profile *p, size_t most);

#endif
