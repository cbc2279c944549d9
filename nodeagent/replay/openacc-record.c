/* SPDX-License-Identifier: BSD-3-Clause */
/* Bytes that an event of OpenACC has moved or allocated, for the frame on top. */
#include "nodeagent/replay/internal.h"

bool replay_take_openacc(struct replay *r, const struct ring_record *rec)
{
	calltree_extra(replay_node(r->top))->openacc_bytes += rec->last & ~RECORD_OPENACC_MARK;
	return true;
}
