/* SPDX-License-Identifier: BSD-3-Clause */
/* The call paths of all processes of a run in one list; those with the same names are one. */
#ifndef VFTR_NODEAGENT_CAUSAL_PATHS_H
#define VFTR_NODEAGENT_CAUSAL_PATHS_H

#include <stdint.h>

struct paths;

/* Path 0 is "init". */
struct paths *paths_new(void);
void paths_free(struct paths *p);
/* The number of the path of a function called from a path; a new one if it was not known. */
uint32_t paths_add(struct paths *p, uint32_t caller, const char *function);
/* Paths are numbered from 0 to this, less 1. */
uint32_t paths_count(const struct paths *p);
/* The path that it was called from; path 0 is its own. */
uint32_t paths_caller(const struct paths *p, uint32_t path);
/* Its innermost function; owned by p. */
const char *paths_function(const struct paths *p, uint32_t path);
/* "foo<main<init"; the caller frees. */
char *paths_text(const struct paths *p, uint32_t path);

#endif
