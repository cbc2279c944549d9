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
 * The functions of libraries that the program starts with are looked up at the start. The loader's
 * lookup waits while constructors run, and they may wait for threads that come
 * here; nor may a signal handler call it.
 */
#define EARLY(name)                                                                                \
	name(longjmp) name(_longjmp) name(siglongjmp) name(__longjmp_chk) name(__cxa_throw)        \
		name(__cxa_rethrow) name(_Unwind_Resume) name(__cxa_begin_catch) name(dlclose)     \
			name(pthread_create) name(thrd_create) name(pthread_setname_np)            \
				name(clone)

enum early {
#define EARLY_NUMBER(name) EARLY_##name,
	EARLY(EARLY_NUMBER) EARLY_NAMES
#undef EARLY_NUMBER
};

static void *early[EARLY_NAMES];
static const char *const early_names[] = {
#define EARLY_TEXT(name) #name,
	EARLY(EARLY_TEXT)
#undef EARLY_TEXT
};

__attribute__((constructor)) static void find_early(void)
{
	for (unsigned i = 0; i < EARLY_NAMES; i++)
		store_relaxed(&early[i], dlsym(RTLD_NEXT, early_names[i]));
	dlerror(); /* programs in C have none of C++: that is no error of theirs */
}

/* The next definition, also before our constructor has run. */
static void *next(enum early which)
{
	void *found = load_relaxed(&early[which]);

	return found ? found : dlsym(RTLD_NEXT, early_names[which]);
}

/*
 * The definition that the caller would have got without us: the next one in the
 * global scope, else the one among the libraries of the caller, which may have
 * been loaded with RTLD_LOCAL (a C++ plug-in in a C program).
 */
static void *next_of(enum early which, const void *caller)
{
	void *found = next(which), *object;
	int (*close_it)(void *);
	Dl_info info;

	if (found || !dladdr(caller, &info) || !info.dli_fname)
		return found;
	object = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
	if (!object)
		return NULL;
	found = dlsym(object, early_names[which]);
	*(void **)&close_it = next(EARLY_dlclose);
	close_it(object); /* it was loaded before, and stays so */
	return found;
}

#define NEXT(real, name)    (*(void **)&(real) = next(EARLY_##name))
#define NEXT_OF(real, name) (*(void **)&(real) = next_of(EARLY_##name, __builtin_return_address(0)))

/* The next enter on this thread states where its caller is. */
static void jumping(void)
{
	struct thread *t = &vftr_thread;

	if (vftr_thread_is_vfork_child(t))
		return;
	t->limit = NULL;
	vftr_slow_path_jump(t);
}

#define JUMP(name)                                                                                 \
	EXPORT void name(void *env, int value) __attribute__((noreturn));                          \
	EXPORT void name(void *env, int value)                                                     \
	{                                                                                          \
		void (*real)(void *, int) __attribute__((noreturn));                               \
                                                                                                   \
		NEXT(real, name);                                                                  \
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

	NEXT_OF(real, __cxa_throw);
	jumping();
	real(object, type, destroy);
}

EXPORT void __cxa_rethrow(void) __attribute__((noreturn));
EXPORT void __cxa_rethrow(void)
{
	void (*real)(void) __attribute__((noreturn));

	NEXT_OF(real, __cxa_rethrow);
	jumping();
	real();
}

EXPORT void _Unwind_Resume(void *exception) __attribute__((noreturn));
EXPORT void _Unwind_Resume(void *exception)
{
	void (*real)(void *) __attribute__((noreturn));

	NEXT_OF(real, _Unwind_Resume);
	jumping();
	real(exception);
}

EXPORT void *__cxa_begin_catch(void *exception);
EXPORT void *__cxa_begin_catch(void *exception)
{
	void *(*real)(void *);

	NEXT_OF(real, __cxa_begin_catch);
	jumping();
	return real(exception);
}

EXPORT int dlclose(void *handle)
{
	int (*real)(void *);
	bool ours = process_is_on() && !thread_is_busy(&vftr_thread) &&
		    !vftr_thread_is_vfork_child(&vftr_thread);
	int result;

	NEXT(real, dlclose);
	if (ours) {
		busy_begin(&vftr_thread);
		vftr_modules_refresh_surely();
		busy_end(&vftr_thread);
	}
	result = real(handle);
	if (ours) {
		busy_begin(&vftr_thread);
		vftr_modules_refresh_surely();
		busy_end(&vftr_thread);
	}
	return result;
}

/* ---- threads ---- */

/* Of a new thread; 0: not known. */
static size_t stack_bytes_of(const pthread_attr_t *attr)
{
	pthread_attr_t usual;
	size_t bytes = 0;

	if (attr)
		return pthread_attr_getstacksize(attr, &bytes) ? 0 : bytes;
	if (pthread_getattr_default_np(&usual))
		return 0;
	if (pthread_attr_getstacksize(&usual, &bytes))
		bytes = 0;
	pthread_attr_destroy(&usual);
	return bytes;
}

EXPORT int pthread_create(
	pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *), void *argument)
{
	int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
	struct thread_start *s = vftr_thread_start_new(run, NULL, argument, stack_bytes_of(attr));
	int error;

	ompt_thread_created((const void *)run);
	NEXT(real, pthread_create);
	if (!s)
		return real(thread, attr, run, argument);
	error = real(thread, attr, vftr_thread_start_posix, s);
	if (error)
		vftr_thread_start_cancel(s);
	return error;
}

EXPORT int thrd_create(thrd_t *thread, thrd_start_t run, void *argument)
{
	int (*real)(thrd_t *, thrd_start_t, void *);
	struct thread_start *s = vftr_thread_start_new(NULL, run, argument, stack_bytes_of(NULL));
	int error;

	NEXT(real, thrd_create);
	if (!s)
		return real(thread, run, argument);
	error = real(thread, vftr_thread_start_c11, s);
	if (error != thrd_success)
		vftr_thread_start_cancel(s);
	return error;
}

EXPORT int pthread_setname_np(pthread_t thread, const char *name)
{
	int (*real)(pthread_t, const char *);
	int error;

	NEXT(real, pthread_setname_np);
	error = real(thread, name);
	if (!error)
		vftr_thread_named((uintptr_t)thread, name);
	return error;
}

/* Children in our memory: vfork-child.c. */
void vftr_vfork_begin(void)
{
	vftr_vfork_children_begin();
}

long vftr_vfork_end(long result)
{
	vftr_vfork_children_end();
	if (result >= 0)
		return result;
	errno = (int)-result;
	return -1;
}

EXPORT int clone(int (*run)(void *), void *stack, int flags, void *argument, ...)
{
	int (*real)(int (*)(void *), void *, int, void *, ...);
	bool vfork_child =
		(flags & CLONE_VM) && !(flags & CLONE_SETTLS) && !thread_is_busy(&vftr_thread);
	void *parent_tid, *tls, *child_tid;
	va_list more;
	int pid;

	va_start(more, argument);
	parent_tid = va_arg(more, void *);
	tls = va_arg(more, void *);
	child_tid = va_arg(more, void *);
	va_end(more);
	NEXT(real, clone);
	if (vfork_child)
		vftr_vfork_children_begin();
	pid = real(run, stack, flags, argument, parent_tid, tls, child_tid);
	if (vfork_child && (pid < 0 || (flags & CLONE_VFORK)))
		vftr_vfork_children_end();
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
