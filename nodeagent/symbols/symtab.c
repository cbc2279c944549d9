/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Symbol tables: all function symbols of a file, one per address, sorted.
 * Where a symbol begins inside another (aliases with a length, labels), the
 * inner one knows its outer one, so a look-up walks outwards.
 */
#include "nodeagent/symbols/symtab.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "nodeagent/symbols/elf.h"
#include "nodeagent/base/util.h"
#include "shm/fnv.h"

#define NO_OUTER     UINT32_MAX
#define NAME_COMPARE 4096 /* bytes; longer names are hostile or absurd */

struct function {
	uint64_t start, end, hash;
	const char *name, *file;
	uint32_t outer; /* index of the function around this one, or NO_OUTER */
	uint8_t bind, type;
	bool sized;
};

struct symtab {
	size_t n, cap;
	struct function *functions;
	char *strings;
	size_t n_renamed, renamed_cap;
	char **renamed;
};

/* ---- which name of several wins ------------------------------------------ */

static int bind_rank(uint8_t bind)
{
	return bind == STB_LOCAL ? 2 : bind == STB_WEAK ? 1 : 0;
}

/* By address; at one address the name to keep comes first. */
ORDER_BY(by_address, struct function,
	RISING(start) ?: ORDER(x->type == STT_NOTYPE, y->type == STT_NOTYPE) ?:
	ORDER(bind_rank(x->bind), bind_rank(y->bind)) ?: ORDER(*x->name == '_', *y->name == '_') ?:
	ORDER(strnlen(x->name, NAME_COMPARE), strnlen(y->name, NAME_COMPARE)) ?:
	strncmp(x->name, y->name, NAME_COMPARE) ?: FALLING(end))

/* ---- building ------------------------------------------------------------ */

static bool is_function(const struct elf_symbol *s)
{
	if (!s->address)
		return false;
	if (!s->defined) /* a stub: what &f of a library's f is all over a non-PIE program */
		return s->type == STT_FUNC;
	switch (s->type) {
	case STT_FUNC:
	case STT_GNU_IFUNC:
		return true;
	case STT_NOTYPE: /* assembler labels; "$x", ".L1" are none */
		return s->code && *s->name != '$' && *s->name != '.';
	default:
		return false;
	}
}

static bool collect_symbols(struct symtab *t, const struct elf_file *file, enum elf_table which)
{
	struct elf_symbols cursor;
	struct elf_symbol s;

	if (!elf_symbols_begin(&cursor, file, which))
		return false;
	while (elf_symbols_next(&cursor, &s)) {
		struct function *f;

		if (!is_function(&s) || t->n == NO_OUTER)
			continue;
		f = APPEND(t->functions, t->n, t->cap);
		*f = (struct function){.start = s.address, .name = s.name, .file = s.file};
		f->type = s.type;
		f->bind = s.bind;
		f->sized = !s.defined || (s.size && s.address + s.size > s.address);
		f->end = !s.defined ? s.address + 1 : f->sized ? s.address + s.size : s.limit;
	}
	if (t->n) {
		t->strings = elf_symbols_end_keep(&cursor);
		return true;
	}
	elf_symbols_end(&cursor);
	return false;
}

/* One symbol per address; labels inside a function with a size are dropped. */
static void keep_best(struct symtab *t)
{
	uint64_t covered = 0; /* by functions of known size */
	size_t kept = 0;

	EACH(struct function, f, t->functions, t->n) {
		struct function *last = kept ? &t->functions[kept - 1] : NULL;

		if (last && last->start == f->start) {
			if (f->sized && (!last->sized || f->end > last->end)) {
				last->end = f->end;
				last->sized = true;
			}
		} else if (f->type != STT_NOTYPE || f->start >= covered) {
			t->functions[kept++] = *f;
		}
		if (f->sized && f->type != STT_NOTYPE && f->end > covered)
			covered = f->end;
	}
	t->n = kept;
}

/* Ends of symbols without a size, then who lies inside whom. */
static void nest(struct symtab *t)
{
	uint32_t around = NO_OUTER;

	for (size_t i = 0; i < t->n; i++) {
		struct function *f = &t->functions[i];

		if (!f->sized && i + 1 < t->n && t->functions[i + 1].start < f->end)
			f->end = t->functions[i + 1].start;
		else if (!f->sized && f->end == UINT64_MAX)
			f->end = f->start + 1;
		while (around != NO_OUTER && t->functions[around].end <= f->start)
			around = t->functions[around].outer;
		f->outer = around;
		around = (uint32_t)i;
	}
}

/* ---- local functions of one name ----------------------------------------- */

static uint64_t hash_name(const char *s)
{
	return fnv_bytes(FNV_BEGIN, s, strnlen(s, NAME_COMPARE));
}

/* Same names together; inside by file, then by address. */
ORDER_POINTERS_BY(by_name, struct function,
	RISING(hash) ?: strncmp(x->name, y->name, NAME_COMPARE) ?:
	strncmp(basename(x->file), basename(y->file), NAME_COMPARE) ?: RISING(start))

