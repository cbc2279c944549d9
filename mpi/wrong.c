/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program that was linked, or is preloaded, with the library for another MPI than
 * its own. Handles have other types and constants there, so that no function of ours
 * could pass a call on. Before main() the calls of all objects that are loaded are
 * therefore led past us, to the MPI that comes next; a sentence says so, and the
 * process is untraced. For a program with the right MPI nothing is changed.
 */
#include <dlfcn.h>
#include <link.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "libhook/emit.h"
#include "shm/dynamic.h"

#ifdef OPEN_MPI
#define OURS   true
#define NAMES  "libvftrace-openmpi is for Open MPI, and the program's MPI is %s"
#define ADVICE "use libvftrace-mpich"
#else
#define OURS   false
#define NAMES  "libvftrace-mpich is for MPICH, and the program's MPI is %s"
#define ADVICE "use libvftrace-openmpi"
#endif

#if defined(__x86_64__)
enum { SLOT = R_X86_64_JUMP_SLOT, ADDRESS = R_X86_64_GLOB_DAT, DATA = R_X86_64_64 };
#elif defined(__aarch64__)
enum { SLOT = R_AARCH64_JUMP_SLOT, ADDRESS = R_AARCH64_GLOB_DAT, DATA = R_AARCH64_ABS64 };
#endif

static void *base_of(void *address, const char **file)
{
	Dl_info info;

	if (!address || !dladdr(address, &info))
		return NULL;
	if (file)
		*file = info.dli_fname;
	return info.dli_fbase;
}

/* Open MPI's handles are variables, MPICH's are numbers. */
static bool is_open_mpi(const char *file, void *base)
{
	void *library = dlopen(file, RTLD_LAZY | RTLD_NOLOAD);
	void *world = library ? dlsym(library, "ompi_mpi_comm_world") : NULL;
	bool is = !library ? OURS : world && base_of(world, NULL) == base;

	if (library)
		dlclose(library);
	return is;
}

/*
 * The libraries that the program names, in their order, with all that each of these needs: there
 * is its own MPI. The linker's order of all libraries does not tell it: behind a preloaded one
 * come those that this one needs, and Fortran's programs name their MPI only by way of another.
 */
static struct {
	void *handles[128];
	unsigned n;
	void *base;
} program;

/* The first module is the program itself. */
static int take_first(struct dl_phdr_info *module, size_t bytes, void *first)
{
	(void)bytes;
	*(struct dl_phdr_info *)first = dynamic_module(module);
	return 1;
}

static void read_program(void)
{
	struct dl_phdr_info module = {.dlpi_phnum = 0};
	const ElfW(Dyn) * dynamic, *d;
	const char *names = NULL;

	dl_iterate_phdr(take_first, &module);
	dynamic = dynamic_first(&module);
	program.base = base_of((void *)(uintptr_t)dynamic, NULL);
	for (d = dynamic; d && d->d_tag != DT_NULL; d++)
		if (d->d_tag == DT_STRTAB)
			names = dynamic_address(&module, d);
	for (d = dynamic; names && d->d_tag != DT_NULL; d++) {
		void *one = d->d_tag != DT_NEEDED
				    ? NULL
				    : dlopen(names + d->d_un.d_val, RTLD_LAZY | RTLD_NOLOAD);

		if (one && program.n < sizeof(program.handles) / sizeof(program.handles[0]))
			program.handles[program.n++] = one;
	}
}

static void forget_program(void)
{
	while (program.n)
		dlclose(program.handles[--program.n]);
}

/* True if the function found is ours: a library linked with ours hides the right one. */
static bool is_ours(void *handle, void *own)
{
	struct link_map *map;

	return dlinfo(handle, RTLD_DI_LINKMAP, &map) || map->l_addr == (uintptr_t)own;
}

/* The function that the program would call by this name without us; else `next`, after us. */
static void *of_program(const char *name, void *own, void *next)
{
	for (unsigned i = 0; i < program.n; i++) {
		void *found =
			is_ours(program.handles[i], own) ? NULL : dlsym(program.handles[i], name);

		if (found && base_of(found, NULL) != own)
			return found;
	}
	return next;
}

struct object {
	uintptr_t base;
	const ElfW(Sym) * symbols;
	const char *names;
	void *handle; /* NULL: the program itself */
};

static bool is_of_mpi(const char *name)
{
	if (*name == 'P' || *name == 'p')
		name++;
	return !strncmp(name, "MPI_", 4) || !strncmp(name, "mpi_", 4);
}

