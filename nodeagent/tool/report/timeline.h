/* SPDX-License-Identifier: BSD-3-Clause */
/* What was recorded of a run over time, for the last page of its report. */
#ifndef VFTR_NODEAGENT_TOOL_REPORT_TIMELINE_H
#define VFTR_NODEAGENT_TOOL_REPORT_TIMELINE_H

#include <stddef.h>

struct json_tree;
struct page_timeline;
struct timeline;

/*
 * Reads the sampling files beside the n node profiles (paths) of a run, whose JSON is `all'; of a
 * flight recorder those of one event: a death, else the slow iteration that took longest, else the
 * first by its name. NULL: there are none, or the viewer is not installed. What is wrong with them
 * has been printed with complain().
 */
struct timeline *timeline_read(char *const *profiles, size_t n, const struct json_tree *all);
/* What the page shows of it, which belongs to t; NULL if t is NULL or has nothing to show. */
const struct page_timeline *timeline_page(const struct timeline *t);
void timeline_free(struct timeline *t);

#endif
