/* SPDX-License-Identifier: BSD-3-Clause */
/* A viewer of the user's own, as `vftr open --viewer' starts it. */
#ifndef VFTR_NODEAGENT_TOOL_OPEN_VIEWER_H
#define VFTR_NODEAGENT_TOOL_OPEN_VIEWER_H

/* The format of vftr export that the command's program is known to open, else "perfetto". */
const char *viewer_format(const char *command);
/*
 * Starts the command, words of the shell with a program and its options, with path as its last
 * argument, and waits until it ends; a SIGTERM is handed on to it. 0: it ended with 0; 1: not so,
 * and was told; 2: it could not be started, and was told.
 */
int viewer_run(const char *command, const char *path);

#endif
