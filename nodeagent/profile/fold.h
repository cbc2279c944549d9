/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Operations on lists beyond the roles of fields, named in lists.def. fold_*() (fold.c) add
 * members that are extremes with an owner, or belong together. check_*() (check.c): NULL, or a text
 * on what is wrong with a record.
 */
#ifndef VFTR_NODEAGENT_PROFILE_FOLD_H
#define VFTR_NODEAGENT_PROFILE_FOLD_H

struct profile;

void fold_job(void *to, const void *from);
void fold_begin(void *to, const void *from);
void fold_cpu(void *to, const void *from);
void fold_matching(void *to, const void *from);
void fold_stack(void *to, const void *from);
void fold_function(void *to, const void *from);
void fold_thread_range(void *to, const void *from);
void fold_openmp(void *to, const void *from);
void fold_lock(void *to, const void *from);
void fold_comm(void *to, const void *from);
void fold_gpu(void *to, const void *from);
void fold_gpu_stream(void *to, const void *from);
void fold_gpu_device(void *to, const void *from);
void fold_user_counter(void *to, const void *from);
void fold_user_rest(void *to, const void *from);
void fold_bad_end(void *to, const void *from);
void fold_far_rank(void *to, const void *from);
void fold_source(void *to, const void *from);
/* Exchanges both records where that is needed. */
void fold_start(void *to, const void *from);
void fold_iteration(void *x, const void *y);
void fold_rank_time(void *to, const void *from);
void fold_memory_rank(void *to, const void *from);

/* Times of different ranks of one node: sums, see profile_rank_time.others. */
struct profile_rank_time;
void fold_ranks_of_node(struct profile_rank_time *to, const struct profile_rank_time *from);

const char *check_begin(const struct profile *p, const void *record);
const char *check_cpu(const struct profile *p, const void *record);
const char *check_matching(const struct profile *p, const void *record);
const char *check_thread_stack(const struct profile *p, const void *record);
const char *check_thread_range(const struct profile *p, const void *record);
const char *check_thread_count(const struct profile *p, const void *record);
const char *check_openmp_thread(const struct profile *p, const void *record);
const char *check_size(const struct profile *p, const void *record);
const char *check_rank_range(const struct profile *p, const void *record);
const char *check_gpu(const struct profile *p, const void *record);
const char *check_gpu_link(const struct profile *p, const void *record);
const char *check_gpu_link_rest(const struct profile *p, const void *record);
const char *check_gpu_wait(const struct profile *p, const void *record);
const char *check_user_rest(const struct profile *p, const void *record);
const char *check_openacc(const struct profile *p, const void *record);
const char *check_open(const struct profile *p, const void *record);
const char *check_bad_end(const struct profile *p, const void *record);
const char *check_far_rank(const struct profile *p, const void *record);
const char *check_start(const struct profile *p, const void *record);
const char *check_compared(const struct profile *p, const void *record);
const char *check_sampled(const struct profile *p, const void *record);
const char *check_cause(const struct profile *p, const void *record);
const char *check_wait(const struct profile *p, const void *record);
const char *check_wait_pair(const struct profile *p, const void *record);
const char *check_lock(const struct profile *p, const void *record);
const char *check_iteration(const struct profile *p, const void *record);
const char *check_slice(const struct profile *p, const void *record);
const char *check_pruned(const struct profile *p, const void *record);
const char *check_rank_time(const struct profile *p, const void *record);

#endif
