/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes Vftrace's files of version 3, BASE_RANK.vfd, from a sampling file of ours. */
#ifndef VFTR_NODEAGENT_TRACE_DUMP_VFTRACE_H
#define VFTR_NODEAGENT_TRACE_DUMP_VFTRACE_H

#include "nodeagent/trace/read/file.h"

/*
 * Writes the process with this number in f to the file at path, completely or not at all.
 * Collective calls are messages, as in trace/read/collectives.h. False and *error (caller frees).
 */
bool vfd_classic_write(struct vfd_file *f, uint32_t process, const char *path, char **error);

/* "DIR/BASE_RANK.vfd" as Vftrace names it, with as many digits as `ranks` has. Caller frees. */
char *vfd_classic_path(const char *dir, const char *base, int rank, uint32_t ranks);

#endif
