/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The rules by which a frame leads to its caller, as libdw reads them from the unwind tables, each
 * kept for the addresses that it holds for: to read one takes longer than all else of a sample.
 * Kept are those that say where a register is by a distance from the frame's address, which are
 * nearly all.
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
/* Other files are mapped now. */
void frame_rules_forget(struct frame_rules *r);

/* As unwinder_frames(); false: some frame has a rule of another kind, and libdw is to be asked. */
bool frame_rules_walk(
	struct frame_rules *r, const struct stack_raw *s, uint64_t *pcs, size_t *n, bool *whole);

#endif
