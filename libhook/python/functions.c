/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The name of a function is made once for each code object, at its first call. What hangs on the
 * code object afterwards is a number and no memory, so that nobody has to free it.
 */
#include <regex.h>
#include <stdio.h>
#include <string.h>

#include "libhook/process.h"
#include "libhook/python/control.h"
#include "libhook/python/functions.h"

#define NAME_BYTES 1024
#define UNWANTED                                                                                   \
	((uintptr_t)1) /* what hangs on code that is not recorded; else twice the function */

static ssize_t extra = -1; /* the place on code objects */

/* What the user wants: an expression that is not set wants all, and excludes nothing. */
static struct filter {
	regex_t expression;
	bool is_set;
} include, exclude;

static void set_filter(struct filter *f, const char *expression)
{
	if (expression[0])
		f->is_set = !regcomp(&f->expression, expression, REG_EXTENDED | REG_NOSUB);
}

static bool matches(const struct filter *f, const char *name)
{
	return !regexec(&f->expression, name, 0, NULL, 0);
}

static bool is_wanted(const char *name)
{
	return (!include.is_set || matches(&include, name)) &&
	       (!exclude.is_set || !matches(&exclude, name));
}

bool vftr_python_functions_begin(void)
{
	ssize_t place = vftr_python.extra_index(NULL);

	if (extra < 0 && place >= 0) {
		extra = place;
		set_filter(&include, vftr_process.python_include);
		set_filter(&exclude, vftr_process.python_exclude);
	}
	return place >= 0 && place == extra;
}

/* The text of an object, as long as that lives; "?" if it is none. */
static const char *text_of(struct py_object *o)
{
	const char *text = o ? vftr_python.text(o) : NULL;

	if (!text)
		vftr_python.forget_error();
	return text ? text : "?";
}

static struct py_object *name_of(struct py_object *code)
{
	struct py_object *name = vftr_python.attribute(code, "co_qualname");

	if (name) /* from 3.11 on */
		return name;
	vftr_python.forget_error();
	name = vftr_python.attribute(code, "co_name");
	if (!name)
		vftr_python.forget_error();
	return name;
}

static void full_name(struct py_object *code, char name[NAME_BYTES])
{
	struct py_object *globals = vftr_python.globals(), *own = name_of(code);
	struct py_object *module = globals ? vftr_python.item(globals, "__name__") : NULL;

	snprintf(name, NAME_BYTES, "%s.%s", text_of(module), text_of(own));
	if (own)
		vftr_python.let_go(own);
}

/* As it is called before the first thread is there; without "Thread" before 3.11. */
static bool starts_threads(const char *name)
{
	return !strcmp(name, "threading.Thread.start") || !strcmp(name, "threading.start");
}

static uintptr_t look_up(struct py_object *code)
{
	char name[NAME_BYTES];
	uint64_t number;
	uintptr_t hung = UNWANTED;

	full_name(code, name);
	if (!vftr_python.monitors && starts_threads(name))
		vftr_python_profile_new_threads();
	if (is_wanted(name)) {
		if (!vftr_region_number(name, NAME_BYTES, &number))
			return UNWANTED; /* no memory, now */
		hung = (uintptr_t)(number + 1) * 2;
	}
	if (vftr_python.set_extra(code, extra, (void *)hung))
		vftr_python.forget_error();
	return hung;
}

uint64_t vftr_python_function(struct py_object *code)
{
	void *hung = NULL;

	if (vftr_python.get_extra(code, extra, &hung)) {
		vftr_python.forget_error();
		return 0;
	}
	if (unlikely(!hung))
		hung = (void *)look_up(code);
	return (uintptr_t)hung == UNWANTED ? 0 : (uintptr_t)hung / 2;
}
