/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which frames are not in a profile: profile.exclude and profile.depth. Their time is that of
 * their callers, and what they call is called by these.
 */
#ifndef VFTR_NODEAGENT_GATHER_LEFT_OUT_H
#define VFTR_NODEAGENT_GATHER_LEFT_OUT_H

#include <stdbool.h>
#include <stdint.h>

struct conf;
struct left_out;

/* NULL: all frames are in it. The caller frees. */
struct left_out *left_out_new(const struct conf *c);
void left_out_free(struct left_out *l);

/* True of functions and regions, which constructs of OpenMP and functions of CUDA are, too; calls
 * of MPI, and the places that they are made from, are always in it. */
bool left_out_may(uint64_t key);

/* Is a frame with this name, the id-th of its profile, left out at this depth? main() is at 1. */
bool left_out_has(struct left_out *l, const char *name, uint32_t id, uint32_t depth);

/* No frame deeper than this is in a profile; UINT32_MAX: there is no such depth. */
uint32_t left_out_depth(const struct left_out *l);

#endif
