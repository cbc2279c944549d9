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

/*
 * To be called once for each interpreter: reserves room for a number in each code object. False if
 * there is none, or not at the index that other interpreters have.
 */
bool vftr_python_functions_begin(void);

/* The result of vftr_python_function() for a function that sets a profile function. */
#define PY_TAKES_PROFILE UINT64_MAX

/*
 * 1 + the number of the region of the function with this code; 0 if it is not to be recorded. The
 * region gets its name at the first call; the module in it is that of the globals of `frame', or of
 * the calling thread's frame if that is NULL.
 */
uint64_t vftr_python_function(struct py_object *code, struct py_object *frame);

/*
 * A call begins. what: frame or code object by which its end will be reported. function: the result
 * of vftr_python_function().
 */
void vftr_python_enter(const void *what, uint64_t function);
/* If the call of `what' is the innermost open one, ends it and returns true. */
bool vftr_python_leave_innermost(const void *what);
/*
 * Ends the call of `what', and calls above it whose ends were not reported; nothing happens if it
 * is not open. For recorded functions only, as it searches all open calls.
 */
void vftr_python_leave(const void *what);
/* Ends all open calls of the calling thread, as their ends will not be reported. */
void vftr_python_leave_all(void);

#pragma GCC visibility pop

#endif
