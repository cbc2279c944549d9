/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fuzz target for the names of functions, for clang -fsanitize=fuzzer: lines are the linker's
 * names of one profile. Each is shown as a text of its own, which people can read and programs can
 * split; and in whatever order they come, and if they come twice, these texts are the same.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "nodeagent/base/table.h"
#include "nodeagent/base/util.h"
#include "nodeagent/symbols/itanium.h"
#include "nodeagent/symbols/names.h"
#include "nodeagent/symbols/rust.h"

#define NAMES_MAX 64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static void must_hold(bool is_right)
{
	if (!is_right)
		abort();
}

static bool is_plain(const char *text)
{
	char *plain = text_plain(text);
	bool same = !strcmp(plain, text);

	free(plain);
	return same;
}

/* Alone: only names of C++ and Rust have one. */
static void check_short(const char *raw)
{
	char *name = itanium_short(raw);

	if (name)
		must_hold(*name && !strncmp(raw, "_Z", 2));
	free(name);
	for (int is_short = 0; is_short < 2; is_short++) {
		name = rust_shown(raw, is_short);
		if (name)
			must_hold(*name && (!strncmp(raw, "_R", 2) || !strncmp(raw, "_ZN", 3)));
		free(name);
	}
}

static void check_names(const struct names *names, const char *const *raw, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct name *name = names_lookup(names, raw[i]);

		must_hold(name && !strcmp(name->raw, raw[i]));
		must_hold(is_plain(name->shown) && is_plain(name->cell));
		must_hold(!strstr(name->shown, " < "));
		must_hold(text_columns(name->cell) <= NAME_COLUMNS);
		for (size_t k = 0; k < i; k++) {
			const struct name *other = names_lookup(names, raw[k]);

			must_hold(!strcmp(raw[i], raw[k]) == !strcmp(name->shown, other->shown));
		}
	}
}

/* Backwards, and all of them twice. */
static void check_order(
	const struct names *names, const char *const *raw, size_t n, const struct name_style *style)
{
	const char *again[2 * NAMES_MAX];
	struct names *other;

	for (size_t i = 0; i < n; i++)
		again[i] = again[2 * n - 1 - i] = raw[n - 1 - i];
	other = names_new(again, 2 * n, style);
	for (size_t i = 0; i < n; i++) {
		const struct name *a = names_lookup(names, raw[i]);
		const struct name *b = names_lookup(other, raw[i]);

		must_hold(!strcmp(a->shown, b->shown) && !strcmp(a->cell, b->cell));
	}
	names_free(other);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	char *text = xmalloc(bytes + 1);
	const char *raw[NAMES_MAX];
	size_t n = 0;

	memcpy(text, data, bytes);
	text[bytes] = '\0';
	for (char *line = strtok(text, "\n"); line && n < NAMES_MAX; line = strtok(NULL, "\n")) {
		check_short(line);
		raw[n++] = line;
	}
	for (int k = 0; n && k < 8; k++) {
		const struct name_style style = {
			.form = k % 3, .strip_module_names = k & 4, .keep_cxx = k == 7};
		struct names *names = names_new(raw, n, &style);

		check_names(names, raw, n);
		check_order(names, raw, n, &style);
		names_free(names);
	}
	free(text);
	return 0;
}
