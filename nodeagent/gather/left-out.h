/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which frames are left out of a profile: profile.exclude and profile.depth. The time of such a
 * frame is added to its caller, and the functions that it calls become callees of its caller.
 */
#ifndef VFTR_NODEAGENT_GATHER_LEFT_OUT_H
#define VFTR_NODEAGENT_GATHER_LEFT_OUT_H

#include <stdbool.h>
#include <stdint.h>

struct conf;
struct left_out;

/* NULL: no frame is left out. The caller frees. */
struct left_out *left_out_new(const struct conf *c);
void left_out_free(struct left_out *l);

/*
 * True if a frame with this key may be left out: functions and regions, also constructs of OpenMP
 * and functions of CUDA. Calls of MPI and their call sites never are.
 */
bool left_out_may(uint64_t key);

/*
 * True if a frame is left out. name: its name, which has number id in the profile; depth: of the
 * frame, 1 for main().
 */
bool left_out_has(struct left_out *l, const char *name, uint32_t id, uint32_t depth);

/* No frame deeper than this is in a profile; UINT32_MAX: there is no such depth. */
uint32_t left_out_depth(const struct left_out *l);

#endif
