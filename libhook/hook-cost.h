/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VFTR_LIBHOOK_HOOK_COST_H
#define VFTR_LIBHOOK_HOOK_COST_H

#include <stdint.h>

/* Picoseconds that one hook takes, an enter or an exit; measured at the first call. */
uint64_t hook_cost_ps(void);

#endif
