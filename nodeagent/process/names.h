/* SPDX-License-Identifier: BSD-3-Clause */
/* A cache of the symbol tables of all files, which are read on first use. */
#ifndef VFTR_NODEAGENT_PROCESS_NAMES_H
#define VFTR_NODEAGENT_PROCESS_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nodeagent/symbols/lines.h"

struct host;
struct lock_use;
struct process;
struct symcache;
struct wire_module;

#define SITE_PREFIX "call@" /* of the name of a KEY_SITE */

struct symcache *symcache_new(struct host *host);
void symcache_free(struct symcache *s);

/* Raw name of the function around an address of location's file, or NULL. */
const char *symcache_find(struct symcache *s, const struct code_location *location,
	uint64_t address, uint64_t *start);

/* p has this module mapped: it is added to its code map. The symbols of a file that was removed are
 * read at once, as they can be only while p runs. */
void process_maps(struct process *p, const struct wire_module *m, const char *path);
/* A process maps the file at path. One without a build-id is known again by its inode and time: if
 * these are others when its symbols are read, it is not the file that ran. */
void symcache_see(struct symcache *s, const char *path);

/* Raw name of the variable at the address of location, or NULL. */
const char *symcache_find_object(
	struct symcache *s, const struct code_location *location, uint64_t *start);

/*
 * A lock of the C library: "heat:cells+0x28", of a variable; else "mutex 3", the third one that was
 * waited for. The caller frees.
 */
char *symcache_lock_name(struct symcache *s, const struct process *p, const struct lock_use *u);

/* Source lines that were looked up. */
struct source_lines *symcache_lines(struct symcache *s);

/*
 * Raw name of a frame's key in a process: a function, "module+0xoffset" where the file has no name
 * for it, an MPI function, a region; of a KEY_SITE "call@file:line", or "call@module+0xoffset" if
 * its line is not known. The first KEY_SITE without a known line has the lines of all sites of the
 * process read; all such reading takes 10 s at most. Never NULL; valid until the cache is freed or
 * the region is defined anew.
 */
const char *symcache_name(struct symcache *s, const struct process *p, uint64_t key);

/*
 * may false: from now on no lines are read, as an answer must not wait for them; true: they are
 * again. s may be NULL.
 */
void symcache_may_read(struct symcache *s, bool may);

/*
 * Looks up the source lines of all functions that have got a name since the last call, in
 * what is left of host.sources_s. Functions that are not reached by then have none, and a
 * warning says so.
 */
void symcache_read_sources(struct symcache *s);
/*
 * The source file of a function, as it was compiled, or NULL: its debug information does not tell
 * it, or it is none. The first function of an ELF file has the lines of all functions of that file
 * read, and waits for it; all that takes FILES_S seconds at most.
 */
#define FILES_S 20.0
const char *symcache_file(struct symcache *s, const struct process *p, uint64_t key);
/* File and line of a KEY_SITE; empty for another key. */
struct source_place symcache_site(const struct symcache *s, const struct process *p, uint64_t key);
/*
 * Name of the i-th function that symcache_read_sources() has found, and where it begins; false:
 * there are fewer.
 */
bool symcache_source(
	const struct symcache *s, size_t i, const char **name, struct source_place *place);
/* Where the function of a name that symcache_name() has returned begins. */
struct source_place symcache_source_of(const struct symcache *s, const char *name);

#endif
