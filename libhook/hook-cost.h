/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VFTR_LIBHOOK_HOOK_COST_H
#define VFTR_LIBHOOK_HOOK_COST_H

#include <stdint.h>

struct control_app_shm;

/*
 * Picoseconds that one hook adds to a short function, an enter or an exit; measured at
 * the first call.
 */
uint64_t hook_cost_ps(void);

/*
 * Publishing a block has taken so long, waits apart; what that comes to for each of its
 * records is added to the cost of a hook on the process's page, which is measured anew
 * from time to time. Any thread.
 */
void hook_cost_published(struct control_app_shm *app, uint64_t ns);

#endif
