/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which libraries a program would be loaded with: asked of its own dynamic
 * loader, as ldd does. The program itself is not run.
 */
#ifndef VFTR_NODEAGENT_LOADED_H
#define VFTR_NODEAGENT_LOADED_H

#include <stddef.h>

struct loaded_object {
	char *name; /* as needed: "libm.so.6" */
	char *path; /* NULL: not found */
};

/* In the order in which symbols are looked up, after the program. */
struct loaded {
	size_t n, cap;
	struct loaded_object *objects;
	char *trouble; /* what else the loader said, its first line, or NULL */
};

/*
 * interpreter is the loader named in the program. 0, -EPERM if it is none
 * that is known and root's (then it is not run), or -errno. Preloaded libraries of this
 * environment are among the objects. loaded_free() also after an error.
 */
int loaded_list(struct loaded *list, const char *program, const char *interpreter);
void loaded_free(struct loaded *list);

#endif
