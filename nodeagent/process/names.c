/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/process/names.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "nodeagent/process/host.h"
#include "nodeagent/replay/openmp/lock-uses.h"
#include "nodeagent/replay/tree/calltree.h"
#include "nodeagent/process/codemap.h"
#include "nodeagent/symbols/lines.h"
#include "nodeagent/base/map.h"
#include "nodeagent/process/process.h"
#include "nodeagent/process/procfs.h"
#include "nodeagent/symbols/objects.h"
#include "nodeagent/symbols/symtab.h"
#include "nodeagent/process/regions.h"
#include "nodeagent/base/util.h"
#include "shm/clock.h"
#include "shm/fnv.h"
#include "shm/record.h"

/* Generated from mpi/generate/mpi.tab. */
extern const char *const vftr_mpi_names[];
extern const unsigned vftr_mpi_n;

#define SITES_S	    10.0
#define UNKNOWN	    "(unknown)"
#define NO_FUNCTION "(UnknownFunctionName)" /* as Vftrace says it */

struct file {
	char *path;
	uint8_t build_id[WIRE_BUILD_ID];
	size_t build_id_bytes;
	struct symtab *table;	 /* NULL: not read yet */
	struct objects *objects; /* the same */
	bool lines_read;	 /* of all functions */
	struct stat told;	 /* as it was when a process told of it; no inode: not looked at */
	bool compared, is_other; /* with what is there now; it is another file */
};

/* A function that was named; texts of tables are unique, so the pointer tells it. */
struct named {
	const char *name;
	uint32_t file;
	uint64_t start; /* ELF address */
};

struct symcache {
	struct host *host;
	struct file *files;
	size_t n, cap;
	char **made; /* names that had to be made up */
	size_t n_made, cap_made;
	struct map64 made_by_location;
	struct source_lines *lines;
	struct named *named;
	size_t n_named, cap_named;
	size_t n_sought;       /* of named[]: their lines were looked up */
	struct map64 named_at; /* address of the name -> index */
	struct map64 sought;   /* hashes of call sites whose lines were read */
	bool may_read;
	double sites_s; /* that the lines of call sites may still take ... */
	double files_s; /* ... and those of functions whose file is asked for */
};

struct symcache *symcache_new(struct host *host)
{
	struct symcache *s = xcalloc(1, sizeof(*s));

	s->host = host;
	s->lines = source_lines_new();
	s->sites_s = SITES_S;
	s->files_s = FILES_S;
	s->may_read = true;
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
		objects_close(s->files[i].objects);
	}
	for (size_t i = 0; i < s->n_made; i++)
		free(s->made[i]);
	free(s->files);
	free(s->made);
	free(s->named);
	map64_free(&s->named_at);
	map64_free(&s->sought);
	map64_free(&s->made_by_location);
	source_lines_free(s->lines);
	free(s);
}

static bool is_file(const struct file *f, const struct code_location *location)
{
	return !strcmp(f->path, location->path) && f->build_id_bytes == location->build_id_bytes &&
	       !memcmp(f->build_id, location->build_id, f->build_id_bytes);
}

static uint32_t file_of(struct symcache *s, const struct code_location *location)
{
	struct file *f;

	for (size_t i = 0; i < s->n; i++)
		if (is_file(&s->files[i], location))
			return (uint32_t)i;
	f = APPEND(s->files, s->n, s->cap);
	*f = (struct file){.path = xstrdup(location->path)};
	f->build_id_bytes = location->build_id_bytes;
	memcpy(f->build_id, location->build_id, location->build_id_bytes);
	return (uint32_t)s->n - 1;
}

/* A build-id tells it better. */
static bool is_other(struct file *f)
{
	struct stat now;

	if (f->compared || f->build_id_bytes || !f->told.st_ino || stat(f->path, &now))
		return f->is_other;
	f->is_other = now.st_dev != f->told.st_dev || now.st_ino != f->told.st_ino ||
		      now.st_mtim.tv_sec != f->told.st_mtim.tv_sec ||
		      now.st_mtim.tv_nsec != f->told.st_mtim.tv_nsec;
	f->compared = true;
	return f->is_other;
}

static const struct symtab *table_of(struct symcache *s, uint32_t file)
{
	struct file *f = &s->files[file];
	char *why = NULL;

	if (f->table)
		return f->table;
	if (is_other(f)) {
		f->table = symtab_none();
		why = xasprintf("%s changed since it ran (it was written anew): its functions are "
				"shown as addresses",
			f->path);
	} else {
		f->table = symtab_open(
			f->path, f->build_id_bytes ? f->build_id : NULL, f->build_id_bytes, &why);
	}
	if (why)
		host_warn(s->host, false, "%s", why);
	free(why);
	return f->table;
}

void symcache_see(struct symcache *s, const char *path)
{
	const uint32_t file = file_of(s, &(struct code_location){.path = path});
	struct file *f = &s->files[file];

	if (!f->told.st_ino)
		(void)!stat(path, &f->told);
}

