/* SPDX-License-Identifier: BSD-3-Clause */
/* A viewer of the user's own, as `vftr open --viewer' starts it. */
#ifndef VFTR_NODEAGENT_TOOL_OPEN_VIEWER_H
#define VFTR_NODEAGENT_TOOL_OPEN_VIEWER_H

/* The format of vftr export that the program of a command opens, else "perfetto"; static. */
const char *viewer_format(const char *command);
/*
 * Starts the command, words of the shell with a program and its options, with path as its last
 * argument, and waits until it ends. From now on this process ignores SIGINT, and hands a SIGTERM
 * on to the program. Returns 0 if that ended with 0; after a message 1 if it ended in another way,
 * 2 if it could not be started.
 */
int viewer_run(const char *command, const char *path);

#endif
