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
/* what hangs on code: one of these, or twice the function */
#define UNWANTED ((uintptr_t)1)
#define TAKES	 ((uintptr_t)3)

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
	ssize_t place;

	do /* in the first interpreter others may have had the places that are free in this one */
		place = vftr_python.extra_index(NULL);
	while (place >= 0 && place < extra);
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

/* No attribute is tried that is not there: the exception for that may have the garbage collected,
 * whose destructors would be called here, unrecorded. */
static struct py_object *name_of(struct py_object *code)
{
	struct py_object *name =
		vftr_python.attribute(code, vftr_python.qualifies ? "co_qualname" : "co_name");

	if (!name)
		vftr_python.forget_error();
	return name;
}

/* The frame need not be the thread's current one: those of Cython are not. */
static void full_name(struct py_object *code, struct py_object *frame, char name[NAME_BYTES])
{
	struct py_object *own = name_of(code);
	struct py_object *of_frame = frame ? vftr_python.attribute(frame, "f_globals") : NULL;
	struct py_object *globals = of_frame ? of_frame : vftr_python.globals();
	struct py_object *module = globals ? vftr_python.item(globals, "__name__") : NULL;

	snprintf(name, NAME_BYTES, "%s.%s", text_of(module), text_of(own));
	if (own)
		vftr_python.let_go(own);
	if (of_frame)
		vftr_python.let_go(of_frame);
}

static bool ends_with(const char *text, const char *end)
{
	const size_t n = strlen(text), m = strlen(end);

	return n >= m && !strcmp(text + n - m, end);
}

/* It may be called as a program, `python3 -m profile': then it has another name. */
static bool is_of_module_profile(struct py_object *code)
{
	struct py_object *file = vftr_python.attribute(code, "co_filename");
	const bool is_it = ends_with(text_of(file), "/profile.py");

	if (file)
		vftr_python.let_go(file);
	return is_it;
}

/* Before 3.12 some functions are known by their names, which before 3.11 have no class: what
 * starts threads, before the first one is there; and those of module profile that do not stand
 * the event that sys.setprofile() has returned, which there is if another function was set. */
static uintptr_t look_at_special(struct py_object *code, const char *name)
{
	if (vftr_python.monitors)
		return UNWANTED;
	if (!vftr_python_is_audited() &&
		(!strcmp(name, "threading.Thread.start") || !strcmp(name, "threading.start")))
		vftr_python_profile_new_threads(true);
	return (ends_with(name, ".runctx") || ends_with(name, ".runcall")) &&
			       is_of_module_profile(code)
		       ? TAKES
		       : UNWANTED;
}

static uintptr_t look_up(struct py_object *code, struct py_object *frame)
{
	char name[NAME_BYTES];
	uint64_t number;
	uintptr_t hung;

	full_name(code, frame, name);
	hung = look_at_special(code, name);
	if (hung == UNWANTED && is_wanted(name)) {
		if (!vftr_region_number(name, NAME_BYTES, &number))
			return UNWANTED; /* no memory, now */
		hung = (uintptr_t)(number + 1) * 2;
	}
	if (vftr_python.set_extra(code, extra, (void *)hung))
		vftr_python.forget_error();
	return hung;
}

uint64_t vftr_python_function(struct py_object *code, struct py_object *frame)
{
	void *hung = NULL;

	if (vftr_python.get_extra(code, extra, &hung)) {
		vftr_python.forget_error();
		return 0;
	}
	if (unlikely(!hung))
		hung = (void *)look_up(code, frame);
	if (unlikely((uintptr_t)hung == TAKES))
		return PY_TAKES_PROFILE;
	return (uintptr_t)hung == UNWANTED ? 0 : (uintptr_t)hung / 2;
}
