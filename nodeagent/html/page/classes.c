/* SPDX-License-Identifier: BSD-3-Clause */
/* What the time of ranks was spent for, in the colours of Okabe and Ito. */
#include <math.h>
#include <string.h>

#include "nodeagent/base/util.h"
#include "nodeagent/html/page/internal.h"

#define LINE	18.0 /* of the legend */
#define IN_LINE 4

const struct page_class page_classes[PAGE_CLASSES] = {
	{"useful_s", "useful work", "#009e73"},
	{"mpi_s", "MPI", "#0072b2"},
	{"mpi_wait_s", "waits for other ranks in MPI", "#56b4e9"},
	{"openmp_wait_s", "waits in OpenMP", "#e69f00"},
	{"openmp_idle_s", "idle in OpenMP", "#f0e442"},
	{"lock_wait_s", "waits for locks and threads", "#882255"},
	{"gpu_wait_s", "waits for GPUs", "#cc79a7"},
	{"io_s", "input and output", "#d55e00"},
	{"blocked_s", "waits for vftr", "#000000"},
	{"unknown_s", "not known", "#999999"},
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

void page_classes_sum(struct pages *p)
{
	const struct value *ranks = page_member(p, "per_rank");

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

double page_legend_height(const struct pages *p)
{
	size_t n = 0;

	for (size_t i = 0; i < PAGE_CLASSES; i++)
		n += p->class_s[i] > 0.0;
	return 8.0 + LINE * (double)((n + IN_LINE - 1) / IN_LINE);
}

void page_legend(struct html *h, const struct pages *p)
{
	size_t n = 0;

	for (size_t i = 0; i < PAGE_CLASSES; i++) {
		const double x = 240.0 * (double)(n % IN_LINE), y = LINE * (double)(n / IN_LINE);

		if (!(p->class_s[i] > 0.0))
			continue;
		svg_rect(h, (struct svg_box){x, y + 2.0, 12.0, 12.0}, page_classes[i].colour, NULL);
		svg_text(h, x + 16.0, y + 13.0, SVG_LEFT, NULL, page_class_title(p, i));
		n++;
	}
}
