/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names of code addresses. A symbol table is read once per file (libelf) and
 * kept sorted by address; look-ups take the ELF address (run-time address
 * minus the module's base).
 */
#ifndef VFTR_NODEAGENT_SYMBOLS_SYMTAB_H
#define VFTR_NODEAGENT_SYMBOLS_SYMTAB_H

#include <stddef.h>
#include <stdint.h>

struct symtab;

/*
 * Reads the symbols of the file at path: .symtab, or that of a separate debug
 * file (build-id path below /usr/lib/debug, .gnu_debuglink) if this has more
 * functions, else .dynsym. If build_id is given and the file at path has another
 * one, the file is not the one that ran: its symbols are not used, *why says so.
 * Never NULL: a table without symbols answers NULL to every look-up. *why is NULL
 * or a sentence for the user (caller frees).
 */
struct symtab *symtab_open(
	const char *path, const uint8_t *build_id, size_t build_id_bytes, char **why);
/* A table without symbols. */
struct symtab *symtab_none(void);
void symtab_close(struct symtab *t);

/*
 * Raw (mangled) name of the function whose [start, start+size) holds address,
 * or NULL. Owned by the table. Two local functions of the same name in one
 * file are told apart by their source file: "name@file.c" for both (and
 * "name@file.c:2" if even that is equal). *start gets the function's address
 * if start is not NULL.
 */
const char *symtab_find(const struct symtab *t, uint64_t address, uint64_t *start);

/* Number of function symbols, and where the i-th of them begins. */
size_t symtab_count(const struct symtab *t);
uint64_t symtab_start(const struct symtab *t, size_t i);

#endif
