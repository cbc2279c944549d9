/* SPDX-License-Identifier: BSD-3-Clause */
/* Waits of ranks and threads for each other: who made others wait, and where. */
#include <math.h>
#include <stdlib.h>

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

/* They come by falling time. */
static void put_bars(struct html *h, const struct pages *p, const struct value *delays)
{
	const size_t n = value_count(delays) < BARS ? value_count(delays) : BARS;
	const struct value *v = value_first(p->all, delays);
	const double most = value_real_of(p->all, v, "t_s");
	double y = 0.0;

	svg_begin(h, "waits-delays", "Who made others wait",
		"A bar for each rank or thread: the time that others waited for it, summed over "
		"them. "
		"The table below has the same numbers.",
		SVG_WIDTH, ROW * (double)n);
	for (size_t i = 0; i < n; i++, v = value_next(p->all, v), y += ROW) {
		const struct value *s = value_member(p->all, v, "t_s");
		char *name = late_name(p->all, v), *shown = list_shown("t_s", s), *title;
		char exact[VALUE_DIGITS];

		title = xasprintf("%s: %s s", name, value_exact(s, exact) ?: "-");
		svg_text(h, LEFT - 6.0, y + 14.0, SVG_RIGHT, NULL, name);
		svg_rect(h,
			(struct svg_box){LEFT, y + 1.0,
				most > 0.0 ? PLOT * fmax(0.0, value_real(s)) / most : 0.0,
				ROW - 3.0},
			"#0072b2", title);
		svg_text(h, LEFT + PLOT + 80.0, y + 14.0, SVG_RIGHT, NULL, shown);
		free(name);
		free(shown);
		free(title);
	}
	svg_end(h);
}

void page_waits_print(struct html *h, const struct pages *p)
{
	static const char *const late[] = {
		"rank", "thread", "node", "t_s", "calls", "most_kind", "most_path", "most_s", NULL};
	static const char *const places[] = {"kind", "path", "t_s", "calls", "id", NULL};
	const struct value *delays = page_member(p, "delays");

	if (value_count(delays)) {
		put_bars(h, p, delays);
		list_table(h, p->all, delays, "Who made others wait", late);
	}
	list_table(h, p->all, page_member(p, "waits"), "Where ranks and threads waited", places);
}
