/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which send a received message came from: records in the MATCHES blocks of a
 * sampling file. They stand apart from the receives, as often, between nodes
 * always, that is found later.
 */
#ifndef VFTR_NODEAGENT_VFD_MATCH_H
#define VFTR_NODEAGENT_VFD_MATCH_H

#include "nodeagent/vfd-types.h"

struct vfd_file;

#define VFD_PAIR_ROOM 64u /* no record is longer */

/* Returns the place behind it. */
unsigned char *vfd_pair_put(unsigned char *to, const struct vfd_pair *p);

/* The sender of a receive, if the file knows it: match, sender_ticket, sender_thread. */
void reader_match(struct vfd_file *f, struct vfd_message *m);

#endif
