/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/stack/functions.h"

#include <stdlib.h>
#include <string.h>

#include "nodeagent/base/map.h"
#include "nodeagent/base/util.h"
#include "nodeagent/process/codemap.h"
#include "nodeagent/process/host.h"
#include "nodeagent/process/names.h"
#include "nodeagent/process/process.h"
#include "nodeagent/replay/stack-samples.h"
#include "nodeagent/replay/tree/calltree.h"
#include "nodeagent/stack/unwind.h"

#define KNOWN_MAX     65536u /* addresses; then they are looked up anew */
#define FRAMES_BEFORE 2	     /* functions of the C library between its first one and the user's */

enum function_kind {
	FUNCTION_PLAIN,
	FUNCTION_OURS,	  /* hidden, too */
	FUNCTION_HIDDEN,  /* the kernel's, or of no file */
	FUNCTION_RUNTIME, /* of OpenMP */
	FUNCTION_LIBC,
	FUNCTION_ENTRY, /* where the program begins: _start */
};

struct function {
	uint64_t key;
	enum function_kind kind;
};

struct stack_functions {
	struct process *p;
	struct unwinder *unwinder;
	struct map64 known; /* address -> functions[] */
	struct function *functions;
	size_t n_functions, cap_functions;
};

/* Files by the begin of their names. */
static const struct {
	const char *name;
	enum function_kind kind;
} files[] = {
	{"libvftrace", FUNCTION_OURS},
	{"libgomp.so", FUNCTION_RUNTIME},
	{"libomp.so", FUNCTION_RUNTIME},
	{"libiomp5.so", FUNCTION_RUNTIME},
	{"libc.so", FUNCTION_LIBC},
	{"libc-2", FUNCTION_LIBC},
	{"libpthread", FUNCTION_LIBC},
};

struct stack_functions *stack_functions_new(struct process *p, struct unwinder *u)
{
	struct stack_functions *f = xcalloc(1, sizeof(*f));

	f->p = p;
	f->unwinder = u;
	return f;
}

void stack_functions_free(struct stack_functions *f)
{
	if (!f)
		return;
	map64_free(&f->known);
	free(f->functions);
	free(f);
}

static enum function_kind kind_of(const char *path)
{
	const char *name = basename(path);

	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		if (!strncmp(name, files[i].name, strlen(files[i].name)))
			return files[i].kind;
	return *name == '[' ? FUNCTION_HIDDEN : FUNCTION_PLAIN;
}

/* The process itself tells of a file that it has loaded when it records something. */
static void tell_codemap(struct process *p, const struct unwind_module *m)
{
	struct wire_module told = {.base = m->base, .low = m->low, .high = m->high};

	told.build_id_bytes = (uint32_t)m->build_id_bytes;
	memcpy(told.build_id, m->build_id, m->build_id_bytes);
	process_maps(p, &told, m->path);
}

/* Behind the path of a file that was removed the kernel says so. */
static bool is_path(const char *known, const char *mapped)
{
	const size_t n = strlen(known);

	return !strncmp(known, mapped, n) && (!mapped[n] || !strcmp(mapped + n, " (deleted)"));
}

/* False: this file has come to the place of the one that is known there. */
static bool is_of(const struct code_location *known, const struct unwind_module *m, uint64_t pc)
{
	return known->address == pc - m->base && known->build_id_bytes == m->build_id_bytes &&
	       !memcmp(known->build_id, m->build_id, m->build_id_bytes) &&
	       (m->build_id_bytes || is_path(known->path, m->path));
}

/* One that is seen from outside does not tell what it unloads. */
static bool is_known(struct process *p, const struct unwind_module *m, uint64_t pc)
{
	struct code_location known;

	if (codemap_find_address(p->code, pc, &known) && (!p->outside || is_of(&known, m, pc)))
		return true;
	if (p->outside)
		codemap_replaced(p->code, m->low, m->high, host_ticks(p->host));
	tell_codemap(p, m);
	return codemap_find_address(p->code, pc, &known);
}

/* Addresses at which something was unloaded have the epoch in their keys. */
static uint64_t key_of(const struct codemap *code, uint64_t address)
{
	uint32_t low, bytes;

	codemap_reusable(code, &low, &bytes);
	return key_wide(address,
		(uint32_t)((uint32_t)address - low) < bytes ? codemap_epochs(code) - 1 : 0);
}

static bool is_hidden(const struct function *f)
{
	return f->kind == FUNCTION_HIDDEN || f->kind == FUNCTION_OURS;
}

