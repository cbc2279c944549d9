/* SPDX-License-Identifier: BSD-3-Clause */
/* Files of version 3 of Vftrace, BASE_RANK.vfd, out of a sampling file of ours. */
#ifndef VFTR_NODEAGENT_VFD_CLASSIC_H
#define VFTR_NODEAGENT_VFD_CLASSIC_H

#include "nodeagent/vfd-read.h"

/*
 * The process with this number in f to the file at path, whole or not at all.
 * Collective calls are messages, as in vfd-expand.h. False and *error (caller frees).
 */
bool vfd_classic_write(struct vfd_file *f, uint32_t process, const char *path, char **error);

/* "DIR/BASE_RANK.vfd" as Vftrace names it, with as many digits as `ranks` has. Caller frees. */
char *vfd_classic_path(const char *dir, const char *base, int rank, uint32_t ranks);

#endif
