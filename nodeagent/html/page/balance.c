/* SPDX-License-Identifier: BSD-3-Clause */
/* The time of each rank by what it was spent for. */
#include <math.h>
#include <stdlib.h>

#include "nodeagent/base/units.h"
#include "nodeagent/base/util.h"
#include "nodeagent/html/page/internal.h"

#define RANKS_MAX 256u /* in the picture and the table */
#define WORST	  3u
#define ROW	  16.0
#define LEFT	  120.0
#define PLOT	  860.0

struct rank {
	const struct value *row;
	double useful_s;
	size_t index;
};
ORDER_BY(by_useful, struct rank, FALLING(useful_s) ?: RISING(index))

bool page_balance_has(const struct pages *p)
{
	return value_count(page_member(p, "per_rank")) > 1;
}

static struct rank *ranks_of(const struct pages *p, size_t *n)
{
	const struct value *array = page_member(p, "per_rank");
	struct rank *ranks = xcalloc(value_count(array) + 1, sizeof(*ranks));

	*n = 0;
	for (const struct value *v = value_first(p->all, array); v; v = value_next(p->all, v)) {
		const double s = value_real_of(p->all, v, "useful_s");

		ranks[*n] = (struct rank){v, isnan(s) ? 0.0 : s, *n};
		++*n;
	}
	qsort(ranks, *n, sizeof(*ranks), by_useful);
	return ranks;
}

/* Is this one, by useful time, among those that are shown? */
static bool is_shown(size_t i, size_t n)
{
	return n <= RANKS_MAX || i < RANKS_MAX / 2 || i >= n - RANKS_MAX / 2;
}

static char *rank_name(const struct pages *p, const struct value *row)
{
	char exact[VALUE_DIGITS];

	return xasprintf("rank %s", value_exact(value_member(p->all, row, "rank"), exact) ?: "-");
}

struct strips {
	const char *titles[PAGE_CLASSES];
	double each; /* the width of a second */
};

static void put_strip(struct html *h, const struct pages *p, const struct value *row, double y,
	const struct strips *how)
{
	const char *node = value_text(p->all, value_member(p->all, row, "node"));
	char *name = rank_name(p, row);
	double x = LEFT;

	svg_text(h, LEFT - 6.0, y + 12.0, SVG_RIGHT, NULL, name);
	for (size_t k = 0; k < PAGE_CLASSES; k++) {
		const double s = page_class_s(p->all, row, k);
		char *title;

		if (!(s > 0.0))
			continue;
		title = xasprintf("%s on %.60s: %s %.9f s", name, node, how->titles[k], s);
		svg_rect(h, (struct svg_box){x, y, s * how->each, ROW - 2.0},
			page_classes[k].colour, title);
		x += s * how->each;
		free(title);
	}
	free(name);
}

static void put_strips(struct html *h, const struct pages *p, const struct rank *ranks, size_t n)
{
	const size_t shown = n < RANKS_MAX ? n : RANKS_MAX;
	const double legend = page_legend_height(p);
	struct strips how = {{NULL}, 0.0};
	double most = 0.0, y = legend;

	for (size_t k = 0; k < PAGE_CLASSES; k++)
		how.titles[k] = page_class_title(p, k);
	for (size_t i = 0; i < n; i++) {
		double s = 0.0;

		for (size_t k = 0; k < PAGE_CLASSES; k++)
			s += page_class_s(p->all, ranks[i].row, k);
		most = fmax(most, s);
	}
	how.each = most > 0.0 ? PLOT / most : 0.0;
	svg_begin(h, "balance-ranks", "Time of each rank by what it was spent for",
		"A bar for each rank, the one with the most useful work first; from left to right "
		"in the order of the legend. The table below has the same numbers.",
		SVG_WIDTH, legend + ROW * (double)shown);
	page_legend(h, p);
	for (size_t i = 0; i < n; i++) {
		if (!is_shown(i, n))
			continue;
		put_strip(h, p, ranks[i].row, y, &how);
		y += ROW;
	}
	svg_end(h);
}

/* Only with locks.active there is something to be told of them. */
static bool has_locks(const struct pages *p)
{
	const struct value *first = value_first(p->all, page_member(p, "per_rank"));

	return first && !isnan(value_real_of(p->all, first, "lock_wait_s"));
}

static void put_table(struct html *h, const struct pages *p, const struct rank *ranks, size_t n)
{
	static const char *const keys[] = {"rank", "node", "window_s", "useful_s", "mpi_s",
		"mpi_wait_s", "openmp_wait_s", "openmp_idle_s", "gpu_wait_s", "io_s", "blocked_s",
		"unknown_s", "off_cpu_s", "threads", "killed", "lock_wait_s"};
	const size_t n_keys = ARRAY_SIZE(keys) - !has_locks(p);

	list_details(h, "The same as a table");
	html_table(h, "Ranks by useful work of their first thread; MPI includes its waits");
	for (size_t k = 0; k < n_keys; k++) {
		/* the other times are of the window, between MPI_Init and MPI_Finalize */
		char *title = strcmp(keys[k], "off_cpu_s") ? words_of_key(keys[k])
							   : xstrdup("off CPU, begin to end");

		html_head(h, title, k != 1);
		free(title);
	}
	for (size_t i = 0; i < n; i++) {
		if (!is_shown(i, n))
			continue;
		html_row(h);
		for (size_t k = 0; k < n_keys; k++)
			list_cell(h, p->all, ranks[i].row, keys[k], false);
		html_close(h);
	}
	html_table_end(h);
	html_close(h);
}

/* Those that per_rank has no row of. */
static size_t others_of(const struct pages *p)
{
	const struct value *sums = page_member(p, "ranks_by_node");
	double n = 0.0;

	for (const struct value *v = value_first(p->all, sums); v; v = value_next(p->all, v))
		n += fmax(0.0, value_real_of(p->all, v, "ranks"));
	return (size_t)n;
}

static void put_worst(struct html *h, const struct pages *p, const struct rank *ranks, size_t n)
{
	html_open(h, "p", NULL);
	html_text(h, "Most useful work, so that others may wait: ");
	for (size_t i = 0; i < n && i < WORST; i++) {
		const struct value *s = value_member(p->all, ranks[i].row, "useful_s");
		char *name = rank_name(p, ranks[i].row), exact[VALUE_DIGITS];

		html_format(h, "%s%s on %s, ", i ? "; " : "", name,
			value_text(p->all, value_member(p->all, ranks[i].row, "node")));
		html_element(h, "data", quantity_seconds(ranks[i].useful_s).text, "value",
			value_exact(s, exact), NULL);
		free(name);
	}
	html_text(h, ".");
	if (n > RANKS_MAX)
		html_format(h,
			" Shown are the %u ranks with the most and the %u with the least useful "
			"work, "
			"of %zu.",
			RANKS_MAX / 2, RANKS_MAX / 2, n + others_of(p));
	html_close(h);
}

void page_balance_print(struct html *h, const struct pages *p)
{
	size_t n;
	struct rank *ranks = ranks_of(p, &n);

	put_worst(h, p, ranks, n);
	put_strips(h, p, ranks, n);
	put_table(h, p, ranks, n);
	free(ranks);
}
