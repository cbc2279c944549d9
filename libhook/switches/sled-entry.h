/* SPDX-License-Identifier: BSD-3-Clause */
/* Offsets in bytes that sled-entry.S has; sled-hooks.c compares them with the structs. */
#ifndef VFTR_LIBHOOK_SWITCHES_SLED_ENTRY_H
#define VFTR_LIBHOOK_SWITCHES_SLED_ENTRY_H

#define OWN_COUNTING  12 /* struct own_pages */
#define THREAD_LIMIT  8	 /* struct thread */
#define THREAD_BUSY   112
#define THREAD_COUNTS 320

#endif
