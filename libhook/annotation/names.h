/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of what programs know by a handle later on: a table that only grows, without locks. */
#ifndef VFTR_LIBHOOK_ANNOTATION_NAMES_H
#define VFTR_LIBHOOK_ANNOTATION_NAMES_H

#include <stdint.h>

#define NAMES_MOST 1024u /* a power of two */

/* All zero at the beginning. */
struct names {
	struct {
		uint64_t handle; /* published last */
		uint32_t taken;
		char text[116];
	} at[NAMES_MOST];
};

#pragma GCC visibility push(hidden)

/* The handle has this name, cut to the room for it; the first name stays. Handle 0: returns one
 * for the name, the same each time; otherwise the handle. */
uint64_t annotation_name_keep(struct names *, uint64_t handle, const char *name);
/* The name, or NULL: it is not known, or there was no room. */
const char *annotation_name_of(const struct names *, uint64_t handle);

#pragma GCC visibility pop

#endif
