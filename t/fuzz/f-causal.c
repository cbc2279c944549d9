/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fuzz target for the causal analysis, of one sampling file and of two that are alike, as if of
 * two nodes: for clang -fsanitize=fuzzer. Corpus: .vfd files.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "nodeagent/base/util.h"
#include "nodeagent/causal/run.h"
#include "nodeagent/trace/read/file.h"
#include "t/fuzz/sign-vfd.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static void check_rows(const struct causal_run *run)
{
	for (unsigned i = 0; i < CAUSAL_ROWS; i++) {
		size_t n;
		const struct causal_row *rows = causal_rows(run->c, i, &n);

		for (size_t k = 0; k < n; k++) {
			if (rows[k].line >= run->n || rows[k].path >= paths_count(run->paths) ||
				!isfinite(rows[k].ns) || rows[k].ns < 0)
				abort();
			free(paths_text(run->paths, rows[k].path));
		}
	}
}

static void analyse(struct vfd_file *const *files, size_t n)
{
	char *error = NULL;
	struct causal_run *run = causal_run(files, n, "/tmp", NULL, &error);

	if (!run == !error)
		abort();
	if (run) {
		check_rows(run);
		causal_run_free(run);
	}
	free(error);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	uint8_t *copy = malloc(bytes + 1);
	struct vfd_file *files[2] = {NULL, NULL};
	char *error = NULL;

	if (!copy)
		abort();
	memcpy(copy, data, bytes);
	sign_vfd(copy, bytes);
	files[0] = vfd_open_bytes(copy, bytes, "x", &error);
	if (files[0])
		files[1] = vfd_open_bytes(copy, bytes, "y", &error);
	if (files[1]) {
		analyse(files, 1);
		analyse(files, 2);
		vfd_close(files[1]);
	}
	vfd_close(files[0]);
	free(error);
	free(copy);
	return 0;
}
