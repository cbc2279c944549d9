/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A stack sample of the thread that runs this handler. It may have interrupted anything: hooks,
 * the slow path, malloc(), the loader. So it reads its own stack and registers, writes into memory
 * that it has claimed, and calls nothing: no function of the C library, which the program may
 * have replaced, and no system call, which a filter of the program might forbid.
 */
#include "libhook/sampler/sampler.h"
#include "shm/copy.h"

#define LATE_MOST_NS UINT64_C(20000000) /* the kernel looks at timers so often, or oftener */

#if defined(__x86_64__)
static uintptr_t stack_pointer(const mcontext_t *m)
{
	return (uintptr_t)m->gregs[REG_RSP];
}

static void store_registers(uint64_t *to, const mcontext_t *m)
{
	static const uint8_t order[STACK_SAMPLE_REGS] = {REG_RAX, REG_RBX, REG_RCX, REG_RDX,
		REG_RSI, REG_RDI, REG_RBP, REG_RSP, REG_RIP, REG_EFL, REG_CSGSFS, REG_CSGSFS,
		REG_R8, REG_R9, REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};

	for (unsigned i = 0; i < STACK_SAMPLE_REGS; i++)
		to[i] = (uint64_t)m->gregs[order[i]];
}
#elif defined(__aarch64__)
static uintptr_t stack_pointer(const mcontext_t *m)
{
	return (uintptr_t)m->sp;
}

static void store_registers(uint64_t *to, const mcontext_t *m)
{
	copy_words(to, (const uint64_t *)m->regs, 31);
	to[31] = m->sp;
	to[32] = m->pc;
}
#else
static uintptr_t stack_pointer(const mcontext_t *m)
{
	return 0;
}

static void store_registers(uint64_t *to, const mcontext_t *m)
{
}
#endif

/* How much of the stack may be read: to its end if it is the thread's own, else, on one that we
 * know nothing of, to the end of the page; if a page begins there, the stack may end there. */
static size_t readable(const struct thread *t, uintptr_t sp)
{
	if (sp >= t->stack_low && sp < t->stack_high)
		return (t->stack_high - sp) & ~(uintptr_t)7;
	return -sp & (SEGMENT_PAGE - 1) & ~(uintptr_t)7;
}

static bool claim(const struct ring *r, uint32_t bytes, uint64_t *position)
{
	struct stack_samples_app_shm *app = stack_samples_app(r);

	for (;;) {
		/* A, pairs with D; before head, so that it is not beyond it */
		const uint64_t tail = load_acquire(&stack_samples_agent(r)->tail);
		const uint64_t head = load_acquire(&app->head);
		const uint64_t to_end = r->size - (head & (r->size - 1));
		const uint64_t gap = to_end < bytes ? to_end : 0;

		if (head + gap + bytes - tail > r->size)
			return false;
		if (!claim_u64(&app->head, head, head + gap + bytes))
			continue;
		if (gap) {
			struct stack_sample_shm *none = stack_sample_at(r, head);

			none->bytes = (uint32_t)gap;
			none->tid = 0;
			store_release(&none->ready, head | 1); /* B, pairs with C */
		}
		*position = head + gap;
		return true;
	}
}

static bool is_mostly_free(const struct ring *r)
{
	/* stale is safe: it is a choice */
	return load_relaxed(&stack_samples_app(r)->head) -
		       load_relaxed(&stack_samples_agent(r)->tail) <
	       r->size / 2;
}

static void take(const struct thread *t, uint32_t tid, uint32_t periods, const mcontext_t *m)
{
	const struct ring *r = &vftr_sampler.ring;
	const uint32_t most = is_mostly_free(r) ? STACK_SAMPLE_DEEP : STACK_SAMPLE_USUAL;
	const uintptr_t sp = stack_pointer(m);
	const size_t there = readable(t, sp);
	const uint32_t stored = there < most ? (uint32_t)there : most;
	const uint32_t bytes = stack_sample_bytes(stored);
	struct stack_sample_shm *s;
	uint64_t position;

	if (bytes > r->size || !claim(r, bytes, &position)) {
		add_relaxed_u64(&stack_samples_app(r)->lost, periods);
		return;
	}
	s = stack_sample_at(r, position);
	s->bytes = bytes;
	s->tid = tid;
	s->ticks = vftr_process_ticks();
	s->periods = periods;
	s->stack_bytes = stored;
	s->is_cut = stored < there;
	store_registers(s->regs, m);
	copy_words((uint64_t *)(s + 1), (const uint64_t *)sp, stored / 8);
	store_release(&s->ready, position | 1); /* B, pairs with C */
}

/* Periods since the last sample of this thread, if one is due now. */
static uint32_t periods_due(struct thread *t, uint32_t overrun)
{
	struct stack_samples_app_shm *app = stack_samples_app(&vftr_sampler.ring);
	uint32_t periods;

	/* it was blocked, or the thread was in one call for long */
	if (overrun * vftr_sampler.period_ns > LATE_MOST_NS) {
		add_relaxed_u64(&app->late, overrun);
		overrun = 0;
	}
	t->periods += 1 + overrun;
	if (t->periods <= load_relaxed(&stack_samples_agent(&vftr_sampler.ring)->skip))
		return 0;
	periods = t->periods;
	t->periods = 0;
	return periods;
}

void vftr_sampler_handler(int number, siginfo_t *info, void *context)
{
	struct thread *t = &vftr_thread;
	ucontext_t *c = context;
	uint32_t periods;

	vftr_sampler_restart(c); /* without us a signal of others would have been ignored */
	if (!sampler_is_ours(info))
		return;
	/* pairs with vftr_sampler_begin() */
	if (!load_acquire(&vftr_sampler.on) || !load_relaxed(&vftr_own.here))
		return;
	periods = periods_due(t, info->si_overrun > 0 ? (uint32_t)info->si_overrun : 0);
	if (periods)
		take(t, (uint32_t)(uintptr_t)info->si_value.sival_ptr, periods, &c->uc_mcontext);
}
