/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The functions that this library stands in for. Others of the C library that allocate, such as
 * strdup() and reallocarray(), and operator new, call these.
 */
#include "libc/memory/memory.h"

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#define CALLER __builtin_return_address(0)

EXPORT void *malloc(size_t size)
{
	void *p;

	if (likely(!memory_asked(&memory_self, size)))
		return memory_real.malloc(size);
	p = memory_real.malloc(size);
	memory_look(p, size, CALLER);
	return p;
}

static __attribute__((noinline, cold)) void free_looked_at(void *p)
{
	uint32_t number;
	float weight;
	size_t size;

	if (memory_is_early(p, &size))
		return;
	if (memory_going(p, &number, &weight))
		memory_gone(number, weight);
	memory_real.free(p);
}

EXPORT void free(void *p)
{
	memory_self.frees += p != NULL;
	if (unlikely(memory_may_know(p)))
		free_looked_at(p);
	else
		memory_real.free(p);
}

EXPORT void *calloc(size_t n, size_t size)
{
	size_t all;
	void *p;

	if (unlikely(__builtin_mul_overflow(n, size, &all)))
		return memory_real.calloc(n, size);
	if (likely(!memory_asked(&memory_self, all)))
		return memory_real.calloc(n, size);
	p = memory_real.calloc(n, size);
	memory_look(p, all, CALLER);
	return p;
}

static void *move_early(void *p, size_t old_size, size_t size)
{
	void *new = memory_real.malloc(size);

	if (new)
		memcpy(new, p, old_size < size ? old_size : size);
	return new;
}

/* The old block may be somebody else's as soon as it is freed, so it is forgotten before. */
static __attribute__((noinline)) void *realloc_looked_at(void *old, size_t size)
{
	uint32_t number;
	float weight;
	size_t old_size;
	bool known;
	void *p;

	if (!memory_may_know(old))
		return memory_real.realloc(old, size);
	if (memory_is_early(old, &old_size))
		return move_early(old, old_size, size);
	known = memory_going(old, &number, &weight);
	p = memory_real.realloc(old, size);
	if (known && !p && size)
		memory_put(old, number, weight);
	else if (known)
		memory_gone(number, weight);
	return p;
}

EXPORT void *realloc(void *old, size_t size)
{
	struct memory_thread *t = &memory_self;
	const bool looked_at = memory_asked(t, size);
	void *p;

	t->frees += old != NULL;
	if (likely(!looked_at && !memory_may_know(old)))
		return memory_real.realloc(old, size);
	p = realloc_looked_at(old, size);
	if (looked_at)
		memory_look(p, size, CALLER);
	return p;
}

EXPORT int posix_memalign(void **p, size_t alignment, size_t size)
{
	const bool looked_at = memory_asked(&memory_self, size);
	const int error = memory_real.posix_memalign(p, alignment, size);

	if (looked_at)
		memory_look(error ? NULL : *p, size, CALLER);
	return error;
}

#define ALIGNED(function)                                                                          \
	EXPORT void *function(size_t alignment, size_t size)                                       \
	{                                                                                          \
		const bool looked_at = memory_asked(&memory_self, size);                           \
		void *p = memory_real.function(alignment, size);                                   \
                                                                                                   \
		if (looked_at)                                                                     \
			memory_look(p, size, CALLER);                                              \
		return p;                                                                          \
	}

ALIGNED(aligned_alloc)
ALIGNED(memalign)

#define PAGES(function)                                                                            \
	EXPORT void *function(size_t size)                                                         \
	{                                                                                          \
		const bool looked_at = memory_asked(&memory_self, size);                           \
		void *p = memory_real.function(size);                                              \
                                                                                                   \
		if (looked_at)                                                                     \
			memory_look(p, size, CALLER);                                              \
		return p;                                                                          \
	}

PAGES(valloc)
PAGES(pvalloc)
