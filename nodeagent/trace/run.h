/* SPDX-License-Identifier: BSD-3-Clause */
/* The sampling files of a folder, and the run that one is of, without reading the rest. */
#ifndef VFTR_NODEAGENT_TRACE_RUN_H
#define VFTR_NODEAGENT_TRACE_RUN_H

#include <stdbool.h>
#include <stdint.h>

/* Its number, as in node profiles; 0: not known, or no sampling file. */
uint64_t vfd_run(const char *path);
/*
 * Tells `take' of each sampling file in a folder, by name: of those named NAME.vfd not the ones of
 * Vftrace. False and errno: the folder can't be read.
 */
bool vfd_files_in(const char *folder, void (*take)(void *ctx, const char *path), void *ctx);

#endif
