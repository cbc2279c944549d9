/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The events of one track for a cursor: read from its blocks and, unless raw,
 * with the implied enters and exits.
 */
#ifndef VFTR_NODEAGENT_TRACE_READ_WALK_H
#define VFTR_NODEAGENT_TRACE_READ_WALK_H

#include "nodeagent/trace/read/internal.h"

struct walk;

/* NULL: the filter wants no event of the track. */
struct walk *walk_new(
	struct vfd_file *f, uint32_t file, uint32_t track, const struct vfd_filter *filter);
void walk_free(struct walk *w);
/* False at the end. */
bool walk_next(struct walk *w, struct vfd_event *e);
/* Numbers of blocks read, and of all blocks. */
void walk_progress(const struct walk *w, uint64_t *done, uint64_t *all);

#endif
