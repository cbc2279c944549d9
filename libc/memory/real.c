/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The dynamic linker may allocate while it looks for the real functions: that comes from a buffer,
 * and is never freed.
 */
#include "libc/memory/memory.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

#define EARLY_BYTES (64u << 10)
#define ALIGNMENT   16u

static char early[EARLY_BYTES] __attribute__((aligned(ALIGNMENT)));
static size_t early_used;
static bool finding;

bool memory_is_early(const void *p, size_t *size)
{
	const uintptr_t at = (uintptr_t)p - (uintptr_t)early;

	if (at >= EARLY_BYTES)
		return false;
	memcpy(size, early + at - ALIGNMENT, sizeof(*size));
	return true;
}

/* Zeroed. */
static void *early_allocate(size_t size)
{
	const size_t room = EARLY_BYTES - early_used;
	char *p = early + early_used + ALIGNMENT;

	if (size > EARLY_BYTES || size + 2 * ALIGNMENT > room) {
		errno = ENOMEM;
		return NULL;
	}
	memcpy(early + early_used, &size, sizeof(size));
	early_used += (size + 2 * ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
	memory_mark(p);
	return p;
}

static void *find(const char *name)
{
	return dlsym(RTLD_NEXT, name);
}

void memory_find_real(void)
{
	const int saved_errno = errno;
	struct memory_real r;

	finding = true;
#define FIND(name) r.name = (__typeof__(r.name))find(#name)
	FIND(malloc);
	FIND(free);
	FIND(calloc);
	FIND(realloc);
	FIND(posix_memalign);
	FIND(aligned_alloc);
	FIND(memalign);
	FIND(valloc);
	FIND(pvalloc);
	FIND(mmap);
	FIND(munmap);
	FIND(mremap);
#undef FIND
	finding = false;
	memory_real = r;
	errno = saved_errno;
}

static void *first_malloc(size_t size)
{
	if (finding)
		return early_allocate(size);
	memory_find_real();
	return memory_real.malloc(size);
}

static void first_free(void *p)
{
	if (finding || !p)
		return;
	memory_find_real();
	memory_real.free(p);
}

static void *first_calloc(size_t n, size_t size)
{
	if (finding && size && n > EARLY_BYTES / size)
		return NULL;
	if (finding)
		return early_allocate(n * size);
	memory_find_real();
	return memory_real.calloc(n, size);
}

static void *first_realloc(void *p, size_t size)
{
	if (finding)
		return p ? NULL : early_allocate(size);
	memory_find_real();
	return memory_real.realloc(p, size);
}

static int first_posix_memalign(void **p, size_t alignment, size_t size)
{
	if (finding)
		return ENOMEM;
	memory_find_real();
	return memory_real.posix_memalign(p, alignment, size);
}

static void *first_aligned_alloc(size_t alignment, size_t size)
{
	if (finding)
		return NULL;
	memory_find_real();
	return memory_real.aligned_alloc(alignment, size);
}

static void *first_memalign(size_t alignment, size_t size)
{
	if (finding)
		return NULL;
	memory_find_real();
	return memory_real.memalign(alignment, size);
}

static void *first_valloc(size_t size)
{
	if (finding)
		return NULL;
	memory_find_real();
	return memory_real.valloc(size);
}

static void *first_pvalloc(size_t size)
{
	if (finding)
		return NULL;
	memory_find_real();
	return memory_real.pvalloc(size);
}

struct memory_real memory_real = {
	.malloc = first_malloc,
	.free = first_free,
	.calloc = first_calloc,
	.realloc = first_realloc,
	.posix_memalign = first_posix_memalign,
	.aligned_alloc = first_aligned_alloc,
	.memalign = first_memalign,
	.valloc = first_valloc,
	.pvalloc = first_pvalloc,
};
