/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/process/regions.h"

#include <stdlib.h>
#include <string.h>
#include "nodeagent/process/host.h"
#include "nodeagent/process/codemap.h"
#include "nodeagent/symbols/lines.h"
#include "nodeagent/replay/openacc.h"
#include "nodeagent/process/process.h"
#include "nodeagent/process/names.h"
#include "nodeagent/base/util.h"
#include "shm/locks.h"
#include "shm/record.h"

#define REGIONS_LIMIT (1u << 20)  /* of one process */
#define NAMES_LIMIT   (80u << 20) /* bytes of their names: more than the library sends */
#define CHUNK	      64u

struct region {
	char *name; /* NULL: not defined, or not made yet */
	bool is_construct;
	bool waits_for_lock;		/* a function of the C library (shm/locks.h) */
	uint32_t kind;			/* enum construct */
	char *user_name;		/* of a construct */
	struct code_location location;	/* of the byte before the address; path NULL: unknown */
	struct openacc_region *openacc; /* or NULL; a construct of no kind */
	uint64_t surplus_ends, missing_ends;
};

static const char *const constructs[CONSTRUCT_KINDS] = {
#define CONSTRUCT_ROW(kind, name, waits) [CONSTRUCT_##kind] = name,
	CONSTRUCTS(CONSTRUCT_ROW)
#undef CONSTRUCT_ROW
};

/* NULL: nobody has told of one near it. */
static struct region *find_region(const struct process *p, uint64_t number)
{
	struct region *chunk = number < p->n_regions ? p->regions[number / CHUNK] : NULL;

	return chunk ? &chunk[number % CHUNK] : NULL;
}

/* Numbers may come in any order, and some never: a forked child tells what is left of them. */
static struct region *region_at(struct process *p, uint64_t number)
{
	struct region *r, empty = {0};

	if (number >= REGIONS_LIMIT) {
		process_quarantine(p, "it defined region number %llu, and %llu is the last one",
			(unsigned long long)number, (unsigned long long)REGIONS_LIMIT - 1);
		return NULL;
	}
	while (p->n_regions <= number) {
		p->regions = grow(
			p->regions, p->n_regions / CHUNK, &p->cap_regions, sizeof(*p->regions));
		p->regions[p->n_regions / CHUNK] = NULL;
		p->n_regions += CHUNK;
	}
	if (!p->regions[number / CHUNK])
		p->regions[number / CHUNK] = xcalloc(CHUNK, sizeof(**p->regions));
	r = &p->regions[number / CHUNK][number % CHUNK];
	free(r->name);
	free(r->user_name);
	openacc_region_free(r->openacc);
	empty.surplus_ends = r->surplus_ends;
	empty.missing_ends = r->missing_ends;
	*r = empty;
	return r;
}

void regions_define(struct process *p, uint64_t number, const char *name)
{
	struct region *r = region_at(p, number);

	if (!r)
		return;
	r->name = xstrdup(name);
	r->waits_for_lock = p->lock_uses && lock_waits_in(name);
	p->region_bytes += strlen(name) + 1;
	if (p->region_bytes > NAMES_LIMIT)
		process_quarantine(p, "its names of regions have more than %u bytes", NAMES_LIMIT);
}

void regions_construct(struct process *p, const struct wire_construct *m, const char *name)
{
	struct region *r;

	if (m->kind >= CONSTRUCT_KINDS) {
		process_quarantine(p, "it defined a construct of kind %u", m->kind);
		return;
	}
	r = region_at(p, m->number);
	if (!r)
		return;
	r->is_construct = true;
	r->kind = m->kind;
	r->user_name = name[0] ? xstrdup(name) : NULL;
	/* its call lies before the return address */
	if (!m->address || !codemap_find_address(p->code, m->address - 1, &r->location))
		r->location.path = NULL;
}

void regions_free(struct process *p)
{
	for (size_t i = 0; i < p->n_regions; i++) {
		struct region *r = find_region(p, i);

		if (!r)
			continue;
		free(r->name);
		free(r->user_name);
		openacc_region_free(r->openacc);
	}
	for (size_t i = 0; i < p->n_regions / CHUNK; i++)
		free(p->regions[i]);
	free(p->regions);
}