/* In a program that has the C library in itself, these are its functions before the user's. */
static bool is_begin(const char *name)
{
	static const char *const names[] = {"__libc_start_main", "__libc_start_call_main",
		"start_thread", "clone", "__clone", "clone3", "__clone3"};

	return ANY(i, ARRAY_SIZE(names), !strcmp(name, names[i]));
}

/* Without an unwind entry, or a table of them as in static programs, the symbol tells where the
 * function begins; 0: none is there. */
static uint64_t begin_of(struct stack_functions *f, uint64_t pc, enum function_kind *kind)
{
	const uint64_t start = unwinder_function(f->unwinder, pc);
	struct code_location at;
	const char *name;
	uint64_t symbol;

	if (start || !codemap_find_address(f->p->code, pc, &at))
		return start;
	name = symcache_find(f->p->host->symbols, &at, at.address, &symbol);
	if (!name)
		return 0;
	if (*kind == FUNCTION_PLAIN && is_begin(name))
		*kind = FUNCTION_LIBC;
	return pc - (at.address - symbol);
}

static struct function look_up(struct stack_functions *f, uint64_t pc)
{
	struct function found = {.kind = FUNCTION_HIDDEN};
	struct unwind_module m;
	uint64_t start;

	if (!unwinder_module(f->unwinder, pc, &m))
		return found;
	if (!m.build_id || m.build_id_bytes > WIRE_BUILD_ID) {
		m.build_id = (const unsigned char *)"";
		m.build_id_bytes = 0;
	}
	found.kind = kind_of(m.path);
	if (is_hidden(&found))
		return found;
	if (!is_known(f->p, &m, pc))
		return (struct function){.kind = FUNCTION_HIDDEN};
	/* most symbols are read in the end: that takes time */
	start = begin_of(f, pc, &found.kind);
	if (start && start == m.entry && found.kind == FUNCTION_PLAIN)
		found.kind = FUNCTION_ENTRY;
	found.key = key_of(f->p->code, start ? start : pc);
	return found;
}

void stack_functions_forget(struct stack_functions *f)
{
	map64_free(&f->known);
	f->known = (struct map64){0};
	f->n_functions = 0;
}

static struct function function_at(struct stack_functions *f, uint64_t pc)
{
	const uint32_t *known = map64_find(&f->known, pc);

	if (known)
		return f->functions[*known];
	if (f->n_functions >= KNOWN_MAX)
		stack_functions_forget(f);
	map64_add(&f->known, pc, (uint32_t)f->n_functions);
	*LIST_ADD(f, functions) = look_up(f, pc);
	return f->functions[f->n_functions - 1];
}

/* Of n frames, innermost first, those that are within what the user has written. */
static size_t without_begin(const struct function *at, size_t n)
{
	const size_t all = n;

	if (n > 1 && at[n - 1].kind == FUNCTION_ENTRY)
		n--;
	while (n > 1 && at[n - 1].kind == FUNCTION_LIBC && all - n < FRAMES_BEFORE + 1)
		n--;
	return n;
}

/* The innermost one of n that has called a function of ours, or SIZE_MAX. */
static size_t caller_of_ours(const struct function *at, size_t n)
{
	for (size_t i = 1; i < n; i++)
		if (at[i - 1].kind == FUNCTION_OURS && !is_hidden(&at[i]))
			return i;
	return SIZE_MAX;
}

void stack_functions_path(struct stack_functions *f, struct calltree *paths, const uint64_t *pcs,
	size_t n, bool whole, struct stack_sample *s)
{
	struct node *node = calltree_root(paths);
	struct function at[UNWIND_FRAMES_MAX];
	uint64_t below_runtime = UINT64_MAX;
	size_t caller;

	for (size_t i = 0; i < n; i++)
		at[i] = function_at(f, pcs[i]);
	if (whole)
		n = without_begin(at, n);
	else
		node = calltree_child(paths, node, NULL, KEY_CUT);
	caller = whole ? caller_of_ours(at, n) : SIZE_MAX;
	while (n--) {
		if (at[n].kind == FUNCTION_RUNTIME)
			below_runtime = 0;
		else if (below_runtime != UINT64_MAX && !is_hidden(&at[n]) &&
			 at[n].key != node->key)
			below_runtime++;
		/* direct recursion is one frame, as in replay.h */
		if (!is_hidden(&at[n]) && at[n].key != node->key)
			node = calltree_child(paths, node, NULL, at[n].key);
		if (n == caller) {
			s->site = pcs[n];
			s->caller = node;
		}
	}
	node->calls = below_runtime;
	s->path = node;
}
