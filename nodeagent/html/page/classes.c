/* SPDX-License-Identifier: BSD-3-Clause */
/* What the time of ranks was spent for, in the colours of Okabe and Ito. */
#include <math.h>
#include <string.h>

#include "nodeagent/base/util.h"
#include "nodeagent/html/page/internal.h"

const struct page_class page_classes[] = {
	{"useful_s", "useful work", "#009e73"},
	{"mpi_s", "MPI, but for waits", "#0072b2"},
	{"mpi_wait_s", "waits for other ranks in MPI", "#56b4e9"},
	{"openmp_wait_s", "waits in OpenMP", "#e69f00"},
	{"openmp_idle_s", "idle in OpenMP", "#f0e442"},
	{"gpu_wait_s", "waits for GPUs", "#cc79a7"},
	{"io_s", "input and output", "#d55e00"},
	{"blocked_s", "waits for vftr", "#000000"},
	{"unknown_s", "not known", "#999999"},
};
const size_t page_n_classes = ARRAY_SIZE(page_classes);

double page_class_s(const struct json_tree *all, const struct value *rank, size_t class)
{
	const double s = value_real_of(all, rank, page_classes[class].key);
	const double waits = value_real_of(all, rank, "mpi_wait_s");

	if (!(s > 0.0))
		return 0.0;
	if (strcmp(page_classes[class].key, "mpi_s") || !(waits > 0.0))
		return s;
	return fmax(0.0, s - waits);
}

void page_legend(struct html *h)
{
	svg_text(h, 4.0, 14.0, SVG_LEFT, NULL, "from left to right:");
	for (size_t i = 0; i < page_n_classes; i++) {
		const double x = 130.0 + 215.0 * (double)(i % 4), y = 4.0 + 18.0 * (double)(i / 4);

		svg_rect(h, (struct svg_box){x, y, 12.0, 12.0}, page_classes[i].colour, NULL);
		svg_text(h, x + 16.0, y + 11.0, SVG_LEFT, NULL, page_classes[i].title);
	}
}
