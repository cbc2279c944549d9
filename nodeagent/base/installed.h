/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds files that belong to a program of ours: below PREFIX, if the program is PREFIX/bin/PROGRAM.
 * That holds in the build tree, after `make install', in a package, and in a folder that was moved.
 */
#ifndef VFTR_NODEAGENT_BASE_INSTALLED_H
#define VFTR_NODEAGENT_BASE_INSTALLED_H

/* PREFIX of the running program; the caller frees it. NULL: /proc does not tell. */
char *installed_prefix(void);

/*
 * The folder of libraries below the prefix that has a file or folder of this name: lib, that of
 * `make install LIBDIR=', lib64, then those for one architecture. NULL: none has. The caller
 * frees it.
 */
char *installed_library_folder(const char *prefix, const char *name);

/* The same for a module of Fortran, NAME.mod: include, or that of `make install MODDIR='. */
char *installed_module_folder(const char *prefix, const char *name);

#endif
