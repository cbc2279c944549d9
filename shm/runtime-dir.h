/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The runtime directory, which has the sockets and locks of agents. Agents and processes
 * follow the same rule, so both find the same: $VFTR_RUNTIME_DIR if set; else the first of
 *
 *	$XDG_RUNTIME_DIR/vftr    if that is set, else /tmp/vftr-UID
 *	/tmp/vftr-UID
 *	/run/user/UID/vftr
 *	/dev/shm/vftr-UID
 *	$HOME/.vftr-HOST         nodes may have the same $HOME
 *
 * that belongs to this user, or is not there and can be made. So another user who has made
 * /tmp/vftr-UID does not keep this one from tracing. If no one does, the first is taken.
 */
#ifndef VFTR_SHM_RUNTIME_DIR_H
#define VFTR_SHM_RUNTIME_DIR_H

#include <stddef.h>

/*
 * Writes the path to out, at most `bytes` with the NUL; 0 or -ENAMETOOLONG. Makes nothing,
 * checks no mode, allocates nothing. passed: NULL, or `bytes` bytes for the path of the first
 * candidate if another one was taken in its place, else "".
 */
int vftr_runtime_dir(char *out, char *passed, size_t bytes);

#endif
