/* SPDX-License-Identifier: BSD-3-Clause */
/* The compiler's hooks, and nothing else: one word per enter, one per exit. */
#include "libhook/thread.h"

#define EXPORT __attribute__((visibility("default"), hot))

uint64_t vftr_no_sites[CALL_SITE_FUNCTIONS];
__thread struct thread vftr_thread = {.sites = vftr_no_sites};
struct own_pages vftr_own; /* in .bss: on anonymous pages */

EXPORT void __cyg_profile_func_enter(void *function, void *call_site);
EXPORT void __cyg_profile_func_exit(void *function, void *call_site);

EXPORT void __cyg_profile_func_enter(void *function, void *call_site)
{
	vftr_record(0, (uintptr_t)function, vftr_is_gated(&vftr_own.gate, (uintptr_t)function),
		call_site);
}

EXPORT void __cyg_profile_func_exit(void *function, void *call_site)
{
	vftr_record(RECORD_EXIT, (uintptr_t)function,
		vftr_is_gated(&vftr_own.gate, (uintptr_t)function), call_site);
}

/* by these names switches/call-sites.c knows them whoever else has functions of their names */
extern __typeof(__cyg_profile_func_enter) vftr_hook_enter
	__attribute__((alias("__cyg_profile_func_enter"), visibility("hidden"), hot));
extern __typeof(__cyg_profile_func_exit) vftr_hook_exit
	__attribute__((alias("__cyg_profile_func_exit"), visibility("hidden"), hot));
