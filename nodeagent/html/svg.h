/* SPDX-License-Identifier: BSD-3-Clause */
/* Pictures in a page: SVG with a title, a description and shapes that tell their numbers. Lengths
 * are pixels of the picture's own size; pages let a picture that is too wide scroll, so that its
 * text stays as large as it is. */
#ifndef VFTR_NODEAGENT_HTML_SVG_H
#define VFTR_NODEAGENT_HTML_SVG_H

#include "nodeagent/html/html.h"

#define SVG_WIDTH 1000 /* of a usual picture */
#define SVG_FONT  12   /* the least */

/* Begins a picture. id: of the picture, unique in the page. svg_end() ends it. */
void svg_begin(struct html *h, const char *id, const char *title, const char *description,
	double width, double height);
void svg_end(struct html *h);

struct svg_box {
	double x, y, width, height;
};
/* fill: "#rrggbb"; title: text that is shown for the box, or NULL. */
void svg_rect(struct html *h, struct svg_box box, const char *fill, const char *title);
enum svg_anchor { SVG_LEFT, SVG_MIDDLE, SVG_RIGHT };
/* fill: "#rrggbb", or NULL: as the page's text. */
void svg_text(struct html *h, double x, double y, enum svg_anchor anchor, const char *fill,
	const char *text);
void svg_line(struct html *h, double x, double y, double to_x, double to_y);

/*
 * "#rrggbb" of the colour map cividis, which people who see few colours see, too. part: 0 to 1;
 * what is beyond has the colour of the nearer end, NAN that of 0. A static text.
 */
const char *svg_map_colour(double part);
/* "#000000" or "#ffffff": the colour in which a text can be read on fill, "#rrggbb". */
const char *svg_ink(const char *fill);

#endif
