/* SPDX-License-Identifier: BSD-3-Clause */
/* What the assembler of sled-entry.S shares with sled-hooks.c, which compares the offsets, in
 * bytes, with those of the structs. */
#ifndef VFTR_LIBHOOK_SWITCHES_SLED_ENTRY_H
#define VFTR_LIBHOOK_SWITCHES_SLED_ENTRY_H

#define VECTORS 0xe7 /* components of XSAVE: x87, SSE, AVX, and the three of AVX-512 */

#define OWN_COUNTING  12 /* struct own_pages */
#define THREAD_LIMIT  8	 /* struct thread */
#define THREAD_BUSY   112
#define THREAD_COUNTS 320

#endif