/*
 * The MPI function that this object would call if we were not there, nor the libraries that came
 * with us; NULL: it does already. What is in the program, as Fortran's constants, stays.
 */
static void *past_us(const struct object *o, const char *name, void *own)
{
	void *first, *next = NULL, *in;

	if (!is_of_mpi(name))
		return NULL;
	first = dlsym(RTLD_DEFAULT, name);
	in = base_of(first, NULL);
	if (!in || in == program.base)
		return NULL;
	if (o->handle)
		next = dlsym(o->handle, name);
	if (!next || base_of(next, NULL) == own)
		next = of_program(name, own, in == own ? dlsym(RTLD_NEXT, name) : NULL);
	return next == first ? NULL : next;
}

static void lead_past(const struct object *o, const ElfW(Rela) * r, size_t n, void *own)
{
	for (; n; n--, r++) {
		uint32_t type = (uint32_t)ELF64_R_TYPE(r->r_info);
		void *next, **slot = (void **)(o->base + r->r_offset);

		if (type != SLOT && type != ADDRESS && type != DATA)
			continue;
		next = past_us(o, o->names + o->symbols[ELF64_R_SYM(r->r_info)].st_name, own);
		if (next && !r->r_addend)
			*slot = next;
	}
}

/* Sets the protection of the pages that the dynamic linker made read-only (RELRO). */
static void protect(const struct dl_phdr_info *module, int how)
{
	const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE) - 1;

	for (unsigned i = 0; i < module->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &module->dlpi_phdr[i];
		uintptr_t from = (module->dlpi_addr + p->p_vaddr) & ~page;
		uintptr_t to = (module->dlpi_addr + p->p_vaddr + p->p_memsz) & ~page;

		if (p->p_type == PT_GNU_RELRO && to > from)
			mprotect((void *)from, to - from, how);
	}
}

static int visit(struct dl_phdr_info *module, size_t bytes, void *own)
{
	struct object o = {.base = module->dlpi_addr};
	const ElfW(Rela) *all = NULL, *slots = NULL;
	size_t all_bytes = 0, slots_bytes = 0;

	(void)bytes;
	for (const ElfW(Dyn) *d = dynamic_first(module); d && d->d_tag != DT_NULL; d++)
		switch (d->d_tag) {
		case DT_SYMTAB:
			o.symbols = dynamic_address(module, d);
			break;
		case DT_STRTAB:
			o.names = dynamic_address(module, d);
			break;
		case DT_RELA:
			all = dynamic_address(module, d);
			break;
		case DT_RELASZ:
			all_bytes = d->d_un.d_val;
			break;
		case DT_JMPREL:
			slots = dynamic_address(module, d);
			break;
		case DT_PLTRELSZ:
			slots_bytes = d->d_un.d_val;
			break;
		}
	if (!o.symbols || !o.names || o.base == (uintptr_t)own)
		return 0;
	if (module->dlpi_name && module->dlpi_name[0])
		o.handle = dlopen(module->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
	protect(module, PROT_READ | PROT_WRITE);
	if (all)
		lead_past(&o, all, all_bytes / sizeof(*all), own);
	if (slots)
		lead_past(&o, slots, slots_bytes / sizeof(*slots), own);
	protect(module, PROT_READ);
	if (o.handle)
		dlclose(o.handle);
	return 0;
}

/* True for ranks other than the first, which prints the message. */
static bool is_another_rank(void)
{
	static const char *const ranks[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID"};

	for (size_t i = 0; i < sizeof(ranks) / sizeof(ranks[0]); i++) {
		const char *rank = getenv(ranks[i]);

		if (rank && strcmp(rank, "0"))
			return true;
	}
	return false;
}

__attribute__((constructor)) static void look(void)
{
	void *own = base_of((void *)(uintptr_t)look, NULL), *base;
	const char *file = "";
	char what[512];

	read_program();
	base = base_of(of_program("PMPI_Init", own, dlsym(RTLD_NEXT, "PMPI_Init")), &file);
	if (!base || base == own || is_open_mpi(file, base) == OURS) {
		forget_program();
		return;
	}
	dl_iterate_phdr(visit, own);
	forget_program();
	snprintf(what, sizeof(what), NAMES, file);
	vftr_stay_off(is_another_rank() ? NULL : what, ADVICE);
}
