/* SPDX-License-Identifier: BSD-3-Clause */
/* The output of `vftr dump`. Output errors are seen by ferror(). */
#ifndef VFTR_NODEAGENT_TRACE_DUMP_TEXT_H
#define VFTR_NODEAGENT_TRACE_DUMP_TEXT_H

#include <stdio.h>
#include "nodeagent/trace/read/file.h"

struct vfd_dump {
	const char *ranks; /* or NULL: all processes */
	struct vfd_span span;
	bool brief; /* no samples and no messages */
	bool peers; /* collective and one-sided calls as messages: read/collectives.h */
};

/* Prints the line formats of Vftrace's tool, one process after the other. */
void vfd_dump_text(struct vfd_file *f, const struct vfd_dump *d, FILE *out);
/* Prints the JSON of vftr-vfd(5). */
void vfd_dump_json(struct vfd_file *f, const struct vfd_dump *d, FILE *out);

/* Words for both. */
extern const char *const vfd_event_names[VFD_EVENT_KINDS];
extern const char *const vfd_match_names[VFD_MATCHES];
extern const char *const vfd_message_names[VFD_MESSAGE_KINDS];
extern const char *const vfd_counter_kinds[VFD_COUNTER_KINDS];
extern const char *const vfd_launch_names[VFD_LAUNCH_KINDS];
/* True if the dump wants this process. */
bool vfd_dump_wants(const struct vfd_dump *d, const struct vfd_process *p);

#endif
