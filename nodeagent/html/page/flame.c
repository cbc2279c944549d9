/* SPDX-License-Identifier: BSD-3-Clause */
/* All call paths of all ranks as a flame graph, callers above. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "nodeagent/base/radix.h"
#include "nodeagent/base/table.h"
#include "nodeagent/base/units.h"
#include "nodeagent/base/util.h"
#include "nodeagent/html/page/internal.h"

#define FRAMES_MAX   4000u
#define DEPTH_MAX    64u
#define HEIGHT	     18.0
#define LETTER	     7.4 /* the widest that is usual */
#define WIDTH_TEXT   64.0
#define TABLE_ROWS   200u
#define NAME_COLUMNS 100u

struct frame {
	const struct value *row;
	uint32_t parent, first, next; /* indices from 1; 0: none */
	uint32_t depth;
	uint32_t choice; /* the last one by which it is shown */
	double s;
};

struct flame {
	const struct pages *p;
	struct page_other *other; /* or NULL */
	struct frame *at;	  /* from 1; at[0] is above all */
	size_t n;
	double least_s;
	uint32_t choice, deepest;
};

/* By falling time, which is not negative; equal ones stay in their order. */
static struct radix by_falling(double s, uint32_t i)
{
	uint64_t bits;

	/* the bits of such doubles are ordered as they are */
	memcpy(&bits, &s, sizeof(bits));
	return (struct radix){~bits, i};
}

static bool is_shown(const struct flame *t, const struct frame *f)
{
	return f->choice == t->choice;
}

/* ---- the tree -------------------------------------------------------------------------- */

/* The ids of a profile's call paths are those from 0 on, and they stand in this order. */
static void read_frames(struct flame *t, const struct value *stacks)
{
	size_t n = 0;

	t->n = value_count(stacks);
	t->at = xcalloc(t->n + 1, sizeof(*t->at));
	for (const struct value *v = value_first(t->p->all, stacks); v;
		v = value_next(t->p->all, v)) {
		const double parent = value_real_of(t->p->all, v, "parent");
		struct frame *to = &t->at[++n];

		to->row = v;
		to->s = t->p->incl_s[n - 1];
		to->parent = parent >= 0.0 && parent < (double)t->n ? (uint32_t)parent + 1 : 0;
	}
}

/* Each before its siblings that have less time. */
static void link_frames(struct flame *t)
{
	struct radix *keys = xcalloc(t->n + 1, sizeof(*keys));

	for (uint32_t i = 0; i < t->n; i++)
		keys[i] = by_falling(t->at[i + 1].s, i + 1);
	radix_sort(keys, t->n);
	for (size_t k = t->n; k--;) {
		struct frame *f = &t->at[keys[k].i];

		f->next = t->at[f->parent].first;
		t->at[f->parent].first = keys[k].i;
	}
	for (uint32_t i = t->at[0].first; i; i = t->at[i].next)
		t->at[0].s += t->at[i].s;
	free(keys);
}

/* Which frames are drawn if each has at least least_s; their number. */
static size_t choose_frames(struct flame *t)
{
	uint32_t at = t->at[0].first, depth = 1;
	size_t n = 0;

	t->deepest = 0;
	t->choice++;
	while (at) {
		struct frame *f = &t->at[at];
		uint32_t up = at;

		/* where one is too small, those behind it are, too */
		if (f->s < t->least_s && f->parent) {
			up = f->parent;
			depth--;
		} else if (f->s >= t->least_s && f->s > 0.0 && depth <= DEPTH_MAX &&
			   !is_shown(t, f)) {
			f->choice = t->choice;
			f->depth = depth;
			t->deepest = depth > t->deepest ? depth : t->deepest;
			n++;
			if (f->first) {
				at = f->first;
				depth++;
				continue;
			}
		}
		while (up && !t->at[up].next) {
			up = t->at[up].parent;
			depth--;
		}
		at = up ? t->at[up].next : 0;
	}
	return n;
}

/* ---- the picture ----------------------------------------------------------------------- */

/* As the script has it. */
static void put_label(struct html *h, struct svg_box box, const char *name, const char *fill)
{
	const size_t columns = (size_t)((box.width - 6.0) / LETTER);
	const bool cut = text_columns(name) > columns;
	char *first, *text;

	if (box.width < WIDTH_TEXT || columns < 8)
		return;
	first = text_first(name, cut ? columns - 3 : columns);
	text = xasprintf("%s%s", first, cut ? "..." : "");
	svg_text(h, box.x + 3.0, box.y + 13.0, SVG_LEFT, svg_ink(fill), text);
	free(first);
	free(text);
}

static void put_frame(
	struct html *h, const struct flame *t, const struct frame *f, struct svg_box box)
{
	const struct json_tree *all = t->p->all;
	const double imbalance = fabs(value_real_of(all, f->row, "imbalance_percent"));
	const char *fill = svg_map_colour(imbalance / 100.0);
	const char *name = value_text(all, value_member(all, f->row, "function"));
	char incl[VALUE_DIGITS], own[VALUE_DIGITS], calls[VALUE_DIGITS], uneven[VALUE_DIGITS];
	char *shown = text_short(name, NAME_COLUMNS), *title;
	char *other = t->other ? page_difference_title(t->other, f->row) : NULL;

