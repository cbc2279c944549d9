/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/causal/paths.h"

#include <stdlib.h>

#include "nodeagent/base/hash.h"
#include "nodeagent/base/map.h"
#include "nodeagent/base/util.h"

struct path {
	uint32_t caller, name;
};

struct paths {
	struct path *all;
	size_t n, cap;
	char **names;
	size_t n_names, cap_names;
	struct map64 path_of, name_of; /* name_of: by hash; the next one if two have the same */
};

struct paths *paths_new(void)
{
	struct paths *p = xcalloc(1, sizeof(*p));

	*LIST_ADD(p, names) = xstrdup("init");
	*APPEND(p->all, p->n, p->cap) = (struct path){0, 0};
	return p;
}

void paths_free(struct paths *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->n_names; i++)
		free(p->names[i]);
	free(p->names);
	free(p->all);
	map64_free(&p->path_of);
	map64_free(&p->name_of);
	free(p);
}

static uint32_t name_of(struct paths *p, const char *name)
{
	for (uint64_t h = stack_hash(name, strlen(name) + 1);; h++) {
		const uint32_t at = *map64_at(&p->name_of, h, (uint32_t)p->n_names);

		if (at == p->n_names)
			*LIST_ADD(p, names) = xstrdup(name);
		if (!strcmp(p->names[at], name))
			return at;
	}
}

uint32_t paths_add(struct paths *p, uint32_t caller, const char *function)
{
	const uint32_t name = name_of(p, function);
	const uint32_t at = *map64_at(&p->path_of, (uint64_t)caller << 32 | name, (uint32_t)p->n);

	if (at == p->n)
		*APPEND(p->all, p->n, p->cap) = (struct path){caller, name};
	return at;
}

uint32_t paths_count(const struct paths *p)
{
	return (uint32_t)p->n;
}

uint32_t paths_caller(const struct paths *p, uint32_t path)
{
	return p->all[path].caller;
}

const char *paths_function(const struct paths *p, uint32_t path)
{
	return p->names[p->all[path].name];
}

char *paths_text(const struct paths *p, uint32_t path)
{
	char *text;
	size_t bytes;
	FILE *f = memory_begin(&text, &bytes);

	for (; path; path = p->all[path].caller)
		fprintf(f, "%s<", paths_function(p, path));
	fputs("init", f);
	memory_end(f);
	return text;
}
