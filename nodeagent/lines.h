/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Source lines of code addresses, from the files' debug information (libdw) or
 * that of their separate debug files. It is read in a child process with limits
 * on its time and memory: whatever is in such a file, we get a text or none.
 */
#ifndef VFTR_NODEAGENT_LINES_H
#define VFTR_NODEAGENT_LINES_H

#include <stddef.h>

struct code_place;
struct source_lines;

/* What was found stays, and is not looked for again. */
struct source_lines *source_lines_new(void);
void source_lines_free(struct source_lines *l);

/* Looks for all of these at once; those whose path is NULL are left out. */
void source_lines_read(struct source_lines *l, const struct code_place *places, size_t n);

/* "heat.c:42", or NULL: unknown, or not asked for. Owned by l. */
const char *source_lines_find(const struct source_lines *l, const struct code_place *place);

#endif
