/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers for "no rank" and "no thread", and the ends of processes; also stored in files. */
#ifndef VFTR_NODEAGENT_BASE_RANK_H
#define VFTR_NODEAGENT_BASE_RANK_H

#include <stdbool.h>
#include <stdint.h>

#define PROFILE_NONE UINT32_MAX
/* "Ranks" of processes that are in no MPI job: this plus 0, 1, 2 ... */
#define PROFILE_UNRANKED  (1u << 30)
#define PROFILE_ELSEWHERE (UINT32_MAX - 1) /* a rank of another MPI job */
/*
 * In the profile of a node: a rank of a spawned job on another node, which has no number here; this
 * plus some bits of a hash of its rank_id(). profile/far.c has what becomes of it.
 */
#define PROFILE_FAR (1u << 31)

/* A number for a rank of a job, the same on all nodes. */
static inline uint64_t rank_id(uint64_t job, uint32_t rank)
{
	return ((job ^ job >> 32) & 0x7fffffff) << 32 | rank;
}

static inline uint32_t rank_far(uint64_t id)
{
	const uint64_t h = (id ^ id >> 32) * 0x9e3779b97f4a7c15u;

	return PROFILE_FAR | (uint32_t)(h >> 34);
}

static inline bool rank_is_far(uint32_t rank)
{
	return rank >= PROFILE_FAR && rank < PROFILE_ELSEWHERE;
}

enum process_end {
	PROCESS_RUNNING = 0, /* still running when the data were written */
	PROCESS_EXITED,	     /* announced its end (BYE) */
	PROCESS_KILLED,	     /* ended by a signal, or vanished */
	PROCESS_EXECED,	     /* became another program */
};

#endif
