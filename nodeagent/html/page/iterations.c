/* SPDX-License-Identifier: BSD-3-Clause */
/* How long the iterations of the main loop lasted. */
#include <math.h>
#include <stdlib.h>

#include "nodeagent/base/units.h"
#include "nodeagent/base/util.h"
#include "nodeagent/html/page/internal.h"

#define COLUMNS_MOST 450u /* of the picture; then several steps share one */
#define LEFT	     80.0
#define PLOT	     900.0
#define HEIGHT	     260.0
#define BOTTOM	     32.0
#define TEXT_HIGH    20.0

/* Successive steps in one column of the picture. */
struct column {
	const struct value *longest; /* of its steps, the one with the longest iteration */
	double least, most, sum, n;
};

/* From seconds to heights, by their logarithm. */
struct scale {
	double low, high;
};

bool page_iterations_has(const struct pages *p)
{
	return value_count(value_member(p->all, page_member(p, "iterations"), "steps")) > 0;
}

static double height_of(const struct scale *s, double seconds)
{
	const double part = log(fmax(seconds, s->low) / s->low) / log(s->high / s->low);

	return TEXT_HIGH + (HEIGHT - TEXT_HIGH) * (1.0 - part);
}

static struct column *columns_of(
	const struct pages *p, const struct value *steps, size_t *n, struct scale *s)
{
	const size_t all = value_count(steps), each = (all + COLUMNS_MOST - 1) / COLUMNS_MOST;
	struct column *c = xcalloc(all / each + 1, sizeof(*c));
	const struct value *v = value_first(p->all, steps);

	*s = (struct scale){INFINITY, 0.0};
	for (size_t i = 0; v; v = value_next(p->all, v), i++) {
		struct column *to = &c[i / each];
		const double least = value_real_of(p->all, v, "least_s"),
			     most = value_real_of(p->all, v, "most_s"),
			     calls = value_real_of(p->all, v, "iterations");

		if (!to->longest || most > to->most) {
			to->longest = v;
			to->most = most;
		}
		to->least = to->n > 0.0 ? fmin(to->least, least) : least;
		to->sum += calls * value_real_of(p->all, v, "mean_s");
		to->n += calls;
		s->low = fmin(s->low, least);
		s->high = fmax(s->high, most);
		*n = i / each + 1;
	}
	s->low = fmax(s->low * 0.9, 1e-9);
	s->high = fmax(s->high * 1.1, 2.0 * s->low);
	return c;
}

/* 1, 2 or 5 times a power of ten. */
static void put_grid(struct html *h, const struct scale *s)
{
	static const double of_ten[] = {1.0, 2.0, 5.0};
	const bool is_wide = s->high / s->low > 1000.0;

	for (double ten = pow(10.0, floor(log10(s->low))); ten < s->high; ten *= 10.0)
		for (size_t i = 0; i < (is_wide ? 1 : ARRAY_SIZE(of_ten)); i++) {
			const double t = ten * of_ten[i], y = height_of(s, t);

			if (t < s->low || t > s->high)
				continue;
			svg_rect(h, (struct svg_box){LEFT, y, PLOT, 1.0}, COLOUR_GREY,
				quantity_seconds(t).text);
			svg_text(h, LEFT - 6.0, y + 4.0, SVG_RIGHT, NULL, quantity_seconds(t).text);
		}
}

static char *column_title(const struct pages *p, const struct column *c)
{
	char at[VALUE_DIGITS], rank[VALUE_DIGITS], most[VALUE_DIGITS];

	return xasprintf("mean %.9f s; longest: iteration %s, %s s on rank %s",
		c->n > 0.0 ? c->sum / c->n : 0.0,
		value_exact(value_member(p->all, c->longest, "most_at"), at) ?: "-",
		value_exact(value_member(p->all, c->longest, "most_s"), most) ?: "-",
		value_exact(value_member(p->all, c->longest, "most_rank"), rank) ?: "-");
}

static void put_column(struct html *h, const struct pages *p, const struct column *c,
	struct svg_box box, const struct scale *s)
{
	const double top = height_of(s, c->most), mean = height_of(s, c->sum / c->n);
	char *title = column_title(p, c);

	box.y = top;
	box.height = fmax(4.0, height_of(s, c->least) - top);
	svg_rect(h, box, COLOUR_SKY, title);
	box.y = fmax(top, mean - 2.0);
	box.height = 4.0;
	svg_rect(h, box, COLOUR_BLUE, title);
	free(title);
}

static void put_picture(struct html *h, const struct pages *p, const struct value *steps)
{
	struct scale s;
	size_t n = 0;
	struct column *c = columns_of(p, steps, &n, &s);
	const double wide = PLOT / (double)n;
	const struct value *loop = page_member(p, "iterations");
	char last[VALUE_DIGITS];

	svg_begin(h, "iterations-times", "How long the iterations lasted",
		"From left to right the iterations, upwards the time by its logarithm: a bar from "
		"the shortest to the longest of all ranks, and in it their mean. The table below "
		"has the same numbers.",
		SVG_WIDTH, HEIGHT + BOTTOM);
	put_grid(h, &s);
	for (size_t i = 0; i < n; i++)
		put_column(h, p, &c[i],
			(struct svg_box){.x = LEFT + wide * (double)i,
				.width = fmax(1.0, wide - (wide > 3.0 ? 1.0 : 0.0))},
			&s);
	svg_text(h, LEFT, HEIGHT + 18.0, SVG_LEFT, NULL, "iteration 0");
	svg_text(h, LEFT + PLOT, HEIGHT + 18.0, SVG_RIGHT, NULL,
		value_exact(value_member(p->all, loop, "iterations"), last) ?: "");
	svg_end(h);
	free(c);
}

void page_iterations_print(struct html *h, const struct pages *p)
{
	static const char *const slow[] = {"most_at", "most_s", "most_rank", "mean_s", "mpi_share",
		"wait_s", "outside_mpi_s", "outside_mpi_most_s", "outside_mpi_rank",
		"off_cpu_most_s", "why", NULL};
	static const char *const each[] = {"first", "iterations", "mean_s", "least_s", "most_s",
		"most_rank", "mpi_share", "wait_s", "off_cpu_s", "outside_mpi_rank",
		"parallel_efficiency", "kind", NULL};
	const struct value *loop = page_member(p, "iterations");
	const struct value *steps = value_member(p->all, loop, "steps");

	html_open(h, "p", NULL);
	html_format(h,
		value_is_true(value_member(p->all, loop, "is_separated"))
			? "Between the calls of %s are the iterations of the main loop."
			: "The calls of %s are the iterations of the main loop.",
		value_text(p->all, value_member(p->all, loop, "path")));
	html_close(h);
	html_element(h, "p",
		"Each bar is from the shortest to the longest of all ranks, the dark line their "
		"mean, in a logarithmic scale.",
		NULL);
	put_picture(h, p, steps);
	if (value_count(value_member(p->all, loop, "slow")))
		list_table(h, p->all, value_member(p->all, loop, "slow"),
			"Far longer than others of their kind", slow);
	list_members(h, p->all, value_member(p->all, loop, "above_median_parts"),
		"What is above the median, by what it was for");
	list_table(h, p->all, value_member(p->all, loop, "kinds"), "Kinds of iterations", NULL);
	list_members(h, p->all, loop, "All iterations together");
	list_details(h, "Each iteration as a table");
	list_table(h, p->all, steps, "Iterations", each);
	html_close(h);
}
