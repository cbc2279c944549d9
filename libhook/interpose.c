/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The few functions of others that we must see: jumps that skip exits, dlclose() (what is unloaded
 * must have been announced first), _exit() (which runs no destructor), those that create and name
 * threads, and those that start something that runs in a thread's own memory. Each does its own
 * small thing and calls the real one with the same arguments.
 * dlopen() is left alone: it looks at its caller's address.
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <threads.h>
#include <unistd.h>
#include "libhook/ompt-check.h"
#include "libhook/process.h"
#include "libhook/vfork.h"

#define EXPORT __attribute__((visibility("default")))

/*
 * A fully static program has no "next" definition to call. It is linked with
 * libvftrace-static.a, which lacks this file; with another archive it must not
 * link, and does not, as only the dynamic loader has this symbol.
 */
void *__tls_get_addr(void *);
__attribute__((used)) static void *(*const not_for_static_programs)(void *) = __tls_get_addr;

void vftr_goodbye_now(void) __attribute__((visibility("hidden")));

/*
 * The definition that the caller would have got without us: the next one in the
 * global scope, else the one among the libraries of the caller, which may have
 * been loaded with RTLD_LOCAL (a C++ plug-in in a C program).
 */
static void *next_of(const char *name, const void *caller)
{
	void *found = dlsym(RTLD_NEXT, name), *object;
	int (*close_it)(void *);
	Dl_info info;

	if (found || !dladdr(caller, &info) || !info.dli_fname)
		return found;
	object = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
	if (!object)
		return NULL;
	found = dlsym(object, name);
	*(void **)&close_it = dlsym(RTLD_NEXT, "dlclose");
	close_it(object); /* it was loaded before, and stays so */
	return found;
}

#define NEXT_OF(real, name) (*(void **)&(real) = next_of(name, __builtin_return_address(0)))

/* The next enter on this thread states where its caller is. */
static void jumping(void)
{
	struct thread *t = &vftr_thread;

	t->limit = NULL;
	t->jumped = t;
}

#define JUMP(name)                                                                                 \
	EXPORT void name(void *env, int value) __attribute__((noreturn));                          \
	EXPORT void name(void *env, int value)                                                     \
	{                                                                                          \
		static void (*real)(void *, int) __attribute__((noreturn));                        \
                                                                                                   \
		if (!real)                                                                         \
			*(void **)&real = dlsym(RTLD_NEXT, #name);                                 \
		jumping();                                                                         \
		real(env, value);                                                                  \
	}

JUMP(longjmp)
JUMP(_longjmp)
JUMP(siglongjmp)
JUMP(__longjmp_chk)

/*
 * C++ exceptions. gcc calls the exit hooks of the functions that are unwound,
 * clang does not: after a throw, and again after each clean-up on the way, the
 * next enter states where it was called.
 */
EXPORT void __cxa_throw(void *object, void *type, void (*destroy)(void *))
	__attribute__((noreturn));
EXPORT void __cxa_throw(void *object, void *type, void (*destroy)(void *))
{
	void (*real)(void *, void *, void (*)(void *)) __attribute__((noreturn));

	NEXT_OF(real, "__cxa_throw");
	jumping();
	real(object, type, destroy);
}

EXPORT void __cxa_rethrow(void) __attribute__((noreturn));
EXPORT void __cxa_rethrow(void)
{
	void (*real)(void) __attribute__((noreturn));

	NEXT_OF(real, "__cxa_rethrow");
	jumping();
	real();
}

EXPORT void _Unwind_Resume(void *exception) __attribute__((noreturn));
EXPORT void _Unwind_Resume(void *exception)
{
	void (*real)(void *) __attribute__((noreturn));

	NEXT_OF(real, "_Unwind_Resume");
	jumping();
	real(exception);
}

EXPORT void *__cxa_begin_catch(void *exception);
EXPORT void *__cxa_begin_catch(void *exception)
{
	void *(*real)(void *);

	NEXT_OF(real, "__cxa_begin_catch");
	jumping();
	return real(exception);
}

EXPORT int dlclose(void *handle)
{
	static int (*real)(void *);
	bool ours = process_is_on() && !vftr_thread.busy && !thread_is_guest(&vftr_thread);
	int result;

	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "dlclose");
	if (ours) {
		vftr_thread.busy = 1;
		modules_refresh();
		vftr_thread.busy = 0;
	}
	result = real(handle);
	if (ours) {
		vftr_thread.busy = 1;
		modules_refresh();
		vftr_thread.busy = 0;
	}
	return result;
}

/*
 * Threads. A program may create its first one from any thread, so the pointers
 * are found twice at worst, and are the same each time.
 */
#define REAL(name)                                                                                 \
	do {                                                                                       \
		if (!load_relaxed(&real)) {                                                        \
			void *found = dlsym(RTLD_NEXT, name);                                      \
                                                                                                   \
			store_relaxed((void **)&real, found);                                      \
		}                                                                                  \
	} while (0)

EXPORT int pthread_create(
	pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *), void *argument)
{
	static int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
	struct thread_start *s = thread_start_new(run, NULL, argument);
	int error;

	ompt_thread_created((const void *)run);
	REAL("pthread_create");
	if (!s)
		return real(thread, attr, run, argument);
	error = real(thread, attr, thread_start_posix, s);
	if (error)
		thread_start_cancel(s);
	return error;
}

EXPORT int thrd_create(thrd_t *thread, thrd_start_t run, void *argument)
{
	static int (*real)(thrd_t *, thrd_start_t, void *);
	struct thread_start *s = thread_start_new(NULL, run, argument);
	int error;

	REAL("thrd_create");
	if (!s)
		return real(thread, run, argument);
	error = real(thread, thread_start_c11, s);
	if (error != thrd_success)
		thread_start_cancel(s);
	return error;
}

EXPORT int pthread_setname_np(pthread_t thread, const char *name)
{
	static int (*real)(pthread_t, const char *);
	int error;

	REAL("pthread_setname_np");
	error = real(thread, name);
	if (!error)
		thread_named((uintptr_t)thread, name);
	return error;
}

/* Children in our memory: guest.c. */
void vftr_vfork_begin(void)
{
	guests_begin();
}

long vftr_vfork_end(long result)
{
	guests_end();
	if (result >= 0)
		return result;
	errno = (int)-result;
	return -1;
}

EXPORT int clone(int (*run)(void *), void *stack, int flags, void *argument, ...)
{
	static int (*real)(int (*)(void *), void *, int, void *, ...);
	bool guest = (flags & CLONE_VM) && !(flags & CLONE_SETTLS) && !vftr_thread.busy;
	void *parent_tid, *tls, *child_tid;
	va_list more;
	int pid;

	va_start(more, argument);
	parent_tid = va_arg(more, void *);
	tls = va_arg(more, void *);
	child_tid = va_arg(more, void *);
	va_end(more);
	REAL("clone");
	if (guest)
		guests_begin();
	pid = real(run, stack, flags, argument, parent_tid, tls, child_tid);
	if (guest && (pid < 0 || (flags & CLONE_VFORK)))
		guests_end();
	return pid;
}

EXPORT void _exit(int status)
{
	vftr_goodbye_now();
	for (;;)
		syscall(SYS_exit_group, status);
}

EXPORT void _Exit(int status)
{
	_exit(status);
}
