/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A binomial tree of the agents, known to each without a message. Its root is agent 0; the agents
 * below one have the ranks that follow its own: those from rank to tree_end() - 1.
 */
#ifndef VFTR_NODEAGENT_NET_TREE_H
#define VFTR_NODEAGENT_NET_TREE_H

/* The parent of an agent above 0. */
static inline int tree_parent(int rank)
{
	return rank & (rank - 1);
}

/* The child of rank with the number k, from 0; -1: there are not so many. */
static inline int tree_child(int size, int rank, int k)
{
	const int step = k < 31 ? (int)(1u << k) : 0;

	return !step || (rank && step >= (rank & -rank)) || step >= size - rank ? -1 : rank + step;
}

/* One more than the last agent of the tree below rank. */
static inline int tree_end(int size, int rank)
{
	const int all = rank ? rank & -rank : size;

	return all < size - rank ? rank + all : size;
}

/* The child of rank on the way to `to`, another agent of its tree. */
static inline int tree_towards(int rank, int to)
{
	return rank + (int)(1u << (31 - __builtin_clz((unsigned)(to - rank))));
}

#endif
