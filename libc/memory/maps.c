/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory that the program has from the kernel, without a file. Room that is only reserved, without
 * any rights, is none.
 */
#include "libc/memory/memory.h"

#include <stdarg.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CALLER __builtin_return_address(0)

static void *map(void *at, size_t length, int prot, int flags, int fd, off_t offset)
{
	if (likely(memory_real.mmap != NULL))
		return memory_real.mmap(at, length, prot, flags, fd, offset);
	return (void *)syscall(SYS_mmap, at, length, prot, flags, fd, offset);
}

/* True: the block at p, if one is known there, is about to go. */
static bool is_going(void *p, uint32_t *number, float *weight)
{
	return memory_may_know(p) && memory_going(p, number, weight);
}

EXPORT void *mmap(void *at, size_t length, int prot, int flags, int fd, off_t offset)
{
	void *p = map(at, length, prot, flags, fd, offset);
	uint32_t number;
	float weight;

	if (p == MAP_FAILED)
		return p;
	if (flags & MAP_FIXED && is_going(p, &number, &weight))
		memory_gone(number, weight);
	if (flags & MAP_ANONYMOUS && prot != PROT_NONE)
		memory_mapped(p, length, CALLER);
	return p;
}

EXPORT void *mmap64(void *at, size_t length, int prot, int flags, int fd, off_t offset)
	__attribute__((alias("mmap")));

/* The kernel takes whole pages. */
static size_t whole_pages(size_t length)
{
	const size_t page = getauxval(AT_PAGESZ);

	return (length + page - 1) / page * page;
}

/* A block of which the first part goes is another one then; what goes behind is not seen. */
EXPORT int munmap(void *at, size_t length)
{
	uint32_t number;
	float weight;
	const bool known = is_going(at, &number, &weight);
	const int result = memory_real.munmap ? memory_real.munmap(at, length)
					      : (int)syscall(SYS_munmap, at, length);

	if (!known)
		return result;
	if (result) {
		memory_put(at, number, weight);
		return result;
	}
	memory_gone(number, weight);
	length = whole_pages(length);
	if ((float)length < weight)
		memory_mapped((char *)at + length, (size_t)weight - length, CALLER);
	return result;
}

EXPORT void *mremap(void *old, size_t old_length, size_t length, int flags, ...)
{
	uint32_t number;
	float weight;
	const bool known = is_going(old, &number, &weight);
	va_list more;
	void *to, *p;

	va_start(more, flags);
	to = flags & MREMAP_FIXED ? va_arg(more, void *) : NULL;
	va_end(more);
	p = memory_real.mremap ? memory_real.mremap(old, old_length, length, flags, to)
			       : (void *)syscall(SYS_mremap, old, old_length, length, flags, to);
	if (known && p == MAP_FAILED) {
		memory_put(old, number, weight);
	} else if (known) {
		memory_gone(number, weight);
		memory_mapped(p, length, CALLER);
	}
	return p;
}
