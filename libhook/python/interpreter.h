/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * CPython, as far as it is in this process: its functions by their names, as nothing here is linked
 * with it. Objects belong to it and are used only by threads that hold its lock, in calls that it
 * makes to us. Versions 3.9 and later.
 */
#ifndef VFTR_LIBHOOK_PYTHON_INTERPRETER_H
#define VFTR_LIBHOOK_PYTHON_INTERPRETER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct py_object;      /* PyObject and what begins like it: code, frames */
struct py_thread;      /* PyThreadState */
struct py_interpreter; /* PyInterpreterState */

/* PyMethodDef */
struct py_method {
	const char *name;
	void *function;
	int flags;
	const char *text;
};
#define PY_ANY_ARGUMENTS  0x0001 /* METH_VARARGS */
#define PY_VECTOR_OF_THEM 0x0080 /* METH_FASTCALL */

/* PyMemAllocatorEx, and a domain of memory */
struct py_allocator {
	void *context;
	void *(*malloc)(void *context, size_t bytes);
	void *(*calloc)(void *context, size_t n, size_t bytes);
	void *(*realloc)(void *context, void *p, size_t bytes);
	void (*free)(void *context, void *p);
};
enum { PY_RAW = 0 };

typedef int py_audit(const char *event, struct py_object *arguments, void *data);
typedef int py_profile(
	struct py_object *self, struct py_object *frame, int what, struct py_object *argument);
enum { PY_CALL = 0, PY_RETURN = 3 }; /* what */

/* X(result, member, arguments, name, its other name, versions that need it) */
#define PY_ALL	      3
#define PY_PROFILE    1 /* before 3.12 */
#define PY_MONITORING 2 /* from 3.12 on */
#define PY_FUNCTIONS(X)                                                                            \
	X(int, add_audit_hook, (py_audit *, void *), "PySys_AddAuditHook", NULL, PY_ALL)           \
	X(void, get_allocator, (int, struct py_allocator *), "PyMem_GetAllocator", NULL, PY_ALL)   \
	X(void, set_allocator, (int, const struct py_allocator *), "PyMem_SetAllocator", NULL,     \
		PY_ALL)                                                                            \
	X(int, is_initialized, (void), "Py_IsInitialized", NULL, PY_ALL)                           \
	X(const char *, version, (void), "Py_GetVersion", NULL, PY_ALL)                            \
	X(struct py_thread *, thread, (void), "PyThreadState_Get", NULL, PY_ALL)                   \
	X(uint64_t, thread_id, (struct py_thread *), "PyThreadState_GetID", NULL, PY_ALL)          \
	X(struct py_interpreter *, interpreter, (void), "PyInterpreterState_Get", NULL, PY_ALL)    \
	X(int64_t, interpreter_id, (struct py_interpreter *), "PyInterpreterState_GetID", NULL,    \
		PY_ALL)                                                                            \
	X(struct py_object *, interpreter_dict, (struct py_interpreter *),                         \
		"PyInterpreterState_GetDict", NULL, PY_ALL)                                        \
	X(struct py_object *, frame, (void), "PyEval_GetFrame", NULL, PY_ALL)                      \
	X(struct py_object *, globals, (void), "PyEval_GetGlobals", NULL, PY_ALL)                  \
	X(ssize_t, extra_index, (void (*)(void *)), "PyUnstable_Eval_RequestCodeExtraIndex",       \
		"_PyEval_RequestCodeExtraIndex", PY_ALL)                                           \
	X(int, get_extra, (struct py_object *, ssize_t, void **), "PyUnstable_Code_GetExtra",      \
		"_PyCode_GetExtra", PY_ALL)                                                        \
	X(int, set_extra, (struct py_object *, ssize_t, void *), "PyUnstable_Code_SetExtra",       \
		"_PyCode_SetExtra", PY_ALL)                                                        \
	X(struct py_object *, attribute, (struct py_object *, const char *),                       \
		"PyObject_GetAttrString", NULL, PY_ALL)                                            \
	X(int, set_attribute, (struct py_object *, const char *, struct py_object *),              \
		"PyObject_SetAttrString", NULL, PY_ALL)                                            \
	X(struct py_object *, item, (struct py_object *, const char *), "PyDict_GetItemString",    \
		NULL, PY_ALL)                                                                      \
	X(int, set_item, (struct py_object *, const char *, struct py_object *),                   \
		"PyDict_SetItemString", NULL, PY_ALL)                                              \
	X(struct py_object *, tuple_item, (struct py_object *, ssize_t), "PyTuple_GetItem", NULL,  \
		PY_ALL)                                                                            \
	X(const char *, text, (struct py_object *), "PyUnicode_AsUTF8", NULL, PY_ALL)              \
	X(void, forget_error, (void), "PyErr_Clear", NULL, PY_ALL)                                 \
	X(void, let_go, (struct py_object *), "Py_DecRef", NULL, PY_ALL)                           \
	X(struct py_object *, new_function,                                                        \
		(struct py_method *, struct py_object *, struct py_object *), "PyCFunction_NewEx", \
		NULL, PY_ALL)                                                                      \
	X(void, keep, (struct py_object *), "Py_IncRef", NULL, PY_PROFILE)                         \
	X(void *, c_function, (struct py_object *), "PyCFunction_GetFunction", NULL, PY_PROFILE)   \
	X(struct py_object *, modules, (void), "PyImport_GetModuleDict", NULL, PY_PROFILE)         \
	X(struct py_object *, frame_code, (struct py_object *), "PyFrame_GetCode", NULL,           \
		PY_PROFILE)                                                                        \
	X(void, set_profile, (py_profile *, struct py_object *), "PyEval_SetProfile", NULL,        \
		PY_PROFILE)                                                                        \
	X(struct py_object *, sys_object, (const char *), "PySys_GetObject", NULL, PY_MONITORING)  \
	X(struct py_object *, call, (struct py_object *, const char *, ...),                       \
		"PyObject_CallFunction", NULL, PY_MONITORING)                                      \
	X(struct py_object *, call_method, (struct py_object *, const char *, const char *, ...),  \
		"PyObject_CallMethod", NULL, PY_MONITORING)                                        \
	X(long, number, (struct py_object *), "PyLong_AsLong", NULL, PY_MONITORING)

struct python {
#define PY_MEMBER(result, member, arguments, name, other, versions) result(*member) arguments;
	PY_FUNCTIONS(PY_MEMBER)
#undef PY_MEMBER
	struct py_object *none;
	bool monitors;	   /* it has sys.monitoring */
	bool qualifies;	   /* code knows the class of its function */
	const char *lacks; /* what we need and this version has not, or NULL */
};

#pragma GCC visibility push(hidden)

extern struct python vftr_python;

/* Fills vftr_python; false if the process has no interpreter. */
bool vftr_python_find(void);

/* A sentence for the user, shown once. */
void vftr_python_note(const char *text);

#pragma GCC visibility pop

#endif
