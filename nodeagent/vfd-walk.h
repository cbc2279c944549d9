/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The events of one lane, as a cursor gives them: read from its blocks and, if
 * they are to be balanced, with the enters and exits that follow from them.
 */
#ifndef VFTR_NODEAGENT_VFD_WALK_H
#define VFTR_NODEAGENT_VFD_WALK_H

#include "nodeagent/vfd-reader.h"

struct walk;

/* NULL: nothing of the lane is wanted. */
struct walk *walk_new(
	struct vfd_file *f, uint32_t file, uint32_t lane, const struct vfd_filter *filter);
void walk_free(struct walk *w);
/* False: that was all. */
bool walk_next(struct walk *w, struct vfd_event *e);
/* Blocks read, and to be read. */
void walk_progress(const struct walk *w, uint64_t *done, uint64_t *all);

#endif