static void keep_removed(
	struct symcache *s, const struct process *p, const struct wire_module *m, const char *path)
{
	const struct code_location location = {path, 0, m->build_id, m->build_id_bytes};
	const uint32_t file = file_of(s, &location); /* may move files[] */
	struct file *f = &s->files[file];
	char *readable = f->table ? NULL : procfs_removed_file(p->pid, m->low, path);

	if (!readable)
		return;
	f->table = symtab_open(
		readable, f->build_id_bytes ? f->build_id : NULL, f->build_id_bytes, NULL);
	if (!symtab_count(f->table)) { /* why will be said in the end */
		symtab_close(f->table);
		f->table = NULL;
	}
	free(readable);
}

void process_maps(struct process *p, const struct wire_module *m, const char *path)
{
	struct symcache *s = p->host->symbols;
	char *plain = xstrdup(path);
	const bool removed = procfs_cut_deleted(plain);

	codemap_add(p->code, m, plain);
	if (s && removed)
		keep_removed(s, p, m, plain);
	else if (s && !m->build_id_bytes)
		symcache_see(s, plain);
	free(plain);
}

const char *symcache_find(
	struct symcache *s, const struct code_location *location, uint64_t address, uint64_t *start)
{
	const uint32_t file = file_of(s, location); /* may move files[] */

	return symtab_find(table_of(s, file), address, start);
}

const char *symcache_find_object(
	struct symcache *s, const struct code_location *location, uint64_t *start)
{
	const uint32_t file = file_of(s, location); /* may move files[] */
	struct file *f = &s->files[file];

	if (is_other(f))
		return NULL;
	if (!f->objects)
		f->objects = objects_open(
			f->path, f->build_id_bytes ? f->build_id : NULL, f->build_id_bytes);
	return objects_find(f->objects, location->address, start);
}

char *symcache_lock_name(struct symcache *s, const struct process *p, const struct lock_use *u)
{
	struct code_location at;
	const char *variable = NULL;
	uint64_t start = 0;

	if (!u->address)
		return xstrdup("(other locks)");
	if (u->kind != LOCK_THREAD && codemap_find_data(p->code, u->address, &at))
		variable = symcache_find_object(s, &at, &start);
	if (!variable)
		return xasprintf("%s %u", lock_kind_name(u->kind), u->nth);
	if (at.address == start)
		return xasprintf("%s:%s", basename(at.path), variable);
	return xasprintf("%s:%s+0x%llx", basename(at.path), variable,
		(unsigned long long)(at.address - start));
}

/* `name`, or the same that was made before for this key. */
static const char *made_once(struct symcache *s, uint64_t key, char *name)
{
	uint32_t *known = map64_find(&s->made_by_location, key);

	if (known && !strcmp(s->made[*known], name)) {
		free(name);
		return s->made[*known];
	}
	if (!known)
		map64_add(&s->made_by_location, key, (uint32_t)s->n_made);
	s->made = grow(s->made, s->n_made, &s->cap_made, sizeof(*s->made));
	return s->made[s->n_made++] = name;
}

static uint64_t hash_of(const struct code_location *location)
{
	return fnv_text(location->address * 0x9e3779b97f4a7c15u, location->path);
}

static char *offset_in_module(const struct code_location *location)
{
	return xasprintf(
		"%s+0x%llx", basename(location->path), (unsigned long long)location->address);
}

static const char *made_name(struct symcache *s, const struct code_location *location)
{
	return made_once(s, hash_of(location), offset_in_module(location));
}

/* Returns the seconds that it took. */
static double read_lines(struct symcache *s, const struct code_location *locations, size_t n,
	const char *of, double seconds)
{
	const double from = 1e-9 * (double)clock_raw_ns();

	if (!source_lines_read(s->lines, locations, n, seconds))
		host_warn(s->host, false,
			"the source lines of some %s are missing: debug information was not "
			"read within %.0f s",
			of, seconds);
	return 1e-9 * (double)clock_raw_ns() - from;
}

/* ---- call sites: their lines are part of their names ------------------------------------ */

struct sites {
	struct code_location *at;
	size_t n_at, cap_at;
};

static bool has_lines(struct symcache *s, const struct code_location *location)
{
	const uint32_t file = file_of(s, location); /* may move files[] */

	return !is_other(&s->files[file]);
}

static void add_sites(
	struct symcache *s, const struct process *p, struct calltree *tree, struct sites *to)
{
	struct code_location location;

	for (size_t i = 0; i < calltree_nodes(tree); i++) {
		const uint64_t key = calltree_at(tree, i)->key;

		if (!key_is_site(key) || !codemap_find_key(p->code, key, &location) ||
			map64_find(&s->sought, hash_of(&location)) || !has_lines(s, &location))
			continue;
		map64_add(&s->sought, hash_of(&location), 0);
		*LIST_ADD(to, at) = location;
	}
}

static void read_sites(
	struct symcache *s, const struct process *p, const struct code_location *location)
{
	struct sites all = {.at = NULL};

