/* SPDX-License-Identifier: BSD-3-Clause */
/* Pools of structures of one size; memory grows, and is freed with the pool. */
#ifndef VFTR_NODEAGENT_BASE_POOL_H
#define VFTR_NODEAGENT_BASE_POOL_H

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include "nodeagent/base/util.h"

#define MATCH_POOL_CHUNK 256
#define MATCH_POOL_LINE	 64

struct match_pool {
	size_t bytes;	  /* of a structure */
	size_t per_chunk; /* structures; 0: MATCH_POOL_CHUNK */
	void *vacant;	  /* the first word of each points to the next */
	void **chunks;
	size_t n_chunks, cap_chunks;
	size_t used;
};

/* n structures: each begins a cache line, if its size is one of some lines. */
static inline void *match_pool_chunk(const struct match_pool *p, size_t n)
{
	void *chunk;

	if (posix_memalign(&chunk, MATCH_POOL_LINE, n * p->bytes))
		die(125, "out of memory");
	return chunk;
}

/* A structure of any content. */
static inline void *match_pool_take_any(struct match_pool *p)
{
	void *one;

	if (!p->vacant) {
		const size_t n = p->per_chunk ? p->per_chunk : MATCH_POOL_CHUNK;
		char *chunk = match_pool_chunk(p, n);

		*LIST_ADD(p, chunks) = chunk;
		for (size_t i = n; i-- > 0;) {
			memcpy(chunk + i * p->bytes, &p->vacant, sizeof(void *));
			p->vacant = chunk + i * p->bytes;
		}
	}
	one = p->vacant;
	memcpy(&p->vacant, one, sizeof(void *));
	p->used++;
	return one;
}

/* A zeroed structure. */
static inline void *match_pool_take(struct match_pool *p)
{
	return memset(match_pool_take_any(p), 0, p->bytes);
}

static inline void match_pool_give(struct match_pool *p, void *one)
{
	memcpy(one, &p->vacant, sizeof(void *));
	p->vacant = one;
	p->used--;
}

static inline void match_pool_free(struct match_pool *p)
{
	for (size_t i = 0; i < p->n_chunks; i++)
		free(p->chunks[i]);
	free(p->chunks);
	*p = (struct match_pool){0};
}

#endif
