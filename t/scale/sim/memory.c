/* SPDX-License-Identifier: BSD-3-Clause */
#include "t/scale/sim/memory.h"

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>

static struct memory_account *in_use;

struct memory_account *memory_use(struct memory_account *account)
{
	struct memory_account *before = in_use;

	in_use = account;
	return before;
}

void memory_add(long bytes)
{
	if (!in_use)
		return;
	in_use->now += bytes;
	if (in_use->now > in_use->most)
		in_use->most = in_use->now;
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
const bool memory_is_counted = false;
#else
const bool memory_is_counted = true;

/* The C library's own, under the names that it has for those who replace them. */
void *__libc_malloc(size_t n);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t n);
void *__libc_memalign(size_t alignment, size_t n);
void __libc_free(void *p);

static void *count_new(void *p)
{
	if (p)
		memory_add((long)malloc_usable_size(p));
	return p;
}

static void count_old(void *p)
{
	if (p)
		memory_add(-(long)malloc_usable_size(p));
}

void *malloc(size_t n)
{
	return count_new(__libc_malloc(n));
}

void *calloc(size_t n, size_t size)
{
	return count_new(__libc_calloc(n, size));
}

/* Both are there at once, if it moves. */
void *realloc(void *p, size_t n)
{
	const long before = p ? (long)malloc_usable_size(p) : 0;
	void *q = __libc_realloc(p, n);

	if (q == p && q) {
		memory_add((long)malloc_usable_size(q) - before);
	} else if (q || !n) {
		count_new(q);
		memory_add(-before);
	}
	return q;
}

void free(void *p)
{
	count_old(p);
	__libc_free(p);
}

void *memalign(size_t alignment, size_t n)
{
	return count_new(__libc_memalign(alignment, n));
}

void *aligned_alloc(size_t alignment, size_t n)
{
	return count_new(__libc_memalign(alignment, n));
}

int posix_memalign(void **p, size_t alignment, size_t n)
{
	void *q = __libc_memalign(alignment, n);

	if (!q)
		return ENOMEM;
	*p = count_new(q);
	return 0;
}
#endif