void regions_openacc_define(struct process *p, const struct wire_openacc *m, const char *file,
	const char *function, const char *name)
{
	struct openacc_region *openacc = openacc_region_new(m, file, function, name);
	struct region *r = openacc ? region_at(p, m->number) : NULL;

	if (!openacc)
		process_quarantine(p, "it defined an event of OpenACC of kind %u", m->event);
	if (!r) {
		openacc_region_free(openacc);
		return;
	}
	r->is_construct = true;
	r->kind = CONSTRUCT_KINDS;
	r->openacc = openacc;
	r->user_name = openacc->name[0] ? xstrdup(openacc->name) : NULL;
	if (!m->address || openacc->file[0] ||
		!codemap_find_address(p->code, m->address - 1, &r->location))
		r->location.path = NULL;
}

/* Lines are asked for all at once: opening a file takes its time. */
static void read_lines(struct symcache *s, const struct process *p)
{
	struct code_location *locations = xcalloc(p->n_regions, sizeof(*locations));

	for (size_t i = 0; i < p->n_regions; i++) {
		const struct region *r = find_region(p, i);

		if (r && r->is_construct && !r->name)
			locations[i] = r->location;
	}
	source_lines_read(symcache_lines(s), locations, p->n_regions, SOURCE_LINES_S);
	free(locations);
}

/* Where it is: a line, else a function or a file and an offset. */
static char *location_name(struct symcache *s, const struct code_location *location)
{
	const char *line = source_lines_find(symcache_lines(s), location), *name;
	uint64_t start = 0;

	if (line)
		return xstrdup(line);
	name = symcache_find(s, location, location->address, &start);
	if (name)
		return xasprintf(
			"%s+0x%llx", name, (unsigned long long)(location->address + 1 - start));
	return xasprintf(
		"%s+0x%llx", basename(location->path), (unsigned long long)location->address + 1);
}

static void make_name(struct symcache *s, struct region *r)
{
	const char *what = r->openacc ? openacc_event_name(r->openacc->event) : constructs[r->kind];
	char *location = r->location.path ? location_name(s, &r->location)
			 : r->openacc	  ? openacc_region_location(r->openacc)
					  : NULL;

	r->name = xasprintf("%s%s%s%s%s%s%s", r->openacc ? "acc_" : "", what,
		r->user_name ? "(" : "", r->user_name ? r->user_name : "", r->user_name ? ")" : "",
		location ? "@" : "", location ? location : "");
	free(location);
}

const char *regions_name(struct symcache *s, const struct process *p, uint64_t number)
{
	struct region *r = find_region(p, number);

	if (!r)
		return NULL;
	if (r->is_construct && !r->name) {
		if (r->location.path)
			read_lines(s, p);
		make_name(s, r);
	}
	return r->name;
}

enum construct regions_kind(const struct process *p, uint64_t number)
{
	const struct region *r = find_region(p, number);

	return r && r->is_construct ? (enum construct)r->kind : CONSTRUCT_KINDS;
}

/* The region of a frame's key, or NULL. */
static const struct region *region_of_key(const struct process *p, uint64_t key)
{
	uint64_t number = UINT64_MAX;

	if (RECORD_IS_REGION(key))
		number = RECORD_REGION_NUMBER(key);
	else if (key >= RECORD_ID_REGION && key < RECORD_ID_FUNCTION)
		number = key - RECORD_ID_REGION;
	return find_region(p, number);
}

bool regions_has(const struct process *p, uint64_t key)
{
	const struct region *r = region_of_key(p, key);

	return r && (r->name || r->is_construct);
}

enum construct regions_kind_of_key(const struct process *p, uint64_t key)
{
	const struct region *r = region_of_key(p, key);

	if (key == KEY_JOIN || key == KEY_IDLE)
		return key == KEY_JOIN ? CONSTRUCT_JOIN : CONSTRUCT_IDLE;

	return r && r->is_construct ? (enum construct)r->kind : CONSTRUCT_KINDS;
}

bool regions_is_wait(const struct process *p, uint64_t key)
{
	static const bool waits[CONSTRUCT_KINDS] = {
#define WAITS(kind, name, is_wait) [CONSTRUCT_##kind] = (is_wait),
		CONSTRUCTS(WAITS)
#undef WAITS
	};
	const enum construct kind = regions_kind_of_key(p, key);

	return kind < CONSTRUCT_KINDS && waits[kind];
}

