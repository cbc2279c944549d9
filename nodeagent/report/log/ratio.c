/* SPDX-License-Identifier: BSD-3-Clause */
/* The number of copies to and from a device for each kernel, by caller. */
#include <inttypes.h>
#include <stdlib.h>

#include "nodeagent/report/log/internal.h"

static void add_item(struct ratio_item *to, const struct ratio_item *from)
{
	to->calls += from->calls;
	to->ranks = from->ranks > to->ranks ? from->ranks : to->ranks;
	to->min += from->min;
	to->max += from->max;
}

/* Calls of one process: mean, least, most, of those that made any. */
static void print_calls(FILE *f, const char *label, const struct ratio_item *n)
{
	double mean = n->ranks ? (double)n->calls / (double)n->ranks : 0;

	fprintf(f, "      %-8s avg %10.2f  min %8" PRIu64 "  max %8" PRIu64, label, mean, n->min,
		n->max);
}

static void print_copies(
	FILE *f, const char *label, const struct ratio_item *n, const struct ratio_item *kernels)
{
	print_calls(f, label, n);
	fprintf(f, "  %.4g for each kernel\n", (double)n->calls / (double)kernels->calls);
}

/* The entries of one caller need not be neighbours. */
static bool print_caller(FILE *f, const struct report *r, const char *title, uint32_t caller,
	const struct ratio_item *items, size_t n)
{
	struct ratio_item of[RATIO_KINDS] = {{0}};
	struct text_cuts *cuts;

	for (size_t i = 0; i < n; i++)
		if (items[i].caller == caller)
			add_item(&of[items[i].kind], &items[i]);
	if (!of[RATIO_KERNEL].calls)
		return false;
	if (title)
		fprintf(f, "\n%s\n", title);
	fprintf(f, "   %s\n", r->cell[r->p->stacks[caller].name]);
	print_copies(f, "in", &of[RATIO_IN], &of[RATIO_KERNEL]);
	print_copies(f, "out", &of[RATIO_OUT], &of[RATIO_KERNEL]);
	cuts = text_cuts_new(TEXT_BOTH_ENDS);
	for (size_t i = 0; i < n; i++) {
		char *cut;

		if (items[i].kind != RATIO_KERNEL || items[i].caller != caller)
			continue;
		cut = text_cut(cuts, items[i].name, COLUMN_NAME);
		print_calls(f, "kernel", &items[i]);
		fprintf(f, "  %s\n", cut);
		free(cut);
	}
	text_cuts_free(cuts);
	return true;
}

void section_ratio(
	FILE *f, const struct report *r, const char *title, struct ratio_item *items, size_t n)
{
	bool *seen = xcalloc(r->p->n_stacks + 1, sizeof(*seen));
	unsigned shown = 0;

	for (size_t i = 0; i < n && shown < COLUMN_ROWS; i++) {
		uint32_t caller = items[i].caller;

		if ((items[i].kind != RATIO_IN && items[i].kind != RATIO_OUT) ||
			caller == PROFILE_NONE || seen[caller])
			continue;
		seen[caller] = true;
		shown += print_caller(f, r, shown ? NULL : title, caller, items, n);
	}
	for (size_t i = 0; i < n; i++)
		free(items[i].name);
	free(items);
	free(seen);
}
