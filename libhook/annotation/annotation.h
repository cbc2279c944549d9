/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What all adapters use: regions with a name, those that end without one, and the functions for
 * which an adapter stands in. All may be called on any thread and in signal handlers, allocate
 * nothing from the heap and keep errno; without libvftrace in the process they do nothing.
 */
#ifndef VFTR_LIBHOOK_ANNOTATION_H
#define VFTR_LIBHOOK_ANNOTATION_H

#include <stdbool.h>
#include <stdint.h>
#include "shm/annotation.h"

#define EXPORT __attribute__((visibility("default")))

#pragma GCC visibility push(hidden)

/* A region begins: prefix and name, one after the other. Returns what ends it, or 0. */
uint64_t annotation_begin(enum annotation, const char *prefix, const char *name);
void annotation_end(uint64_t region);
/* The region of this name ends. */
void annotation_end_name(enum annotation, const char *name);
/* A region without length. */
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
