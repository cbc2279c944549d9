/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/process/names.h"

#include <stdlib.h>
#include <string.h>
#include "nodeagent/process/host.h"
#include "nodeagent/replay/tree/calltree.h"
#include "nodeagent/process/codemap.h"
#include "nodeagent/symbols/lines.h"
#include "nodeagent/base/map.h"
#include "nodeagent/process/process.h"
#include "nodeagent/symbols/symtab.h"
#include "nodeagent/process/regions.h"
#include "nodeagent/base/util.h"
#include "shm/fnv.h"
#include "shm/record.h"

/* Generated from mpi/generate/mpi.tab. */
extern const char *const vftr_mpi_names[];
extern const unsigned vftr_mpi_n;

#define UNKNOWN	    "(unknown)"
#define NO_FUNCTION "(UnknownFunctionName)" /* as Vftrace says it */

struct file {
	char *path;
	uint8_t build_id[WIRE_BUILD_ID];
	size_t build_id_bytes;
	struct symtab *table;
};

struct symcache {
	struct host *host;
	struct file *files;
	size_t n, cap;
	char **made; /* names that had to be made up */
	size_t n_made, cap_made;
	struct map64 made_by_location;
	struct source_lines *lines;
};

struct symcache *symcache_new(struct host *host)
{
	struct symcache *s = xcalloc(1, sizeof(*s));

	s->host = host;
	s->lines = source_lines_new();
	return s;
}

struct source_lines *symcache_lines(struct symcache *s)
{
	return s->lines;
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
	map64_free(&s->made_by_location);
	source_lines_free(s->lines);
	free(s);
}

static bool is_file(const struct file *f, const struct code_location *location)
{
	return !strcmp(f->path, location->path) && f->build_id_bytes == location->build_id_bytes &&
	       !memcmp(f->build_id, location->build_id, f->build_id_bytes);
}

static struct symtab *table_of(struct symcache *s, const struct code_location *location)
{
	struct file *f;
	char *why = NULL;

	for (size_t i = 0; i < s->n; i++)
		if (is_file(&s->files[i], location))
			return s->files[i].table;
	s->files = grow(s->files, s->n, &s->cap, sizeof(*s->files));
	f = &s->files[s->n++];
	f->path = xstrdup(location->path);
	f->build_id_bytes = location->build_id_bytes;
	memcpy(f->build_id, location->build_id, location->build_id_bytes);
	f->table = symtab_open(location->path, location->build_id_bytes ? location->build_id : NULL,
		location->build_id_bytes, &why);
	if (why)
		host_warn(s->host, false, "%s", why);
	free(why);
	return f->table;
}

const char *symcache_find(
	struct symcache *s, const struct code_location *location, uint64_t address, uint64_t *start)
{
	return symtab_find(table_of(s, location), address, start);
}

/* "module+0xoffset", made once. */
static const char *made_name(struct symcache *s, const struct code_location *location)
{
	const char *module = basename(location->path);
	uint64_t key = fnv_text(location->address * 0x9e3779b97f4a7c15u, location->path);
	uint32_t *known;
	char *name = xasprintf("%s+0x%llx", module, (unsigned long long)location->address);

	known = map64_find(&s->made_by_location, key);
	if (known && !strcmp(s->made[*known], name)) {
		free(name);
		return s->made[*known];
	}
	if (!known)
		map64_add(&s->made_by_location, key, (uint32_t)s->n_made);
	s->made = grow(s->made, s->n_made, &s->cap_made, sizeof(*s->made));
	return s->made[s->n_made++] = name;
}

static const char *region_name(struct symcache *s, const struct process *p, uint64_t number)
{
	const char *name = regions_name(s, p, number);

	return name ? name : UNKNOWN;
}

static const char *mpi_name(uint32_t function)
{
	static const char *const logged[LOGGED_CALLS] = {
		[LOGGED_SEND] = "vftrace_log_send",
		[LOGGED_RECEIVE] = "vftrace_log_receive",
		[LOGGED_COLLECTIVE] = "vftrace_log_collective",
		[LOGGED_DATA] = "vftrace_log_data",
	};
	const uint32_t first = RECORD_ID_LOGGED - RECORD_ID_MPI;

	if (function >= first && function < first + LOGGED_CALLS)
		return logged[function - first];
	return function < vftr_mpi_n ? vftr_mpi_names[function] : UNKNOWN;
}

/* "MPI_Xxx_sync", made once. */
static const char *sync_name(struct symcache *s, uint64_t key)
{
	const uint32_t *known = map64_find(&s->made_by_location, key);

	if (known)
		return s->made[*known];
	map64_add(&s->made_by_location, key, (uint32_t)s->n_made);
	s->made = grow(s->made, s->n_made, &s->cap_made, sizeof(*s->made));
	return s->made[s->n_made++] = xasprintf("%s_sync", mpi_name(key_mpi((uint32_t)key)));
}

static const char *special_name(struct symcache *s, uint64_t key)
{
	if ((key & KEY_SYNC) == KEY_SYNC)
		return sync_name(s, key);
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
	struct code_location location;
	const char *name;

	if (RECORD_IS_REGION(key))
		return region_name(s, p, RECORD_REGION_NUMBER(key));
	if (!(key & KEY_WIDE)) {
		if (key & KEY_INIT)
			return special_name(s, key);
		if (id < RECORD_ID_REGION && id >= RECORD_ID_MPI)
			return mpi_name(id - RECORD_ID_MPI);
		if (id < RECORD_ID_FUNCTION)
			return region_name(s, p, id - RECORD_ID_REGION);
	}
	if (!codemap_find_key(p->code, key, &location))
		return NO_FUNCTION;
	name = symcache_find(s, &location, location.address, NULL);
	return name ? name : made_name(s, &location);
}
