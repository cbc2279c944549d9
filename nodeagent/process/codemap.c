/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/process/codemap.h"

#include <stdlib.h>
#include <string.h>
#include "nodeagent/replay/tree/calltree.h"
#include "nodeagent/base/util.h"

#define MODULES_LIMIT 65536u /* more is a process gone wild */
#define EPOCHS_LIMIT  (1u << 20)
#define HOLES_MOST    1024u /* what is unloaded at more places is taken together with its like */
#define NO_MODULE     UINT32_MAX

struct module {
	char *path;
	uint64_t base, low, high;
	uint32_t first_epoch, last_epoch; /* last: UINT32_MAX while loaded */
	uint8_t build_id[WIRE_BUILD_ID];
	size_t build_id_bytes;
};

/* A module that is loaded now. */
struct loaded {
	uint64_t low, high;
	uint32_t module;
};

/* Where modules were unloaded. */
struct hole {
	uint64_t low, high;
	uint32_t last_epoch; /* of the last one */
	uint32_t module;     /* the last one, or NO_MODULE: several places are taken together */
};

/* What comes and goes takes steps for what is there, not for all that ever was. */
struct codemap {
	struct module *modules;
	size_t n, cap;
	struct loaded *loaded; /* in the order in which they came */
	size_t n_loaded, cap_loaded;
	struct hole *holes;
	size_t n_holes, cap_holes;
	uint64_t *starts; /* ticks after which epoch i begins */
	size_t n_epochs, cap_epochs;
	uint32_t reuse_low, reuse_bytes; /* where modules were unloaded */
};

struct codemap *codemap_new(void)
{
	struct codemap *map = xcalloc(1, sizeof(*map));

	map->starts = grow(map->starts, 0, &map->cap_epochs, sizeof(*map->starts));
	map->starts[map->n_epochs++] = 0;
	return map;
}

void codemap_free(struct codemap *map)
{
	if (!map)
		return;
	for (size_t i = 0; i < map->n; i++)
		free(map->modules[i].path);
	free(map->modules);
	free(map->loaded);
	free(map->holes);
	free(map->starts);
	free(map);
}

static bool low_halves_meet(uint64_t a_low, uint64_t a_high, uint64_t low, uint64_t high)
{
	return (uint32_t)(a_low - low) < high - low || (uint32_t)(low - a_low) < a_high - a_low;
}

static void note_loaded(struct codemap *map, uint32_t module)
{
	const struct module *m = &map->modules[module];

	*LIST_ADD(map, loaded) = (struct loaded){m->low, m->high, module};
}

static bool is_same(const struct module *m, const struct wire_module *w, const char *path)
{
	return m->base == w->base && m->low == w->low && m->high == w->high &&
	       m->build_id_bytes == w->build_id_bytes &&
	       !memcmp(m->build_id, w->build_id, w->build_id_bytes) && !strcmp(m->path, path);
}

/* The same module is back, and nothing else was there since: then it is as if it had stayed. */
static bool has_come_back(
	struct codemap *map, const struct hole *h, const struct wire_module *m, const char *path)
{
	if (h->module == NO_MODULE || !is_same(&map->modules[h->module], m, path))
		return false;
	for (size_t i = 0; i < map->n_loaded; i++)
		if (low_halves_meet(map->loaded[i].low, map->loaded[i].high, m->low, m->high))
			return false;
	map->modules[h->module].last_epoch = UINT32_MAX;
	note_loaded(map, h->module);
	return true;
}

void codemap_add(struct codemap *map, const struct wire_module *m, const char *path)
{
	const struct hole *met = NULL;
	uint32_t first = 0, n_met = 0;
	struct module *new;

	if (m->high <= m->low || m->build_id_bytes > WIRE_BUILD_ID)
		return;
	EACH(const struct hole, h, map->holes, map->n_holes) {
		if (!low_halves_meet(h->low, h->high, m->low, m->high))
			continue;
		met = h;
		n_met++;
		if (h->last_epoch >= first)
			first = h->last_epoch + 1;
	}
	if ((n_met == 1 && has_come_back(map, met, m, path)) || map->n >= MODULES_LIMIT)
		return;
	new = APPEND(map->modules, map->n, map->cap);
	*new = (struct module){.path = xstrdup(path),
		.base = m->base,
		.low = m->low,
		.high = m->high,
		/* what was never covered before may be named from the start */
		.first_epoch = first,
		.last_epoch = UINT32_MAX,
		.build_id_bytes = m->build_id_bytes};
	memcpy(new->build_id, m->build_id, m->build_id_bytes);
	note_loaded(map, (uint32_t)map->n - 1);
}

static void reuse(struct codemap *map, const struct module *m)
{
	uint32_t low = (uint32_t)m->low, high = (uint32_t)m->high;

	if (map->reuse_bytes) {
		uint32_t old_high = map->reuse_low + map->reuse_bytes;

		low = low < map->reuse_low ? low : map->reuse_low;
		high = high > old_high ? high : old_high;
	}
	if (high <= low || (uint32_t)m->high < (uint32_t)m->low) { /* across 4 GiB: all */
		low = 0;
		high = UINT32_MAX;
	}
	map->reuse_low = low;
	map->reuse_bytes = high - low;
}

