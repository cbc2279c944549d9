/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Copying a staging block into the ring with non-temporal stores: the lines go
 * to memory without being fetched first and without pushing anything of the
 * application out of its cache.
 */
#ifndef VFTR_SHM_COPY_H
#define VFTR_SHM_COPY_H

#include <stdint.h>
#include <string.h>
#include "shm/atomic.h"
#include "shm/record.h"

#if defined(__x86_64__)
#include <emmintrin.h>

static inline void copy_block(uint64_t *to, const uint64_t *from)
{
	__m128i *t = (__m128i *)(void *)to;
	const __m128i *f = (const __m128i *)(const void *)from;

	for (unsigned i = 0; i < BLOCK_BYTES / 16; i += 4) {
		__m128i a = _mm_load_si128(f + i), b = _mm_load_si128(f + i + 1);
		__m128i c = _mm_load_si128(f + i + 2), d = _mm_load_si128(f + i + 3);

		_mm_stream_si128(t + i, a);
		_mm_stream_si128(t + i + 1, b);
		_mm_stream_si128(t + i + 2, c);
		_mm_stream_si128(t + i + 3, d);
	}
	/* streaming stores are weakly ordered: B in ring_publish() needs this */
	_mm_sfence();
}
#else
static inline void copy_block(uint64_t *to, const uint64_t *from)
{
	memcpy(to, from, BLOCK_BYTES);
}
#endif

static inline void zero_block(uint64_t *block)
{
	memset(block, 0, BLOCK_BYTES);
	/* the zeroes are stored before the block gets its next position */
	fence_signal();
}

/* Words that are known to be readable, whatever sanitizers think of them; calls no function. */
static inline __attribute__((no_sanitize("address", "thread"))) void copy_words(
	uint64_t *to, const uint64_t *from, size_t words)
{
#if defined(__x86_64__)
	__asm__ volatile("rep movsq" : "+D"(to), "+S"(from), "+c"(words) : : "memory");
#else
	for (size_t i = 0; i < words; i++) {
		to[i] = from[i];
		__asm__ volatile("" : : : "memory"); /* not by memcpy() */
	}
#endif
}

#endif
