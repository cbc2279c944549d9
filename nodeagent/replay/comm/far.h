/* SPDX-License-Identifier: BSD-3-Clause */
/* Call paths of processes on other nodes, by their names. Input is untrusted. */
#ifndef VFTR_NODEAGENT_REPLAY_COMM_FAR_H
#define VFTR_NODEAGENT_REPLAY_COMM_FAR_H

#include <stddef.h>
#include <stdint.h>

struct far_paths;

/* Smaller in tests. */
#ifndef FAR_PATHS_MAX
#define FAR_PATHS_MAX (1u << 18)
#endif
#define FAR_DEPTH_MAX 1100u /* frames of a path */

struct far_paths *far_paths_new(void);
void far_paths_free(struct far_paths *f);

/* The number of the path of a function, whose name is copied, called at the path `parent` (0: it
 * is the root), always the same; 0: there are too many, or parent is none. */
uint32_t far_path_add(struct far_paths *f, uint32_t parent, const char *name);
/* The name of its last function, owned by f; *parent: 0 for the root. NULL: there is no such. */
const char *far_path(const struct far_paths *f, uint32_t path, uint32_t *parent);

#endif
