/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fuzz target for the configuration parser, for clang -fsanitize=fuzzer: what
 * is accepted must print and come back the same. The same bytes are also taken for
 * assignments of a command line, and for a file of counters.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "conf/conf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static const struct conf_reading lenient = {.lenient = true};

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

	if (conf_load_text(&again, "echo", first, bytes, &error, &lenient) < 0)
		abort();
	second = printed(again, &again_bytes);
	if (strcmp(first, second))
		abort();
	free(first);
	free(second);
	conf_free(again);
}

static void one_sentence(char *error)
{
	if (!error || !*error || strchr(error, '\n'))
		abort();
	free(error);
}

static void assign(const uint8_t *data, size_t bytes)
{
	struct conf *c = conf_default();
	char *text = strndup((const char *)data, bytes), *error;

	if (!c || !text)
		abort();
	if (conf_assign_all(c, text, &error))
		one_sentence(error);
	else
		check_echo(c);
	free(text);
	conf_free(c);
}

static void scenario(const uint8_t *data, size_t bytes)
{
	static int fd = -1;
	struct conf *c = conf_default();
	char path[64], *error;

	if (fd < 0)
		fd = memfd_create("scenario", 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (!c || ftruncate(fd, 0) || pwrite(fd, data, bytes, 0) != (ssize_t)bytes ||
		conf_set(c, "hwprof.default_scenario", path, &error))
		abort();
	if (conf_scenario(c, &error, &lenient))
		one_sentence(error);
	else
		check_echo(c);
	conf_free(c);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	char *error;
	struct conf *c;

	assign(data, bytes);
	scenario(data, bytes);

	if (conf_load_text(&c, "fuzz", (const char *)data, bytes, &error, &lenient) == 0) {
		check_echo(c);
	} else {
		one_sentence(error);
	}
	conf_free(c);
	return 0;
}