	title = xasprintf("%s: %s s with callees, %s s own, %s %s, imbalance %s %%%s", shown,
		value_exact(value_member(all, f->row, "t_incl_s"), incl) ?: "-",
		value_exact(value_member(all, f->row, "t_excl_s"), own) ?: "-",
		value_exact(value_member(all, f->row, "calls"), calls) ?: "-",
		value_real_of(all, f->row, "calls") == 1.0 ? "call" : "calls",
		value_exact(value_member(all, f->row, "imbalance_percent"), uneven) ?: "-",
		other ?: "");
	html_open(h, "g", "class", t->other ? page_difference_class(t->other, f->row) : "f", NULL);
	svg_rect(h, box, fill, title);
	put_label(h, box, shown, fill);
	html_close(h);
	free(other);
	free(shown);
	free(title);
}

static void put_rest(struct html *h, size_t n, double s, struct svg_box box)
{
	char *title = xasprintf("rest: %zu %s, %.9f s", n,
		one_or_many(n, "call path and what it calls", "call paths and what they call"), s);

	html_open(h, "g", "class", "f", NULL);
	svg_rect(h, box, COLOUR_GREY, title);
	html_close(h);
	free(title);
}

/* What the boxes below one need of its time, so that they end where it ends: other threads may
 * have given them more. */
static double scale_below(const struct flame *t, uint32_t above, double each)
{
	double s = 0.0;

	for (uint32_t i = t->at[above].first; i; i = t->at[i].next)
		s += t->at[i].s;
	return s > t->at[above].s ? each * t->at[above].s / s : each;
}

/* Those below one frame, beginning at x; each: pixels of a second. DEPTH_MAX bounds the recursion.
 */
static void put_frames(struct html *h, const struct flame *t, uint32_t above, double x, double each)
{
	const double y = HEIGHT * (double)t->at[above].depth;
	double rest = 0.0;
	size_t n = 0;

	each = scale_below(t, above, each);
	for (uint32_t i = t->at[above].first; i; i = t->at[i].next) {
		const struct frame *f = &t->at[i];

		if (!is_shown(t, f)) {
			rest += f->s;
			n++;
			continue;
		}
		put_frame(h, t, f, (struct svg_box){x, y, f->s * each, HEIGHT - 1.0});
		put_frames(h, t, i, x, each);
		x += f->s * each;
	}
	if (rest * each >= 0.5 && t->at[above].depth < DEPTH_MAX)
		put_rest(h, n, rest, (struct svg_box){x, y, rest * each, HEIGHT - 1.0});
}

/* ---- the table ------------------------------------------------------------------------- */

static void put_table(struct html *h, const struct flame *t)
{
	static const char *const keys[] = {"path", "t_incl_s", "t_excl_s", "calls", "ranks",
		"t_excl_min_s", "rank_min", "t_excl_max_s", "rank_max", "imbalance_percent", "id"};
	struct radix *rows = xcalloc(t->n + 1, sizeof(*rows));

	for (uint32_t i = 0; i < t->n; i++)
		rows[i] = by_falling(t->p->excl_s[i], i + 1);
	radix_sort(rows, t->n);
	list_details(h, "The call paths with the most own time, as a table");
	html_table(h, "Call paths by their own time, summed over all ranks and threads");
	for (size_t k = 0; k < ARRAY_SIZE(keys); k++) {
		char *title = words_of_key(keys[k]);

		html_head(h, title, k > 0);
		free(title);
	}
	for (size_t i = 0; i < t->n && i < TABLE_ROWS; i++) {
		html_row(h);
		for (size_t k = 0; k < ARRAY_SIZE(keys); k++)
			list_cell(h, t->p->all, t->at[rows[i].i].row, keys[k], !k);
		html_close(h);
	}
	html_table_end(h);
	html_close(h);
	free(rows);
}

/* The style does the rest, without the script. */
static void put_choice(struct html *h, const struct pages *p)
{
	html_void(h, "input", "type", "checkbox", "id", "by-difference", NULL);
	html_open(h, "label", "for", "by-difference", NULL);
	html_format(h,
		" Colour by the difference to %s: blue is less time here, orange more, from 5 %%, "
		"20 %% and 50 %% on; grey is about the same.",
		p->runs[1].name);
	html_close(h);
}

static void put_picture(struct html *h, struct flame *t, size_t n)
{
	html_open(h, "p", NULL);
	html_format(h,
		"%zu of %zu call paths; what has less than %s, or is deeper than %u, is folded "
		"into "
		"the grey rest. The colour is the imbalance of own time over ranks: from blue, 0 "
		"%%, "
		"to yellow, 100 %% and more.",
		n, t->n, quantity_seconds(t->least_s).text, DEPTH_MAX);
	html_close(h);
	if (t->other)
		put_choice(h, t->p);
	svg_begin(h, "flame", "Call paths of all ranks",
		"A box for each call path, as wide as its time with callees; below it what it "
		"calls. "
		"The table below has those with the most own time.",
		SVG_WIDTH, HEIGHT * (double)(t->deepest + 1));
	put_frames(h, t, 0, 0.0, t->at[0].s > 0.0 ? SVG_WIDTH / t->at[0].s : 0.0);
	svg_end(h);
}

void page_flame(struct html *h, const struct pages *p)
{
	struct flame t = {.p = p, .other = page_other_of(p)};
	size_t n;

	read_frames(&t, page_member(p, "stacks"));
	link_frames(&t);
	t.least_s = PAGE_LEAST * t.at[0].s;
	while ((n = choose_frames(&t)) > FRAMES_MAX)
		t.least_s *= 2.0;
	put_picture(h, &t, n);
	if (t.other)
		page_difference_table(h, t.other);
	put_table(h, &t);
	page_other_free(t.other);
	free(t.at);
}
