/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program that has a use for the signal of the timers: sampling ends before it installs a
 * handler, or makes a descriptor of it; where it waits for all signals, those of the timers are not
 * given to it. Our handler is not shown to it, so that none of its own calls that. And whether it
 * has handlers of other signals, which end calls (restart.c).
 */
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/auxv.h>
#include <sys/signalfd.h>
#include <unistd.h>
#include "libhook/sampler/sampler.h"

#define EXPORT __attribute__((visibility("default")))

#define REAL(name)                                                                                 \
	name(sigaction) name(signal) name(sysv_signal) name(__sysv_signal) name(sigset) name(      \
		sigignore) name(signalfd) name(sigwaitinfo) name(sigtimedwait) name(sigaltstack)

enum real {
#define REAL_NUMBER(name) REAL_##name,
	REAL(REAL_NUMBER) REAL_NAMES
#undef REAL_NUMBER
};

static void *reals[REAL_NAMES];
static const char *const real_names[] = {
#define REAL_TEXT(name) #name,
	REAL(REAL_TEXT)
#undef REAL_TEXT
};

/* Signal handlers may call these functions, but must not look them up. */
__attribute__((constructor)) static void find_reals(void)
{
	for (unsigned i = 0; i < REAL_NAMES; i++)
		store_relaxed(&reals[i], dlsym(RTLD_NEXT, real_names[i]));
	dlerror(); /* an older library may lack one */
}

static void *next(enum real which)
{
	void *found = load_relaxed(&reals[which]);

	return found ? found : dlsym(RTLD_NEXT, real_names[which]);
}

#define NEXT(real, name) (*(void **)&(real) = next(REAL_##name))

static void before_use(int number)
{
	/* a child of vfork() has our memory, and no timers */
	if (number == SAMPLER_SIGNAL && load_relaxed(&vftr_sampler.on) &&
		getpid() == vftr_process.pid)
		vftr_sampler_stop();
}

/* A signal that the thread's own instruction has caused finds it in no call. */
static bool may_end_call(int number)
{
	switch (number) {
	case SIGSEGV:
	case SIGBUS:
	case SIGFPE:
	case SIGILL:
	case SIGTRAP:
	case SIGSYS:
	case SIGABRT:
	case SAMPLER_SIGNAL:
		return false;
	default:
		return true;
	}
}

static void note_handler(int number, sighandler_t handler)
{
	if (handler != SIG_DFL && handler != SIG_IGN && may_end_call(number))
		store_relaxed(&vftr_sampler.caught, 1);
}

void vftr_sampler_note_caught(void)
{
	struct sigaction is;

	for (int i = 1; i <= SIGRTMAX; i++) /* of some without these functions, or before us */
		if (!sigaction(i, NULL, &is))
			note_handler(i, is.sa_handler);
}

static void hide(int number, struct sigaction *old)
{
	if (number == SAMPLER_SIGNAL && old->sa_sigaction == vftr_sampler_handler)
		*old = vftr_sampler.before;
}

EXPORT int sigaction(int number, const struct sigaction *act, struct sigaction *old)
{
	int (*real)(int, const struct sigaction *, struct sigaction *), result;

	if (act) {
		before_use(number);
		note_handler(number, act->sa_handler);
	}
	NEXT(real, sigaction);
	result = real(number, act, old);
	if (!result && old)
		hide(number, old);
	return result;
}

#define HANDLER(name)                                                                              \
	EXPORT sighandler_t name(int number, sighandler_t handler);                                \
	EXPORT sighandler_t name(int number, sighandler_t handler)                                 \
	{                                                                                          \
		sighandler_t (*real)(int, sighandler_t);                                           \
		struct sigaction old = {0};                                                        \
                                                                                                   \
		before_use(number);                                                                \
		note_handler(number, handler);                                                     \
		NEXT(real, name);                                                                  \
		old.sa_handler = real(number, handler);                                            \
		hide(number, &old);                                                                \
		return old.sa_handler;                                                             \
	}

HANDLER(signal)
HANDLER(sysv_signal)
HANDLER(__sysv_signal)
HANDLER(sigset)

/* Other names of the C library's for the same. */
EXPORT int __sigaction(int number, const struct sigaction *act, struct sigaction *old) __THROW
	__attribute__((alias("sigaction")));
EXPORT sighandler_t bsd_signal(int number, sighandler_t handler) __THROW
	__attribute__((alias("signal")));
EXPORT sighandler_t ssignal(int number, sighandler_t handler) __THROW
	__attribute__((alias("signal")));

EXPORT int sigignore(int number)
{
	int (*real)(int);

	before_use(number);
	NEXT(real, sigignore);
	return real(number);
}

/* It may be NULL, whatever the header says. */
static bool has_it(const sigset_t *mask)
{
	return mask && sigismember(mask, SAMPLER_SIGNAL) == 1;
}

EXPORT int signalfd(int fd, const sigset_t *mask, int flags)
{
	int (*real)(int, const sigset_t *, int);

	if (has_it(mask))
		before_use(SAMPLER_SIGNAL);
	NEXT(real, signalfd);
	return real(fd, mask, flags);
}

/* The kernel kills a program whose stack for signals has no room for what it stores there. */
EXPORT int sigaltstack(const stack_t *stack, stack_t *old)
{
	int (*real)(const stack_t *, stack_t *);

	if (stack && !(stack->ss_flags & SS_DISABLE) &&
		stack->ss_size < getauxval(AT_MINSIGSTKSZ) + SAMPLER_STACK &&
		load_relaxed(&vftr_sampler.on) && getpid() == vftr_process.pid)
		vftr_sampler_thread_end();
	NEXT(real, sigaltstack);
	return real(stack, old);
}

EXPORT int sigwaitinfo(const sigset_t *set, siginfo_t *info)
{
	int (*real)(const sigset_t *, siginfo_t *), number;
	siginfo_t own;

	NEXT(real, sigwaitinfo);
	do
		number = real(set, info ? info : &own);
	while (number == SAMPLER_SIGNAL && sampler_is_ours(info ? info : &own));
	return number;
}

EXPORT int sigtimedwait(const sigset_t *set, siginfo_t *info, const struct timespec *limit)
{
	int (*real)(const sigset_t *, siginfo_t *, const struct timespec *), number;
	siginfo_t own;

	NEXT(real, sigtimedwait);
	do
		number = real(set, info ? info : &own, limit);
	while (number == SAMPLER_SIGNAL && sampler_is_ours(info ? info : &own));
	return number;
}

/* As the C library's: no signal that it does not wait for ends it. */
EXPORT int sigwait(const sigset_t *set, int *number)
{
	int got, saved_errno = errno;

	do
		got = sigwaitinfo(set, NULL);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		got = -errno;
	errno = saved_errno;
	if (got < 0)
		return -got;
	*number = got;
	return 0;
}
