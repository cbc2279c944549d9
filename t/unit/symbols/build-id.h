/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VFTR_T_UNIT_SYMBOLS_BUILD_ID_H
#define VFTR_T_UNIT_SYMBOLS_BUILD_ID_H

#include "nodeagent/symbols/elf.h"

/* Bytes of the build-id of this file, 0 if there is none. */
static inline size_t build_id_of(const char *path, uint8_t id[static ELF_BUILD_ID_MAX])
{
	struct elf_file *file;
	size_t bytes;

	ck_assert_int_eq(elf_open(path, &file, NULL), 0);
	bytes = elf_file_build_id(file, id);
	elf_close(file);
	return bytes;
}

#endif
