/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Removes calls of the compiler's hooks from the program's code, and puts them in again. On x86-64
 * that changes one byte, the first of the instruction, so that a thread which runs there executes
 * either the old instruction or the new one. A call becomes a comparison of the same length, which
 * has no effect, as no flag is in use across a call. A jump to the hook at a function's end becomes
 * a return. A call that is to count (count.h) keeps its first byte, and its last one, the highest
 * of the distance, changes.
 *
 * The byte is written through /proc/self/mem, which changes no protection of memory. Where that
 * cannot be opened, and on other processors, no call is removed.
 */
#ifndef VFTR_LIBHOOK_SWITCHES_CALL_SITES_H
#define VFTR_LIBHOOK_SWITCHES_CALL_SITES_H

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/*
 * From now on calls may be removed for the functions of these bits only. Puts the calls of all
 * others in again, those at functions' ends first, and returns true. Returns false, and is to be
 * called again, if another thread was in this module for too long or the system refuses. Keeps
 * errno.
 */
bool vftr_call_sites_allow(uint64_t functions);

/* A call of a hook for the function at an address, which has the number. */
struct hook_call {
	const void *after; /* it returns there */
	uint64_t function;
	unsigned number;
	bool at_end;
	bool counted; /* the call at the function's begin is to count in place of being removed */
};

/*
 * Removes the call. Returns false if it stays: its instruction is not a known one, there is no room
 * to remember it, the function is not allowed, or the system refuses. Keeps errno.
 */
bool vftr_call_site_remove(const struct hook_call *call);

/*
 * To be called first in a child of fork(): another thread of the parent may have been in this
 * module.
 */
void vftr_call_sites_attach(void);

/* Forgets calls in code that was unloaded. */
void vftr_call_sites_unloaded(uint64_t low, uint64_t high);

#pragma GCC visibility pop

#endif
