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

/* p and u must outlive it. The caller frees. */
struct stack_functions *stack_functions_new(struct process *p, struct unwinder *u);
void stack_functions_free(struct stack_functions *f);

/* Forgets all functions, as other files are mapped now. */
void stack_functions_forget(struct stack_functions *f);

/*
 * Finds the call path of a stack. pcs: n of them, UNWIND_FRAMES_MAX at most, innermost first;
 * whole: as unwinder_frames() says. Functions of libvftrace are left out, and those that run before
 * main() or a thread's function. Sets s->path to the path, a node of `paths'; its `calls' to the
 * number of functions that are inside of the innermost one of a runtime of OpenMP, or to UINT64_MAX
 * if there is none of those; and, if a function of libvftrace was called, s->caller to the node and
 * s->site to the address of its caller.
 */
void stack_functions_path(struct stack_functions *f, struct calltree *paths, const uint64_t *pcs,
	size_t n, bool whole, struct stack_sample *s);

#endif
