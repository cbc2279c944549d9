/* SPDX-License-Identifier: BSD-3-Clause */
/* Records of communication in the MESSAGES blocks of a sampling file. */
#ifndef VFTR_NODEAGENT_VFD_MESSAGE_H
#define VFTR_NODEAGENT_VFD_MESSAGE_H

#include "nodeagent/vfd-types.h"
#include "nodeagent/vfd-varint.h"

#define VFD_MESSAGE_ROOM 224u /* no record is longer */

/* start and end in units; *last: start of the record before, at first the
 * block's time. Returns the place behind it. */
unsigned char *vfd_message_put(unsigned char *to, const struct vfd_message *m, int64_t *last);
/* False: there is none that makes sense. */
bool vfd_message_get(struct varint_reader *r, struct vfd_message *m, int64_t *last);

#endif
