/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/html/svg.h"

#include <math.h>
#include <stdlib.h>

#include "nodeagent/base/util.h"

/* Up to two decimals, without those that are 0. */
struct length {
	char text[32];
};

static struct length length_of(double pixels)
{
	struct length l;

	snprintf(l.text, sizeof(l.text), "%g", round(pixels * 100.0) / 100.0);
	return l;
}

void svg_begin(struct html *h, const char *id, const char *title, const char *description,
	double width, double height)
{
	char *title_id = xasprintf("%s-title", id), *text_id = xasprintf("%s-text", id);
	char *both = xasprintf("%s %s", title_id, text_id);
	char *view = xasprintf("0 0 %g %g", width, height);

	html_open(h, "div", "class", "wide", "tabindex", "0", "role", "group", "aria-label", title,
		NULL);
	html_open(h, "svg", "id", id, "role", "img", "aria-labelledby", both, "viewBox", view,
		"width", length_of(width).text, "height", length_of(height).text, NULL);
	html_element(h, "title", title, "id", title_id, NULL);
	html_element(h, "desc", description, "id", text_id, NULL);
	free(title_id);
	free(text_id);
	free(both);
	free(view);
}

void svg_end(struct html *h)
{
	html_close(h);
	html_close(h);
}

void svg_rect(struct html *h, struct svg_box box, const char *fill, const char *title)
{
	html_open(h, "rect", "x", length_of(box.x).text, "y", length_of(box.y).text, "width",
		length_of(box.width).text, "height", length_of(box.height).text, "fill", fill,
		NULL);
	if (title)
		html_element(h, "title", title, NULL);
	html_close(h);
}

void svg_text(struct html *h, double x, double y, enum svg_anchor anchor, const char *fill,
	const char *text)
{
	static const char *const anchors[] = {NULL, "middle", "end"};

	html_element(h, "text", text, "x", length_of(x).text, "y", length_of(y).text, "text-anchor",
		anchors[anchor], "fill", fill, NULL);
}

void svg_line(struct html *h, double x, double y, double to_x, double to_y)
{
	html_element(h, "line", "", "x1", length_of(x).text, "y1", length_of(y).text, "x2",
		length_of(to_x).text, "y2", length_of(to_y).text, NULL);
}

const char *svg_map_colour(double part)
{
	static const char *const colours[] = {"#00224e", "#123570", "#3b496c", "#575d6d", "#707173",
		"#8a8678", "#a59c74", "#c3b369", "#e1cc55", "#fee838"};
	const int most = (int)ARRAY_SIZE(colours) - 1;

	if (!(part > 0.0))
		return colours[0];
	return colours[part < 1.0 ? (int)lround(part * most) : most];
}

const char *svg_ink(const char *fill)
{
	const unsigned long rgb = strtoul(fill + 1, NULL, 16);
	const double sum = 0.2126 * pow((double)(rgb >> 16 & 255) / 255.0, 2.2) +
			   0.7152 * pow((double)(rgb >> 8 & 255) / 255.0, 2.2) +
			   0.0722 * pow((double)(rgb & 255) / 255.0, 2.2);

	/* there both contrasts are the same, and at least 4.5 */
	return sum > 0.179 ? "#000000" : "#ffffff";
}