static bool same_name(const struct function *a, const struct function *b)
{
	return a->hash == b->hash && !strncmp(a->name, b->name, NAME_COMPARE);
}

static void rename_to(struct symtab *t, struct function *f, const char *file, unsigned number)
{
	char *name;

	if (number > 1)
		name = xasprintf("%s@%.255s:%u", f->name, file, number);
	else
		name = xasprintf("%s@%.255s", f->name, file);
	*APPEND(t->renamed, t->n_renamed, t->renamed_cap) = name;
	f->name = name;
}

/* The functions run[0..n) have one name: local ones get their file's name. */
static void tell_apart(struct symtab *t, struct function **run, size_t n)
{
	const char *before = NULL;
	unsigned number = 0;

	if (n < 2 || strnlen(run[0]->name, NAME_COMPARE) == NAME_COMPARE)
		return;
	for (size_t i = 0; i < n; i++) {
		const char *file = basename(run[i]->file);

		if (run[i]->bind != STB_LOCAL)
			continue;
		number = before && !strcmp(before, file) ? number + 1 : 1;
		before = file;
		rename_to(t, run[i], *file ? file : "?", number);
	}
}

static void name_locals(struct symtab *t)
{
	struct function **order = xmalloc(t->n * sizeof(struct function *));

	for (size_t i = 0; i < t->n; i++) {
		order[i] = &t->functions[i];
		order[i]->hash = hash_name(order[i]->name);
	}
	qsort(order, t->n, sizeof(struct function *), by_name);
	for (size_t i = 0, end; i < t->n; i = end) {
		for (end = i + 1; end < t->n && same_name(order[i], order[end]); end++)
			;
		tell_apart(t, order + i, end - i);
	}
	free(order);
}

/* ---- the interface ------------------------------------------------------- */

static void say_why(char **why, char *text)
{
	if (why)
		*why = text;
	else
		free(text);
}

/* What strip was told to keep is not all that there is: the debug file may have more. */
static void prefer_debug_file(struct symtab *t, const struct elf_file *file, const char *path)
{
	struct elf_file *debug = elf_debug_file(file, path);
	struct symtab more = {0}, less;

	if (debug && collect_symbols(&more, debug, ELF_SYMTAB) && more.n > t->n) {
		less = *t;
		*t = more;
		more = less;
	}
	free(more.functions);
	free(more.strings);
	elf_close(debug);
}

static void read_tables(struct symtab *t, struct elf_file *file, const char *path, char **why)
{
	struct elf_file *debug = NULL;

	if (collect_symbols(t, file, ELF_SYMTAB)) {
		prefer_debug_file(t, file, path);
	} else {
		debug = elf_debug_file(file, path);
		if ((!debug || !collect_symbols(t, debug, ELF_SYMTAB)) &&
			!collect_symbols(t, file, ELF_DYNSYM))
			say_why(why,
				xasprintf("%s is stripped: its functions are shown as addresses",
					path));
		else if (!debug && elf_is_executable(file))
			say_why(why,
				xasprintf("%s is stripped: functions it does not export are shown "
					  "as addresses",
					path));
	}
	elf_close(debug);
}

struct symtab *symtab_none(void)
{
	return xcalloc(1, sizeof(struct symtab));
}

struct symtab *symtab_open(
	const char *path, const uint8_t *build_id, size_t build_id_bytes, char **why)
{
	struct symtab *t = symtab_none();
	struct elf_file *file;
	const char *cause;

	if (why)
		*why = NULL;
	if (elf_open(path, &file, &cause)) {
		say_why(why,
			xasprintf("%s: %s: its functions are shown as addresses", path, cause));
		return t;
	}
	if (!elf_has_build_id(file, build_id, build_id_bytes)) {
		say_why(why,
			xasprintf("%s changed since it ran (build-id differs): its functions are "
				  "shown as addresses",
				path));
	} else {
		read_tables(t, file, path, why);
	}
	elf_close(file);
	if (!t->n)
		return t;
	qsort(t->functions, t->n, sizeof(*t->functions), by_address);
	keep_best(t);
	nest(t);
	name_locals(t);
	t->functions = xrealloc(t->functions, t->n * sizeof(*t->functions));
	return t;
}

void symtab_close(struct symtab *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->n_renamed; i++)
		free(t->renamed[i]);
	free(t->renamed);
	free(t->functions);
	free(t->strings);
	free(t);
}

const char *symtab_find(const struct symtab *t, uint64_t address, uint64_t *start)
{
	size_t low;
	uint32_t at;

	low = LOWER_BOUND(i, 0, t->n, t->functions[i].start <= address);
	if (!low)
		return NULL;
	at = (uint32_t)low - 1;
	while (at != NO_OUTER && address >= t->functions[at].end)
		at = t->functions[at].outer;
	if (at == NO_OUTER)
		return NULL;
	if (start)
		*start = t->functions[at].start;
	return t->functions[at].name;
}

size_t symtab_count(const struct symtab *t)
{
	return t->n;
}

uint64_t symtab_start(const struct symtab *t, size_t i)
{
	return t->functions[i].start;
}
