/* SPDX-License-Identifier: BSD-3-Clause */
/* The report of a run, or of several to be compared, as one HTML file. */
#ifndef VFTR_NODEAGENT_HTML_PAGE_PAGE_H
#define VFTR_NODEAGENT_HTML_PAGE_PAGE_H

#include <stddef.h>
#include <stdio.h>

struct json_tree;

struct page_run {
	const char *name;	     /* for the head of a column */
	const struct json_tree *all; /* its JSON: vftr-profile(5) */
};

/* All pages show the first of n >= 1 runs; that of the efficiency all, the tables of classes and
 * functions a column of each, the flame graph the difference to the second. Errors are seen by
 * ferror(). */
void pages_write(FILE *f, const struct page_run *runs, size_t n);

#endif
