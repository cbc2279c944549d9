/* SPDX-License-Identifier: BSD-3-Clause */
/* Message sizes as a picture: bars by class of size, a panel for each file. */
#include "nodeagent/tool/histogram/histogram.h"

#include "nodeagent/html/html.h"

#define CLASS_WIDTH  44
#define PANEL_HEIGHT 260
#define LEFT	     80
#define RIGHT	     20
#define TOP	     44 /* title and legend */
#define BOTTOM	     44 /* labels of sizes and of the axis */
#define PLOT_HEIGHT  (PANEL_HEIGHT - TOP - BOTTOM)
#define WIDTH_LEAST  420
#define LINES	     4 /* across the plot */

/* Apart for people who see few colours, too. */
static const char *const colours[HISTOGRAM_WAYS] = {"#0072b2", "#e69f00"};
static const char *const names[HISTOGRAM_WAYS] = {"sends", "receives"};
static const char *const one[HISTOGRAM_WAYS] = {"send", "receive"};

/* 1, 2 or 5 times a power of ten (of 2 for bytes) that LINES of them reach `most`. */
static double step_of(double most, bool bytes)
{
	static const double decimal[] = {1, 2, 5}, binary[] = {1};
	double base = 1.0;

	for (;;) {
		for (size_t i = 0; i < (bytes ? 1 : 3); i++) {
			double step = base * (bytes ? binary[i] : decimal[i]);

			if (step * LINES >= most)
				return step;
		}
		base *= bytes ? 2.0 : 10.0;
	}
}

static void put_axis(const struct histogram_view *v, double step, int width, int y, FILE *f)
{
	char text[64];

	for (int i = 0; i <= LINES; i++) {
		int at = y + TOP + PLOT_HEIGHT - PLOT_HEIGHT * i / LINES;

		histogram_amount(v, step * i, text, sizeof(text));
		fprintf(f, "<path d=\"M%d %dH%d\" stroke=\"%s\"/>\n", LEFT, at, width - RIGHT,
			i ? "#ddd" : "#000");
		fprintf(f, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%s</text>\n", LEFT - 6,
			at + 4, text);
	}
}

static void put_bars(const struct histogram *h, const struct histogram_view *v, unsigned class,
	double top, int x, int y, FILE *f)
{
	int shown = v->shown[0] + v->shown[1], bar = (CLASS_WIDTH - 8) / shown, k = 0;
	char text[64];

	for (int way = 0; way < HISTOGRAM_WAYS; way++) {
		double value = (double)histogram_values(h, v, way)[class];
		double height = value / top * PLOT_HEIGHT;

		if (!v->shown[way])
			continue;
		histogram_amount(v, value, text, sizeof(text));
		if (value > 0.0)
			fprintf(f,
				"<rect x=\"%d\" y=\"%.1f\" width=\"%d\" height=\"%.1f\" "
				"fill=\"%s\"><title>%s %s</title></rect>\n",
				x + 4 + k * bar, y + TOP + PLOT_HEIGHT - height, bar - 1, height,
				colours[way], text,
				v->bytes && way ? "received"
				: v->bytes	? "sent"
				: value == 1	? one[way]
						: names[way]);
		k++;
	}
	histogram_label(class, text, sizeof(text));
	fprintf(f, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\" font-size=\"10\">%s</text>\n",
		x + CLASS_WIDTH / 2, y + TOP + PLOT_HEIGHT + 14, text);
}

static void put_legend(const struct histogram_view *v, int y, FILE *f)
{
	int x = LEFT;

	for (int way = 0; way < HISTOGRAM_WAYS; way++) {
		if (!v->shown[way])
			continue;
		fprintf(f,
			"<rect x=\"%d\" y=\"%d\" width=\"10\" height=\"10\" fill=\"%s\"/>"
			"<text x=\"%d\" y=\"%d\">%s</text>\n",
			x, y + 26, colours[way], x + 14, y + 35, names[way]);
		x += 90;
	}
}

static void put_panel(
	const struct histogram *h, const struct histogram_view *v, int width, int y, FILE *f)
{
	unsigned first = 0, last = 0;
	const uint64_t most = histogram_range(h, v, &first, &last);
	double step;

	fprintf(f, "<text x=\"%d\" y=\"%d\" font-size=\"14\">", LEFT, y + 18);
	html_escape(f, h->file);
	fputs("</text>\n", f);
	put_legend(v, y, f);
	if (!most) {
		fprintf(f, "<text x=\"%d\" y=\"%d\">no messages</text>\n", LEFT, y + TOP + 20);
		return;
	}
	step = step_of((double)most, v->bytes);
	put_axis(v, step, width, y, f);
	for (unsigned class = first; class <= last; class ++)
		put_bars(
			h, v, class, step * LINES, LEFT + (int)(class - first) * CLASS_WIDTH, y, f);
	fprintf(f, "<text x=\"%d\" y=\"%d\">message size, from</text>\n", LEFT,
		y + PANEL_HEIGHT - 12);
}

void histogram_svg(const struct histogram *all, size_t n, const struct histogram_view *v, FILE *f)
{
	int width = WIDTH_LEAST;

	for (size_t i = 0; i < n; i++) {
		unsigned first, last;

		if (histogram_range(&all[i], v, &first, &last) &&
			LEFT + RIGHT + (int)(last - first + 1) * CLASS_WIDTH > width)
			width = LEFT + RIGHT + (int)(last - first + 1) * CLASS_WIDTH;
	}
	fprintf(f,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%zu\" "
		"font-family=\"sans-serif\" font-size=\"12\">\n"
		"<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
		width, n * PANEL_HEIGHT);
	for (size_t i = 0; i < n; i++)
		put_panel(&all[i], v, width, (int)i * PANEL_HEIGHT, f);
	fputs("</svg>\n", f);
}
