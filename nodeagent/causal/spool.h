/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lists of records that grow in a temporary file: 4 KiB of each are in memory while it grows, and
 * 4 bytes for each 4 KiB of it. Later they are read, and changed, in any order by a mapping.
 */
#ifndef VFTR_NODEAGENT_CAUSAL_SPOOL_H
#define VFTR_NODEAGENT_CAUSAL_SPOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct spool;

/* NULL and errno: the file can't be made in that folder. Its name is removed at once, so it goes
 * with the process. */
struct spool *spool_new(const char *folder);
void spool_free(struct spool *s);
/* To be called after the last record. False and errno: a record could not be written, or the file
 * not be mapped. */
bool spool_map(struct spool *s);

#define SPOOL_BLOCK 4096u

struct spool_list {
	struct spool *spool;
	uint32_t size; /* bytes of a record; divides SPOOL_BLOCK */
	uint64_t n;
	unsigned char *tail; /* the records behind those of full blocks */
	uint32_t *blocks;
	size_t n_blocks, cap_blocks;
};

/* An empty list in the file of s, which must outlive it. */
void spool_list_begin(struct spool_list *l, struct spool *s, uint32_t size);
/* Adds a copy. Returns the number of records before it. An error of the file shows in spool_map().
 */
uint64_t spool_list_add(struct spool_list *l, const void *record);
void spool_list_free(struct spool_list *l);
/* Record i, which may be changed; after spool_map(). i < l->n. */
void *spool_list_at(const struct spool_list *l, uint64_t i);

#endif
