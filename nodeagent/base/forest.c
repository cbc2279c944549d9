/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/base/forest.h"

#include <stdlib.h>
#include <string.h>

#include "nodeagent/base/util.h"

static uint32_t *none(size_t n)
{
	uint32_t *all = xmalloc(n * sizeof(*all) + 1);

	memset(all, 0xff, n * sizeof(*all));
	return all;
}

void forest_init(struct forest *f, size_t n)
{
	f->first = FOREST_NONE;
	f->parent = none(n);
	f->child = none(n);
	f->sibling = none(n);
	f->level = xcalloc(n + 1, sizeof(*f->level));
}

void forest_done(struct forest *f)
{
	free(f->parent);
	free(f->child);
	free(f->sibling);
	free(f->level);
}

void forest_put_first(struct forest *f, uint32_t i, uint32_t last)
{
	const uint32_t above = f->parent[i];
	uint32_t *head = above == FOREST_NONE ? &f->first : &f->child[above];

	f->sibling[last] = *head;
	*head = i;
}

uint32_t forest_next(struct forest *f, uint32_t i)
{
	if (f->child[i] != FOREST_NONE) {
		f->level[f->child[i]] = f->level[i] + 1;
		return f->child[i];
	}
	while (i != FOREST_NONE && f->sibling[i] == FOREST_NONE)
		i = f->parent[i];
	if (i == FOREST_NONE)
		return i;
	f->level[f->sibling[i]] = f->level[i];
	return f->sibling[i];
}
