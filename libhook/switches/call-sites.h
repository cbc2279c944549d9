/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls of the compiler's hooks, taken out of the program's code and put in again. On x86-64
 * one byte is changed: the first one of the instruction. A call becomes a comparison of the same
 * length without effect, as no flag is in use across a call; a jump to the hook at a function's
 * end becomes a return. So another thread that runs there executes the one or the other. A call
 * that is to count (count.h) gets another distance, in its last byte.
 *
 * The byte is written through /proc/self/mem, which changes no protection of memory. Where that
 * is not to be had, and on other processors, nothing is taken out.
 */
#ifndef VFTR_LIBHOOK_SWITCHES_CALL_SITES_H
#define VFTR_LIBHOOK_SWITCHES_CALL_SITES_H

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/*
 * From now on calls may be taken out for the functions of these bits, and for no others; those
 * of others are in the code again when it returns true, the calls at a function's end first.
 * False if another thread did not let go, or the system refuses: to be tried again. Keeps errno.
 */
bool vftr_call_sites_allow(uint64_t functions);

/* A call of a hook for the function at an address, which has the number. */
struct hook_call {
	const void *after; /* it returns there */
	uint64_t function;
	unsigned number;
	bool at_end;
	bool counted; /* the call at the start is to count, where others are taken out */
};

/*
 * Takes the call out. False if it stays: it is none that is known, there is no room to remember
 * it, the function is not allowed, or the system refuses. Keeps errno.
 */
bool vftr_call_site_remove(const struct hook_call *call);

/* In a child of a fork, before anything else here: another thread of the parent may have been in
 * this file. */
void vftr_call_sites_attach(void);

/* Forgets calls in code that was unloaded. */
void vftr_call_sites_unloaded(uint64_t low, uint64_t high);

#pragma GCC visibility pop

#endif
