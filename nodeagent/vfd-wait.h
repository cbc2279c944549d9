/* SPDX-License-Identifier: BSD-3-Clause */
/* What collective calls waited for others, in the WAITS blocks of a sampling file. */
#ifndef VFTR_NODEAGENT_VFD_WAIT_H
#define VFTR_NODEAGENT_VFD_WAIT_H

#include "nodeagent/vfd-types.h"
#include "nodeagent/vfd-varint.h"

#define VFD_WAIT_ROOM 56u /* no record is longer */

/* Times in units; *last: start of the record before, at first the block's time. Returns
 * the place behind it. */
unsigned char *vfd_wait_put(unsigned char *to, const struct vfd_wait *wait, int64_t *last);
/* False: there is none that makes sense. */
bool vfd_wait_get(struct varint_reader *r, struct vfd_wait *wait, int64_t *last);

#endif
