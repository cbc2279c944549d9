/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the files of this folder offer each other. All of it may run in signal handlers, in a
 * child of vfork(), and before any constructor; nothing allocates from the heap, takes a lock,
 * or changes errno.
 */
#ifndef VFTR_MEMORY_MEMORY_H
#define VFTR_MEMORY_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "libc/interpose.h"
#include "shm/atomic.h"
#include "shm/memory.h"

/* ---- real.c: the functions of whoever comes behind us ---- */

/* Before they are looked for, functions that look for them. */
struct memory_real {
	void *(*malloc)(size_t size);
	void (*free)(void *p);
	void *(*calloc)(size_t n, size_t size);
	void *(*realloc)(void *p, size_t size);
	int (*posix_memalign)(void **p, size_t alignment, size_t size);
	void *(*aligned_alloc)(size_t alignment, size_t size);
	void *(*memalign)(size_t alignment, size_t size);
	void *(*valloc)(size_t size);
	void *(*pvalloc)(size_t size);
	/* NULL before they are found: ask the kernel */
	void *(*mmap)(void *at, size_t length, int prot, int flags, int fd, off_t offset);
	int (*munmap)(void *at, size_t length);
	void *(*mremap)(void *old, size_t old_length, size_t length, int flags, ...);
};
extern struct memory_real memory_real;

/* Finds them all. */
void memory_find_real(void);

/* True for what was allocated while we looked for them; *size: how much. It is never freed. */
bool memory_is_early(const void *p, size_t *size);

/* ---- blocks.c: the live blocks that were recorded ---- */

/* By memory_place(): not 0 if a block there was recorded, or is early. */
#define MEMORY_PLACES_LOG 14
extern uint8_t memory_places[1 << MEMORY_PLACES_LOG];

static inline uint32_t memory_place(const void *p)
{
	return (uint32_t)((uintptr_t)p >> 4) * 0x9e3779b1u >> (32 - MEMORY_PLACES_LOG);
}

static inline bool memory_may_know(const void *p)
{
	return load_relaxed(&memory_places[memory_place(p)]) != 0;
}

/* From now on memory_may_know(p), for good. */
void memory_mark(const void *p);
/* False: there is no room. weight: bytes that it stands for. */
bool memory_put(const void *p, uint32_t number, float weight);
/* The block is no longer there. False: it was not. */
bool memory_take(const void *p, uint32_t *number, float *weight);
/* Forgets all but what was marked. No other thread is there. */
void memory_forget(void);

/* ---- sample.c: which allocations are recorded ---- */

struct memory_thread {
	int64_t left; /* bytes to the next sample */
	uint64_t allocations, frees;
	int64_t drawn;	 /* left, when it was drawn last */
	uint64_t bytes;	 /* of all allocations, up to then, and of all large ones */
	uint64_t random; /* 0: the thread has not begun */
	uint64_t told_allocations, told_bytes, told_frees;
	uint32_t untold;  /* records since then */
	uint32_t endings; /* calls of the key's destructor so far */
};
extern __thread struct memory_thread memory_self
	__attribute__((tls_model("initial-exec"), visibility("hidden")));

/* Allocations of so many bytes are looked at; 0 until it is known. */
extern size_t memory_large;

/* The calling thread asks for so many bytes. True: memory_look() is to be called. */
static inline bool memory_asked(struct memory_thread *t, size_t size)
{
	t->allocations++;
	return unlikely(size >= load_relaxed(&memory_large)) ||
	       unlikely((t->left -= (int64_t)size) < 0);
}

/* p was allocated for code at `caller`; NULL: there was none. */
void memory_look(void *p, size_t size, const void *caller);
/* The same of what the kernel gave. */
void memory_mapped(void *p, size_t size, const void *caller);
/* A block that memory_may_know() is about to be freed. True: it was known, and *number and *weight
 * are to be given to memory_gone() or memory_put(). */
bool memory_going(const void *p, uint32_t *number, float *weight);
void memory_gone(uint32_t number, float weight);
/* The block at p, of the calling thread, belongs to the frame that is open. False: it is not known.
 */
bool memory_belongs(const void *p);

#endif
