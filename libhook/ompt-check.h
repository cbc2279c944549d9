/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Warns if an OpenMP runtime with OMPT runs without calling our tool: OMP_TOOL
 * forbids it, or another tool is in use (a runtime takes one).
 */
#ifndef VFTR_LIBHOOK_OMPT_CHECK_H
#define VFTR_LIBHOOK_OMPT_CHECK_H

#include <stdbool.h>

/* A runtime uses our tool; function is one of its own. */
void ompt_started(const void *function);
/* True if this is the runtime's own code. */
bool ompt_is_runtime(const void *address);
/* A thread is about to be created that will run this function. Keeps errno. */
void ompt_thread_created(const void *run);

#endif
