/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Readable names for the functions of a profile, each of them unique: functions with the same
 * readable name are numbered, "f", "f #2", "f #3". The first is the one whose linker name is "f",
 * if there is one; the others follow in the order of their linker names. So the same set of names
 * gives the same texts each time.
 */
#ifndef VFTR_NODEAGENT_SYMBOLS_NAMES_H
#define VFTR_NODEAGENT_SYMBOLS_NAMES_H

#include <stddef.h>

#include "nodeagent/symbols/demangle.h"

#define NAME_COLUMNS 60 /* the most that a cell of a table takes */

struct name {
	const char *raw; /* as the linker has it; the caller's */
	char *shown;	 /* printable UTF-8 without " < ", which is between the names of a path */
	char *cell;	 /* the same in NAME_COLUMNS; the function's own name is left whole */
};

struct names;

/* raw[0 .. n): may have doubles, and must outlive the result. */
struct names *names_new(const char *const *raw, size_t n, const struct name_style *style);
/* Of one of these names; NULL: it is none of them. */
const struct name *names_lookup(const struct names *names, const char *raw);
void names_free(struct names *names);

/* What is between the names of a path: " < ", or Vftrace's "<"; see output.layout. */
const char *name_separator(const struct conf *c);

#endif
