/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where sockets and locks of agents are: the rule that agents and processes have in common,
 * so that both find the same. $VFTR_RUNTIME_DIR, whatever it is; else the first of
 *
 *	$XDG_RUNTIME_DIR/vftr    if that is set, else /tmp/vftr-UID
 *	/tmp/vftr-UID
 *	/run/user/UID/vftr
 *	/dev/shm/vftr-UID
 *	$HOME/.vftr-HOST         nodes may have the same $HOME
 *
 * that belongs to this user, or is not there and can be made. So another user who has made
 * /tmp/vftr-UID does not keep this one from tracing. If there is none, the first.
 */
#ifndef VFTR_SHM_RUNTIME_DIR_H
#define VFTR_SHM_RUNTIME_DIR_H

#include <stddef.h>

/*
 * 0, or -ENAMETOOLONG. Nothing is made, and whether the mode is right is not looked at.
 * passed: NULL, or as large as out: the one that would have come first and cannot be had, or
 * "". Allocates nothing.
 */
int runtime_dir(char *out, char *passed, size_t bytes);

#endif
