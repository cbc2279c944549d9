/* SPDX-License-Identifier: BSD-3-Clause */
/* A gap in a sampling file, which readers know and no writer makes any more. */
#ifndef VFTR_T_UNIT_TRACE_GAP_H
#define VFTR_T_UNIT_TRACE_GAP_H

#include "nodeagent/trace/write/internal.h"

/* Nothing was recorded since the event before; open are now the frames of stack. */
static inline void put_gap(struct vfd_track *fast, uint32_t stack, uint64_t ticks)
{
	struct track *l = track_of(fast);

	l->n_waiting = 0;
	track_use_stack(l, stack, ticks);
	if (!track_put_mark(l, VFD_MARK_GAP, stack, 0, ticks))
		return;
	l->n_suspended = 0;
	fast->base = 0;
	fast->current = stack;
}

#endif
