/* SPDX-License-Identifier: BSD-3-Clause */
/* What `vftr dump` prints of a sampling file. Output errors are seen by ferror(). */
#ifndef VFTR_NODEAGENT_VFD_DUMP_H
#define VFTR_NODEAGENT_VFD_DUMP_H

#include <stdio.h>
#include "nodeagent/vfd-read.h"

struct vfd_dump {
	const char *ranks; /* or NULL: all processes */
	bool from_set, to_set;
	int64_t from, to; /* ns */
	bool brief;	  /* no samples and no messages */
	bool peers;	  /* operations are messages, as in vfd-expand.h */
};

/* In the line formats of Vftrace's tool, one process after the other. */
void vfd_dump_text(struct vfd_file *f, const struct vfd_dump *d, FILE *out);
/* As vftr-vfd(5) describes. */
void vfd_dump_json(struct vfd_file *f, const struct vfd_dump *d, FILE *out);

/* Words for both. */
extern const char *const vfd_event_names[VFD_EVENT_KINDS];
extern const char *const vfd_match_names[VFD_MATCHES];
extern const char *const vfd_message_names[VFD_FILE + 1];
extern const char *const vfd_counter_kinds[VFD_COUNTER_KINDS];
extern const char *const vfd_launch_names[VFD_LAUNCH_KINDS];
/* Whether a process is wanted. */
bool vfd_dump_wants(const struct vfd_dump *d, const struct vfd_process *p);

#endif
