/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The two ways in which CPython reports calls to us, by its version: profile functions before 3.12,
 * sys.monitoring from then on. All functions are called with the interpreter's lock held.
 */
#ifndef VFTR_LIBHOOK_PYTHON_CONTROL_H
#define VFTR_LIBHOOK_PYTHON_CONTROL_H

#include <stdbool.h>

#include "libhook/python/interpreter.h"

#pragma GCC visibility push(hidden)

/* Before 3.12: from now on calls of the calling thread are reported. */
void vftr_python_profile_thread(void);
/* Before 3.12: from now on they are not. */
void vftr_python_profile_no_more(void);
/*
 * True while one of these two runs: an audit event of sys.setprofile() is then ours, not the
 * program's.
 */
bool vftr_python_profile_is_ours(void);
/* wanted: threads that module threading starts from now on are recorded, too; else they are not. */
void vftr_python_profile_new_threads(bool wanted);

/* True if module threading is setting our profile function in a new thread at this moment. */
bool vftr_python_threading_sets_ours(void);

/*
 * From 3.12 on: from now on calls of all threads of the calling thread's interpreter are reported.
 * False if it has no free tool number.
 */
bool vftr_python_monitor(void);

/*
 * audit.c. vftr_python_add_hook(): sets a hook for the audit events of an interpreter that has not
 * begun. vftr_python_hooks_cleared(): to be called at the event that all hooks are about to be
 * cleared.
 */
void vftr_python_add_hook(py_audit *hook);
void vftr_python_hooks_cleared(void);

/*
 * begin.c: true if the program has an audit hook of its own. That hook would see each profile
 * function that is set, and may forbid it, so none is set any more.
 */
bool vftr_python_is_audited(void);

/* From now on the calling thread is recorded, whether it was before or not. */
void vftr_python_thread_begun(void);
/*
 * From now on the calling thread is not recorded, as the program is about to set a profile function
 * of its own.
 */
void vftr_python_thread_given_up(void);

#pragma GCC visibility pop

#endif
