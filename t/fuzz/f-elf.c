/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fuzz target: any bytes as an ELF file, its symbols read and looked up, its
 * facts read. Any small executable is a seed. Build it with clang
 * -fsanitize=fuzzer,address,undefined.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "nodeagent/symbols/elf.h"
#include "nodeagent/symbols/symtab.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	static int fd = -1;
	static char path[64];
	struct elf_facts facts;
	struct symtab *t;
	char *why = NULL;

	if (fd < 0) {
		fd = memfd_create("fuzz", MFD_CLOEXEC);
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	}
	if (fd < 0 || ftruncate(fd, 0) || pwrite(fd, data, bytes, 0) != (ssize_t)bytes)
		abort();
	t = symtab_open(path, NULL, 0, &why);
	for (uint64_t a = 0; a < 0x8000; a += 0x3f) {
		uint64_t start = 0;
		const char *name = symtab_find(t, a, &start);

		if (name && (start > a || !*name))
			abort();
	}
	symtab_find(t, UINT64_MAX, NULL);
	free(why);
	symtab_close(t);
	if (!elf_facts_read(&facts, path, NULL))
		elf_facts_done(&facts);
	return 0;
}
