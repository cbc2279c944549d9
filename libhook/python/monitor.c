/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From 3.12 on: sys.monitoring, for all threads of an interpreter, beside other tools. A function
 * that is not wanted is switched off where it begins and returns, and costs nothing there.
 */
#include "libhook/process.h"
#include "libhook/python/control.h"
#include "libhook/python/functions.h"

static struct py_object *disable; /* sys.monitoring.DISABLE */

/* arguments: the code, a place in it, and for exits a value */
static struct py_object *entered(
	struct py_object *self, struct py_object *const *arguments, ssize_t n)
{
	uint64_t function = n ? vftr_python_function(arguments[0], NULL) : 0;

	if (!function)
		return disable;
	vftr_python_enter(arguments[0], function);
	return vftr_python.none;
}

/* DISABLE is not for events that have no place in the code. */
static struct py_object *thrown(
	struct py_object *self, struct py_object *const *arguments, ssize_t n)
{
	entered(self, arguments, n);
	return vftr_python.none;
}

static struct py_object *left(struct py_object *self, struct py_object *const *arguments, ssize_t n)
{
	if (!n || vftr_python_leave_innermost(arguments[0]))
		return vftr_python.none;
	if (!vftr_python_function(arguments[0], NULL))
		return disable;
	vftr_python_leave(arguments[0]);
	return vftr_python.none;
}

static struct py_object *unwound(
	struct py_object *self, struct py_object *const *arguments, ssize_t n)
{
	left(self, arguments, n);
	return vftr_python.none;
}

static struct event {
	const char *name;
	struct py_method method;
} events[] = {
	{"PY_START", {"vftrace", (void *)entered, PY_VECTOR_OF_THEM, NULL}},
	{"PY_RESUME", {"vftrace", (void *)entered, PY_VECTOR_OF_THEM, NULL}},
	{"PY_THROW", {"vftrace", (void *)thrown, PY_VECTOR_OF_THEM, NULL}},
	{"PY_RETURN", {"vftrace", (void *)left, PY_VECTOR_OF_THEM, NULL}},
	{"PY_YIELD", {"vftrace", (void *)left, PY_VECTOR_OF_THEM, NULL}},
	{"PY_UNWIND", {"vftrace", (void *)unwound, PY_VECTOR_OF_THEM, NULL}},
};

static bool is_done(struct py_object *result)
{
	if (!result) {
		vftr_python.forget_error();
		return false;
	}
	vftr_python.let_go(result);
	return true;
}

/* A number that no other tool has, of those that are nobody's by their documentation; or -1. */
static int take_tool(struct py_object *monitoring)
{
	static const int numbers[] = {4, 3};

	for (unsigned i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		if (is_done(vftr_python.call_method(
			    monitoring, "use_tool_id", "is", numbers[i], "vftrace")))
			return numbers[i];
	return -1;
}

/* The bit of an event, and the function that it calls from now on; 0: it could not be. */
static long hear(struct py_object *monitoring, struct py_object *names, int tool, struct event *e)
{
	struct py_object *bit = vftr_python.attribute(names, e->name);
	struct py_object *function = vftr_python.new_function(&e->method, NULL, NULL);
	long number = bit ? vftr_python.number(bit) : 0;

	if (!bit || !function ||
		!is_done(vftr_python.call_method(
			monitoring, "register_callback", "iOO", tool, bit, function)))
		number = 0;
	vftr_python.forget_error();
	if (bit)
		vftr_python.let_go(bit);
	if (function)
		vftr_python.let_go(function);
	return number;
}

static bool hear_all(struct py_object *monitoring, int tool)
{
	struct py_object *names = vftr_python.attribute(monitoring, "events");
	long all = 0;

	for (unsigned i = 0; names && i < sizeof(events) / sizeof(events[0]); i++) {
		long bit = hear(monitoring, names, tool, &events[i]);

		all = bit ? all | bit : 0;
		if (!bit)
			break;
	}
	if (!disable) /* one for all interpreters; it is there for good */
		disable = vftr_python.attribute(monitoring, "DISABLE");
	vftr_python.forget_error();
	if (names)
		vftr_python.let_go(names);
	return all && disable &&
	       is_done(vftr_python.call_method(monitoring, "set_events", "il", tool, all));
}

bool vftr_python_monitor(void)
{
	struct py_object *monitoring = vftr_python.sys_object("monitoring");
	int tool = monitoring ? take_tool(monitoring) : -1;

	return tool >= 0 && hear_all(monitoring, tool);
}
