/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds the functions of other tools that ours replace. Ours call them, too, so that programs get
 * their results; if there are none, ours do without.
 */
#ifndef VFTR_LIBHOOK_ANNOTATION_NEXT_H
#define VFTR_LIBHOOK_ANNOTATION_NEXT_H

#include <stdint.h>

struct next {
	const char *name;
	void *found;	  /* or NULL */
	uintptr_t absent; /* 1 + (address >> 24) of a caller without one; 0: not known */
};

#pragma GCC visibility push(hidden)

/*
 * Returns the function that the code at `caller` would call without us: the next definition in the
 * global scope, else one among the libraries of the caller; or NULL. Asks the dynamic linker at the
 * first call; keeps errno.
 */
void *annotation_next(struct next *n, const void *caller);
/*
 * Returns the variable of this name, looked for in the same places, and in our library. Asks the
 * dynamic linker at each call.
 */
void *annotation_variable(const char *name, const void *caller);

#pragma GCC visibility pop

/* A pointer to the next definition of the function that this is in, or NULL. */
#define NEXT(function)                                                                             \
	({                                                                                         \
		static struct next next_ = {.name = #function};                                    \
		(__typeof__(&function))annotation_next(&next_, __builtin_return_address(0));       \
	})

#endif
