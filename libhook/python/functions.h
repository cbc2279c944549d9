/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions of Python as regions: what a code object is called, whether the user wants it, and
 * which calls of each thread are open. All calls come from a thread that holds the interpreter's
 * lock, and keep errno.
 */
#ifndef VFTR_LIBHOOK_PYTHON_FUNCTIONS_H
#define VFTR_LIBHOOK_PYTHON_FUNCTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "libhook/python/interpreter.h"

#pragma GCC visibility push(hidden)

/* Once for each interpreter: room for a number at each code object. False if it has none, or not in
 * the place that other interpreters have. */
bool vftr_python_functions_begin(void);

/* What vftr_python_function() says of a function that sets a profile function of its own. */
#define PY_TAKES_PROFILE UINT64_MAX

/* The region of the function whose code this is, as 1 + its number; 0 if it is not to be recorded.
 * At its first call it gets its name: the module is the one whose globals the frame of the call
 * has, or, if that is NULL, the calling thread. */
uint64_t vftr_python_function(struct py_object *code, struct py_object *frame);

/* A call begins; what: the frame or code that its end has, too. function: from above. */
void vftr_python_enter(const void *what, uint64_t function);
/* It ends, if it is the innermost one: else false, and nothing happens. */
bool vftr_python_leave_innermost(const void *what);
/* It ends, and with it those above it whose end nobody has told. Others are ignored. For functions
 * that are recorded, as all open calls are gone through. */
void vftr_python_leave(const void *what);
/* All calls of this thread end here, as nobody will tell of their ends. */
void vftr_python_leave_all(void);

#pragma GCC visibility pop

#endif
