/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds the creator of a thread. The new thread begins in one of two small functions of
 * ours, which note the creator's number and then become the function that was
 * asked for. What they need to know waits in a pool of our own: no heap, no
 * lock, and a fork() at any moment leaves it whole. Also the names of threads.
 */
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include "libhook/process.h"

struct thread_start {
	uint32_t taken;
	uint32_t parent;
	void *(*run)(void *);
	int (*run_c11)(void *);
	void *argument;
	size_t stack_bytes;
};

#define POOL_STARTS 100u /* threads created that have not begun yet */
#define POOLS	    1024u

struct pool {
	struct thread_start start[POOL_STARTS];
};

static uint32_t *pools[POOLS]; /* struct pool, from the first one on */
static uint32_t hint;	       /* a pool that had room */

static struct pool *pool_at(uint32_t i)
{
	uint32_t *pool = load_acquire(&pools[i]);
	void *memory;

	if (pool)
		return (struct pool *)(void *)pool;
	memory = mmap(NULL, sizeof(struct pool), PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		return NULL;
	if (!claim_null(&pools[i], memory)) /* another thread was faster */
		munmap(memory, sizeof(struct pool));
	return (struct pool *)(void *)load_acquire(&pools[i]);
}

static struct thread_start *take_from(struct pool *p)
{
	for (uint32_t i = 0; p && i < POOL_STARTS; i++)
		if (!load_relaxed(&p->start[i].taken) && claim_u32(&p->start[i].taken, 0, 1))
			return &p->start[i];
	return NULL;
}

/* 1 + number of this thread, or of the nearest one above it that has one. 0: this agent has not
 * numbered it yet. */
static uint32_t creator(void)
{
	const struct thread *t = &vftr_thread;

	if (!t->ring.base)
		return t->parent;
	return t->generation == vftr_process.generation ? t->number + 1 : 0;
}

struct thread_start *vftr_thread_start_new(
	void *(*run)(void *), int (*run_c11)(void *), void *argument, size_t stack_bytes)
{
	uint32_t first = load_relaxed(&hint);
	struct thread_start *s = NULL;

	if (!load_relaxed(&vftr_own.here) && load_relaxed(&vftr_process.state) == PROCESS_ON)
		vftr_process_born(); /* while this thread is the only one */
	for (uint32_t k = 0; !s && k < POOLS; k++) {
		uint32_t i = (first + k) % POOLS;
		struct pool *p = pool_at(i);

		if (!p)
			return NULL;
		s = take_from(p);
		if (s && i != first)
			store_relaxed(&hint, i);
	}
	if (!s)
		return NULL;
	s->parent = creator();
	s->run = run;
	s->run_c11 = run_c11;
	s->stack_bytes = stack_bytes;
	s->argument = argument;
	return s;
}

void vftr_thread_start_cancel(struct thread_start *s)
{
	store_release(&s->taken, 0);
}

static inline __attribute__((always_inline)) struct thread_start begin(struct thread_start *waiting)
{
	struct thread_start s = *waiting;

	store_release(&waiting->taken, 0);
	vftr_thread.parent = s.parent;
	vftr_thread_stack(s.stack_bytes);
	vftr_sampler_thread_begin();
	return s;
}

void *vftr_thread_start_posix(void *start)
{
	struct thread_start s = begin(start);

	return s.run(s.argument);
}

int vftr_thread_start_c11(void *start)
{
	struct thread_start s = begin(start);

	return s.run_c11(s.argument);
}

void vftr_thread_own_name(char name[THREAD_NAME_BYTES])
{
	memset(name, 0, THREAD_NAME_BYTES);
	prctl(PR_GET_NAME, name);
}

void vftr_thread_named(uintptr_t pthread_self, const char *name)
{
	struct wire_number named = {.head = {.kind = WIRE_THREAD_NAME}};
	struct wire_text text = {{name}};
	uint32_t index;
	int saved_errno = errno;

	/* a thread without a ring tells its name when it gets one */
	if (thread_is_busy(&vftr_thread) || !process_is_on())
		return;
	busy_begin_surely(&vftr_thread, NULL);
	vftr_thread.limit = NULL;
	vftr_process_lock();
	index = vftr_rings_of(pthread_self);
	named.number = index;
	if (index != UINT32_MAX)
		vftr_message_send(&named.head, sizeof(named), &text);
	vftr_process_unlock();
	busy_end_surely(&vftr_thread); /* the next event sets limit again */
	errno = saved_errno;
}
