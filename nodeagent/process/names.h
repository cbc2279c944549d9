/* SPDX-License-Identifier: BSD-3-Clause */
/* A cache of the symbol tables of all files, which are read on first use. */
#ifndef VFTR_NODEAGENT_PROCESS_NAMES_H
#define VFTR_NODEAGENT_PROCESS_NAMES_H

#include <stdint.h>

struct host;
struct code_location;
struct source_lines;
struct process;
struct symcache;

struct symcache *symcache_new(struct host *host);
void symcache_free(struct symcache *s);

/* Raw name of the function around an address of location's file, or NULL. */
const char *symcache_find(struct symcache *s, const struct code_location *location,
	uint64_t address, uint64_t *start);

/* Source lines that were looked up. */
struct source_lines *symcache_lines(struct symcache *s);

/*
 * Raw name of a frame's key in a process: a function, "module+0xoffset" where
 * the file has no name for it, an MPI function, a region. Never NULL; valid
 * until the cache is freed or the region is defined anew.
 */
const char *symcache_name(struct symcache *s, const struct process *p, uint64_t key);

#endif
