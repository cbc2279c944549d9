/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Births and deaths: fork, the end of threads, the ways a process ends well.
 * Nothing has to be flushed: what is in the staging blocks is the agent's.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "libhook/find-agent.h"
#include "libhook/process.h"
#include "libhook/successor.h"
#include "libhook/switches.h"
#include "shm/system.h"

static pthread_key_t end_of_thread;
static bool has_key, installed;
static bool modules_held; /* by the thread that forks, which has the lock */

/* The child must record nothing between fork's copy and our child handler. */
static void before_fork(void)
{
	struct thread *t = &vftr_thread;
	struct wire_fork fork = {.head = {.kind = WIRE_FORK}};
	bool held;

	busy_begin(t);
	if (t->busy == 1 && process_is_on() && t->generation == vftr_process.generation &&
		!vftr_thread_is_vfork_child(t))
		vftr_thread_publish(t);
	t->limit = NULL;
	held = vftr_modules_hold();
	vftr_process_lock();
	modules_held = held;
	if (!process_is_on())
		return;
	if (load_relaxed(&vftr_process.waits_for_agent)) /* nobody is told */
		return;
	fork.number = ++vftr_process.forks;
	fork.index = t->index;
	if (t->ring.base && t->generation == vftr_process.generation)
		fork.position = load_relaxed(&t->ring.producer->head);
	t->own = true;
	vftr_message_send(&fork.head, sizeof(fork), NULL);
	t->own = false;
}

static void after_fork_in_parent(void)
{
	if (modules_held)
		vftr_modules_release();
	vftr_process_unlock();
	busy_end(&vftr_thread);
	/* the next event finds limit NULL and sets it again */
}

/*
 * A program that is not instrumented may never record anything. If its stacks are to be sampled the
 * agent has asked it to come before main(), and so for its children. And sleds call no hook before
 * they are changed.
 */
static bool is_asked_to_come(void)
{
	const char *v = getenv("VFTR_ATTACH");

	return !vftr_user_has_switched_off() &&
	       ((v && !strcmp(v, "start")) || vftr_sleds_are_there());
}

static void come(void)
{
	if (is_asked_to_come())
		vftr_slow(clock_counter(), 0, 0, NULL);
}

__attribute__((constructor)) static void come_before_main(void)
{
	come();
}

static void after_fork_in_child(void)
{
	struct thread *t = &vftr_thread;
	int saved_errno = errno, parents;

	t->own = true;
	/* a parent that was not attached yet leaves us the place of its own */
	if (vftr_process.state == PROCESS_ON)
		vftr_process.parent_fork =
			load_relaxed(&vftr_process.waits_for_agent) ? 0 : vftr_process.forks;
	parents = vftr_process_forget(t->busy > 1);
	if (vftr_process.state == PROCESS_NEW && vftr_process.parent_traced)
		vftr_agent_expect();
	if (parents >= 0) /* until now the agent has seen one of the two */
		sys_close(parents);
	t->own = false;
	t->busy--;
	vftr_process_child_unlock();
	if (!t->busy)
		come();
	errno = saved_errno;
}

/* The last occasion to give what the thread has stored to a successor of its agent. */
static void follow_agent(struct thread *t, uint64_t look_ticks)
{
	const uint64_t now = clock_counter();

	if (!process_is_on())
		return;
	busy_begin(t);
	if (now - load_relaxed(&vftr_process.agent_looked) >= look_ticks)
		vftr_successor_look(now);
	if (t->ring.base && t->generation != vftr_process.generation &&
		!load_relaxed(&vftr_process.waits_for_agent)) {
		vftr_thread_attach(t);
		t->limit = NULL;
	}
	busy_end(t);
}

/* It has a ring that no agent knows: the next one takes it. */
static void leave_left_ring(struct thread *t)
{
	busy_begin(t);
	t->limit = NULL;
	vftr_process_lock();
	vftr_rings_end_left(t->ring.base, (int32_t)syscall(SYS_gettid));
	t->counts = NULL;
	memset(&t->ring, 0, sizeof(t->ring));
	t->state = THREAD_OFF;
	vftr_process_unlock();
	busy_end(t);
}

/*
 * Destructors of others may come after ours and still call us. So the first
 * time only asks for another time, when all of them have had their turn; what
 * comes later still has a ring of its own, until the C library gives up.
 */
