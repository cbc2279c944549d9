/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of variables: the symbols of a file that are data, kept sorted by address. */
#ifndef VFTR_NODEAGENT_SYMBOLS_OBJECTS_H
#define VFTR_NODEAGENT_SYMBOLS_OBJECTS_H

#include <stddef.h>
#include <stdint.h>

struct objects;

/* Those of the file at path, as symtab_open() takes its symbols. Never NULL: a table without any
 * answers NULL to every look-up. */
struct objects *objects_open(const char *path, const uint8_t *build_id, size_t build_id_bytes);
void objects_close(struct objects *o);

/* Raw name of the variable whose [start, start+size) holds this ELF address, or NULL; owned by o.
 * *start gets its address. */
const char *objects_find(const struct objects *o, uint64_t address, uint64_t *start);

#endif