bool regions_is_lock_wait(const struct process *p, uint64_t key)
{
	const struct region *r = region_of_key(p, key);

	return r && r->waits_for_lock;
}

const struct openacc_region *regions_openacc(const struct process *p, uint64_t key)
{
	const struct region *r = region_of_key(p, key);

	return r ? r->openacc : NULL;
}

const char *regions_address_location(const struct process *p, uint64_t key)
{
	const struct region *r = region_of_key(p, key);
	const char *at = r && r->location.path && r->name ? strrchr(r->name, '@') : NULL;

	return at ? at + 1 : NULL;
}

struct source_place regions_source(struct symcache *s, const struct process *p, uint64_t key)
{
	const struct region *r = region_of_key(p, key);

	if (!r || !r->location.path)
		return (struct source_place){NULL, 0};
	return source_lines_place(symcache_lines(s), &r->location);
}

/* ---- begins and ends that do not match ------------------------------------ */

#define MISMATCHES_SHOWN 20u

struct mismatch {
	const char *name;
	uint64_t surplus, missing;
};

void regions_mismatched(void *ctx, uint64_t key, bool missing, uint64_t times)
{
	struct process *p = ctx;
	uint64_t number =
		RECORD_IS_REGION(key) ? RECORD_REGION_NUMBER(key) : key - RECORD_ID_REGION;
	struct region *r = find_region(p, number);

	if (!r || r->is_construct)
		return;
	if (missing)
		r->missing_ends += times;
	else
		r->surplus_ends += times;
}

ORDER_BY(by_name, struct mismatch, ALPHABETIC(name))

struct mismatches {
	struct mismatch *at;
	size_t n, cap;
};

static void collect_mismatches(struct mismatches *to, const struct process *p, bool copy)
{
	for (size_t i = 0; i < p->n_regions; i++) {
		const struct region *r = find_region(p, i);

		if (!r || !r->name || !(r->surplus_ends | r->missing_ends))
			continue;
		*APPEND(to->at, to->n, to->cap) = (struct mismatch){
			copy ? xstrdup(r->name) : r->name, r->surplus_ends, r->missing_ends};
	}
}

/* One for each name; copies: names that are no longer used are freed. */
static void add_up(struct mismatches *all, bool copies)
{
	struct mismatch *at = all->at;
	size_t kept = 0;

	if (all->n)
		qsort(at, all->n, sizeof(*at), by_name);
	for (size_t i = 0; i < all->n; i++) {
		if (!kept || strcmp(at[kept - 1].name, at[i].name)) {
			at[kept++] = at[i];
			continue;
		}
		at[kept - 1].surplus += at[i].surplus;
		at[kept - 1].missing += at[i].missing;
		if (copies)
			free((void *)(uintptr_t)at[i].name);
	}
	all->n = kept;
}

void regions_let_go(const struct process *p)
{
	struct mismatches *all = p->host->mismatches;
	size_t n;

	if (!all)
		all = p->host->mismatches = xcalloc(1, sizeof(*all));
	n = all->n;
	collect_mismatches(all, p, true);
	if (all->n > n)
		add_up(all, true);
}

static void warn_of(struct host *host, const char *name, uint64_t n, const char *what)
{
	if (n == 1)
		host_warn(host, false, "region \"%s\": %s, once", name, what);
	else if (n)
		host_warn(host, false, "region \"%s\": %s, %llu times", name, what,
			(unsigned long long)n);
}

void regions_warn(struct host *host)
{
	const struct mismatches *gone = host->mismatches;
	struct mismatches all = {0};

	for (size_t i = 0; gone && i < gone->n; i++) {
		*APPEND(all.at, all.n, all.cap) = gone->at[i];
	}
	for (const struct process *p = host->processes; p; p = p->next)
		collect_mismatches(&all, p, false);
	add_up(&all, false);
	for (size_t i = 0; i < all.n && i < MISMATCHES_SHOWN; i++) {
		const struct mismatch *m = &all.at[i];

		warn_of(host, m->name, m->surplus, "an end without a begin was ignored");
		warn_of(host, m->name, m->missing,
			"the end was missing, it was closed with what is around it");
	}
	if (all.n > MISMATCHES_SHOWN)
		host_warn(host, false, "%zu more regions have begins and ends that do not match",
			all.n - MISMATCHES_SHOWN);
	free(all.at);
}
