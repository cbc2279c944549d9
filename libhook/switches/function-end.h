/* SPDX-License-Identifier: BSD-3-Clause */
/* Where a function of the program ends, by the table that unwinding uses. */
#ifndef VFTR_LIBHOOK_SWITCHES_FUNCTION_END_H
#define VFTR_LIBHOOK_SWITCHES_FUNCTION_END_H

#include <stdint.h>

/*
 * The address behind the function that begins at `begin`, maybe with padding; 0 if the table does
 * not have it. Asks the dynamic linker, which has a lock: with signals blocked. The table is
 * .eh_frame_hdr of the Linux Standard Base.
 */
uint64_t vftr_function_end(uint64_t begin) __attribute__((visibility("hidden")));

#endif
