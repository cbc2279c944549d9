/* SPDX-License-Identifier: BSD-3-Clause */
/* Records of communication in the MESSAGES blocks of a sampling file. */
#ifndef VFTR_NODEAGENT_TRACE_MESSAGE_H
#define VFTR_NODEAGENT_TRACE_MESSAGE_H

#include "nodeagent/trace/types.h"
#include "nodeagent/trace/varint.h"

#define VFD_MESSAGE_ROOM 224u /* no record is longer */

/* Writes m, start and end in units; *last: start of the record before, at first the
 * block's time. Returns the end of the record. */
unsigned char *vfd_message_put(unsigned char *to, const struct vfd_message *m, int64_t *last);
/* Reads m. False: the record makes no sense. */
bool vfd_message_get(struct varint_reader *r, struct vfd_message *m, int64_t *last);

#endif
