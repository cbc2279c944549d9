/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/symbols/objects.h"

#include <elf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "nodeagent/base/util.h"
#include "nodeagent/symbols/elf.h"

#define NAME_COMPARE 4096 /* bytes; longer names are hostile or absurd */

struct object {
	uint64_t start, end;
	const char *name;
	uint8_t bind;
};

struct objects {
	struct object *all;
	size_t n_all, cap_all;
	char *strings;
};

/* The name to keep of one address comes last: a global one, then the first in the alphabet. */
ORDER_BY(by_address, struct object,
	RISING(start) ?: ORDER(y->bind == STB_LOCAL, x->bind == STB_LOCAL) ?:
	strncmp(y->name, x->name, NAME_COMPARE))

static bool collect_objects(struct objects *o, const struct elf_file *file, enum elf_table which)
{
	struct elf_symbols cursor;
	struct elf_symbol s;

	if (!file || !elf_symbols_begin(&cursor, file, which))
		return false;
	while (elf_symbols_next(&cursor, &s))
		if (s.type == STT_OBJECT && s.defined && s.address &&
			s.address + s.size > s.address)
			*LIST_ADD(o, all) =
				(struct object){s.address, s.address + s.size, s.name, s.bind};
	if (!o->n_all) {
		elf_symbols_end(&cursor);
		return false;
	}
	o->strings = elf_symbols_end_keep(&cursor);
	return true;
}

struct objects *objects_open(const char *path, const uint8_t *build_id, size_t build_id_bytes)
{
	struct objects *o = xcalloc(1, sizeof(*o));
	struct elf_file *file, *debug = NULL;

	if (elf_open(path, &file, NULL))
		return o;
	if (elf_has_build_id(file, build_id, build_id_bytes) &&
		!collect_objects(o, file, ELF_SYMTAB)) {
		debug = elf_debug_file(file, path);
		if (!collect_objects(o, debug, ELF_SYMTAB))
			collect_objects(o, file, ELF_DYNSYM);
	}
	if (debug)
		elf_close(debug);
	elf_close(file);
	if (o->n_all)
		qsort(o->all, o->n_all, sizeof(*o->all), by_address);
	return o;
}

void objects_close(struct objects *o)
{
	if (!o)
		return;
	free(o->all);
	free(o->strings);
	free(o);
}

const char *objects_find(const struct objects *o, uint64_t address, uint64_t *start)
{
	const size_t low = LOWER_BOUND(i, 0, o->n_all, o->all[i].start <= address);

	if (!low || address >= o->all[low - 1].end)
		return NULL;
	*start = o->all[low - 1].start;
	return o->all[low - 1].name;
}
