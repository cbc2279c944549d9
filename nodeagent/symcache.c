/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/symcache.h"

#include <stdlib.h>
#include <string.h>
#include "nodeagent/agent.h"
#include "nodeagent/calltree.h"
#include "nodeagent/codemap.h"
#include "nodeagent/process.h"
#include "nodeagent/sym.h"
#include "nodeagent/util.h"
#include "shm/record.h"

/* Generated from mpi/mpi.tab. */
extern const char *const vftr_mpi_names[];
extern const unsigned vftr_mpi_n;

#define UNKNOWN "(unknown)"

struct file {
	char *path;
	uint8_t build_id[WIRE_BUILD_ID];
	size_t build_id_bytes;
	struct symtab *table;
};

struct symcache {
	struct agent *agent;
	struct file *files;
	size_t n, cap;
	char **made; /* names that had to be made up */
	size_t n_made, cap_made;
};

struct symcache *symcache_new(struct agent *a)
{
	struct symcache *s = xcalloc(1, sizeof(*s));

	s->agent = a;
	return s;
}

void symcache_free(struct symcache *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->n; i++) {
		free(s->files[i].path);
		symtab_close(s->files[i].table);
	}
	for (size_t i = 0; i < s->n_made; i++)
		free(s->made[i]);
	free(s->files);
	free(s->made);
	free(s);
}

static bool is_file(const struct file *f, const struct code_place *place)
{
	return !strcmp(f->path, place->path) && f->build_id_bytes == place->build_id_bytes &&
	       !memcmp(f->build_id, place->build_id, f->build_id_bytes);
}

static struct symtab *table_of(struct symcache *s, const struct code_place *place)
{
	struct file *f;
	char *why = NULL;

	for (size_t i = 0; i < s->n; i++)
		if (is_file(&s->files[i], place))
			return s->files[i].table;
	s->files = grow(s->files, s->n, &s->cap, sizeof(*s->files));
	f = &s->files[s->n++];
	f->path = xstrdup(place->path);
	f->build_id_bytes = place->build_id_bytes;
	memcpy(f->build_id, place->build_id, place->build_id_bytes);
	f->table = symtab_open(place->path, place->build_id_bytes ? place->build_id : NULL,
		place->build_id_bytes, &why);
	if (why)
		agent_warn(s->agent, false, "%s", why);
	free(why);
	return f->table;
}

const char *symcache_find(
	struct symcache *s, const struct code_place *place, uint64_t address, uint64_t *start)
{
	return symtab_find(table_of(s, place), address, start);
}

static const char *make_name(struct symcache *s, char *name)
{
	for (size_t i = 0; i < s->n_made; i++)
		if (!strcmp(s->made[i], name)) {
			free(name);
			return s->made[i];
		}
	s->made = grow(s->made, s->n_made, &s->cap_made, sizeof(*s->made));
	return s->made[s->n_made++] = name;
}

static const char *region_name(const struct process *p, uint64_t number)
{
	return number < p->n_regions && p->regions[number] ? p->regions[number] : UNKNOWN;
}

static const char *special_name(uint64_t key)
{
	switch (key) {
	case KEY_INIT:
		return "init";
	case KEY_DEEP:
		return "(deeper)";
	case KEY_PAUSE:
		return "vftrace_pause";
	default:
		return "(more paths)";
	}
}

const char *symcache_name(struct symcache *s, const struct process *p, uint64_t key)
{
	uint32_t id = (uint32_t)key;
	struct code_place place;
	const char *name, *base;

	if (RECORD_IS_REGION(key))
		return region_name(p, key & ~RECORD_REGION_KEY(0));
	if (!(key & KEY_WIDE)) {
		if (key & KEY_INIT)
			return special_name(key);
		if (id < RECORD_ID_REGION && id >= RECORD_ID_MPI)
			return id - RECORD_ID_MPI < vftr_mpi_n ? vftr_mpi_names[id - RECORD_ID_MPI] :
								 UNKNOWN;
		if (id < RECORD_ID_FUNCTION)
			return region_name(p, id - RECORD_ID_REGION);
	}
	if (!codemap_find_key(p->code, key, &place))
		return UNKNOWN;
	name = symcache_find(s, &place, place.address, NULL);
	if (name)
		return name;
	base = strrchr(place.path, '/');
	return make_name(s, xasprintf("%s+0x%llx", base ? base + 1 : place.path,
				    (unsigned long long)place.address));
}
