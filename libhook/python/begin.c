/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An interpreter tells of what it does by audit events: a program is about to run, somebody sets a
 * profile function. The hook for them may be set before the interpreter begins, and the program's
 * own ones work beside it. It is set only where
 * the agent has asked for Python by the environment, as the process has to attach to know more.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libhook/process.h"
#include "libhook/python/control.h"
#include "libhook/python/functions.h"

/* in the dictionary of an interpreter that has begun, and of one that is not to be recorded */
static const char mark[] = "vftrace", off[] = "vftrace.off";
static const char last_event[] = "cpython._PySys_ClearAuditHooks";
static uint32_t stopped;
static uint32_t audited_by_others; /* before 3.12 */
static uint32_t audited_was_said;

static __thread struct {
	uint64_t begun;	  /* number of the thread's state (PyThreadState) that is recorded */
	uint64_t foreign; /* the same of one that has a profile function of another one */
	bool inside;	  /* what we do has events of its own */
} here;

static bool begins_with(const char *event, const char *begin)
{
	return !strncmp(event, begin, strlen(begin));
}

static void stop(const char *why)
{
	store_relaxed(&stopped, 1);
	if (why)
		vftr_python_note(why);
}

static bool is_import_of_site(const char *event, struct py_object *arguments)
{
	struct py_object *first;
	const char *name;

	if (strcmp(event, "import"))
		return false;
	first = vftr_python.tuple_item(arguments, 0);
	name = first ? vftr_python.text(first) : NULL;
	if (!name)
		vftr_python.forget_error();
	return !name || !strcmp(name, "site") || !strcmp(name, "warnings");
}

/*
 * True when an interpreter's start is over. In between it imports modules, in functions of Python
 * or, if the caller is C, those two.
 */
static bool is_ready(const char *event, struct py_object *arguments)
{
	if (!vftr_python.is_initialized())
		return false;
	if (begins_with(event, "cpython.run_"))
		return true;
	return !vftr_python.frame() && !begins_with(event, "cpython.") &&
	       !is_import_of_site(event, arguments);
}

/* The process attaches, if need be, and learns what the user wants. */
static bool is_wanted(void)
{
	vftr_slow(clock_counter(), 0, 0, NULL);
	if (!process_is_on() || !vftr_process.python_wanted)
		stop(NULL);
	return !load_relaxed(&stopped);
}

static int audited_too_old(const char *event, struct py_object *arguments, void *data)
{
	char line[200];

	if (!strcmp(event, last_event))
		vftr_python_hooks_cleared();
	if (load_relaxed(&stopped) || !begins_with(event, "cpython.run_") || !is_wanted())
		return 0;
	snprintf(line, sizeof(line),
		"python.functions: this Python, %.*s, has no %s: its functions are not recorded",
		(int)strcspn(vftr_python.version(), " "), vftr_python.version(), vftr_python.lacks);
	stop(line);
	return 0;
}

/* Why functions of the calling thread's interpreter cannot be recorded, or NULL. */
static const char *begin(void)
{
	if (!vftr_python_functions_begin())
		return "python.functions: an interpreter has no room at its code for numbers of "
		       "ours: its functions are not recorded";
	if (vftr_python.monitors && !vftr_python_monitor())
		return "python.functions: sys.monitoring has no number for us, as others have 3 "
		       "and 4: functions of Python are not recorded";
	return NULL;
}

/* What the thread is by now: its state's number differs from those of other interpreters. */
static uint64_t state_now(void)
{
	const uint64_t i = (uint64_t)vftr_python.interpreter_id(vftr_python.interpreter());

	return (i + 1) << 40 | vftr_python.thread_id(vftr_python.thread());
}

bool vftr_python_is_audited(void)
{
	return load_relaxed(&audited_by_others);
}

static void say_audited(void)
{
	if (load_relaxed(&audited_was_said))
		return;
	store_relaxed(&audited_was_said, 1);
	vftr_python_note(
		"python.functions: the program has an audit hook, which may forbid profile "
		"functions: threads that begin after it are not recorded");
}

/* The event comes before the hook is set. */
static void others_audit(void)
{
	if (vftr_python_is_audited())
		return;
	store_relaxed(&audited_by_others, 1);
	vftr_python_profile_new_threads(false);
}

void vftr_python_thread_begun(void)
{
	here.begun = state_now();
	here.foreign = 0;
}

static void look(const char *event, struct py_object *arguments)
{
	struct py_object *dict = vftr_python.interpreter_dict(vftr_python.interpreter());
	const char *why = NULL;

	if (!dict)
		return;
	if (!vftr_python.item(dict, mark)) {
		if (!is_ready(event, arguments) || !is_wanted())
			return;
		why = begin();
		if (why)
			vftr_python_note(why);
		else
			vftr_callers_are_seen(); /* malloc() attaches before Python begins */
		if (vftr_python.set_item(dict, mark, vftr_python.none) ||
			(why && vftr_python.set_item(dict, off, vftr_python.none)))
			vftr_python.forget_error();
	}
	if (vftr_python_is_audited()) {
		here.foreign = state_now();
		say_audited();
		return;
	}
	vftr_python_thread_begun();
	if (!vftr_python.monitors && !vftr_python.item(dict, off))
		vftr_python_profile_thread();
}

static void others_profile(uint64_t state)
{
	if (here.begun == state) {
		vftr_python_leave_all();
		vftr_python_note("python.functions: the program sets a profile function of its own "
				 "(cProfile?): from there on functions of that thread are not "
				 "recorded");
	}
	here.begun = 0;
	here.foreign = state;
}

void vftr_python_thread_given_up(void)
{
	others_profile(state_now());
	vftr_python_profile_no_more();
}

/* Before 3.12: the program's hooks must not see what is done for us. */
static void heed_audits(const char *event)
{
	if (!strcmp(event, "sys.addaudithook"))
		others_audit();
	else if (vftr_python_is_audited() && !strcmp(event, "_thread.start_new_thread"))
		say_audited();
}

static int audited(const char *event, struct py_object *arguments, void *data)
{
	uint64_t state;

	if (!strcmp(event, last_event))
		vftr_python_hooks_cleared();
	if (load_relaxed(&stopped) || here.inside || vftr_python_profile_is_ours() ||
		!vftr_python.is_initialized())
		return 0;
	here.inside = true;
	state = state_now();
	if (!vftr_python.monitors && !strcmp(event, "sys.setprofile")) {
		if (!vftr_python_threading_sets_ours())
			others_profile(state);
	} else if (here.begun != state && here.foreign != state)
		look(event, arguments);
	if (!vftr_python.monitors)
		heed_audits(event);
	here.inside = false;
	return 0;
}

bool vftr_python_is_here(void)
{
	return vftr_python.version && !vftr_python.lacks && !load_relaxed(&stopped);
}

__attribute__((constructor)) static void look_for_interpreter(void)
{
	const char *wanted = getenv("VFTR_PYTHON");

	if (!wanted || strcmp(wanted, "functions") != 0 || vftr_user_has_switched_off() ||
		!vftr_is_first_copy() || !vftr_python_find())
		return;
	if (!vftr_python.is_initialized())
		vftr_python_add_hook(vftr_python.lacks ? audited_too_old : audited);
}
