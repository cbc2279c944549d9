/* SPDX-License-Identifier: BSD-3-Clause */
/* Waits of ranks and threads for each other: who made others wait, and where. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "nodeagent/base/units.h"
#include "nodeagent/base/util.h"
#include "nodeagent/html/page/internal.h"

#define BARS 16u
#define ROW  20.0
#define LEFT 160.0
#define PLOT 700.0

bool page_waits_has(const struct pages *p)
{
	return value_count(page_member(p, "waits")) > 0;
}

/* "rank 3", "thread 0.3", "others" */
static char *late_name(const struct json_tree *all, const struct value *delay)
{
	const struct value *rank = value_member(all, delay, "rank");
	const struct value *thread = value_member(all, delay, "thread");
	char number[VALUE_DIGITS], of[VALUE_DIGITS];

	if (!value_exact(rank, number))
		return xstrdup("others");
	if (!value_exact(thread, of))
		return xasprintf("rank %s", number);
	return xasprintf("thread %s.%s", number, of);
}

/* They come by falling cost. */
static void put_bars(struct html *h, const struct pages *p, const struct value *delays)
{
	const size_t n = value_count(delays) < BARS ? value_count(delays) : BARS;
	const struct value *v = value_first(p->all, delays);
	const double most = value_real_of(p->all, v, "cost_s");
	double y = 0.0;

	html_element(h, "p",
		"A bar for each rank or thread for which others waited: the time that goes back "
		"to it, also along chains of ranks that wait for each other.",
		NULL);
	svg_begin(h, "waits-delays", "Who made others wait",
		"A bar for each rank or thread: the time that others waited, summed over them, and "
		"that goes back to it along chains of ranks that wait for each other. "
		"The table below has the same numbers.",
		SVG_WIDTH, ROW * (double)n);
	for (size_t i = 0; i < n; i++, v = value_next(p->all, v), y += ROW) {
		const struct value *s = value_member(p->all, v, "cost_s");
		char *name = late_name(p->all, v), *shown = words_of_number("cost_s", s), *title;
		char exact[VALUE_DIGITS];

		title = xasprintf("%s: %s s", name, value_exact(s, exact) ?: "-");
		svg_text(h, LEFT - 6.0, y + 14.0, SVG_RIGHT, NULL, name);
		svg_rect(h,
			(struct svg_box){LEFT, y + 1.0,
				most > 0.0 ? PLOT * fmax(0.0, value_real(s)) / most : 0.0,
				ROW - 3.0},
			COLOUR_BLUE, title);
		svg_text(h, LEFT + PLOT + 80.0, y + 14.0, SVG_RIGHT, NULL, shown);
		free(name);
		free(shown);
		free(title);
	}
	svg_end(h);
}

/* ---- who waited for whom ----------------------------------------------------------------- */

static char *seconds_told(double s)
{
	return xasprintf("%.9f s", s);
}

static const char *seconds_shown(double s, char *text)
{
	snprintf(text, PAGE_QUANTITY, "%s", quantity_seconds(s).text);
	return text;
}

static const struct page_matrix waits_matrix = {
	.id = "waits-cells",
	.title = "Who waited for whom",
	.description =
		"A square for each pair of ranks, or of groups of ranks, of which one waited for "
		"the other: the row of the one that waited, the column of the one that was late. "
		"The colour tells the time. The table below has the same pairs.",
	.down = "rank",
	.across = "for",
	.value = "t_s",
	.words = {"rank", "waited for"},
	.legend = {"who waited: downwards", "who was late: from left to right"},
	.unknown = "Not in the picture, as it is not told apart for whom: ",
	.tell = seconds_told,
	.show = seconds_shown,
};

static void put_matrix(struct html *h, const struct pages *p)
{
	/* the last one: of how many ranks each of the two is, where that is not one */
	static const char *const keys[] = {"rank", "for", "t_s", "calls", "ranks", NULL},
				 *const of_one[] = {"rank", "for", "t_s", "calls", NULL};
	const struct value *pairs = page_member(p, "wait_matrix");
	bool are_groups = false;

	for (const struct value *v = value_first(p->all, pairs); v; v = value_next(p->all, v))
		are_groups |= value_real_of(p->all, v, "ranks") > 1.0;
	if (!value_count(pairs))
		return;
	html_element(h, "h3", "Who waited for whom", NULL);
	html_element(h, "p",
		"A column that is bright from top to bottom is a rank for which all others wait; "
		"a bright row is one that waits for many.",
		NULL);
	page_matrix_print(h, p, pairs, &waits_matrix);
	list_details(h, "The same as a table");
	list_table_by_time(
		h, p->all, pairs, "Waits of ranks for ranks", are_groups ? keys : of_one);
	html_close(h);
}

void page_waits_print(struct html *h, const struct pages *p)
{
	static const char *const late[] = {"rank", "thread", "node", "cost_s", "t_s", "calls",
		"path", "most_kind", "most_path", "most_s", NULL};
	static const char *const places[] = {"kind", "path", "t_s", "calls", "id", NULL};
	const struct value *delays = page_member(p, "delays");

	if (value_count(delays)) {
		put_bars(h, p, delays);
		list_table(h, p->all, delays, "Who made others wait", late);
	}
	put_matrix(h, p);
	list_table(h, p->all, page_member(p, "waits"), "Where ranks and threads waited", places);
}
