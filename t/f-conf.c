/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fuzz target for the configuration parser, for clang -fsanitize=fuzzer: what
 * is accepted must print and come back the same.
 */
#include <stdlib.h>
#include <string.h>

#include "conf/conf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static char *printed(const struct conf *c, size_t *bytes)
{
	char *s = NULL;
	FILE *f = open_memstream(&s, bytes);

	if (!f)
		abort();
	conf_print(c, f);
	fclose(f);
	return s;
}

static void check_echo(const struct conf *c)
{
	size_t bytes, again_bytes;
	char *first = printed(c, &bytes), *second, *error;
	struct conf *again;

	if (conf_load_text(&again, "echo", first, bytes, &error, NULL, NULL) < 0)
		abort();
	second = printed(again, &again_bytes);
	if (strcmp(first, second))
		abort();
	free(first);
	free(second);
	conf_free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	char *error;
	struct conf *c;

	if (conf_load_text(&c, "fuzz", (const char *)data, bytes, &error, NULL, NULL) == 0) {
		check_echo(c);
	} else {
		if (!error || strchr(error, '\n'))
			abort();
		free(error);
	}
	conf_free(c);
	return 0;
}
