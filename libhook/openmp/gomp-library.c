/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whose functions stand behind those of gomp-table.h. Mostly it is one libgomp
 * for all; plug-ins loaded with RTLD_LOCAL may bring some of their own, so that
 * it depends on the caller. A library with version nodes that the tables do not
 * know is left alone, and the user told. No lock: what is found twice is the same.
 *
 * The first call out of an object looks up all that later ones need: the loader
 * may be running the constructor that makes a team, and would not let its other
 * threads look up anything before they have ended.
 */
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include "libhook/emit.h"
#include "libhook/openmp/gomp.h"
#include "libhook/openmp/ompt-frames.h"
#include "libhook/process.h"
#include "shm/atomic.h"
#include "shm/dynamic.h"

#define LIBRARIES 16u
#define CALLERS	  4096u /* a power of two */
#define KIND_BITS 4	/* below a caller's address in a word */

static struct gomp libraries[LIBRARIES];
static uint64_t taken[LIBRARIES]; /* by the one with this base */
static struct gomp nobody;	  /* no library at all: see missing() */
static uint32_t is_local;	  /* there is one that not all callers have */
static struct gomp *everyones;
static uint64_t callers[CALLERS]; /* address << KIND_BITS | index of its library */
static uint64_t objects[CALLERS]; /* the same for the object that the caller is in */
static uint64_t lockers[CALLERS]; /* the same | 1 if it means the lock of OMP_1.0 */
static uint32_t noted;

static const char *const names[GOMP_ROWS] = {
#define ROW(result, name, ...) #name,
#define ROW_OTHER(name, ...)   #name,
	GOMP_CALLS(ROW) GOMP_PARALLELS(ROW) GOMP_PARALLEL_STARTS(ROW) GOMP_LOCKS(ROW_OTHER)
		GOMP_UNLOCKS(ROW_OTHER) GOMP_TURNS(ROW_OTHER) GOMP_OTHERS(ROW_OTHER)
#undef ROW
#undef ROW_OTHER
};

static uint64_t *slot_of(uint64_t *table, uintptr_t address)
{
	return &table[address * 0x9e3779b97f4a7c15u >> 52];
}

_Static_assert(CALLERS == 1u << (64 - 52), "slot_of() takes the upper bits");

/* ---- what an object says of versions ---- */

struct object {
	uintptr_t address; /* somewhere in it */
	struct dl_phdr_info module;
	const ElfW(Dyn) * dynamic;
};

static int find_object(struct dl_phdr_info *info, size_t bytes, void *argument)
{
	struct object *o = argument;
	const ElfW(Dyn) *dynamic = dynamic_first(info);

	(void)bytes;
	if (!dynamic || !dynamic_has(info, o->address))
		return 0;
	o->module = dynamic_module(info);
	o->dynamic = dynamic;
	return 1;
}

static uintptr_t value_of(const struct object *o, ElfW(Sxword) tag)
{
	for (const ElfW(Dyn) *d = o->dynamic; d->d_tag != DT_NULL; d++)
		if (d->d_tag == tag)
			return d->d_un.d_val;
	return 0;
}

static const char *address_of(const struct object *o, ElfW(Sxword) tag)
{
	for (const ElfW(Dyn) *d = o->dynamic; d->d_tag != DT_NULL; d++)
		if (d->d_tag == tag)
			return dynamic_address(&o->module, d);
	return NULL;
}

