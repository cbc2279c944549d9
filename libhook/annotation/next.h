/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The functions of other tools for which ours stand in. Theirs are called as well, so that their
 * results stay their own; without them nothing is missing.
 */
#ifndef VFTR_LIBHOOK_ANNOTATION_NEXT_H
#define VFTR_LIBHOOK_ANNOTATION_NEXT_H

#include <stdint.h>

struct next {
	const char *name;
	void *found;	  /* or NULL */
	uintptr_t absent; /* part of memory that holds a caller who has none; 0: not known */
};

#pragma GCC visibility push(hidden)

/*
 * What the code at `caller` would have got without us: the next definition in the global scope,
 * else that among the libraries of the caller; or NULL. Asks the dynamic linker at the first call;
 * keeps errno.
 */
void *annotation_next(struct next *n, const void *caller);
/* The variable of this name, in the same places, ours included. Always asks. */
void *annotation_variable(const char *name, const void *caller);

#pragma GCC visibility pop

/* A pointer to the next definition of the function that this is in, or NULL. */
#define NEXT(function)                                                                             \
	({                                                                                         \
		static struct next next_ = {.name = #function};                                    \
		(__typeof__(&function))annotation_next(&next_, __builtin_return_address(0));       \
	})

#endif
