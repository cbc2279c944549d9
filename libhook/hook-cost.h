/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VFTR_LIBHOOK_HOOK_COST_H
#define VFTR_LIBHOOK_HOOK_COST_H

#include <stdint.h>

struct control_app_shm;

/*
 * Picoseconds that one hook adds to a short function, an enter or an exit: measured at
 * the first call; later, the mean of what was measured so far.
 */
uint64_t vftr_hook_cost_ps(void);

/*
 * To be called by any thread after it has timed the publishing of a block, which is done for one
 * block of many; ns: nanoseconds without waits. Adds the part of one record to the cost of a hook
 * in app->hook_ps, and measures that cost again from time to time.
 */
void vftr_hook_cost_published(struct control_app_shm *app, uint64_t ns);

#endif
