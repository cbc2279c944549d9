/* SPDX-License-Identifier: BSD-3-Clause */
/* A wait: its frame, and who is told when the lock is given back. */
#include "libc/locks/locks.h"

/* Found when the program is loaded: nobody has to be asked for it later. */
extern const struct locks_host *vftrace_locks_host(void) __attribute__((weak));

const struct locks_host *locks_host;

static __attribute__((constructor(101))) void find_host(void)
{
	const struct locks_host *h = vftrace_locks_host ? vftrace_locks_host() : NULL;

	if (h && h->version == LOCKS_SEAM_VERSION)
		locks_host = h;
}

struct waiting locks_waiting[WAITING] __attribute__((aligned(64)));

static const char *const names[CALLS] = {
#define NAME(symbol) [CALL_##symbol] = #symbol,
	LOCK_WAITS(NAME)
#undef NAME
};

/* What the host knows a name by; 0: nothing yet. */
static uint32_t cache[CALLS];

void locks_begin(struct wait *w, enum function f, const void *lock, enum lock_kind kind)
{
	*w = (struct wait){.function = f, .lock = lock};
	if (!locks_host || !locks_host->on())
		return;
	w->number = locks_number(lock, kind);
	/* pairs with the load in locks_leaves(); the lock itself orders the rest */
	add_relaxed_u32(locks_waiting_for(lock), 1);
	locks_host->wait(LOCK_WAIT_BEGINS, names[f], &cache[f], w->number);
}

void locks_end(const struct wait *w, enum lock_wait how)
{
	if (!w->number)
		return;
	locks_host->wait(how, names[w->function], &cache[w->function], w->number);
	add_relaxed_u32(locks_waiting_for(w->lock), UINT32_MAX); /* nothing depends on its order */
}

void locks_cancelled(void *wait)
{
	locks_end(wait, LOCK_WAIT_OVER);
}

void locks_leave(const void *lock, enum lock_kind kind)
{
	if (locks_host)
		locks_host->leaves(lock_number((uintptr_t)lock, kind), 0);
}
