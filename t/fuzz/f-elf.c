/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fuzz target: any bytes as an ELF file, its symbols read and looked up, its
 * facts read, and for some of the inputs source lines, by a child that may die of
 * them. Any small executable is a seed. Build it with clang
 * -fsanitize=fuzzer,address,undefined.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "nodeagent/base/util.h"
#include "nodeagent/symbols/elf.h"
#include "nodeagent/symbols/lines.h"
#include "nodeagent/symbols/symtab.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

/* Whatever is in the file: a line or none, soon, and we live on. */
static void look_for_lines(const char *path)
{
	struct code_location locations[64];
	struct source_lines *l = source_lines_new();

	for (size_t i = 0; i < ARRAY_SIZE(locations); i++)
		locations[i] = (struct code_location){.path = path, .address = 0x1000 + 0x1d * i};
	source_lines_read(l, locations, ARRAY_SIZE(locations), 5);
	for (size_t i = 0; i < ARRAY_SIZE(locations); i++) {
		const struct source_place place = source_lines_place(l, &locations[i]);

		if (place.file ? !place.line : place.line != 0)
			abort();
	}
	source_lines_free(l);
}

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
	if (bytes % 8 == 0) /* a process takes longer than all the rest */
		look_for_lines(path);
	if (!elf_facts_read(&facts, path, NULL))
		elf_facts_done(&facts);
	return 0;
}
