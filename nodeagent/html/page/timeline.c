/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls over time, in a viewer that the script starts when a reader asks for it. */
#include <string.h>

#include "nodeagent/html/page/internal.h"

bool page_timeline_has(const struct pages *p)
{
	return p->runs[0].timeline || p->runs[0].has_files;
}

void page_timeline_print(struct html *h, const struct pages *p)
{
	if (!p->runs[0].timeline) {
		html_element(h, "p",
			"Calls over time were recorded, but a page that is written at the end of "
			"its run has none of them. With an installed speedscope, `vftr report' of "
			"the run writes one that has; `vftr open' shows them in another viewer.",
			NULL);
		return;
	}
	html_element(h, "p", p->runs[0].timeline->note, NULL);
	html_open(h, "div", "id", "timeline-view", NULL);
	html_element(h, "p", "It is shown here where JavaScript is on.", NULL);
	html_close(h);
}

void page_timeline_data(struct html *h, const struct pages *p)
{
	const struct page_timeline *t = p->runs[0].timeline;

	if (!t)
		return;
	html_json(h, "timeline-viewer", t->viewer, strlen(t->viewer));
	html_json(h, "timeline-calls", t->calls, strlen(t->calls));
}
