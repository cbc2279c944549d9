/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From a stack sample to the addresses of its frames, by the unwind tables (.eh_frame) of the
 * files that the process has mapped. libdw reads these; no debug information is looked for.
 */
#ifndef VFTR_NODEAGENT_STACK_UNWIND_H
#define VFTR_NODEAGENT_STACK_UNWIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct stack_raw;
struct unwinder;

#define UNWIND_FRAMES_MAX 256u

/* Of a process, or one of its threads. Reads /proc/PID/maps, so it has to be there. NULL: it is
 * not, or it has another processor's code. The caller frees. */
struct unwinder *unwinder_new(int pid);
void unwinder_free(struct unwinder *u);

/* Reads the maps again: something was loaded or unloaded. */
void unwinder_refresh(struct unwinder *u);

/* True if some mapped file is at this address. */
bool unwinder_knows(const struct unwinder *u, uint64_t pc);

/* Where the thread was. */
uint64_t stack_raw_pc(const struct stack_raw *s);

/*
 * The addresses of the frames, innermost first; of a caller that of its call, not of what comes
 * next. Returns their number. *whole: the thread's first function is among them; else the stack was
 * larger than what was stored, or there was no table for a function.
 */
size_t unwinder_frames(struct unwinder *u, const struct stack_raw *s,
	uint64_t pcs[UNWIND_FRAMES_MAX], bool *whole);

/* The same without rules that are kept (rules.h): what these cannot do, and for tests. */
size_t unwinder_frames_by_libdw(struct unwinder *u, const struct stack_raw *s,
	uint64_t pcs[UNWIND_FRAMES_MAX], bool *whole);

/* A mapped file. Addresses but for base are of the process. */
struct unwind_module {
	const char *path;   /* until the next refresh */
	uint64_t base;	    /* added to ELF addresses */
	uint64_t low, high; /* of its code */
	uint64_t entry;	    /* where it begins as a program */
	const unsigned char *build_id;
	size_t build_id_bytes;
};
bool unwinder_module(struct unwinder *u, uint64_t pc, struct unwind_module *m);

/* Where the function begins that has a row in its file's table of unwind entries
 * (.eh_frame_hdr) for pc; 0: there is none. */
uint64_t unwinder_function(struct unwinder *u, uint64_t pc);

#endif
