/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * For elf.c, lines.c, and in doctor/ elf-facts.c and hooked.c. No other file includes this, nor
 * libelf, but stack/unwind.c.
 */
#ifndef VFTR_NODEAGENT_SYMBOLS_ELF_FILE_H
#define VFTR_NODEAGENT_SYMBOLS_ELF_FILE_H

#include <gelf.h>
#include <stdbool.h>
#include <sys/stat.h>

struct elf_file {
	int fd;
	Elf *elf;
	GElf_Ehdr header;
	uint64_t bytes_most; /* of a section */
	struct stat status;
};

/* First program header of a type; first section of a type (and name). */
bool elf_program_header(const struct elf_file *file, unsigned type, GElf_Phdr *ph);
Elf_Scn *elf_section(const struct elf_file *file, unsigned type, const char *name, GElf_Shdr *sh);
/* The contents of a section, never empty; NULL if there are none. scn may be NULL. */
Elf_Data *elf_section_data(const struct elf_file *file, Elf_Scn *scn);

#endif
