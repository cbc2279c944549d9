/* SPDX-License-Identifier: BSD-3-Clause */
/* Who sends how much to whom, how large messages are, and by which functions. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "nodeagent/base/units.h"
#include "nodeagent/base/util.h"
#include "nodeagent/html/page/internal.h"

#define CELLS_MAX 64u /* of ranks in a row; more are added up */
#define SIDE_MAX  640.0
#define CELL_MAX  48.0
#define LEFT	  60.0
#define TOP	  30.0

static const char *const arrays[] = {
	"communication_matrix", "message_sizes", "mpi_functions", "mpi", "communicators"};

bool page_communication_has(const struct pages *p)
{
	for (size_t i = 0; i < ARRAY_SIZE(arrays); i++)
		if (value_count(page_member(p, arrays[i])))
			return true;
	return false;
}

/* ---- the matrix ------------------------------------------------------------------------ */

struct matrix {
	double *bytes; /* n * n: by the sender's cell, then the receiver's */
	size_t n;
	uint64_t ranks; /* in a cell */
	double most;
	double unknown; /* bytes of pairs of which a rank is not known */
};

static double rank_at(const struct pages *p, const struct value *pair, const char *key)
{
	const double rank = value_real_of(p->all, pair, key);

	return rank >= 0.0 && rank < 4294967296.0 ? rank : NAN;
}

static struct matrix matrix_of(const struct pages *p, const struct value *pairs)
{
	struct matrix m = {.ranks = 1};
	double ranks = 1.0;

	for (const struct value *v = value_first(p->all, pairs); v; v = value_next(p->all, v))
		ranks = fmax(ranks, fmax(rank_at(p, v, "from"), rank_at(p, v, "to")) + 1.0);
	while (ranks > (double)m.ranks * CELLS_MAX)
		m.ranks *= 2;
	m.n = (size_t)ceil(ranks / (double)m.ranks);
	m.bytes = xcalloc(m.n * m.n, sizeof(*m.bytes));
	for (const struct value *v = value_first(p->all, pairs); v; v = value_next(p->all, v)) {
		const double from = rank_at(p, v, "from"), to = rank_at(p, v, "to");
		const double bytes = value_real_of(p->all, v, "bytes_sent");
		double *cell;

		if (!(bytes > 0.0))
			continue;
		if (isnan(from) || isnan(to)) {
			m.unknown += bytes;
			continue;
		}
		cell = &m.bytes[(uint64_t)from / m.ranks * m.n + (uint64_t)to / m.ranks];
		*cell += bytes;
		m.most = fmax(m.most, *cell);
	}
	return m;
}

/* Of the whole picture, in pixels. */
static double matrix_side(const struct matrix *m)
{
	return fmin(SIDE_MAX, CELL_MAX * (double)m->n);
}

static char *cell_name(const struct matrix *m, size_t i)
{
	if (m->ranks == 1)
		return xasprintf("%zu", i);
	return xasprintf("%" PRIu64 "-%" PRIu64, i * m->ranks, (i + 1) * m->ranks - 1);
}

static void put_cell(struct html *h, const struct matrix *m, size_t from, size_t to)
{
	const double bytes = m->bytes[from * m->n + to], side = matrix_side(m) / (double)m->n;
	char *sender, *receiver, *title;

	if (!(bytes > 0.0))
		return;
	sender = cell_name(m, from);
	receiver = cell_name(m, to);
	title = xasprintf("from %s to %s: %.0f bytes", sender, receiver, bytes);
	svg_rect(h,
		(struct svg_box){LEFT + side * (double)to, TOP + side * (double)from, side, side},
		svg_map_colour(m->most > 1.0 ? log(bytes) / log(m->most) : 1.0), title);
	free(sender);
	free(receiver);
	free(title);
}

static void put_labels(struct html *h, const struct matrix *m)
{
	const size_t step = m->n / 8 + 1;
	const double all = matrix_side(m);

	for (size_t i = 0; i < m->n; i += step) {
		const double at = all / (double)m->n * ((double)i + 0.5);
		char *text = xasprintf("%" PRIu64, i * m->ranks);

		svg_text(h, LEFT - 6.0, TOP + at + 4.0, SVG_RIGHT, NULL, text);
		svg_text(h, LEFT + at, TOP - 8.0, SVG_MIDDLE, NULL, text);
		free(text);
	}
	svg_text(h, LEFT + all + 8.0, TOP + 12.0, SVG_LEFT, NULL, "to: from left to right");
	svg_text(h, LEFT + all + 8.0, TOP + 30.0, SVG_LEFT, NULL, "from: downwards");
	for (int i = 0; i <= 10; i++)
		svg_rect(h, (struct svg_box){LEFT + all + 8.0 + 16.0 * i, TOP + 44.0, 16.0, 16.0},
			svg_map_colour(i / 10.0), NULL);
	svg_text(h, LEFT + all + 8.0, TOP + 76.0, SVG_LEFT, NULL, "1 B");
	svg_text(h, LEFT + all + 184.0, TOP + 76.0, SVG_RIGHT, NULL, quantity_bytes(m->most).text);
}

static void put_unknown(struct html *h, double bytes)
{
	char *exact = xasprintf("%.0f", bytes);

	if (bytes > 0.0) {
		html_open(h, "p", NULL);
		html_text(h, "Not in the picture, as a rank is not known: ");
		html_element(h, "data", exact, "value", exact, NULL);
		html_text(h, " bytes.");
		html_close(h);
	}
	free(exact);
}

static void put_matrix(struct html *h, const struct pages *p, const struct value *pairs)
{
	struct matrix m = matrix_of(p, pairs);

	svg_begin(h, "communication-cells", "Bytes sent from rank to rank",
		"A square for each pair of ranks, or of groups of ranks, that sent messages: the "
		"sender's row, the receiver's column. The colour tells the bytes, in a logarithmic "
		"scale. The table below has pairs of ranks.",
		SVG_WIDTH, fmax(matrix_side(&m), 80.0) + TOP + 8.0);
	put_labels(h, &m);
	for (size_t from = 0; from < m.n; from++)
		for (size_t to = 0; to < m.n; to++)
			put_cell(h, &m, from, to);
	svg_end(h);
	put_unknown(h, m.unknown);
	free(m.bytes);
}

/* ---- tables ---------------------------------------------------------------------------- */

static void put_array(struct html *h, const struct pages *p, const char *key, const char *caption)
{
	const struct value *array = page_member(p, key);

	if (value_count(array))
		list_table_by_time(h, p->all, array, caption);
}

void page_communication_print(struct html *h, const struct pages *p)
{
	const struct value *pairs = page_member(p, "communication_matrix");

	if (value_count(pairs)) {
		put_matrix(h, p, pairs);
		list_details(h, "Pairs of ranks, as a table");
		put_array(h, p, "communication_matrix", "Messages from rank to rank");
		html_close(h);
	}
	put_array(h, p, "mpi_functions", "Functions of MPI, all ranks");
	put_array(h, p, "message_sizes", "Sizes of messages");
	put_array(h, p, "communicators", "Communicators");
	if (value_count(page_member(p, "mpi"))) {
		list_details(h, "Messages by call path");
		put_array(h, p, "mpi", "Messages by call path");
		html_close(h);
	}
}
