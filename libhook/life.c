/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Births and deaths: fork, the end of threads, the ways a process ends well.
 * Nothing has to be flushed: what is in the staging blocks is the agent's.
 */
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
#include "libhook/process.h"

static pthread_key_t end_of_thread;
static bool has_key, installed;

/* Nothing may be recorded between fork's copy and our child handler. */
static void before_fork(void)
{
	struct thread *t = &vftr_thread;
	struct wire_number fork = {.head = {.kind = WIRE_FORK}};

	t->busy++;
	fence_signal();
	if (t->busy == 1 && load_acquire(&vftr_process.state) == PROCESS_ON &&
		t->life == vftr_process.life)
		thread_publish(t);
	t->limit = NULL;
	process_lock();
	fork.number = (uint64_t)++vftr_process.forks << 32 | t->index;
	if (vftr_process.state == PROCESS_ON)
		message_send(&fork.head, sizeof(fork), NULL);
}

static void after_fork_in_parent(void)
{
	process_unlock();
	vftr_thread.busy--;
	/* the next event finds limit NULL and sets it again */
}

static void after_fork_in_child(void)
{
	process_forget();
	vftr_thread.busy = 0;
}

/*
 * Destructors of others may come after ours and still call us. So the first
 * time only asks for another time, when all of them have had their turn; what
 * comes later still has a ring of its own, until the C library gives up.
 */
static void thread_ended(void *unused)
{
	struct thread *t = &vftr_thread;

	if (t->busy || t->state == THREAD_NEW || t->life != vftr_process.life)
		return;
	if (t->endings++ == 0) {
		thread_end_install();
		return;
	}
	t->busy = 1;
	t->limit = NULL;
	fence_signal();
	thread_detach(t);
	if (t->endings >= PTHREAD_DESTRUCTOR_ITERATIONS)
		t->state = THREAD_OFF; /* nobody would tell us of the end of another ring */
	fence_signal();
	t->busy = 0;
}

static void goodbye(void)
{
	struct wire_head bye = {.kind = WIRE_BYE};
	struct thread *t = &vftr_thread;

	if (t->busy || load_acquire(&vftr_process.state) != PROCESS_ON)
		return;
	t->busy = 1;
	fence_signal();
	modules_refresh();
	message_send(&bye, sizeof(bye), NULL);
	fence_signal();
	t->busy = 0;
	if (t->state == THREAD_ACTIVE)
		t->limit = t->ring.stage[t->stage] + BLOCK_WORDS;
}

__attribute__((destructor)) static void at_the_end(void)
{
	goodbye();
}

void life_install(void)
{
	if (installed)
		return;
	installed = true;
	pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
	at_quick_exit(goodbye);
	has_key = !pthread_key_create(&end_of_thread, thread_ended);
}

void thread_end_install(void)
{
	if (has_key)
		pthread_setspecific(end_of_thread, &vftr_thread);
}

/* _exit() runs no destructor; interpose.c calls this first. */
void vftr_goodbye_now(void) __attribute__((visibility("hidden")));
void vftr_goodbye_now(void)
{
	/* a child of vfork() shares our memory but is not us */
	if (getpid() == vftr_process.pid)
		goodbye();
}
