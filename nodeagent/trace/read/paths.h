/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The call paths of all threads of one process of a sampling file in one list,
 * callers first; 0 is "init". For formats that have one list per process.
 */
#ifndef VFTR_NODEAGENT_TRACE_READ_PATHS_H
#define VFTR_NODEAGENT_TRACE_READ_PATHS_H

#include "nodeagent/trace/read/file.h"

struct vfd_paths;

struct vfd_paths *vfd_paths_new(struct vfd_file *f, uint32_t process);
void vfd_paths_free(struct vfd_paths *p);
size_t vfd_paths_count(const struct vfd_paths *p);
/* Number of a track's stack in the list. */
uint32_t vfd_paths_find(const struct vfd_paths *p, uint32_t track, uint32_t stack);
uint32_t vfd_paths_caller(const struct vfd_paths *p, uint32_t path);
/* Name of its function, with '*' if that is precise; "foo*<main<init". Owned by p. */
const char *vfd_paths_name(struct vfd_paths *p, uint32_t path);
const char *vfd_paths_text(struct vfd_paths *p, uint32_t path);

/*
 * By track: true if an event has an undefined stack, the last one of vfd_stacks(). Events
 * are read for that only if a part of the file is missing. process VFD_NONE: all tracks.
 * Caller frees.
 */
bool *vfd_paths_lost(struct vfd_file *f, uint32_t process);

#endif
