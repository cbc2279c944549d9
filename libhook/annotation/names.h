/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names of things that programs name once, and later refer to by a handle: a table that only grows,
 * without locks.
 */
#ifndef VFTR_LIBHOOK_ANNOTATION_NAMES_H
#define VFTR_LIBHOOK_ANNOTATION_NAMES_H

#include <stdint.h>

#define NAMES_MOST 65536u /* a power of two */

/* All zero at the beginning. */
struct names {
	struct {
		uint64_t handle;  /* stored last, with release: text is valid when this is not 0 */
		const char *text; /* NULL: there was no room */
		uint32_t taken;
	} at[NAMES_MOST];
};

#pragma GCC visibility push(hidden)

/*
 * Keeps the name of a handle, cut to 1023 bytes, and returns the handle; a handle keeps its
 * first name. Handle 0: returns a handle for the name, the same each time. Keeps errno.
 */
uint64_t annotation_name_keep(struct names *, uint64_t handle, const char *name);
/* The name, or NULL: it is not known, or there was no room. */
const char *annotation_name_of(const struct names *, uint64_t handle);

#pragma GCC visibility pop

#endif
