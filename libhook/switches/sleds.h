/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions of a program that clang has built with -fxray-instrument. The compiler leaves a sled of
 * 11 bytes without effect at the begin of each function and at its ends, and a table of all sleds
 * (section xray_instr_map; LLVM's documentation "XRay Instrumentation"). Here the sleds become
 * calls of the hooks once the process has attached; without an agent they stay as they are. Of the
 * program itself, not of its libraries, and on x86-64 only. The core's part is in
 * libhook/switches.h.
 */
#ifndef VFTR_LIBHOOK_SWITCHES_SLEDS_H
#define VFTR_LIBHOOK_SWITCHES_SLEDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/* The address of the next sled that was changed, at the begin of the function or at its ends, or 0.
 * *i is 0 at the first call. */
uint64_t vftr_sled_next(uint64_t function, bool at_end, size_t *i);

/*
 * sled-entry.S: where changed sleds lead to: at the begin, at a return, and before a jump to
 * another function that takes the place of a return.
 */
void vftr_sled_enter(void);
void vftr_sled_exit(void);
void vftr_sled_tail(void);
/* Bytes of stack that they need to keep the vector registers, as vftr_sled_vectors_look() has found
 * out; 0: not yet, or this processor cannot keep them. */
extern uint32_t vftr_sled_vector_bytes;
void vftr_sled_vectors_look(void);

#pragma GCC visibility pop

#endif
