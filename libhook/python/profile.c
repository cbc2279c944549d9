/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Before 3.12: the profile function of each thread, in C. A thread that module threading starts
 * asks that module for its own: what it finds there puts this one in its place.
 */
#include <string.h>

#include "libhook/process.h"
#include "libhook/python/control.h"
#include "libhook/python/functions.h"

static __thread bool ours; /* the call to set it is ours */

static uint64_t function_of(struct py_object *frame)
{
	struct py_object *code = vftr_python.frame_code(frame);
	const uint64_t function = vftr_python_function(code, frame);

	vftr_python.let_go(code);
	return function;
}

static int profile(
	struct py_object *self, struct py_object *frame, int what, struct py_object *argument)
{
	uint64_t function;

	if (what == PY_CALL) {
		function = function_of(frame);
		if (function == PY_TAKES_PROFILE)
			vftr_python_thread_given_up();
		else if (function)
			vftr_python_enter(frame, function);
	} else if (what == PY_RETURN && !vftr_python_leave_innermost(frame)) {
		function = function_of(frame);
		if (function && function != PY_TAKES_PROFILE)
			vftr_python_leave(frame);
	}
	return 0;
}

void vftr_python_profile_thread(void)
{
	ours = true;
	vftr_python.set_profile(profile, NULL);
	ours = false;
}

void vftr_python_profile_no_more(void)
{
	ours = true;
	vftr_python.set_profile(NULL, NULL);
	ours = false;
}

bool vftr_python_profile_is_ours(void)
{
	return ours;
}

/* What threading calls for the first event of a new thread: as a rule, the call of its run().
 * arguments: the frame, what happens in words, and a value. */
static struct py_object *of_new_thread(struct py_object *self, struct py_object *arguments)
{
	struct py_object *frame = vftr_python.tuple_item(arguments, 0);
	struct py_object *what = vftr_python.tuple_item(arguments, 1);
	const char *text = what ? vftr_python.text(what) : NULL;

	vftr_python_thread_begun();
	vftr_python_profile_thread();
	if (frame && text && !strcmp(text, "call"))
		profile(NULL, frame, PY_CALL, NULL);
	vftr_python.forget_error();
	vftr_python.keep(vftr_python.none);
	return vftr_python.none;
}

/* The function, made anew each time; the module keeps it. */
static void offer(struct py_object *threading)
{
	static struct py_method method = {"vftrace", (void *)of_new_thread, PY_ANY_ARGUMENTS, NULL};
	struct py_object *function = vftr_python.new_function(&method, NULL, NULL);

	if (!function || vftr_python.set_attribute(threading, "_profile_hook", function))
		vftr_python.forget_error();
	if (function)
		vftr_python.let_go(function);
}

static bool is_ours(struct py_object *hook)
{
	const bool it_is = vftr_python.c_function(hook) == (void *)of_new_thread;

	vftr_python.forget_error(); /* it may be no function in C */
	return it_is;
}

bool vftr_python_threading_sets_ours(void)
{
	struct py_object *frame = vftr_python.frame();
	struct py_object *code = frame ? vftr_python.frame_code(frame) : NULL;
	struct py_object *name = code ? vftr_python.attribute(code, "co_name") : NULL;
	const char *text = name ? vftr_python.text(name) : NULL;
	struct py_object *modules = vftr_python.modules();
	struct py_object *threading = modules ? vftr_python.item(modules, "threading") : NULL;
	struct py_object *hook = text && threading && !strcmp(text, "_bootstrap_inner")
					 ? vftr_python.attribute(threading, "_profile_hook")
					 : NULL;
	const bool it_does = hook && is_ours(hook);

	vftr_python.forget_error();
	if (hook)
		vftr_python.let_go(hook);
	if (name)
		vftr_python.let_go(name);
	if (code)
		vftr_python.let_go(code);
	return it_does;
}

static void take_back(struct py_object *threading)
{
	if (vftr_python.set_attribute(threading, "_profile_hook", vftr_python.none))
		vftr_python.forget_error();
}

void vftr_python_profile_new_threads(bool wanted)
{
	struct py_object *modules = vftr_python.modules();
	struct py_object *threading = modules ? vftr_python.item(modules, "threading") : NULL;
	struct py_object *hook =
		threading ? vftr_python.attribute(threading, "_profile_hook") : NULL;

	if (wanted && hook == vftr_python.none)
		offer(threading);
	else if (!wanted && hook && is_ours(hook))
		take_back(threading);
	if (hook)
		vftr_python.let_go(hook);
	else
		vftr_python.forget_error();
}