static void thread_ended(void *unused)
{
	struct thread *t = &vftr_thread;

	if (t->busy) /* of a slow path that the thread has left by its end */
		vftr_slow_path_repair(t);
	vftr_sampler_thread_end();
	follow_agent(t, AGENT_LOOK_TICKS);
	if (t->ring.base && t->generation != vftr_process.generation)
		leave_left_ring(t);
	if (t->state == THREAD_NEW || t->generation != vftr_process.generation || !process_is_on())
		return;
	if (t->endings++ == 0) {
		vftr_locks_thread_ends();
		vftr_thread_end_install();
		return;
	}
	busy_begin(t);
	t->limit = NULL;
	vftr_thread_detach(t);
	if (t->endings >= PTHREAD_DESTRUCTOR_ITERATIONS)
		t->state = THREAD_OFF; /* nobody would tell us of the end of another ring */
	busy_end(t);
}

/*
 * The kernel forgets both as soon as the parent has waited for us, mostly before the agent looks.
 * By system calls, as open(), read() and close() may be the program's own.
 */
static void tell_cpu(struct wire_bye *bye)
{
	const int saved_errno = errno;
	struct timespec t;
	char line[128], *end;
	ssize_t n;
	int fd;

	if (!clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t))
		bye->cpu_ns = (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
	fd = (int)syscall(SYS_openat, AT_FDCWD, "/proc/self/schedstat", O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		n = syscall(SYS_read, fd, line, sizeof(line) - 1);
		line[n > 0 ? n : 0] = '\0';
		strtoull(line, &end, 10); /* time on a CPU; then that in the queue for one */
		bye->queued_ns = strtoull(end, NULL, 10);
		syscall(SYS_close, fd);
	}
	errno = saved_errno;
}

static void goodbye(void)
{
	struct wire_bye bye = {.head.kind = WIRE_BYE};
	struct thread *t = &vftr_thread;

	/* a vfork child has our memory but does not end it; nor does a copy of us end us */
	if (thread_is_busy(t) || !process_is_on() || vftr_thread_is_vfork_child(t))
		return;
	if (vftr_gpu_flush)
		vftr_gpu_flush();
	follow_agent(t, 0);
	busy_begin(t);
	vftr_modules_refresh();
	tell_cpu(&bye);
	if (!vftr_message_send(&bye.head, sizeof(bye), NULL))
		vftr_last_words_wait();
	busy_end(t);
	t->limit = NULL; /* the next event sets it again, if that is right */
}

__attribute__((destructor)) static void at_the_end(void)
{
	goodbye();
}

void vftr_generation_install(void)
{
	if (installed)
		return;
	installed = true;
	pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
	at_quick_exit(goodbye);
	has_key = !pthread_key_create(&end_of_thread, thread_ended);
}

/*
 * Before the program has threads and handlers of its own: handlers are called before a fork in the
 * reverse order, so that those of the program, which may wait for a thread that records, do so
 * before we hold anything; a fork waits for a thread that attaches the process; and a key among the
 * first ones needs no memory of the heap.
 */
__attribute__((constructor(101))) static void install_early(void)
{
	vftr_generation_install();
}

/* A program that is linked with -static has none. */
extern ElfW(Dyn) _DYNAMIC[] __attribute__((weak, visibility("hidden")));

/* True of a plug-in with libvftrace.a: the program stays, and what is linked with -z nodelete. */
static bool may_be_unloaded(void)
{
	for (const ElfW(Dyn) *d = _DYNAMIC; d && d->d_tag != DT_NULL; d++)
		if (d->d_tag == DT_DEBUG ||
			(d->d_tag == DT_FLAGS_1 && (d->d_un.d_val & DF_1_NODELETE)))
			return false;
	return _DYNAMIC != NULL;
}

/* A plug-in with libvftrace.a leaves nothing behind that would call it when it has been closed. */
__attribute__((destructor(101))) static void take_back(void)
{
	const bool goes = may_be_unloaded();

	if (!goes && load_acquire(&vftr_process.state) == PROCESS_ON)
		return;
	if (goes)
		vftr_sampler_end();
	if (has_key)
		has_key = pthread_key_delete(end_of_thread) != 0;
}

void vftr_thread_end_install(void)
{
	if (has_key)
		pthread_setspecific(end_of_thread, &vftr_thread);
}

/* _exit() runs no destructor; interpose.c calls this first. */
void vftr_goodbye_now(void) __attribute__((visibility("hidden")));
void vftr_goodbye_now(void)
{
	if (getpid() == vftr_process.pid)
		goodbye();
}
