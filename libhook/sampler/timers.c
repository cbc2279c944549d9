/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A timer for each thread, of its own CPU time, whose signal comes to that thread: it is not
 * interrupted while it sleeps or waits. A child of fork() inherits no timers, and execve() ends
 * them together with their pending signals.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "libhook/sampler/sampler.h"
#include "shm/system.h"

#define TIMERS_MOST 4096u
/* The kernel keeps at least so much below the stack of the first thread free of other mappings. */
#define FIRST_STACK_BYTES ((uintptr_t)128 << 20)
/* Above the frame of a thread's first function of ours there is more of it than that. */
#define ABOVE_FIRST_FRAME 512

struct sampler vftr_sampler;

/* With the lock held. */
static struct {
	int32_t tid; /* 0: free */
	int id;
} timers[TIMERS_MOST];
static uint32_t n_timers; /* all beyond are free */
static bool installed;	  /* our handler, here or in a parent */

static int create(int32_t tid, int *id)
{
	const int64_t ns = (int64_t)vftr_sampler.period_ns;
	const struct timespec period = {ns / 1000000000, ns % 1000000000};
	/* by chance: of threads that live for less than a period some have a sample, too */
	const int64_t first = 1 + (int64_t)(clock_counter() * 0x9e3779b97f4a7c15u % (uint64_t)ns);
	const struct itimerspec when = {period, {first / 1000000000, first % 1000000000}};
	const clockid_t its_cpu = (clockid_t)(~(unsigned)tid << 3 | 6); /* as the kernel has it */
	struct sigevent e = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SAMPLER_SIGNAL};

	e.sigev_value.sival_ptr = (void *)(uintptr_t)SAMPLER_VALUE(tid);
	e._sigev_un._tid = tid;
	if (syscall(SYS_timer_create, its_cpu, &e, id))
		return -errno;
	if (!syscall(SYS_timer_settime, *id, 0, &when, NULL))
		return 0;
	syscall(SYS_timer_delete, *id);
	return -EAGAIN;
}

static uint32_t place_of(int32_t tid)
{
	uint32_t i = 0;

	while (i < n_timers && timers[i].tid != tid)
		i++;
	return i;
}

static void begin_thread(int32_t tid)
{
	uint32_t i = place_of(tid);
	int error = -EAGAIN;

	if (i < n_timers) /* it was here when we came */
		return;
	i = place_of(0);
	if (i < TIMERS_MOST)
		error = create(tid, &timers[i].id);
	if (error == -EINVAL || error == -ESRCH) /* it has ended */
		return;
	if (error) {
		add_relaxed_u32(&stack_samples_app(&vftr_sampler.ring)->timerless, 1);
		return;
	}
	timers[i].tid = tid;
	if (i == n_timers)
		n_timers++;
}

static void end_thread(int32_t tid)
{
	const uint32_t i = place_of(tid);

	if (i == n_timers)
		return;
	syscall(SYS_timer_delete, timers[i].id);
	timers[i].tid = 0;
}

struct task_entry { /* as of getdents64(2) */
	uint64_t inode, offset;
	uint16_t bytes;
	uint8_t type;
	char name[];
};

static void begin_others_of(const char *entries, long bytes)
{
	const int own = (int)syscall(SYS_gettid);

	for (long at = 0; at < bytes;) {
		const struct task_entry *e = (const void *)(entries + at);

		if (e->name[0] != '.' && atoi(e->name) != own)
			begin_thread(atoi(e->name));
		at += e->bytes;
	}
}

/* The calling thread's stack for signals, if it has one, is not too small for one more. */
static bool has_stack(void)
{
	stack_t own;

	return syscall(SYS_sigaltstack, NULL, &own) || (own.ss_flags & SS_DISABLE) ||
	       own.ss_size >= getauxval(AT_MINSIGSTKSZ) + SAMPLER_STACK;
}

