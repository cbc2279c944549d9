/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A cache of the rules by which a frame leads to its caller. libdw reads them from the unwind
 * tables, which takes longer than all other work on a sample. A rule is kept for the addresses for
 * which it holds, if it says at which distances from the frame's address (the CFA of DWARF)
 * registers are; nearly all do.
 */
#ifndef VFTR_NODEAGENT_STACK_RULES_H
#define VFTR_NODEAGENT_STACK_RULES_H

#include <elfutils/libdwfl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct frame_rules;
struct stack_raw;

/* dwfl must outlive it. The caller frees. */
struct frame_rules *frame_rules_new(Dwfl *dwfl);
void frame_rules_free(struct frame_rules *r);
/* Forgets all rules, as other files are mapped now. */
void frame_rules_forget(struct frame_rules *r);

/*
 * True if a function begins at `back', which frames return to, and no code is before it: nobody has
 * called that function. So the last one of a fiber (makecontext(3)) is entered.
 */
bool frame_rules_begins(struct frame_rules *r, uint64_t back);

/*
 * As unwinder_frames(), with their number in *n. False: a frame has a rule of another kind, and the
 * caller is to ask libdw for all of them. pcs has room for UNWIND_FRAMES_MAX.
 */
bool frame_rules_walk(
	struct frame_rules *r, const struct stack_raw *s, uint64_t *pcs, size_t *n, bool *whole);

#endif
