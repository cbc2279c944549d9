/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/base/util.h"
#include "nodeagent/tool/exact/exact.h"

static bool has_rank(const struct exact *x, int rank)
{
	for (uint32_t i = 0; i < x->run->n; i++)
		if (x->run->ranks[i].number == rank)
			return true;
	complain("there is no rank %d in the sampling files", rank);
	return false;
}

int exact_show(const struct exact_request *r, char **arguments, size_t n, const char *base)
{
	static void (*const forms[])(const struct exact *, const struct exact_request *) = {
		[EXACT_TEXT] = exact_print, [EXACT_CSV] = exact_csv, [EXACT_JSON] = exact_json};
	struct exact x;
	int status = exact_open(&x, arguments, n, base);

	if (status == 2)
		return status;
	if (r->rank < 0 || has_rank(&x, r->rank))
		forms[r->form](&x, r);
	else
		status = 2;
	exact_close(&x);
	return status;
}
