/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a program does with memory: the record of a block, and the interface in the process
 * between libvftrace and libvftrace-memory.so, which stands in for the malloc functions.
 *
 * An allocation has no frame. Of `large` bytes or more each one is recorded; smaller ones are
 * sampled: a Poisson process over the bytes that a thread asks for has one point in `mean` bytes,
 * and an allocation with a point in it is recorded. It stands for memory_weight() bytes, so that
 * sums over samples are unbiased.
 */
#ifndef VFTR_SHM_MEMORY_H
#define VFTR_SHM_MEMORY_H

#include <stdbool.h>
#include <stdint.h>
#include "shm/record.h"

/*
 * MEMORY: in place of the time the kind and flags. The last word has MARK.
 *   ALLOCATED  word 1 = bytes asked for; word 2 = stretch << 32 | block; word 3 = MARK | ticks
 *   FREED      word 1 = 0; word 2 = stretch << 32 | block; word 3 = MARK | ticks
 *   TOTALS     of the thread, since its last such record: word 1 = calls that allocate; word 2 =
 *              bytes that they asked for; word 3 = MARK | blocks given back
 *   BELONGS    word 1 = 0; word 2 = block; word 3 = MARK. The block is to count as if it had been
 *              allocated in the frame that is open now; a record before this one, of the same
 *              thread, tells of it.
 * block: its number in the process, which is not used again; 0: that it is freed will not be
 * recorded. With MAPPED it is memory that the program has from the kernel, by mmap(), of which
 * every block is recorded. stretch: how many times the live bytes of the process, as the records
 * tell of them, had been more than ever before. With PEAK they are so now, and the next stretch
 * begins.
 */
enum memory_kind { MEMORY_ALLOCATED, MEMORY_FREED, MEMORY_TOTALS, MEMORY_BELONGS, MEMORY_KINDS };

#define MEMORY_MARK	  ((uint64_t)1 << 63)
#define MEMORY_PEAK	  ((uint64_t)1 << 8)
#define MEMORY_MAPPED	  ((uint64_t)1 << 9)
#define MEMORY_KIND(w)	  ((uint32_t)((w) >> RECORD_TIME_SHIFT) & 0xff)
#define MEMORY_HAS(w, f)  ((w) >> RECORD_TIME_SHIFT & (f))
#define MEMORY_BLOCK(w)	  ((uint32_t)(w))
#define MEMORY_STRETCH(w) ((uint32_t)((w) >> 32))

static inline uint64_t memory_word(enum memory_kind kind, uint64_t flags)
{
	return (flags | (uint64_t)kind) << RECORD_TIME_SHIFT | RECORD_MEMORY;
}

static inline uint64_t memory_block_word(uint32_t stretch, uint32_t block)
{
	return (uint64_t)stretch << 32 | block;
}

/* 1 - exp(-x) for x >= 0, without the mathematical library. */
static inline double memory_chance(double x)
{
	double sum = 0, term = 1;
	unsigned halved = 0;

	if (x > 40)
		return 1;
	for (; x > 1.0 / 64; x /= 2)
		halved++;
	for (unsigned i = 1; i < 8; i++)
		sum += term *= -x / i;
	for (; halved; halved--)
		sum *= 2 + sum;
	return -sum;
}

/* The bytes that an allocation which was recorded stands for. */
static inline double memory_weight(uint64_t bytes, uint64_t large, uint64_t mean)
{
	return bytes >= large || !bytes
		       ? (double)bytes
		       : (double)bytes / memory_chance((double)bytes / (double)mean);
}

/* ---- the interface in the process --------------------------------------------------------- */

#define MEMORY_SEAM_VERSION 1u

enum memory_state {
	MEMORY_OFF,   /* nothing is recorded, for good */
	MEMORY_LATER, /* nothing is recorded now */
	MEMORY_ON,
};

/* Functions that libvftrace offers. Any thread and any signal handler may call them; errno is
 * kept. */
struct memory_host {
	uint32_t version;
	/* Attaches if need be. */
	enum memory_state (*state)(void);
	/* Number of forks so far: what was recorded before one is another process's. */
	uint32_t (*generation)(void);
	/* With MEMORY_ON, of this process. */
	void (*wanted)(uint64_t *large, uint64_t *mean);
	/* The four words of a record, in the frame that is open. Nothing happens where the thread
	 * does not record. */
	void (*record)(uint64_t head, uint64_t a, uint64_t b, uint64_t last);
	uint64_t (*ticks)(void);
};

/* libvftrace exports vftrace_memory_host(). */
typedef const struct memory_host *memory_host_function(void);

/*
 * libvftrace-memory.so exports vftrace_memory_belongs() for libvftrace-annotations.so: the
 * program's data at p, of so many bytes, are in a block that the calling thread has just allocated;
 * it belongs to the frame that is open. Nothing happens if that block is not recorded.
 */
typedef void memory_belongs_function(const void *p, uint64_t bytes);

#endif
