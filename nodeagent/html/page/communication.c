/* SPDX-License-Identifier: BSD-3-Clause */
/* Who sends how much to whom, how large messages are, and by which functions. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "nodeagent/base/units.h"
#include "nodeagent/base/util.h"
#include "nodeagent/html/page/internal.h"

#define SIZES_ROW  20.0
#define SIZES_LEFT 200.0
#define SIZES_PLOT 690.0

static const char *const arrays[] = {"communication_matrix", "message_sizes", "mpi_functions",
	"mpi", "communicators", "other_communicators"};

bool page_communication_has(const struct pages *p)
{
	return ANY(i, ARRAY_SIZE(arrays), value_count(page_member(p, arrays[i])));
}

/* ---- the matrix ------------------------------------------------------------------------ */

static char *bytes_told(double bytes)
{
	return xasprintf("%.0f bytes", bytes);
}

static const char *bytes_shown(double bytes, char *text)
{
	snprintf(text, PAGE_QUANTITY, "%s", quantity_bytes(bytes).text);
	return text;
}

static const struct page_matrix bytes_matrix = {
	.id = "communication-cells",
	.title = "Bytes sent from rank to rank",
	.description =
		"A square for each pair of ranks, or of groups of ranks, that sent messages: the "
		"sender's row, the receiver's column. The colour tells the bytes, in a logarithmic "
		"scale. The table below has pairs of ranks.",
	.down = "from",
	.across = "to",
	.value = "bytes_sent",
	.words = {"from", "to"},
	.legend = {"from: downwards", "to: from left to right"},
	.unknown = "Not in the picture, as a rank is not known: ",
	.is_logarithmic = true,
	.tell = bytes_told,
	.show = bytes_shown,
};

/* ---- sizes of messages ------------------------------------------------------------------- */

/* "8 B to 15 B"; of 0 bytes "0 B" */
static char *size_name(const struct pages *p, const struct value *size)
{
	const double from = value_real_of(p->all, size, "from_bytes"),
		     to = value_real_of(p->all, size, "to_bytes");

	return to > from ? xasprintf("%s to %s", quantity_bytes(from).text, quantity_bytes(to).text)
			 : xstrdup(quantity_bytes(from).text);
}

static double messages_of(const struct pages *p, const struct value *size, const char **key)
{
	const double sends = value_real_of(p->all, size, "sends"),
		     receives = value_real_of(p->all, size, "recvs");

	*key = receives > sends ? "recvs" : "sends";
	return fmax(fmax(sends, receives), 0.0);
}

static void put_size(
	struct html *h, const struct pages *p, const struct value *size, double most, double y)
{
	const char *key;
	const double n = messages_of(p, size, &key);
	const struct value *number = value_member(p->all, size, key);
	char *name = size_name(p, size), *shown = words_of_number(key, number), *title,
	     exact[VALUE_DIGITS];

	title = xasprintf("%s, %s: %s", name, *key == 's' ? "sends" : "receives",
		value_exact(number, exact) ?: "-");
	svg_text(h, SIZES_LEFT - 6.0, y + 14.0, SVG_RIGHT, NULL, name);
	svg_rect(h, (struct svg_box){SIZES_LEFT, y + 1.0, SIZES_PLOT * n / most, SIZES_ROW - 3.0},
		COLOUR_BLUE, title);
	svg_text(h, SIZES_LEFT + SIZES_PLOT + 90.0, y + 14.0, SVG_RIGHT, NULL, shown);
	free(name);
	free(shown);
	free(title);
}

static void put_sizes(struct html *h, const struct pages *p, const struct value *sizes)
{
	double most = 1.0, y = 0.0;
	const char *key;

	for (const struct value *v = value_first(p->all, sizes); v; v = value_next(p->all, v))
		most = fmax(most, messages_of(p, v, &key));
	svg_begin(h, "communication-sizes", "Messages by their size",
		"A bar for each range of sizes, as long as the number of its messages, which "
		"stands at its right. The table below has these, and the bytes.",
		SVG_WIDTH, SIZES_ROW * (double)value_count(sizes));
	for (const struct value *v = value_first(p->all, sizes); v;
		v = value_next(p->all, v), y += SIZES_ROW)
		put_size(h, p, v, most, y);
	svg_end(h);
}

/* ---- tables ---------------------------------------------------------------------------- */

static void put_array(struct html *h, const struct pages *p, const char *key, const char *caption)
{
	const struct value *array = page_member(p, key);

	if (value_count(array))
		list_table_by_time(h, p->all, array, caption, NULL);
}

void page_communication_print(struct html *h, const struct pages *p)
{
	const struct value *pairs = page_member(p, "communication_matrix");

	if (value_count(pairs)) {
		html_element(h, "h3", "Bytes from rank to rank", NULL);
		page_matrix_print(h, p, pairs, &bytes_matrix);
		list_details(h, "Pairs of ranks, as a table");
		put_array(h, p, "communication_matrix", "Messages from rank to rank");
		html_close(h);
	}
	put_array(h, p, "mpi_functions",
		"Functions of MPI; the least and most time is of a rank that calls it, the mean "
		"of all ranks");
	if (value_count(page_member(p, "message_sizes"))) {
		html_element(h, "h3", "Messages by their size", NULL);
		put_sizes(h, p, page_member(p, "message_sizes"));
	}
	put_array(h, p, "message_sizes", "Sizes of messages");
	put_array(h, p, "communicators", "Communicators");
	put_array(h, p, "other_communicators", "The other communicators, by kind and size");
	if (value_count(page_member(p, "mpi"))) {
		list_details(h, "Messages by call path");
		put_array(h, p, "mpi", "Messages by call path");
		html_close(h);
	}
}
