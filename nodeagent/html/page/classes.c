/* SPDX-License-Identifier: BSD-3-Clause */
/* What the time of ranks was spent for, in the colours of Okabe and Ito. */
#include <math.h>
#include <string.h>

#include "nodeagent/html/page/internal.h"

#define LINE	18.0 /* of a legend */
#define IN_LINE 4    /* entries of it */

const struct page_class page_classes[PAGE_CLASSES] = {
	{"useful_s", "useful work", COLOUR_GREEN},
	{"mpi_s", "MPI", COLOUR_BLUE},
	{"mpi_wait_s", "waits for other ranks in MPI", COLOUR_SKY},
	{"openmp_wait_s", "waits in OpenMP", COLOUR_ORANGE},
	{"openmp_idle_s", "idle in OpenMP", COLOUR_YELLOW},
	{"lock_wait_s", "waits for locks and threads", COLOUR_WINE},
	{"gpu_wait_s", "waits for GPUs", COLOUR_PURPLE},
	{"io_s", "input and output", COLOUR_RED},
	{"blocked_s", "waits for vftr", COLOUR_BLACK},
	{"unknown_s", "not known", COLOUR_GREY},
};

/* Waits of a rank's first thread are not known where other threads of it call MPI, too. */
const char *page_class_title(const struct pages *p, size_t class)
{
	if (strcmp(page_classes[class].key, "mpi_s"))
		return page_classes[class].title;
	if (!p->ranks_unknown)
		return "MPI, but for waits";
	return p->ranks_known ? "MPI, but for known waits" : "MPI, with its waits";
}

double page_class_s(const struct json_tree *all, const struct value *rank, size_t class)
{
	const double s = value_real_of(all, rank, page_classes[class].key);
	double waits;

	if (!(s > 0.0))
		return 0.0;
	if (strcmp(page_classes[class].key, "mpi_s"))
		return s;
	waits = value_real_of(all, rank, "mpi_wait_s");
	return waits > 0.0 ? fmax(0.0, s - waits) : s;
}

const char *const page_rank_lists[PAGE_RANK_LISTS] = {"per_rank", "ranks_by_node"};

static void add_classes(struct pages *p, const struct value *ranks)
{
	for (const struct value *v = value_first(p->all, ranks); v; v = value_next(p->all, v)) {
		for (size_t i = 0; i < PAGE_CLASSES; i++)
			p->class_s[i] += page_class_s(p->all, v, i);
		if (isnan(value_real_of(p->all, v, "mpi_s")))
			continue;
		if (isnan(value_real_of(p->all, v, "mpi_wait_s")))
			p->ranks_unknown++;
		else
			p->ranks_known++;
	}
}

void page_classes_sum(struct pages *p)
{
	for (size_t i = 0; i < PAGE_RANK_LISTS; i++)
		add_classes(p, page_member(p, page_rank_lists[i]));
}

double page_legend_lines(size_t n)
{
	return LINE * (double)((n + IN_LINE - 1) / IN_LINE);
}

void page_legend_entry(struct html *h, size_t nth, const char *colour, const char *title)
{
	const double x = 240.0 * (double)(nth % IN_LINE), y = LINE * (double)(nth / IN_LINE);

	svg_rect(h, (struct svg_box){x, y + 2.0, 12.0, 12.0}, colour, NULL);
	svg_text(h, x + 16.0, y + 13.0, SVG_LEFT, NULL, title);
}

double page_legend_height(const struct pages *p)
{
	size_t n = 0;

	for (size_t i = 0; i < PAGE_CLASSES; i++)
		n += p->class_s[i] > 0.0;
	return 8.0 + page_legend_lines(n);
}

void page_legend(struct html *h, const struct pages *p)
{
	size_t n = 0;

	for (size_t i = 0; i < PAGE_CLASSES; i++)
		if (p->class_s[i] > 0.0)
			page_legend_entry(h, n++, page_classes[i].colour, page_class_title(p, i));
}
