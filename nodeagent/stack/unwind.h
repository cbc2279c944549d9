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

#define UNWIND_FRAMES_MAX 2048u

/* pid: of a process, or of one of its threads. Reads /proc/PID/maps. NULL: that is not there, or
 * the process has another processor's code. The caller frees. */
struct unwinder *unwinder_new(int pid);
void unwinder_free(struct unwinder *u);

/* Reads the maps again, as something was loaded or unloaded. Without maps, as of a process that
 * ends, what was known stays. */
void unwinder_refresh(struct unwinder *u);

/* True if some mapped file is at this address. */
bool unwinder_knows(const struct unwinder *u, uint64_t pc);

/* Where the thread was. */
uint64_t stack_raw_pc(const struct stack_raw *s);

/*
 * Sets pcs[] to the addresses of the frames, innermost first: of a caller an address in its call
 * instruction. Returns their number. *whole: the thread's first function is among them; else the
 * stack was larger than what was stored, a function is in no unwind table, or there are more
 * frames.
 */
size_t unwinder_frames(struct unwinder *u, const struct stack_raw *s,
	uint64_t pcs[UNWIND_FRAMES_MAX], bool *whole);

/* The same by libdw alone, without the rules that are kept (rules.h): for frames that these cannot
 * unwind, and for tests. */
size_t unwinder_frames_by_libdw(struct unwinder *u, const struct stack_raw *s,
	uint64_t pcs[UNWIND_FRAMES_MAX], bool *whole);

/* A mapped file. Pointers are valid until the next refresh; addresses are of the process. */
struct unwind_module {
	const char *path;
	uint64_t base;		       /* an address less this is the address in the ELF file */
	uint64_t low, high;	       /* [low, high): its code */
	uint64_t entry;		       /* where it begins as a program; 0: nowhere */
	const unsigned char *build_id; /* NULL if it has none */
	size_t build_id_bytes;
};
/* Sets *m to the file at this address; false: none with code is known there. */
bool unwinder_module(struct unwinder *u, uint64_t pc, struct unwind_module *m);

/* The address at which the function at pc begins, by its file's table of unwind entries
 * (.eh_frame_hdr); 0: no entry is of this address, as of assembler code that tells none. */
uint64_t unwinder_function(struct unwinder *u, uint64_t pc);

#endif
