/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The dynamic section of a module that the dynamic linker has loaded, as dl_iterate_phdr() tells
 * of it. The linker has added the module's load address to most of the addresses in the section,
 * but not where it cannot write the section. The segments of the module tell which is the case;
 * the size of an address does not: a module that lies below the address to which it was linked has
 * a load address below 0, modulo 2^64. No function allocates, calls the linker or fails.
 */
#ifndef VFTR_SHM_DYNAMIC_H
#define VFTR_SHM_DYNAMIC_H

#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What these functions need of a module, for use after dl_iterate_phdr(), while it is loaded. */
static inline struct dl_phdr_info dynamic_module(const struct dl_phdr_info *module)
{
	return (struct dl_phdr_info){.dlpi_addr = module->dlpi_addr,
		.dlpi_phdr = module->dlpi_phdr,
		.dlpi_phnum = module->dlpi_phnum};
}

/* The section's first entry, of those up to DT_NULL; NULL: the module has no such section. */
static inline const ElfW(Dyn) * dynamic_first(const struct dl_phdr_info *module)
{
	for (unsigned i = 0; i < module->dlpi_phnum; i++)
		if (module->dlpi_phdr[i].p_type == PT_DYNAMIC)
			return (const void *)(module->dlpi_addr + module->dlpi_phdr[i].p_vaddr);
	return NULL;
}

/* True if the address is in a segment of the module. */
static inline bool dynamic_has(const struct dl_phdr_info *module, uintptr_t address)
{
	for (unsigned i = 0; i < module->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &module->dlpi_phdr[i];

		if (p->p_type == PT_LOAD && address - module->dlpi_addr - p->p_vaddr < p->p_memsz)
			return true;
	}
	return false;
}

/* The address that an entry has, where the module is; NULL: it is in no segment of the module. */
static inline const void *dynamic_address(
	const struct dl_phdr_info *module, const ElfW(Dyn) * entry)
{
	const uintptr_t at = entry->d_un.d_ptr, moved = at + module->dlpi_addr;

	return (const void *)(dynamic_has(module, at)	   ? at
			      : dynamic_has(module, moved) ? moved
							   : 0);
}

#endif
