/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The names of a profile as people read them, each another one: of functions whose names would
 * read alike, all but the first are numbered, "f", "f #2", "f #3". First is one whose linker
 * name is just that, then they follow in the order of their linker names: so the same names
 * give the same texts, wherever and however often that is done.
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
