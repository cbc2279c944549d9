/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions that all adapters use to record regions. They may be called on any thread and in signal
 * handlers, allocate nothing from the heap themselves and keep errno; without libvftrace in the
 * process they do nothing.
 */
#ifndef VFTR_LIBHOOK_ANNOTATION_H
#define VFTR_LIBHOOK_ANNOTATION_H

#include <stdbool.h>
#include <stdint.h>
#include "shm/annotation.h"

#define EXPORT __attribute__((visibility("default")))

#pragma GCC visibility push(hidden)

/*
 * Begins a region whose name is prefix and name, one after the other. Returns a value for
 * annotation_end(), or 0.
 */
uint64_t annotation_begin(enum annotation, const char *prefix, const char *name);
void annotation_end(uint64_t region);
/* Ends the region with this name. */
void annotation_end_name(enum annotation, const char *name);
/* Records a region that ends as it begins. */
void annotation_mark(enum annotation, const char *prefix, const char *name);

/*
 * Regions whose end says no name: a stack for each thread. key tells apart stacks that are
 * independent of each other; a pop ends the innermost region of that adapter and key. A pop of
 * nothing is reported as the end of a region called `what`, unless that is NULL.
 */
void annotation_push(enum annotation, uint64_t key, const char *name);
void annotation_pop(enum annotation, uint64_t key, const char *what);

#pragma GCC visibility pop

#endif
