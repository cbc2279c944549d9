/* SPDX-License-Identifier: BSD-3-Clause */
/* The directory of the files by which processes find their agent. */
#ifndef VFTR_NODEAGENT_BASE_RUNTIME_DIR_H
#define VFTR_NODEAGENT_BASE_RUNTIME_DIR_H

/*
 * The runtime directory by shm/runtime-dir.h, made if need be; if it is not the usual one, a
 * message says so once. It must belong to us and be closed to others, else NULL and *error,
 * a sentence. The caller frees both.
 */
char *runtime_directory(char **error);

#endif
