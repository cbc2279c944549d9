/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The sorted lists of a profile: its communication, messages[] to places[] with
 * lost_messages, open_requests and ambiguous ones; and thread_ranges[]. Used by
 * profile.c, merge.c and gather-*.c only, which do the rest.
 */
#ifndef VFTR_NODEAGENT_PROFILE_MPI_H
#define VFTR_NODEAGENT_PROFILE_MPI_H

#include <stddef.h>
#include <stdint.h>

struct profile;

/* One of the arrays: where it is in struct profile, and the order of its elements. */
struct profile_list {
	size_t count, array; /* offsets of the members */
	size_t element_bytes;
	size_t text;				/* offset of the element's text, or SIZE_MAX */
	int (*cmp)(const void *, const void *); /* by key */
	void (*add)(void *, const void *);	/* numbers of one element to another's; no texts */
};

#define PROFILE_MPI_LISTS 8
#define PROFILE_N_LISTS	  22
/* messages, functions, sizes, pairs, comms, files, places, thread_ranges, openmp,
 * thread_pairs, counters, counts, gpu, gpu_streams, user_counters, switched,
 * gpu_devices, gpu_links, gpu_waits, openacc, in this order. */
extern const struct profile_list profile_lists[PROFILE_N_LISTS];

/* profile-gpu.c: the order of the lists about GPUs, and how two of one key are added. */
int profile_gpu_cmp(const void *x, const void *y);
int profile_gpu_stream_cmp(const void *x, const void *y);
int profile_gpu_device_cmp(const void *x, const void *y);
int profile_gpu_link_cmp(const void *x, const void *y);
int profile_gpu_wait_cmp(const void *x, const void *y);
void profile_gpu_add(void *x, const void *y);
void profile_gpu_stream_add(void *x, const void *y);
void profile_gpu_device_add(void *x, const void *y);
void profile_gpu_link_add(void *x, const void *y);
void profile_gpu_wait_add(void *x, const void *y);
/* NULL, or what is wrong with one of them. */
const char *profile_gpu_valid(const struct profile *p);
/* Where its stacks are now. */
void profile_gpu_place(struct profile *p, const uint32_t *place);
/* profile-openacc.c: the same for events of OpenACC. */
int profile_openacc_cmp(const void *x, const void *y);
void profile_openacc_add(void *x, const void *y);
const char *profile_openacc_valid(const struct profile *p);
void profile_openacc_place(struct profile *p, const uint32_t *place);

/*
 * profile-pairs.c: pairs[] and thread_pairs[] of groups of this many ranks, a power of 2;
 * of the least ones with which each has at most so many entries; what is wrong with them.
 */
void profile_pairs_fold(struct profile *p, uint32_t ranks);
void profile_pairs_limit(struct profile *p, size_t most);
/* thread_pairs[] have come later: as pair_ranks says. */
void profile_pairs_group_threads(struct profile *p);
const char *profile_pairs_valid(const struct profile *p);

void profile_mpi_free(struct profile *p);
/* c is a flat copy of a profile: its arrays become its own. */
void profile_mpi_copy(struct profile *c);
const char *profile_mpi_valid(const struct profile *p);

/* Unranked processes are numbered higher by `by`. */
void profile_mpi_shift(struct profile *p, uint32_t by);
/*
 * Moves all of b to a. place_a, place_b: where their stacks are in the result.
 * Any order of merging gives the same; b's arrays are empty afterwards.
 */
void profile_mpi_merge(
	struct profile *a, struct profile *b, const uint32_t *place_a, const uint32_t *place_b);

#endif