	if (!s->may_read || map64_find(&s->sought, hash_of(location)) || !has_lines(s, location))
		return;
	map64_add(&s->sought, hash_of(location), 0);
	*LIST_ADD(&all, at) = *location;
	if (p->ended_tree)
		add_sites(s, p, p->ended_tree, &all);
	for (size_t i = 0; i < p->n_threads; i++)
		if (p->threads[i] && p->threads[i]->replay && replay_tree(p->threads[i]->replay))
			add_sites(s, p, replay_tree(p->threads[i]->replay), &all);
	if (s->sites_s > 0)
		s->sites_s -= read_lines(s, all.at, all.n_at, "calls of MPI", s->sites_s);
	free(all.at);
}

void symcache_may_read(struct symcache *s, bool may)
{
	if (s)
		s->may_read = may;
}

static const char *site_name(
	struct symcache *s, const struct process *p, const struct code_location *location)
{
	read_sites(s, p, location);

	const char *const line = source_lines_find(s->lines, location);
	char *offset = line ? NULL : offset_in_module(location);
	char *name = xasprintf(SITE_PREFIX "%s", line ? line : offset);

	free(offset);
	return made_once(s, fnv_text(FNV_BEGIN, name), name);
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
	case KEY_JOIN:
		return "omp_join";
	case KEY_IDLE:
		return "(idle)";
	case KEY_CUT:
		return "(callers not known)";
	case KEY_BLOCKED:
		return "(blocked)";
	default:
		return "(more paths)";
	}
}

/* Name of the function around the location, which is kept for its source line. */
static const char *function_name(struct symcache *s, const struct code_location *location)
{
	const uint32_t file = file_of(s, location);
	uint64_t start = 0;
	const char *name = symtab_find(table_of(s, file), location->address, &start);

	if (!name || map64_find(&s->named_at, (uintptr_t)name))
		return name;
	map64_add(&s->named_at, (uintptr_t)name, (uint32_t)s->n_named);
	*LIST_ADD(s, named) = (struct named){name, file, start};
	return name;
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
		return key_is_site(key) ? SITE_PREFIX UNKNOWN : NO_FUNCTION;
	if (key_is_site(key))
		return site_name(s, p, &location);
	name = function_name(s, &location);
	return name ? name : made_name(s, &location);
}

/* ---- source lines ------------------------------------------------------------------ */

static struct code_location location_of(const struct symcache *s, const struct named *n)
{
	const struct file *f = &s->files[n->file];

	return (struct code_location){f->path, n->start, f->build_id, f->build_id_bytes};
}

void symcache_read_sources(struct symcache *s)
{
	const size_t n = s->n_named - s->n_sought;
	struct code_location *locations;

	if (!n || s->host->sources_s <= 0)
		return;
	locations = xmalloc(n * sizeof(*locations));
	for (size_t i = 0; i < n; i++)
		locations[i] = location_of(s, &s->named[s->n_sought + i]);
	s->host->sources_s -= read_lines(s, locations, n, "functions", s->host->sources_s);
	s->n_sought = s->n_named;
	free(locations);
}

static void read_file_lines(struct symcache *s, uint32_t file)
{
	const struct symtab *t = table_of(s, file);
	struct file *f = &s->files[file];
	const size_t n = symtab_count(t);
	struct code_location *all;

	if (f->lines_read || !n || s->files_s <= 0)
		return;
	f->lines_read = true;
	all = xmalloc(n * sizeof(*all));
	for (size_t i = 0; i < n; i++)
		all[i] = (struct code_location){
			f->path, symtab_start(t, i), f->build_id, f->build_id_bytes};
	s->files_s -= read_lines(s, all, n, "functions", s->files_s);
	free(all);
}

const char *symcache_file(struct symcache *s, const struct process *p, uint64_t key)
{
	struct code_location location;
	uint64_t start;
	uint32_t file;

	if (RECORD_IS_REGION(key) || key_is_region(key) || key_is_site(key) ||
		!codemap_find_key(p->code, key, &location))
		return NULL;
	file = file_of(s, &location);
	read_file_lines(s, file);
	if (!symtab_find(table_of(s, file), location.address, &start))
		return NULL;
	location.address = start;
	return source_lines_place(s->lines, &location).file;
}

struct source_place symcache_site(const struct symcache *s, const struct process *p, uint64_t key)
{
	struct code_location location;

	if (!key_is_site(key) || !codemap_find_key(p->code, key, &location))
		return (struct source_place){NULL, 0};
	return source_lines_place(s->lines, &location);
}

bool symcache_source(
	const struct symcache *s, size_t i, const char **name, struct source_place *place)
{
	struct code_location location;

	if (i >= s->n_named)
		return false;
	location = location_of(s, &s->named[i]);
	*name = s->named[i].name;
	*place = source_lines_place(s->lines, &location);
	return true;
}

struct source_place symcache_source_of(const struct symcache *s, const char *name)
{
	const uint32_t *i = map64_find(&s->named_at, (uintptr_t)name);
	struct source_place place = {NULL, 0};

	if (i)
		symcache_source(s, *i, &name, &place);
	return place;
}
