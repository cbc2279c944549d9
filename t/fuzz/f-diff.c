/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fuzz target for the readers of `vftr diff`, for clang -fsanitize=fuzzer: JSON if it
 * begins with a brace, else a log. What is accepted is compared with itself, and must
 * be the same. Corpus: logs and BASE_all.json.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "nodeagent/tool/diff/diff.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static struct diff_profile *read_bytes(const uint8_t *data, size_t bytes)
{
	struct diff_profile *p = calloc(1, sizeof(*p));
	FILE *f = bytes && p ? fmemopen((void *)data, bytes, "r") : NULL;
	char *error = NULL;
	int rc;

	if (!f) {
		free(p);
		return NULL;
	}
	p->file = strdup("fuzz");
	rc = data[0] == '{' ? diff_read_json(f, p, &error) : diff_read_log(f, p, &error);
	if (!rc != !error)
		abort();
	free(error);
	fclose(f);
	if (!rc)
		return p;
	diff_profile_free(p);
	return NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct diff_profile *a = read_bytes(data, bytes), *b = read_bytes(data, bytes);
	FILE *null = fopen("/dev/null", "w");
	struct diff d;

	if (!a != !b || !null)
		abort();
	if (a) {
		if (bytes & 1) {
			diff_by_function(a);
			diff_by_function(b);
		}
		diff_make(&d, a, b, bytes & 2, bytes & 4);
		if (d.only_a || d.only_b || d.n_rows != a->n_stacks)
			abort();
		for (size_t i = 0; i < d.n_rows; i++)
			if (d.rows[i].diff_s != 0.0 && !isnan(d.rows[i].diff_s))
				abort();
		diff_sort(&d, bytes & 8 ? "percent" : "path");
		diff_print(&d, 20, bytes & 1, null);
		diff_print_json(&d, 20, bytes & 1, null);
		diff_print_classic(&d, null);
		diff_done(&d);
	}
	diff_profile_free(a);
	diff_profile_free(b);
	fclose(null);
	return 0;
}