static void begin_threads(void)
{
	static char entries[4096] __attribute__((aligned(8))); /* the lock is held */
	const int fd = (int)syscall(
		SYS_openat, AT_FDCWD, "/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	long n;

	if (has_stack())
		begin_thread((int32_t)syscall(SYS_gettid));
	while (fd >= 0 && (n = syscall(SYS_getdents64, fd, entries, sizeof(entries))) > 0)
		begin_others_of(entries, n);
	if (fd >= 0)
		syscall(SYS_close, fd);
}

/* False: the program has a use for the signal. */
static bool install_handler(void)
{
	struct sigaction is, ours = {.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK};

	if (sigaction(SAMPLER_SIGNAL, NULL, &is))
		return false;
	if (is.sa_sigaction != vftr_sampler_handler) { /* a child has its parent's */
		if (is.sa_handler != SIG_DFL && is.sa_handler != SIG_IGN)
			return false;
		vftr_sampler.before = is;
	}
	if (vftr_sampler_note_caught)
		vftr_sampler_note_caught();
	else
		store_relaxed(&vftr_sampler.caught, 1);
	ours.sa_sigaction = vftr_sampler_handler;
	memset(&ours.sa_mask, 0xff, sizeof(ours.sa_mask)); /* nothing comes into it */
	if (sigaction(SAMPLER_SIGNAL, &ours, NULL))
		return false;
	installed = true;
	return true;
}

static void stop_timers(void)
{
	store_relaxed(&vftr_sampler.on, 0);
	for (uint32_t i = 0; i < n_timers; i++)
		if (timers[i].tid)
			syscall(SYS_timer_delete, timers[i].id);
	n_timers = 0;
}

/*
 * The handler may be writing, on another thread: the memory of another agent takes the place of
 * that before, if it has its size.
 */
static int map_samples(int fd, uint64_t ring_size)
{
	struct ring *r = &vftr_sampler.ring;

	if (!r->base)
		return vftr_segment_map_ring(fd, ring_size, r);
	return r->size == ring_size ? vftr_segment_replace_ring(fd, r) : -EPROTO;
}

void vftr_sampler_forgo(void)
{
	stop_timers();
	vftr_sampler.period_ns = 0;
}

int vftr_sampler_receive(int socket, struct patience *patience)
{
	struct wire_samples m;
	size_t got = 0;
	int fd = -1, error = vftr_message_receive_on(socket, &m, sizeof(m), &fd, &got, patience);

	if (!error && (got < sizeof(m) || m.head.kind != WIRE_SAMPLES || fd < 0 || !m.period_ns))
		error = -EPROTO;
	if (!error)
		error = map_samples(fd, m.ring_size);
	stop_timers(); /* their period may be another one now */
	if (!error)
		vftr_sampler.period_ns = m.period_ns;
	if (fd >= 0)
		sys_close(fd);
	return error;
}

void vftr_sampler_begin(void)
{
	if (!vftr_sampler.period_ns)
		return;
	if (!install_handler()) {
		store_relaxed(&stack_samples_app(&vftr_sampler.ring)->end, STACK_SAMPLES_SIGNAL);
		return;
	}
	store_release(&vftr_sampler.on, 1); /* pairs with vftr_sampler_handler() */
	begin_threads();
}

void vftr_sampler_thread_begin(void)
{
	if (!load_relaxed(&vftr_sampler.on))
		return;
	busy_begin(&vftr_thread); /* the lock is no lock of the program */
	vftr_process_lock();
	if (load_relaxed(&vftr_sampler.on)) {
		begin_thread((int32_t)syscall(SYS_gettid));
		vftr_thread_end_install();
	}
	vftr_process_unlock();
	busy_end(&vftr_thread);
}

void vftr_sampler_thread_end(void)
{
	if (!load_relaxed(&vftr_sampler.on))
		return;
	busy_begin(&vftr_thread); /* the lock is no lock of the program */
	vftr_process_lock();
	if (load_relaxed(&vftr_sampler.on))
		end_thread((int32_t)syscall(SYS_gettid));
	vftr_process_unlock();
	busy_end(&vftr_thread);
}

void vftr_sampler_stop(void)
{
	const int saved_errno = errno;

	busy_begin(&vftr_thread); /* the lock is no lock of the program */
	vftr_process_lock();
	if (load_relaxed(&vftr_sampler.on)) {
		stop_timers();
		store_relaxed(&stack_samples_app(&vftr_sampler.ring)->end, STACK_SAMPLES_SIGNAL);
	}
	vftr_process_unlock();
	busy_end(&vftr_thread);
	errno = saved_errno;
}

/* A signal that is on its way is ignored then; a handler that the program has set stays. */
static void take_handler_back(void)
{
	struct sigaction is;

	if (sigaction(SAMPLER_SIGNAL, NULL, &is))
		return;
	if (is.sa_sigaction == vftr_sampler_handler || is.sa_handler == SIG_DFL ||
		is.sa_handler == SIG_IGN)
		sigaction(SAMPLER_SIGNAL, &vftr_sampler.before, NULL);
}

void vftr_sampler_end(void)
{
	if (!installed)
		return;
	busy_begin(&vftr_thread); /* the lock is no lock of the program */
	vftr_process_lock();
	if (load_relaxed(&vftr_sampler.on))
		stop_timers();
	vftr_process_unlock();
	take_handler_back();
	busy_end(&vftr_thread);
}

void vftr_sampler_forget(void)
{
	store_relaxed(&vftr_sampler.on, 0);
	n_timers = 0;
	vftr_sampler.period_ns = 0;
	vftr_thread.periods = 0;
	vftr_segment_unmap_ring(&vftr_sampler.ring);
}

void vftr_thread_stack(size_t bytes)
{
	struct thread *t = &vftr_thread;
	const uintptr_t own = (uintptr_t)pthread_self(),
			frame = (uintptr_t)__builtin_dwarf_cfa() + ABOVE_FIRST_FRAME;

	t->stack_high = frame < own ? frame : own; /* below that is the stack */
	t->stack_low = own > bytes ? own - bytes : own;
}

/* Its stack ends at random bytes that the kernel has put there. */
__attribute__((constructor)) static void note_first_stack(void)
{
	struct thread *t = &vftr_thread;
	const uintptr_t high = getauxval(AT_RANDOM);
	uintptr_t bytes = FIRST_STACK_BYTES;
	struct rlimit limit;

	if (!high || (int)syscall(SYS_gettid) != getpid())
		return;
	if (!getrlimit(RLIMIT_STACK, &limit) && limit.rlim_cur < bytes)
		bytes = limit.rlim_cur;
	t->stack_high = high;
	t->stack_low = high > bytes ? high - bytes : 0;
}
