/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Births and deaths: fork, the end of threads, the ways a process ends well.
 * Nothing has to be flushed: what is in the staging blocks is the agent's.
 */
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
#include "libhook/process.h"

static pthread_key_t end_of_thread;
static bool installed;

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

static void thread_ended(void *index_plus_1)
{
	struct thread *t = &vftr_thread;
	struct wire_number end = {.head = {.kind = WIRE_THREAD_END}, .number = t->index};

	if (t->busy || t->state == THREAD_NEW || t->life != vftr_process.life)
		return;
	t->busy = 1;
	t->limit = NULL;
	fence_signal();
	if (t->state != THREAD_OFF && load_acquire(&vftr_process.state) == PROCESS_ON)
		message_send(&end.head, sizeof(end), NULL);
	segment_unmap_ring(&t->ring);
	/* destructors of others that still call us get a ring of their own */
	t->state = THREAD_NEW;
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
	if (pthread_key_create(&end_of_thread, thread_ended))
		end_of_thread = 0;
}

void thread_end_install(void)
{
	if (end_of_thread)
		pthread_setspecific(end_of_thread, (void *)(uintptr_t)(vftr_thread.index + 1));
}

/* _exit() runs no destructor; interpose.c calls this first. */
void vftr_goodbye_now(void) __attribute__((visibility("hidden")));
void vftr_goodbye_now(void)
{
	/* a child of vfork() shares our memory but is not us */
	if (getpid() == vftr_process.pid)
		goodbye();
}
