/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * CPython allocates the entry of an audit hook with what is its allocator by then, and frees it
 * with what is its allocator in the end. A hook that is set before the interpreter begins comes
 * before the choice of PYTHONMALLOC, and before debugging and tracemalloc, which would not know it.
 */
#include <string.h>

#include "libhook/process.h"
#include "libhook/python/control.h"

static struct py_allocator first; /* when the hook was set */
static struct py_allocator last;  /* when all are cleared, if it is another one */
static void *entry;

static void *note_malloc(void *context, size_t bytes)
{
	return entry = first.malloc(first.context, bytes);
}

static void *note_calloc(void *context, size_t n, size_t bytes)
{
	return first.calloc(first.context, n, bytes);
}

static void *note_realloc(void *context, void *p, size_t bytes)
{
	return first.realloc(first.context, p, bytes);
}

static void note_free(void *context, void *p)
{
	first.free(first.context, p);
}

/*
 * An allocator is set without a lock: a thread may call the functions of one with the context of
 * the other. Ours have the context of the one before, and do not use it.
 */
void vftr_python_add_hook(py_audit *hook)
{
	static struct py_allocator noting = {
		NULL, note_malloc, note_calloc, note_realloc, note_free};

	vftr_python.get_allocator(PY_RAW, &first);
	noting.context = first.context;
	vftr_python.set_allocator(PY_RAW, &noting);
	vftr_python.add_audit_hook(hook, NULL);
	vftr_python.set_allocator(PY_RAW, &first);
}

static void *last_malloc(void *context, size_t bytes)
{
	return last.malloc(last.context, bytes);
}

static void *last_calloc(void *context, size_t n, size_t bytes)
{
	return last.calloc(last.context, n, bytes);
}

static void *last_realloc(void *context, void *p, size_t bytes)
{
	return last.realloc(last.context, p, bytes);
}

static void last_free(void *context, void *p)
{
	if (!p || p != entry) {
		last.free(last.context, p);
		return;
	}
	entry = NULL;
	vftr_python.set_allocator(PY_RAW, &last);
	first.free(first.context, p);
}

void vftr_python_hooks_cleared(void)
{
	static struct py_allocator ending = {
		NULL, last_malloc, last_calloc, last_realloc, last_free};

	vftr_python.get_allocator(PY_RAW, &last);
	ending.context = last.context;
	if (entry && memcmp(&first, &last, sizeof(first)) != 0)
		vftr_python.set_allocator(PY_RAW, &ending);
}
