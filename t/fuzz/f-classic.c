/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fuzz target for the dump of Vftrace's own files, for clang -fsanitize=fuzzer.
 * Corpus: what `vftr export --format vfd3' makes.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "nodeagent/trace/dump/vftrace.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	static FILE *null;
	const struct classic_dump d = {.threadtree = true};
	FILE *in = bytes ? fmemopen((void *)data, bytes, "r") : NULL;
	char *error;

	if (!null)
		null = fopen("/dev/null", "w");
	if (!in || !null)
		return 0;
	classic_is(in);
	if (classic_dump(in, &d, null, &error) == (error != NULL))
		abort();
	if (error && (!*error || strchr(error, '\n')))
		abort();
	free(error);
	fclose(in);
	return 0;
}
