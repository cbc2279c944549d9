/* SPDX-License-Identifier: BSD-3-Clause */
/* The sampling files of a folder, and the run that one is of, without reading the rest. */
#ifndef VFTR_NODEAGENT_TRACE_RUN_H
#define VFTR_NODEAGENT_TRACE_RUN_H

#include <stdbool.h>
#include <stdint.h>

/* Its number, as in node profiles; 0: not known, or no sampling file. */
uint64_t vfd_run(const char *path);
/*
 * True if two sampling files, and their numbers, are of two runs. Those of one folder may be of one
 * with different numbers: of a job whose agents find each other late each begins its file with a
 * number of its own.
 */
bool vfd_runs_differ(const char *a, uint64_t a_run, const char *b, uint64_t b_run);
/*
 * Tells `take' of each sampling file in a folder, by name: of those named NAME.vfd not the ones of
 * Vftrace. False and errno: the folder can't be read.
 */
bool vfd_files_in(const char *folder, void (*take)(void *ctx, const char *path), void *ctx);

#endif
