/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/replay/comm/far.h"

#include <stdlib.h>
#include <string.h>
#include "nodeagent/base/map.h"
#include "nodeagent/base/util.h"
#include "shm/fnv.h"

struct far_paths {
	struct entry {
		char *name;
		uint32_t parent, depth;
	} * at;
	size_t n, cap;
	struct match_table by_name; /* parent and hash -> number */
};

struct far_paths *far_paths_new(void)
{
	return xcalloc(1, sizeof(struct far_paths));
}

void far_paths_free(struct far_paths *f)
{
	for (size_t i = 0; f && i < f->n; i++)
		free(f->at[i].name);
	if (f) {
		free(f->at);
		match_table_free(&f->by_name);
	}
	free(f);
}

uint32_t far_path_add(struct far_paths *f, uint32_t parent, const char *name)
{
	const uint64_t hash = fnv_text(FNV_BEGIN, name);
	const uint32_t depth = parent && parent <= f->n ? f->at[parent - 1].depth + 1 : 1;
	const uint32_t known = (uint32_t)(uintptr_t)match_table_find(&f->by_name, parent, hash);

	if (known)
		return !strcmp(f->at[known - 1].name, name) ? known : 0;
	if (parent > f->n || f->n >= FAR_PATHS_MAX || depth > FAR_DEPTH_MAX)
		return 0;
	*APPEND(f->at, f->n, f->cap) = (struct entry){xstrdup(name), parent, depth};
	match_table_add(&f->by_name, parent, hash, (void *)(uintptr_t)f->n);
	return (uint32_t)f->n;
}

const char *far_path(const struct far_paths *f, uint32_t path, uint32_t *parent)
{
	if (!path || path > f->n)
		return NULL;
	*parent = f->at[path - 1].parent;
	return f->at[path - 1].name;
}
