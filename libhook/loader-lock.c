/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The lock that dl_iterate_phdr() waits for. glibc does not make it new in a child of fork(): if
 * another thread was at the list of modules then (in dlopen(), or in dl_iterate_phdr() itself),
 * who waits for it in the child waits for ever. The program may never look at the list there, so
 * we must not wait either. And a signal handler may come while dlclose() is at the list: the lock
 * is recursive, and what is unmapped is still there. The lock has no name. It is found as the mutex
 * of the loader that the caller has in a callback of dl_iterate_phdr(), and has not after it; from
 * then on we only try it.
 */
#include <elf.h>
#include <link.h>
#include <pthread.h>
#include <sched.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "libhook/process.h"
#include "shm/clock.h"

#define TRY_NS 100000000u
#define MINE   8

static pthread_mutex_t *lock; /* NULL: not found, dl_iterate_phdr() waits for it unseen */
static bool stuck;

struct search {
	uintptr_t loader;
	int32_t tid;
	unsigned n; /* mutexes that the caller has in the callback */
	struct {
		pthread_mutex_t *mutex;
		uint32_t count;
	} mine[MINE];
};

/* How often the thread has it; 0: it has not, or this is no such mutex. */
static uint32_t count_of(const pthread_mutex_t *m, int32_t tid)
{
#ifdef __GLIBC__
	if (load_relaxed(&m->__data.__kind) == PTHREAD_MUTEX_RECURSIVE_NP &&
		load_relaxed(&m->__data.__owner) == tid && load_relaxed(&m->__data.__lock) > 0)
		return load_relaxed(&m->__data.__count);
#endif
	(void)m, (void)tid;
	return 0;
}

static int look_at_loader(struct dl_phdr_info *info, size_t bytes, void *context)
{
	struct search *s = context;

	(void)bytes;
	if (info->dlpi_addr != s->loader)
		return 0;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		uintptr_t at = info->dlpi_addr + p->p_vaddr, end = at + p->p_memsz;

		if (p->p_type != PT_LOAD || !(p->p_flags & PF_W))
			continue;
		for (at = (at + 7) & ~(uintptr_t)7; at + sizeof(pthread_mutex_t) <= end; at += 8) {
			pthread_mutex_t *m = (pthread_mutex_t *)at;
			uint32_t count = count_of(m, s->tid);

			if (count && s->n < MINE) {
				s->mine[s->n].mutex = m;
				s->mine[s->n++].count = count;
			}
		}
	}
	return 1;
}

/* Before the program has threads, as a child may be the first that we attach. */
__attribute__((constructor)) static void find_lock(void)
{
	struct search s = {.loader = getauxval(AT_BASE), .tid = (int32_t)syscall(SYS_gettid)};
	pthread_mutex_t *found = NULL;
	unsigned n = 0;

	if (!s.loader || !dl_iterate_phdr(look_at_loader, &s))
		return;
	/* in a constructor of what is loaded now, the thread has another one, too, which stays */
	for (unsigned i = 0; i < s.n; i++)
		if (count_of(s.mine[i].mutex, s.tid) == s.mine[i].count - 1) {
			found = s.mine[i].mutex;
			n++;
		}
	if (n == 1)
		lock = found;
}

/* True if the thread is at the list further up: a signal handler has come while dlclose() was. */
static bool had_it(void)
{
#ifdef __GLIBC__
	return lock->__data.__count > 1;
#else
	return false;
#endif
}

bool vftr_loader_lock_try(bool patiently)
{
	uint64_t from = 0, now;

	if (!lock)
		return true;
	while (!stuck) {
		if (!pthread_mutex_trylock(lock)) {
			if (!had_it())
				return true;
			pthread_mutex_unlock(lock);
			return false;
		}
		now = patiently ? clock_raw_ns() : 0;
		if (!from)
			from = now;
		if (!patiently || now - from > TRY_NS)
			return false;
		sched_yield();
	}
	return false;
}

void vftr_loader_lock_give(void)
{
	if (lock)
		pthread_mutex_unlock(lock);
}

int vftr_loader_walk(int (*see)(struct dl_phdr_info *, size_t, void *), void *context)
{
	int seen;

	if (!vftr_loader_lock_try(true))
		return 0;
	seen = dl_iterate_phdr(see, context);
	vftr_loader_lock_give();
	return seen;
}

void vftr_loader_lock_in_child(void)
{
	if (vftr_loader_lock_try(false))
		vftr_loader_lock_give();
	else
		stuck = true;
}
