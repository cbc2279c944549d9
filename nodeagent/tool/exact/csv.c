/* SPDX-License-Identifier: BSD-3-Clause */
/* All rows in one table, told apart by their first column. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "nodeagent/base/table.h"
#include "nodeagent/tool/exact/exact.h"

static void put_row(
	const struct exact *x, const char *what, const char *kind, const struct causal_row *row)
{
	char *path = paths_text(x->run->paths, row->path);

	printf("%s,%s,%d,", what, kind, x->run->ranks[row->line].number);
	text_put_csv(stdout, path);
	printf(",%" PRIu64 ",%.9f,%.9f\n", row->calls, 1e-9 * row->ns, 1e-9 * row->error);
	free(path);
}

static void put_rows(const struct exact *x, const struct exact_request *r, const char *what,
	enum causal_rows which)
{
	const bool has_kind = which != CAUSAL_PATH && which != CAUSAL_COSTS;
	const bool is_of_rank =
		which == (r->for_rank ? CAUSAL_LATE : CAUSAL_WAITS) || which == CAUSAL_THREAD_WAITS;
	size_t n;
	const struct causal_row *rows = causal_rows(x->run->c, which, &n);

	for (size_t i = 0; i < n; i++)
		if (!is_of_rank || exact_is_wanted(x, r, rows[i].line))
			put_row(x, what, has_kind ? wait_kind_name(rows[i].kind) : "", &rows[i]);
}

void exact_csv(const struct exact *x, const struct exact_request *r)
{
	puts("what,kind,rank,path,calls,t_s,error_s");
	if (r->path)
		put_rows(x, r, "critical_path", CAUSAL_PATH);
	if (!r->waits)
		return;
	put_rows(x, r, "waits", CAUSAL_WAITS);
	put_rows(x, r, "waits", CAUSAL_THREAD_WAITS);
	put_rows(x, r, "late", CAUSAL_LATE);
	put_rows(x, r, "late", CAUSAL_THREAD_WAITS);
	put_rows(x, r, "delays", CAUSAL_COSTS);
}