static bool is_known(const char *version)
{
	static const char *const known[] = GOMP_VERSIONS;

	for (unsigned i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (!strcmp(known[i], version))
			return true;
	return false;
}

/* The first version node that the tables do not know, "" for none at all, or NULL. */
static const char *unknown_version(const void *address)
{
	struct object o = {.address = (uintptr_t)address};
	const char *strings, *at;

	if (!dl_iterate_phdr(find_object, &o))
		return "";
	strings = address_of(&o, DT_STRTAB);
	at = address_of(&o, DT_VERDEF);
	if (!strings || !at)
		return "";
	for (uintptr_t n = value_of(&o, DT_VERDEFNUM); n; n--) {
		const ElfW(Verdef) *d = (const void *)at;
		const ElfW(Verdaux) *a = (const void *)(at + d->vd_aux);

		if (!(d->vd_flags & VER_FLG_BASE) && !is_known(strings + a->vda_name))
			return strings + a->vda_name;
		at += d->vd_next;
	}
	return NULL;
}

/* The index by which the object's symbols refer to this version, or 0. */
static unsigned needed_version(const struct object *o, const char *strings, const char *version)
{
	const char *at = address_of(o, DT_VERNEED);

	for (uintptr_t n = at ? value_of(o, DT_VERNEEDNUM) : 0; n; n--) {
		const ElfW(Verneed) *v = (const void *)at;
		const char *aux = at + v->vn_aux;

		for (unsigned k = v->vn_cnt; k; k--) {
			const ElfW(Vernaux) *a = (const void *)aux;

			if (!strcmp(strings + a->vna_name, version))
				return a->vna_other;
			aux += a->vna_next;
		}
		at += v->vn_next;
	}
	return 0;
}

static bool refers(const struct object *o, ElfW(Sxword) table, ElfW(Sxword) bytes,
	const char *strings, const char *name, unsigned version)
{
	const ElfW(Rela) *r = (const void *)address_of(o, table);
	const ElfW(Sym) *symbols = (const void *)address_of(o, DT_SYMTAB);
	const ElfW(Versym) *versions = (const void *)address_of(o, DT_VERSYM);
	uintptr_t n = r && symbols && versions ? value_of(o, bytes) / sizeof(*r) : 0;

	for (uintptr_t i = 0; i < n; i++) {
		uintptr_t s = ELF64_R_SYM(r[i].r_info);

		if (s && (versions[s] & 0x7fff) == version &&
			!strcmp(strings + symbols[s].st_name, name))
			return true;
	}
	return false;
}

/* True if the caller was linked with the locks of OMP_1.0 (gcc before 4.4). */
static bool wants_old(const char *name, const void *caller)
{
	struct object o = {.address = (uintptr_t)caller};
	const char *strings;
	unsigned version;

	if (!dl_iterate_phdr(find_object, &o) || !(strings = address_of(&o, DT_STRTAB)))
		return false;
	version = needed_version(&o, strings, "OMP_1.0");
	return version && (refers(&o, DT_JMPREL, DT_PLTRELSZ, strings, name, version) ||
				  refers(&o, DT_RELA, DT_RELASZ, strings, name, version));
}

/* ---- libraries ---- */

static bool is_llvm(void *handle, const void *base)
{
	void *found = dlsym(handle, "__kmpc_fork_call");
	Dl_info info;

	return found && dladdr(found, &info) && info.dli_fbase == base;
}

static bool is_to_be_recorded(void *handle, const void *base, const void *address)
{
	const char *unknown;
	char text[256];

	if (is_llvm(handle, base))
		return false;
	unknown = unknown_version(address);
	if (!unknown)
		return true;
	snprintf(text, sizeof(text),
		unknown[0] ? "OpenMP constructs are missing: libgomp has version %.60s, "
			     "which vftr does not know"
			   : "OpenMP constructs are missing: their library has no versions%.60s",
		unknown);
	if (claim_u32(&noted, 0, 1))
		vftr_note(text);
	return false;
}

/*
 * Threads that come at once all find the same and write it to the same place:
 * none waits for another.
 */
static struct gomp *library_add(void *handle, const void *base, const void *address)
{
	struct gomp found = {.handle = handle};

	for (unsigned i = 0; i < LIBRARIES; i++)
		if (load_acquire(&libraries[i].base) == base)
			return &libraries[i];
	for (unsigned row = 0; row < GOMP_ROWS; row++)
		vftr_gomp_real(&found, row);
	found.is_recorded = is_to_be_recorded(handle, base, address);
	for (unsigned i = 0; i < LIBRARIES; i++) {
		struct gomp *g = &libraries[i];

		if (!claim_u64(&taken[i], 0, (uintptr_t)base) &&
			load_relaxed(&taken[i]) != (uintptr_t)base)
			continue;
		store_relaxed(&g->handle, handle);
		for (unsigned row = 0; row < GOMP_ROWS; row++)
			store_relaxed(&g->real[row], found.real[row]);
		store_relaxed(&g->is_recorded, found.is_recorded);
		store_release(&g->base, base); /* pairs with the look above */
		return g;
	}
	return &nobody;
}

/*
 * The library that the caller would have got without us: the next one in the
 * global scope that is no copy of us, else one among the libraries that were loaded with the
 * caller. A program that was linked with us and --as-needed may have lost its own.
 */
static struct gomp *find_library(enum gomp_row row, const void *caller)
{
	void *found = dlsym(RTLD_NEXT, names[row]), *object = NULL, *handle = RTLD_NEXT;
	struct gomp *g = &nobody;
	Dl_info info, own;
	bool is_plugin = false;

	if (found && vftr_is_of_a_copy(found))
		found = NULL;
	if (!found && dladdr(caller, &info) && info.dli_fname) {
		object = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
		found = object ? dlsym(object, names[row]) : NULL;
		is_plugin = found && dladdr(found, &info) && dladdr(libraries, &own) &&
			    info.dli_fbase != own.dli_fbase && !vftr_is_of_a_copy(found);
		if (is_plugin) /* stays open, as we keep its addresses */
			handle = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
		else
			found = NULL;
	}
	if (!found && (handle = dlopen("libgomp.so.1", RTLD_LAZY)))
		found = dlsym(handle, names[row]);
	if (found && handle && dladdr(found, &info))
		g = library_add(handle, info.dli_fbase, found);
	if (g != &nobody && is_plugin)
		store_relaxed(&is_local, 1);
	else if (g != &nobody && !load_relaxed(&is_local))
		store_release(&everyones, g);
	if (object)
		dlclose(object); /* it was loaded before, and stays so */
	return g;
}

static struct gomp *cached(uint64_t *table, uintptr_t address)
{
	uint64_t seen = load_acquire(slot_of(table, address));

	return seen && seen >> KIND_BITS == address ? &libraries[seen % LIBRARIES] : NULL;
}

static void cache(uint64_t *table, uintptr_t address, const struct gomp *g)
{
	store_release(slot_of(table, address),
		(uint64_t)address << KIND_BITS | (uint64_t)(g - libraries));
}

static __attribute__((noinline, cold)) struct gomp *look_for_library(
	enum gomp_row row, const void *caller)
{
	struct object o = {.address = (uintptr_t)caller};
	int saved_errno = errno;
	struct gomp *g = NULL;

	if (dl_iterate_phdr(find_object, &o)) /* takes no lock that constructors run with */
		g = cached(objects, (uintptr_t)o.dynamic);
	if (!g)
		g = find_library(row, caller);
	if (g != &nobody) {
		cache(callers, o.address, g);
		cache(objects, (uintptr_t)o.dynamic, g);
	}
	errno = saved_errno;
	return g;
}

static inline struct gomp *library_of(enum gomp_row row, const void *caller)
{
	struct gomp *g = load_acquire(&everyones);

	if (g || (g = cached(callers, (uintptr_t)caller)))
		return g;
	return look_for_library(row, caller);
}

_Static_assert(LIBRARIES == 1u << KIND_BITS, "an index fits below the address");

/* ---- functions ---- */

/* Takes the place of a function without a library; parallel and task run the body itself. */
static long missing(void)
{
	return 0;
}

static void missing_parallel(gomp_function fn, void *data)
{
	fn(data);
}

static void *substitute(enum gomp_row row)
{
	switch (row) {
#define ROW(result, name, ...) case GOMP_ROW_##name:
		GOMP_PARALLELS(ROW)
#undef ROW
	case GOMP_ROW_GOMP_task:
	case GOMP_ROW_GOMP_teams_reg:
		return (void *)missing_parallel;
	default:
		return (void *)missing;
	}
}

static __attribute__((noinline, cold)) void *look_up(struct gomp *library, enum gomp_row row)
{
	int saved_errno = errno;
	void *real = NULL;

	if (library != &nobody)
		real = dlsym(library->handle, names[row]);
	if (!real)
		real = substitute(row);
	store_relaxed(&library->real[row], real);
	errno = saved_errno;
	return real;
}

void *vftr_gomp_real(struct gomp *library, enum gomp_row row)
{
	void *real = load_relaxed(&library->real[row]);

	return real ? real : look_up(library, row);
}

static __attribute__((noinline, cold)) void *look_up_lock(
	struct gomp *library, enum gomp_row row, const void *caller)
{
	uint64_t *slot = slot_of(lockers, (uintptr_t)caller), seen = load_relaxed(slot);
	void *old = NULL;

	if (seen >> KIND_BITS != (uintptr_t)caller) {
		seen = (uint64_t)(uintptr_t)caller << KIND_BITS | wants_old(names[row], caller);
		store_relaxed(slot, seen);
	}
	if (seen % 2 && library != &nobody)
		old = dlvsym(library->handle, names[row], "OMP_1.0");
	return old ? old : vftr_gomp_real(library, row);
}

/* A lock is another thing in OMP_1.0, and each caller must get what it was linked with. */
static inline void *lock_real(struct gomp *library, enum gomp_row row, const void *caller)
{
	const uint64_t plain = (uint64_t)(uintptr_t)caller << KIND_BITS;

	/* relaxed: all that is said is in the word */
	if (load_relaxed(slot_of(lockers, (uintptr_t)caller)) != plain)
		return look_up_lock(library, row, caller);
	return vftr_gomp_real(library, row);
}

void *vftr_gomp_find(enum gomp_row row, const void *caller, struct gomp **library)
{
	struct gomp *g = library_of(row, caller);

	*library = load_relaxed(&g->is_recorded) && vftr_active() ? g : NULL;
	if (!*library)
		vftr_frames_called_from(caller);
	switch (row) {
#define ROW(name, ...) case GOMP_ROW_##name:
		GOMP_LOCKS(ROW)
#undef ROW
		return lock_real(g, row, caller);
	default:
		return vftr_gomp_real(g, row);
	}
}

void *vftr_gomp_find_lock(enum gomp_row row, const void *caller)
{
	return lock_real(library_of(row, caller), row, caller);
}

uint32_t vftr_gomp_ask(struct gomp *library, enum gomp_row what)
{
	int (*ask)(void);
	int answer;

	*(void **)&ask = vftr_gomp_real(library, what);
	answer = ask();
	return answer < 0 ? 0 : (uint32_t)answer;
}
