/* SPDX-License-Identifier: BSD-3-Clause */
/* How CPython tells us of calls: one of two ways, by its version. With the interpreter's lock. */
#ifndef VFTR_LIBHOOK_PYTHON_CONTROL_H
#define VFTR_LIBHOOK_PYTHON_CONTROL_H

#include <stdbool.h>

#include "libhook/python/interpreter.h"

#pragma GCC visibility push(hidden)

/* The calling thread's calls are told from now on: before 3.12, thread by thread. */
void vftr_python_profile_thread(void);
/* ... and not any more. */
void vftr_python_profile_no_more(void);
/* True while that is being done: the event of sys.setprofile() is not the program's. */
bool vftr_python_profile_is_ours(void);
/* Threads that module threading starts from now on are recorded, too, or no more. */
void vftr_python_profile_new_threads(bool wanted);

/* True if it is module threading that sets a profile function just now, and it is that for new
 * threads. */
bool vftr_python_threading_sets_ours(void);

/* All threads of the calling thread's interpreter, from now on. False if it has no room for us. */
bool vftr_python_monitor(void);

/* audit.c: sets a hook for the audit events of an interpreter that has not begun; and what must be
 * done when the event has come that all hooks are about to be cleared. */
void vftr_python_add_hook(py_audit *hook);
void vftr_python_hooks_cleared(void);

/* begin.c: the program has an audit hook of its own, which would be told of each profile function
 * that is set, and may forbid it: none is set any more. */
bool vftr_python_is_audited(void);

/* The calling thread is recorded from now on, whatever was before. */
void vftr_python_thread_begun(void);
/* It is not recorded from now on, as it is about to get a profile function of the program's. */
void vftr_python_thread_given_up(void);

#pragma GCC visibility pop

#endif
