/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Source lines of code addresses, from the files' debug information (libdw) or
 * that of their separate debug files. A child process with limits on time and memory
 * reads it: whatever is in such a file, the result is a text or none.
 */
#ifndef VFTR_NODEAGENT_SYMBOLS_LINES_H
#define VFTR_NODEAGENT_SYMBOLS_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SOURCE_LINES_S 30.0 /* the most that a run waits for them */

/* An address in an ELF file. The maker owns the texts: a code map, or the reader of a trace. */
struct code_location {
	const char *path;
	uint64_t address; /* ELF address */
	const uint8_t *build_id;
	size_t build_id_bytes;
};

/* file: its path where it was compiled; NULL: not known. */
struct source_place {
	const char *file;
	uint32_t line; /* from 1 */
};

struct source_lines;

/* A cache of source lines, owned by the caller. */
struct source_lines *source_lines_new(void);
void source_lines_free(struct source_lines *l);

/*
 * Looks up all of these at once that are not in the cache; skips those without a path. It
 * takes so many seconds at most; false: it was not done by then, and what is missing stays so.
 */
bool source_lines_read(
	struct source_lines *l, const struct code_location *locations, size_t n, double seconds);

/* "heat.c:42", or NULL: unknown, or not asked for. Owned by l. */
const char *source_lines_find(const struct source_lines *l, const struct code_location *location);
/* The same as file and number. */
struct source_place source_lines_place(
	const struct source_lines *l, const struct code_location *location);

#endif
