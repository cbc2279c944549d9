/* SPDX-License-Identifier: BSD-3-Clause */
/* Call paths of processes on other nodes, by their names. Input is untrusted. */
#ifndef VFTR_NODEAGENT_REPLAY_COMM_FAR_H
#define VFTR_NODEAGENT_REPLAY_COMM_FAR_H

#include <stdint.h>

struct far_paths;

/* Smaller in tests. */
#ifndef FAR_PATHS_MAX
#define FAR_PATHS_MAX (1u << 18)
#endif
#define FAR_DEPTH_MAX 1100u /* frames of a path */

struct far_paths *far_paths_new(void);
void far_paths_free(struct far_paths *f);

/*
 * The number of the path on which a function is called at the path `parent` (0: the function is the
 * root); the same each time. name is copied. Returns 0 if there are too many paths, this one has
 * more than FAR_DEPTH_MAX frames, parent is no path, or another name there has the same hash.
 */
uint32_t far_path_add(struct far_paths *f, uint32_t parent, const char *name);
/*
 * The name of the last function of a path, owned by f; sets *parent, 0 for the root. NULL: no such
 * path.
 */
const char *far_path(const struct far_paths *f, uint32_t path, uint32_t *parent);

#endif
