/* SPDX-License-Identifier: BSD-3-Clause */
#include "libhook/switches/gated.h"

__attribute__((hot)) void vftr_gated(uint64_t key, const void *site, uint64_t exit_bit)
{
	gated(key, site, exit_bit);
}
