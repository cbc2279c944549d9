/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether the program has functions that call the hooks: a module has a reference to them then. */
#include <elf.h>
#include <link.h>
#include <string.h>

#include "libhook/process.h"
#include "shm/dynamic.h"

#define HOOK "__cyg_profile_func_enter"

#if __ELF_NATIVE_CLASS == 64
#define SYMBOL_OF(info) ELF64_R_SYM(info)
#else
#define SYMBOL_OF(info) ELF32_R_SYM(info)
#endif

struct dynamic {
	const ElfW(Sym) * symbols;
	const char *names;
	const ElfW(Rela) * calls, *others; /* by the procedure linkage table, and not */
	size_t calls_bytes, others_bytes, relative;
};

static void read_dynamic(const struct dl_phdr_info *info, const ElfW(Dyn) * d, struct dynamic *to)
{
	for (; d->d_tag != DT_NULL; d++)
		switch (d->d_tag) {
		case DT_SYMTAB:
			to->symbols = dynamic_address(info, d);
			break;
		case DT_STRTAB:
			to->names = dynamic_address(info, d);
			break;
		case DT_JMPREL:
			to->calls = dynamic_address(info, d);
			break;
		case DT_PLTRELSZ:
			to->calls_bytes = d->d_un.d_val;
			break;
		case DT_RELA:
			to->others = dynamic_address(info, d);
			break;
		case DT_RELASZ:
			to->others_bytes = d->d_un.d_val;
			break;
		case DT_RELACOUNT:
			to->relative = d->d_un.d_val;
			break;
		}
}

static bool names_hook(const struct dynamic *d, const ElfW(Rela) * from, size_t bytes, size_t i)
{
	for (; from && i < bytes / sizeof(*from); i++) {
		const size_t number = SYMBOL_OF(from[i].r_info);
		const ElfW(Sym) *s = &d->symbols[number];

		if (number && s->st_shndx == SHN_UNDEF && !strcmp(d->names + s->st_name, HOOK))
			return true;
	}
	return false;
}

/* Only of architectures whose relocations have addends: all that we know. */
static int find_hook(struct dl_phdr_info *info, size_t bytes, void *unused)
{
	struct dynamic d = {.symbols = NULL};

	(void)bytes, (void)unused;
	if (info->dlpi_name && !strncmp(info->dlpi_name, "linux-vdso", 10))
		return 0;
	if (dynamic_first(info))
		read_dynamic(info, dynamic_first(info), &d);
	return d.symbols && d.names &&
	       (names_hook(&d, d.calls, d.calls_bytes, 0) ||
		       names_hook(&d, d.others, d.others_bytes, d.relative));
}

bool vftr_modules_call_hooks(void)
{
	return vftr_process.begun_by_hook || vftr_loader_walk(find_hook, NULL);
}
