/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds the libraries that a program would be loaded with, by its own dynamic
 * loader, as ldd does. The program itself is not run.
 */
#ifndef VFTR_NODEAGENT_DOCTOR_LOADED_H
#define VFTR_NODEAGENT_DOCTOR_LOADED_H

#include <stddef.h>

struct loaded_object {
	char *name; /* as needed: "libm.so.6" */
	char *path; /* NULL: not found */
};

/* The objects after the program, in the order in which symbols are looked up. */
struct loaded {
	size_t n, cap;
	struct loaded_object *objects;
	char *trouble; /* first line of the loader's other output, or NULL */
};

/*
 * interpreter is the loader named in the program. 0, -errno, or -EPERM if it is not a known
 * loader that belongs to root (then it is not run). Preloaded libraries of this environment
 * are among the objects. loaded_free() is needed after an error, too.
 */
int loaded_list(struct loaded *list, const char *program, const char *interpreter);
void loaded_free(struct loaded *list);

#endif
