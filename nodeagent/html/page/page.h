/* SPDX-License-Identifier: BSD-3-Clause */
/* The report of a run, or of several to be compared, as one HTML file. */
#ifndef VFTR_NODEAGENT_HTML_PAGE_PAGE_H
#define VFTR_NODEAGENT_HTML_PAGE_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct json_tree;

/* Calls over time, for the viewer speedscope. */
struct page_timeline {
	const char *viewer; /* JSON: the viewer's "script" and "style" */
	const char *calls;  /* JSON: what the viewer reads */
	const char *note;   /* a sentence: what part of the run this is */
};

struct page_run {
	const char *name;		      /* for the head of a column */
	const struct json_tree *all;	      /* its JSON: vftr-profile(5) */
	const struct page_timeline *timeline; /* of the first run, or NULL; of others unused */
	bool has_files; /* calls over time were recorded, and nobody has read them for this page */
};

/*
 * Writes the report of n >= 1 runs. All pages show the first run; that of the efficiency shows all
 * runs, the tables of classes and functions have a column of each, and the flame graph tells the
 * difference to the second. Errors are seen by ferror().
 */
void pages_write(FILE *f, const struct page_run *runs, size_t n);

#endif
