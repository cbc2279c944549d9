/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The hooks of sleds (sleds.h), which sled-entry.S calls. This file is compiled without vector
 * registers, as a function has not saved them yet where its first sled is. What the hooks call when
 * they cannot store an event at once may use them: by these names sled-entry.S keeps them around
 * that.
 */
#define vftr_gated	      vftr_sled_gated
#define vftr_slow	      vftr_sled_slow
#define vftr_store_slowly     vftr_sled_store_slowly
#define vftr_overtaken	      vftr_sled_overtaken
#define vftr_count_slowly     vftr_sled_count_slowly
#define vftr_call_site_remove vftr_sled_call_site_remove
#define vftr_switches_look    vftr_sled_switches_look
#include "libhook/switches/gated.h"

#include "libhook/switches/sled-entry.h"
#include "libhook/switches/sleds.h"

#if defined(__x86_64__)

#include <cpuid.h>
#include <stddef.h>

#define HIDDEN	     __attribute__((visibility("hidden"), used))
#define XSAVE_LEAF   0xd
#define XSAVE_HEADER 576u /* bytes of the legacy area and the header behind it */

HIDDEN uint32_t vftr_sled_vector_bytes;

/* Intel's manual, volume 1, 13.4: where each component lies. */
void vftr_sled_vectors_look(void)
{
	uint32_t a, b, c, d, bytes = XSAVE_HEADER;

	if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_OSXSAVE))
		return;
	for (unsigned i = 2; i < 8; i++)
		if (VECTORS >> i & 1 && __get_cpuid_count(XSAVE_LEAF, i, &a, &b, &c, &d) && a &&
			a + b > bytes)
			bytes = a + b;
	vftr_sled_vector_bytes = bytes;
}

HIDDEN __attribute__((hot)) void vftr_sled_record_enter(uint64_t function, const void *site);
HIDDEN __attribute__((hot)) void vftr_sled_record_exit(uint64_t function, const void *site);

__attribute__((hot)) void vftr_gated(uint64_t key, const void *site, uint64_t exit_bit)
{
	gated(key, site, exit_bit);
}

void vftr_sled_record_enter(uint64_t function, const void *site)
{
	vftr_record(0, function, vftr_is_gated(&vftr_own.gate, function), site);
}

void vftr_sled_record_exit(uint64_t function, const void *site)
{
	vftr_record(RECORD_EXIT, function, vftr_is_gated(&vftr_own.gate, function), site);
}

_Static_assert(offsetof(struct own_pages, counting) == OWN_COUNTING, "");
_Static_assert(offsetof(struct thread, limit) == THREAD_LIMIT, "");
_Static_assert(offsetof(struct thread, busy) == THREAD_BUSY, "");
_Static_assert(offsetof(struct thread, counts) == THREAD_COUNTS, "");

#endif