static void dig_hole(struct codemap *map, const struct loaded *l, uint32_t epoch)
{
	struct hole *h = map->holes, *end = h + map->n_holes;

	while (h < end && (h->low != l->low || h->high != l->high))
		h++;
	if (h == end && map->n_holes < HOLES_MOST) {
		*LIST_ADD(map, holes) = (struct hole){l->low, l->high, epoch, l->module};
	} else if (h < end) {
		h->last_epoch = epoch;
		h->module = l->module;
	} else {
		h--;
		h->low = l->low < h->low ? l->low : h->low;
		h->high = l->high > h->high ? l->high : h->high;
		h->last_epoch = epoch;
		h->module = NO_MODULE;
	}
}

/* Takes number i out of those that are loaded. The last epoch has no end: it belongs to what comes
 * last. */
static void unload(struct codemap *map, size_t i)
{
	const struct loaded l = map->loaded[i];
	const uint32_t epoch = (uint32_t)map->n_epochs - 1 - (map->n_epochs >= EPOCHS_LIMIT);

	map->modules[l.module].last_epoch = epoch;
	reuse(map, &map->modules[l.module]);
	dig_hole(map, &l, epoch);
	memmove(&map->loaded[i], &map->loaded[i + 1], (--map->n_loaded - i) * sizeof(*map->loaded));
}

static void begin_epoch(struct codemap *map, bool any, uint64_t ticks)
{
	if (!any || map->n_epochs >= EPOCHS_LIMIT)
		return;
	*APPEND(map->starts, map->n_epochs, map->cap_epochs) = ticks;
}

void codemap_gone(struct codemap *map, uint64_t low, uint64_t ticks)
{
	const size_t before = map->n_loaded;

	for (size_t i = before; i-- > 0;)
		if (map->loaded[i].low == low)
			unload(map, i);
	begin_epoch(map, map->n_loaded < before, ticks);
}

void codemap_replaced(struct codemap *map, uint64_t low, uint64_t high, uint64_t ticks)
{
	const size_t before = map->n_loaded;

	for (size_t i = before; i-- > 0;)
		if (map->loaded[i].low < high && low < map->loaded[i].high)
			unload(map, i);
	begin_epoch(map, map->n_loaded < before, ticks);
}

void codemap_reusable(const struct codemap *map, uint32_t *low, uint32_t *bytes)
{
	*low = map->reuse_low;
	*bytes = map->reuse_bytes;
}

uint32_t codemap_epochs(const struct codemap *map)
{
	return (uint32_t)map->n_epochs;
}

uint64_t codemap_epoch_start(const struct codemap *map, uint32_t epoch)
{
	return map->starts[epoch];
}

static bool location_in(const struct module *m, uint64_t address, struct code_location *location)
{
	*location = (struct code_location){.path = m->path,
		.address = address - m->base,
		.build_id = m->build_id,
		.build_id_bytes = m->build_id_bytes};
	return true;
}

static bool in_epoch(const struct module *m, uint32_t epoch)
{
	return m->first_epoch <= epoch && epoch <= m->last_epoch;
}

/* The last epoch of whole addresses has no end: it belongs to what was there last. */
static bool find_last(const struct codemap *map, uint64_t address, struct code_location *location)
{
	const struct module *last = NULL;

	EACH(const struct module, m, map->modules, map->n)
		if (m->last_epoch >= KEY_WIDE_EPOCH_LAST && address >= m->low &&
			address < m->high && (!last || m->last_epoch >= last->last_epoch))
			last = m;
	return last && location_in(last, address, location);
}

bool codemap_find_key(const struct codemap *map, uint64_t key, struct code_location *location)
{
	bool wide = key & KEY_WIDE;
	uint32_t epoch =
		wide ? (key >> KEY_WIDE_EPOCH_SHIFT) & KEY_WIDE_EPOCH_LAST : (uint32_t)(key >> 32);
	uint64_t address = key & KEY_ADDRESS_MASK;

	if (wide && epoch == KEY_WIDE_EPOCH_LAST)
		return find_last(map, address, location);
	EACH(const struct module, m, map->modules, map->n) {
		if (!in_epoch(m, epoch))
			continue;
		if (wide ? address >= m->low && address < m->high
			 : (uint32_t)((uint32_t)key - (uint32_t)m->low) < m->high - m->low)
			return location_in(m,
				wide ? address
				     : m->low + (uint32_t)((uint32_t)key - (uint32_t)m->low),
				location);
	}
	return false;
}

uint64_t codemap_newest_key(const struct codemap *map, uint64_t key)
{
	const uint32_t newest = codemap_epochs(map) - 1;

	if (key & KEY_WIDE)
		return (key & KEY_SITE) | key_wide(key, newest);
	return (uint64_t)newest << KEY_EPOCH_SHIFT | (uint32_t)key;
}

bool codemap_find_address(
	const struct codemap *map, uint64_t address, struct code_location *location)
{
	for (size_t i = map->n_loaded; i-- > 0;) {
		const struct loaded *l = &map->loaded[i];

		if (address >= l->low && address < l->high)
			return location_in(&map->modules[l->module], address, location);
	}
	return false;
}

bool codemap_find_data(const struct codemap *map, uint64_t address, struct code_location *location)
{
	const struct loaded *below = NULL;

	for (size_t i = map->n_loaded; i-- > 0;) {
		const struct loaded *l = &map->loaded[i];

		if (l->low <= address && (!below || l->low > below->low))
			below = l;
	}
	return below && location_in(&map->modules[below->module], address, location);
}

bool codemap_has(const struct codemap *map, const char *name)
{
	return ANY(i, map->n, !strncmp(basename(map->modules[i].path), name, strlen(name)));
}
