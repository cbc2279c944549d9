/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The bytes that a collective call moves between this rank and others: the arguments
 * that give them, and their sums, at most INT64_MAX. A count that is the same for all ranks
 * takes the same time for any number of ranks.
 */
#ifndef VFTR_MPI_RECORDER_AMOUNT_H
#define VFTR_MPI_RECORDER_AMOUNT_H

#include "mpi/object/comm.h"

/* The arguments that say what is moved to or from each rank i. */
enum amount {
	AMOUNT_NONE,
	AMOUNT_COUNT,	      /* k->count of k->type */
	AMOUNT_RCOUNT,	      /* k->rcount of k->rtype */
	AMOUNT_COUNTS,	      /* k->counts[i] of k->type */
	AMOUNT_RCOUNTS,	      /* k->rcounts[i] of k->rtype */
	AMOUNT_RCOUNTS_OWN,   /* k->rcounts[rank] of k->rtype, to everybody */
	AMOUNT_COUNTS_TYPES,  /* k->counts[i] of k->types[i] */
	AMOUNT_RCOUNTS_TYPES, /* k->rcounts[i] of k->rtypes[i] */
};

/* True if the amount may differ from rank to rank. */
static inline bool amount_differs(enum amount a)
{
	return a >= AMOUNT_COUNTS && a != AMOUNT_RCOUNTS_OWN;
}

#define NOT_THERE UINT32_MAX

/* The ranks 0 to n - 1 without `self`, and without those of the first 64 that are missing. */
struct whom {
	uint32_t n, self;
	uint64_t missing;
};

static inline bool whom_has(const struct whom *w, uint32_t i)
{
	return i != w->self && !(i < 64 && w->missing >> i & 1);
}

/* The number of these ranks. */
static inline uint32_t whom_number(const struct whom *w)
{
	const uint64_t there = w->n < 64 ? ((uint64_t)1 << w->n) - 1 : UINT64_MAX;

	uint32_t n = w->n - (w->self < w->n);

	return w->missing ? n - (uint32_t)__builtin_popcountll(w->missing & there) : n;
}

static inline uint64_t plus(uint64_t a, uint64_t b)
{
	return a > INT64_MAX - b ? INT64_MAX : a + b;
}

/* A negative number of elements is an error that MPI reports. */
static inline uint64_t times(MPI_Count n, uint64_t size)
{
	uint64_t product;

	if (n <= 0)
		return 0;
	if (__builtin_mul_overflow((uint64_t)n, size, &product) || product > INT64_MAX)
		return INT64_MAX;
	return product;
}

/* Bytes to or from rank i; the sum over all of w; and the type as in the records. */
uint64_t vftr_amount_of(const struct mpi_call *k, enum amount a, uint32_t i);
uint64_t vftr_amount_for(
	const struct mpi_call *k, const struct mpi_comm *c, enum amount a, const struct whom *w);
uint32_t vftr_amount_type(const struct mpi_call *k, enum amount a, const struct whom *w);

#endif
