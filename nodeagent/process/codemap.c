/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/process/codemap.h"

#include <stdlib.h>
#include <string.h>
#include "nodeagent/replay/tree/calltree.h"
#include "nodeagent/base/util.h"

#define MODULES_LIMIT 65536u /* more is a process gone wild */
#define EPOCHS_LIMIT  (1u << 20)

struct module {
	char *path;
	uint64_t base, low, high;
	uint32_t first_epoch, last_epoch; /* last: UINT32_MAX while loaded */
	uint8_t build_id[WIRE_BUILD_ID];
	size_t build_id_bytes;
};

struct codemap {
	struct module *modules;
	size_t n, cap;
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
	free(map->starts);
	free(map);
}

static bool low_halves_meet(const struct module *a, uint64_t low, uint64_t high)
{
	return (uint32_t)(a->low - low) < high - low || (uint32_t)(low - a->low) < a->high - a->low;
}

static bool loaded(const struct module *m)
{
	return m->last_epoch == UINT32_MAX;
}

void codemap_add(struct codemap *map, const struct wire_module *m, const char *path)
{
	uint32_t first = 0;
	struct module *new;

	if (m->high <= m->low || m->build_id_bytes > WIRE_BUILD_ID || map->n >= MODULES_LIMIT)
		return;
	for (size_t i = 0; i < map->n; i++)
		if (!loaded(&map->modules[i]) &&
			low_halves_meet(&map->modules[i], m->low, m->high) &&
			map->modules[i].last_epoch >= first)
			first = map->modules[i].last_epoch + 1;
	map->modules = grow(map->modules, map->n, &map->cap, sizeof(*map->modules));
	new = &map->modules[map->n++];
	*new = (struct module){.path = xstrdup(path),
		.base = m->base,
		.low = m->low,
		.high = m->high,
		/* what was never covered before may be named from the start */
		.first_epoch = first,
		.last_epoch = UINT32_MAX,
		.build_id_bytes = m->build_id_bytes};
	memcpy(new->build_id, m->build_id, m->build_id_bytes);
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

static bool unload(struct codemap *map, struct module *m)
{
	m->last_epoch = (uint32_t)map->n_epochs - 1;
	reuse(map, m);
	return true;
}

static void begin_epoch(struct codemap *map, bool any, uint64_t ticks)
{
	if (!any || map->n_epochs >= EPOCHS_LIMIT)
		return;
	map->starts = grow(map->starts, map->n_epochs, &map->cap_epochs, sizeof(*map->starts));
	map->starts[map->n_epochs++] = ticks;
}

void codemap_gone(struct codemap *map, uint64_t low, uint64_t ticks)
{
	bool any = false;

	for (size_t i = 0; i < map->n; i++)
		if (loaded(&map->modules[i]) && map->modules[i].low == low)
			any = unload(map, &map->modules[i]);
	begin_epoch(map, any, ticks);
}

void codemap_replaced(struct codemap *map, uint64_t low, uint64_t high, uint64_t ticks)
{
	bool any = false;

	for (size_t i = 0; i < map->n; i++)
		if (loaded(&map->modules[i]) && map->modules[i].low < high &&
			low < map->modules[i].high)
			any = unload(map, &map->modules[i]);
	begin_epoch(map, any, ticks);
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

bool codemap_find_key(const struct codemap *map, uint64_t key, struct code_location *location)
{
	bool wide = key & KEY_WIDE;
	uint32_t epoch = wide ? (key >> KEY_WIDE_EPOCH_SHIFT) & 0xfff : (uint32_t)(key >> 32);
	uint64_t address = key & KEY_ADDRESS_MASK;

	for (size_t i = 0; i < map->n; i++) {
		const struct module *m = &map->modules[i];

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

bool codemap_find_address(
	const struct codemap *map, uint64_t address, struct code_location *location)
{
	for (size_t i = map->n; i-- > 0;)
		if (address >= map->modules[i].low && address < map->modules[i].high &&
			loaded(&map->modules[i]))
			return location_in(&map->modules[i], address, location);
	return false;
}

bool codemap_find_data(const struct codemap *map, uint64_t address, struct code_location *location)
{
	const struct module *below = NULL;

	for (size_t i = map->n; i-- > 0;) {
		const struct module *m = &map->modules[i];

		if (loaded(m) && m->low <= address && (!below || m->low > below->low))
			below = m;
	}
	return below && location_in(below, address, location);
}

bool codemap_has(const struct codemap *map, const char *name)
{
	for (size_t i = 0; i < map->n; i++)
		if (!strncmp(basename(map->modules[i].path), name, strlen(name)))
			return true;
	return false;
}
