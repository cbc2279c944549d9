/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The functions of one process by addresses in them, as frames of a call path have them: by the
 * key of the function's first address, or left out.
 */
#ifndef VFTR_NODEAGENT_STACK_FUNCTIONS_H
#define VFTR_NODEAGENT_STACK_FUNCTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct calltree;
struct process;
struct stack_functions;
struct stack_sample;
struct unwinder;

/* Both must outlive it. */
struct stack_functions *stack_functions_new(struct process *p, struct unwinder *u);
void stack_functions_free(struct stack_functions *f);

/* Other files are mapped now. */
void stack_functions_forget(struct stack_functions *f);

/*
 * Sets the path of a stack, a node of `paths', whose `calls' are the number of its innermost
 * functions that were called from a runtime of OpenMP, or UINT64_MAX; and who has called ours.
 * Frames of ours and of what runs before main() or a thread's function are left out. pcs: n of
 * them, innermost first; whole: as unwinder_frames() says.
 */
void stack_functions_path(struct stack_functions *f, struct calltree *paths, const uint64_t *pcs,
	size_t n, bool whole, struct stack_sample *s);

#endif
