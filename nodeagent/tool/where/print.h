/* SPDX-License-Identifier: BSD-3-Clause */
/* Where threads are, as JSON and as text: vftr-where(1) has the members. */
#ifndef VFTR_NODEAGENT_TOOL_WHERE_PRINT_H
#define VFTR_NODEAGENT_TOOL_WHERE_PRINT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct live_view;
struct viewer;
struct where;
struct where_ranks;

/* Those who wait for less may be about to go on. ns */
#define WHERE_HANGS_LEAST UINT64_C(1000000000)

/* Ranks of a cycle that are shown; one that has more is not. */
#define CYCLE_MOST 256

/* The nodes in v are those of w->where, which is sorted. lines: for people to read; else one. */
void where_json(FILE *f, const struct viewer *w, const struct live_view *v, bool lines);
void where_text(FILE *f, const struct viewer *w, const struct live_view *v);

/* "0-3,5", and ",..." if there are more. The caller frees. */
char *where_ranks_text(const struct where_ranks *r);

#endif
