/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A signal handler may leave by a jump, and with it the slow path that it has
 * interrupted. Nobody tells us where a jump goes: the next event shows it, by its
 * place on the stack. What the slow path had begun is then brought to where
 * it can go on; at each of its instructions that is one of a few cases.
 */
#include <errno.h>
#include <signal.h>
#include <sys/uio.h>
#include <unistd.h>
#include "libhook/process.h"

#define HANDLER_BYTES 512   /* between what a signal interrupts and its handler, at least */
#define FRAME_BYTES   65536 /* larger ones are not searched */
#define NOT_FOUND     ((uintptr_t)1) /* where no return address lies */

static bool inside(uintptr_t address, const stack_t *stack)
{
	return address - (uintptr_t)stack->ss_sp < stack->ss_size;
}

/* For two stack addresses: true for each that is on the signal handlers' own stack. */
static bool on_other_stack(uintptr_t a, uintptr_t b, bool *a_is, bool *b_is)
{
	stack_t other = {.ss_size = 0};

	if (sigaltstack(NULL, &other))
		return false;
	*a_is = !(other.ss_flags & SS_DISABLE) && inside(a, &other);
	*b_is = !(other.ss_flags & SS_DISABLE) && inside(b, &other);
	return true;
}

/*
 * The stack address at which a frame keeps its return address `site`. The kernel reads
 * the memory, as a hook may be called with any address. An old copy of the same address
 * in the frame is nearer, and makes the frame seem deeper than it is.
 */
static uintptr_t return_place(uintptr_t from, const void *site)
{
	uintptr_t words[64], end = from + FRAME_BYTES;

	while (site && from < end) {
		size_t bytes = SEGMENT_PAGE - from % SEGMENT_PAGE;
		struct iovec to = {words, bytes < sizeof(words) ? bytes : sizeof(words)};
		struct iovec what = {(void *)from, to.iov_len};

		if (process_vm_readv(getpid(), &to, 1, &what, 1, 0) != (ssize_t)to.iov_len)
			return NOT_FOUND;
		for (size_t i = 0; i < to.iov_len / sizeof(words[0]); i++)
			if (words[i] == (uintptr_t)site)
				return from + i * sizeof(words[0]);
		from += to.iov_len;
	}
	return NOT_FOUND;
}

/* True if we are nearer to the beginning of the stack than a handler of that code could be. */
bool vftr_slow_path_left(const struct thread *t, uintptr_t here, const void *site)
{
	bool now, then;

	if (!t->left || !on_other_stack(here, t->busy_at, &now, &then))
		return false;
	if (now != then)
		return then;
	return here + HANDLER_BYTES > t->busy_at ||
	       (t->busy_return > NOT_FOUND && return_place(here, site) >= t->busy_return);
}

/* Finds the place of the next word. Words may be left out, but never stored twice. */
static void find_place(struct thread *t)
{
	uint64_t *first = t->ring.stage[t->stage] + 1, *end = first - 1 + BLOCK_WORDS;

	/* one of the two was set first; and the fast path goes on moving cur */
	if (t->at > t->cur && t->at <= end)
		t->cur = t->at;
	if (t->cur < first || t->cur > end)
		t->cur = end;
	t->at = t->cur;
}

static void find_stages(struct thread *t)
{
	struct ring_producer_shm *p = t->ring.producer;
	unsigned current = t->stage, other = current ^ 1;
	uint64_t head = load_relaxed(&p->head);

	store_relaxed(&p->waiting, 0);
	if (p->stage[other] == head && p->stage[current] == head + BLOCK_BYTES) {
		t->state =
			THREAD_DROPPING; /* both are to be published: if there is room, at once */
	} else if ((int64_t)(p->stage[other] - head) < 0) {
		zero_block(t->ring.stage[other]);
		if (t->state == THREAD_DROPPING)
			t->state = THREAD_ACTIVE;
	} /* else it was opened, and will be again */
}

void vftr_slow_path_repair(struct thread *t)
{
	t->limit = NULL;
	t->nested_depth = 0;
	if (t->generation == vftr_process.generation && t->ring.base &&
		(t->state == THREAD_ACTIVE || t->state == THREAD_PAUSED ||
			t->state == THREAD_DROPPING)) {
		find_place(t);
		find_stages(t);
	}
	fence_signal();
	t->left = 0;
	t->busy = 0;
	if (t->cancel != CANCEL_UNTOUCHED)
		cancel_restore(t->cancel);
}

/* The frames to be left still are there. */
void vftr_slow_path_jump(struct thread *t)
{
	int saved_errno = errno;

	if (t->skipped_depth && !t->skipped_return)
		t->skipped_return = return_place(t->skipped_at, t->skipped_site);
	if (t->busy && !t->busy_return)
		t->busy_return = return_place(t->busy_at, t->busy_site);
	errno = saved_errno;
	t->jumped = t;
	t->left = t->busy != 0;
}

/* Inlined functions have the return address of the one that they are part of. */
static bool is_inlined(const struct thread *t, uint64_t key, const void *site)
{
	return site && site == t->skipped_site && key != t->skipped_key;
}

/*
 * An event as near to the stack's beginning as the first skipped frame, or
 * nearer, shows that it is gone. Of another function with a larger frame only the
 * return address is.
 */
void vftr_skipped_forget(struct thread *t, uint64_t exit_bit, uint64_t key, const void *site)
{
	uintptr_t now = t->busy_at, then = t->skipped_at;
	bool now_other, then_other;

	if (!t->jumped || !t->skipped_depth ||
		!on_other_stack(now, then, &now_other, &then_other) || now_other != then_other)
		return;
	if (now < then && t->skipped_return > NOT_FOUND) {
		then = t->skipped_return;
		now = return_place(now, site);
	}
	if (now < then || (now == then && is_inlined(t, key, site)))
		return;
	t->skipped_depth = exit_bit && now == then;
}
