/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VFTR_LIBHOOK_HOOK_COST_H
#define VFTR_LIBHOOK_HOOK_COST_H

#include <stdint.h>

struct control_app_shm;

/*
 * Picoseconds that one hook adds to a short function, an enter or an exit; measured at
 * the first call.
 */
uint64_t vftr_hook_cost_ps(void);

/*
 * To be called when publishing a block has taken ns nanoseconds, without waits: adds the
 * share of one record to the cost of a hook on the process's page, and measures that
 * cost anew from time to time. Any thread.
 */
void vftr_hook_cost_published(struct control_app_shm *app, uint64_t ns);

#endif
