/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Profiles of nodes of a made-up job, always the same for the same shape: call paths that all
 * nodes have and some that no other node has, with times, messages and the rows by rank that
 * come with them.
 */
#ifndef VFTR_T_SCALE_SIM_NODE_PROFILE_H
#define VFTR_T_SCALE_SIM_NODE_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct profile;

enum traffic_shape {
	SHAPE_NONE,
	SHAPE_HALO, /* each rank with its neighbours in three dimensions */
	SHAPE_ALL,  /* each rank with each other */
	SHAPE_DICE, /* small profiles of t/unit/profile/random-profile.h, with every list filled */
};

struct job_shape {
	int n;		 /* nodes */
	uint32_t ranks;	 /* of each */
	uint32_t stacks; /* of each */
	uint32_t own;	 /* ... of these */
	enum traffic_shape traffic;
	bool cyclic; /* rank r is on node r modulo n; else ranks come in blocks. Not of dice */
	/* memory, two counters, a GPU with two streams, and MPI_COMM_SELF of each rank. Not of dice
	 */
	bool by_rank;
};

/* Rank k of a node, of those that it has, and whether it has this one. */
static inline uint32_t node_rank(const struct job_shape *s, int node, uint32_t k)
{
	return s->cyclic ? (uint32_t)node + k * (uint32_t)s->n : (uint32_t)node * s->ranks + k;
}

static inline bool node_has(const struct job_shape *s, int node, uint32_t rank)
{
	return (s->cyclic ? rank % (uint32_t)s->n : rank / s->ranks) == (uint32_t)node;
}

/* As gather() would give it; the caller frees. */
struct profile *node_profile(const struct job_shape *s, int node);
/* The name of its host. The caller frees. Their order is not that of the nodes. */
char *node_host(int node);
/* Ranks elsewhere that those of the node have sent messages to, ascending; the caller frees. */
uint64_t *node_partners(const struct job_shape *s, int node, size_t *n);

#endif
