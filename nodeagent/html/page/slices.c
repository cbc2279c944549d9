/* SPDX-License-Identifier: BSD-3-Clause */
/* What ranks did over time: maps of ranks and slices of time, of shares of time and of bytes. */
#include <math.h>
#include <stdlib.h>

#include "nodeagent/base/units.h"
#include "nodeagent/base/util.h"
#include "nodeagent/html/page/internal.h"

#define LEFT	 80.0
#define PLOT	 900.0
#define LEGEND	 24.0
#define BOTTOM	 24.0
#define ROW_MOST 16.0
#define MAP_MOST 512.0
#define STEPS	 20 /* of the legend */

static const struct map {
	const char *key, *id, *caption, *title, *text;
	bool are_bytes; /* on page io; else shares of time, on page slices */
} maps[] = {
	{"mpi_share", "slices-mpi", "Part of each slice of time in MPI, by rank",
		"In MPI over time", "in MPI"},
	{"wait_share", "slices-waits",
		"Part of each slice of time in MPI, waiting for other ranks, by rank",
		"Waiting for other ranks over time", "waiting"},
	{"bytes_read", "io-read-over-time", "Bytes read in each slice of time, by rank",
		"Read over time", "bytes read", true},
	{"bytes_written", "io-written-over-time", "Bytes written in each slice of time, by rank",
		"Written over time", "bytes written", true},
};

static double most_of(const struct pages *p, const struct map *map)
{
	const struct value *rows = value_member(p->all, page_member(p, "time_slices"), "rows");
	double most = 0.0;

	for (const struct value *r = value_first(p->all, rows); r; r = value_next(p->all, r))
		for (const struct value *v = value_first(p->all, value_member(p->all, r, map->key));
			v; v = value_next(p->all, v))
			most = fmax(most, value_real(v));
	return most;
}

bool page_slices_has(const struct pages *p)
{
	return value_count(value_member(p->all, page_member(p, "time_slices"), "rows")) > 0;
}

/* "7", "8-11" */
static char *row_name(const struct pages *p, const struct value *row)
{
	const double rank = value_real_of(p->all, row, "rank"),
		     ranks = value_real_of(p->all, row, "ranks");

	if (ranks > 1.0)
		return xasprintf("%.0f-%.0f", rank, rank + ranks - 1.0);
	return xasprintf("%.0f", rank);
}

static void put_legend(struct html *h, const struct map *map, double most)
{
	const double wide = 200.0 / STEPS;

	svg_text(h, LEFT - 6.0, 14.0, SVG_RIGHT, NULL, map->are_bytes ? "0 B" : "0 %");
	for (int i = 0; i < STEPS; i++)
		svg_rect(h, (struct svg_box){LEFT + wide * i, 2.0, wide, 14.0},
			svg_map_colour((double)i / (STEPS - 1)), "");
	svg_text(h, LEFT + 206.0, 14.0, SVG_LEFT, NULL,
		map->are_bytes ? quantity_bytes(most).text : "100 %");
}

static void put_row(struct html *h, const struct pages *p, const struct map *map,
	const struct value *row, struct svg_box box, double slice_s, double most)
{
	const struct value *v = value_first(p->all, value_member(p->all, row, map->key));
	char *name = row_name(p, row);

	for (size_t i = 0; v; v = value_next(p->all, v), i++, box.x += box.width) {
		char exact[VALUE_DIGITS], *title;

		if (!value_exact(v, exact))
			continue;
		title = xasprintf("rank %s, from %s on, %s: %s", name,
			quantity_seconds(slice_s * (double)i).text, map->text, exact);
		svg_rect(h, box, svg_map_colour(value_real(v) / most), title);
		free(title);
	}
	free(name);
}

static void put_map(struct html *h, const struct pages *p, const struct map *map)
{
	const struct value *all = page_member(p, "time_slices");
	const struct value *rows = value_member(p->all, all, "rows");
	const double n = value_real_of(p->all, all, "slices"),
		     slice_s = value_real_of(p->all, all, "slice_s"),
		     high = fmin(ROW_MOST, MAP_MOST / (double)value_count(rows)),
		     end = LEGEND + high * (double)value_count(rows);
	/* what the brightest colour stands for: all of the time, or the most bytes */
	const double most = map->are_bytes ? most_of(p, map) : 1.0;
	double y = LEGEND, named = 0.0;

	svg_begin(h, map->id, map->title,
		"From left to right the time since MPI_Init was left, a row for each rank, or for "
		"several of neighbouring ranks. The table below has the same numbers.",
		SVG_WIDTH, end + BOTTOM);
	put_legend(h, map, most);
	for (const struct value *row = value_first(p->all, rows); row;
		row = value_next(p->all, row), y += high) {
		if (y >= named) {
			char *name = row_name(p, row);

			svg_text(h, LEFT - 6.0, y + 12.0, SVG_RIGHT, NULL, name);
			named = y + ROW_MOST;
			free(name);
		}
		put_row(h, p, map, row, (struct svg_box){LEFT, y, PLOT / n, high}, slice_s, most);
	}
	svg_text(h, LEFT, end + 16.0, SVG_LEFT, NULL, "0 s");
	svg_text(h, LEFT + PLOT, end + 16.0, SVG_RIGHT, NULL, quantity_seconds(n * slice_s).text);
	svg_end(h);
}

static void put_table(struct html *h, const struct pages *p, const struct map *map)
{
	const struct value *all = page_member(p, "time_slices");
	const double n = value_real_of(p->all, all, "slices"),
		     slice_s = value_real_of(p->all, all, "slice_s");

	list_details(h, "The same as a table");
	html_table(h, map->caption);
	html_head(h, "rank", false);
	for (size_t i = 0; (double)i < n; i++)
		html_head(h, quantity_seconds(slice_s * (double)i).text, true);
	for (const struct value *row = value_first(p->all, value_member(p->all, all, "rows")); row;
		row = value_next(p->all, row)) {
		const struct value *v = value_first(p->all, value_member(p->all, row, map->key));
		char *name = row_name(p, row);

		html_row(h);
		html_cell(h, name, true);
		for (; v; v = value_next(p->all, v)) {
			char exact[VALUE_DIGITS], shown[VALUE_DIGITS];

			if (!value_exact(v, exact)) {
				html_cell(h, "", false);
				continue;
			}
			if (map->are_bytes)
				snprintf(shown, sizeof(shown), "%s",
					quantity_bytes(value_real(v)).text);
			else
				snprintf(shown, sizeof(shown), "%.1f %%", 100.0 * value_real(v));
			html_number(h, exact, shown);
		}
		html_close(h);
		free(name);
	}
	html_table_end(h);
	html_close(h);
}

static void put_maps(struct html *h, const struct pages *p, bool are_bytes)
{
	for (size_t i = 0; i < ARRAY_SIZE(maps); i++) {
		if (maps[i].are_bytes != are_bytes || (i && most_of(p, &maps[i]) <= 0.0))
			continue;
		html_element(h, "h3", maps[i].title, NULL);
		put_map(h, p, &maps[i]);
		put_table(h, p, &maps[i]);
	}
}

void page_slices_print(struct html *h, const struct pages *p)
{
	put_maps(h, p, false);
}

void page_slices_print_bytes(struct html *h, const struct pages *p)
{
	put_maps(h, p, true);
}
