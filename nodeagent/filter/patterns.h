/* SPDX-License-Identifier: BSD-3-Clause */
/* The patterns of filter.only and filter.not, and which of them have fitted a function. */
#ifndef VFTR_NODEAGENT_FILTER_PATTERNS_H
#define VFTR_NODEAGENT_FILTER_PATTERNS_H

#include <stdbool.h>
#include <stddef.h>

struct conf;
struct patterns;

/* A function or region: its raw name, and its source file if that was asked for. */
struct subject {
	const char *name;
	const char *file; /* or NULL */
};

/* NULL: the list (filter.only, filter.not) is empty. Lives as long as the process. */
struct patterns *patterns_new(const char *list, const struct conf *c);

/* True if some pattern is one of source files. p may be NULL. */
bool patterns_ask_files(const struct patterns *p);

/*
 * True if a pattern fits the name as the linker has it, as it is shown, short or in full, or its
 * file, by whatever of the file's path is behind a slash. Each one that does is noted. p may be
 * NULL.
 */
bool patterns_match(struct patterns *p, const struct subject *s);

/* The i-th pattern that has fitted nothing so far, or NULL. Owned by p, which may be NULL. */
const char *patterns_in_vain(const struct patterns *p, size_t i);

#endif
