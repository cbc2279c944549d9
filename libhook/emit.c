/* SPDX-License-Identifier: BSD-3-Clause */
/* The face of the hooks towards the wrappers of MPI and others: emit.h. */
#include "libhook/emit.h"

#include <errno.h>
#include <string.h>
#include "libhook/process.h"

void vftr_enter_id(uint32_t id)
{
	vftr_record(0, id, vftr_gate_is_shut(), __builtin_return_address(0));
}

void vftr_exit_id(uint32_t id)
{
	vftr_record(RECORD_EXIT, id, vftr_gate_is_shut(), __builtin_return_address(0));
}

/* ---- calls whose place in the code is recorded -------------------------------------------- */

static bool enter_call(size_t function, const void *site)
{
	vftr_record(0, (uint32_t)(RECORD_ID_MPI + function), vftr_gate_is_shut(),
		__builtin_return_address(0));
	return true;
}

static __attribute__((noinline, cold)) void call_overtaken(
	uint64_t *to, uint64_t head, uint64_t site, uint64_t base)
{
	vftr_call_overtaken(to, (const uint64_t[2]){head, site}, base);
}

/* The function's last call on this thread came from elsewhere. */
static __attribute__((noinline)) bool enter_from_other_site(
	size_t function, const void *site, uint64_t ticks, uint64_t base)
{
	struct thread *t = &vftr_thread;
	const uint64_t head = record_word(ticks, 0, RECORD_CALL_SITE);
	const uint64_t word = call_site_word((uint32_t)function, (uintptr_t)site);
	uint64_t *to;

	thread_forget_site(t, function);
	to = reserve_words(&t->cur, 2);
	if (unlikely(!is_placed(t, to, 2, base))) {
		vftr_slow(ticks, 0, word, NULL);
		return true;
	}
	store_relaxed(&to[0], head);
	KILLPOINT("site.header");
	store_release(&to[1], word); /* pairs with the agent's look at the last word */
	KILLPOINT("site.stored");
	if (unlikely(load_relaxed(&t->base) != base))
		call_overtaken(to, head, word, base);
	else if (likely(t->sites != vftr_no_sites))
		t->sites[function] = (uintptr_t)site;
	return true;
}

static __attribute__((noinline, cold)) bool enter_call_slowly(
	size_t function, const void *site, uint64_t ticks)
{
	vftr_slow(ticks, 0, call_site_word((uint32_t)function, (uintptr_t)site), NULL);
	return true;
}

/* The handler may have forked: a child has said nothing yet, and the word stands in its block. */
static __attribute__((noinline, cold)) void enter_overtaken(
	uint64_t *to, uint64_t value, uint64_t base, uint64_t site)
{
	struct thread *t = &vftr_thread;

	if (!turns_since(t, base))
		return;
	if (t->sites[CALL_SITE_FUNCTION(site)] == CALL_SITE_ADDRESS(site)) {
		vftr_overtaken(site, NULL, value, false, to, base);
		return;
	}
	/* stored in time: it was published since, or it is in the parent's block */
	if (load_relaxed(to) != value)
		return;
	/* a SYNC of the time that the words around it have changes nothing */
	store_relaxed(to, record_sync_word((uint64_t)(uint32_t)base << RECORD_TIME_BITS));
	vftr_slow(vftr_process_ticks(), 0, site, NULL);
}

/* What this calls has its arguments in the same registers. */
static bool enter_call_from(size_t function, const void *site)
{
	struct thread *t = &vftr_thread;
	uint64_t ticks, base, *to, value;

	if (unlikely(vftr_gate_is_shut()))
		return enter_call_slowly(function, site, clock_counter());
	ticks = clock_counter();
	base = thread_base(t); /* a fork changes it, and forgets the sites */
	if (unlikely((uint32_t)(ticks >> RECORD_TIME_BITS) != (uint32_t)base))
		return enter_call_slowly(function, site, ticks);
	if (unlikely(t->sites[function] != (uintptr_t)site))
		return enter_from_other_site(function, site, ticks, base);
	to = reserve(&t->cur);
	KILLPOINT("fast.reserved");
	if (unlikely(!is_placed(t, to, 1, base)))
		return enter_call_slowly(function, site, ticks);
	value = record_word(ticks, 0, (uint32_t)(RECORD_ID_MPI + function));
	store_relaxed(to, value);
	KILLPOINT("fast.stored");
	fence_signal(); /* who comes after this sees the word */
	if (unlikely(load_relaxed(&t->base) != base))
		enter_overtaken(
			to, value, base, call_site_word((uint32_t)function, (uintptr_t)site));
	return true;
}

bool (*vftr_enter_call)(size_t function, const void *site) = enter_call_from;

void vftr_enter_call_within(size_t function, const void *site)
{
	if (vftr_process.call_sites)
		vftr_slow(clock_counter(), 0,
			CALL_SITE_ONCE | call_site_word((uint32_t)function, (uintptr_t)site), NULL);
	else
		vftr_enter_id((uint32_t)(RECORD_ID_MPI + function));
}

void vftr_call_sites_want(bool wanted)
{
	vftr_process.call_sites = wanted;
	store_relaxed(&vftr_enter_call, wanted ? enter_call_from : enter_call);
}

static __attribute__((noinline, cold)) void emit_slow(
	uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e, uint64_t f)
{
	vftr_emit_slow((const uint64_t[EMIT_WORDS]){a, b, c, d, e, f});
}

static __attribute__((noinline, cold)) void emit_overtaken(uint64_t *to, uint64_t base, uint64_t a,
	uint64_t b, uint64_t c, uint64_t d, uint64_t e, uint64_t f)
{
	vftr_emit_overtaken(to, (const uint64_t[EMIT_WORDS]){a, b, c, d, e, f}, base);
}

/* The words stay in registers; n is a constant to the compiler. */
static inline __attribute__((always_inline)) void emit(
	uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e, uint64_t f, unsigned n)
{
	struct thread *t = &vftr_thread;
	const uint64_t base = thread_base(t);
	uint64_t *to = reserve_words(&t->cur, n);
	const uint64_t last = n == 1 ? a : n == 3 ? c : n == 4 ? d : f;

	if (unlikely(!is_placed(t, to, n, base))) {
		emit_slow(a, b, c, d, e, f);
		return;
	}
	if (n > 1)
		store_relaxed(&to[0], a);
	if (n > 2)
		store_relaxed(&to[1], b);
	if (n > 3)
		store_relaxed(&to[2], c);
	if (n > 4)
		store_relaxed(&to[3], d);
	if (n > 5)
		store_relaxed(&to[4], e);
	KILLPOINT("emit.header");
	store_release(&to[n - 1], last); /* pairs with the agent's look at the last word */
	KILLPOINT("emit.stored");
	if (unlikely(load_relaxed(&t->base) != base))
		emit_overtaken(to, base, a, b, c, d, e, f);
}

void vftr_emit(const uint64_t *word)
{
	struct thread *t = &vftr_thread;
	const unsigned n = record_words(word[0]);
	const uint64_t base = thread_base(t);
	uint64_t *to = reserve_words(&t->cur, n);
	unsigned i;

	if (unlikely(!is_placed(t, to, n, base))) {
		vftr_emit_slow(word);
		return;
	}
	for (i = 0; i + 1 < n; i++)
		store_relaxed(&to[i], word[i]);
	KILLPOINT("emit.header");
	store_release(&to[i], word[i]); /* pairs with the agent's look at the last word */
	KILLPOINT("emit.stored");
	if (unlikely(load_relaxed(&t->base) != base))
		vftr_emit_overtaken(to, word, base);
}

void vftr_emit_1(uint64_t a)
{
	emit(a, 0, 0, 0, 0, 0, 1);
}

void vftr_emit_3(uint64_t a, uint64_t b, uint64_t c)
{
	emit(a, b, c, 0, 0, 0, 3);
}

void vftr_emit_4(uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
	emit(a, b, c, d, 0, 0, 4);
}

void vftr_emit_6(uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e, uint64_t f)
{
	emit(a, b, c, d, e, f, 6);
}

/* As with records, limit is NULL where the ring is not to be used. */
void vftr_receive_begin(uint64_t receive, uint64_t from)
{
	struct ring_producer_shm *p = vftr_thread.ring.producer;

	if (unlikely(!load_relaxed(&vftr_thread.limit)))
		return;
	store_relaxed(&p->receive_from, from);
	store_release(&p->receive, receive); /* pairs with the agent's unpublished_read() */
}

void vftr_receive_end(void)
{
	/* relaxed: who still sees it compares once more */
	if (likely(load_relaxed(&vftr_thread.limit)))
		store_relaxed(&vftr_thread.ring.producer->receive, 0);
}

void vftr_look_at(const struct mpi_look *look)
{
	if (process_is_on())
		store_release(&vftr_process.app->look, (uint64_t)(uintptr_t)look);
}

bool vftr_active(void)
{
	return load_relaxed(&vftr_process.state) != PROCESS_OFF;
}

uint32_t vftr_messages_off;

void vftr_messages_follow(void)
{
	store_relaxed(&vftr_messages_off,
		vftr_process.no_messages || load_relaxed(&vftr_process.state) == PROCESS_OFF);
}

bool vftr_lengths_wanted(void)
{
	return load_relaxed(&vftr_process.lengths_wanted);
}

void vftr_define(struct wire_head *message, size_t fixed, const void *data, size_t bytes)
{
	struct thread *t = &vftr_thread;
	int saved_errno = errno;

	vftr_slow(clock_counter(), 0, 0, NULL); /* attaches if need be */
	if (process_is_on()) {
		busy_begin(t);
		vftr_message_send_data(message, fixed, data, bytes);
		busy_end(t);
	}
	errno = saved_errno;
}

void vftr_set_rank(struct wire_rank *place, const char *library)
{
	char text[WIRE_LIBRARY] = "";
	const size_t n = strnlen(library, sizeof(text) - 1);

	vftr_process.has_rank = true;
	memcpy(text, library, n);
	place->head.kind = WIRE_RANK;
	vftr_define(&place->head, sizeof(*place), text, n + 1);
}
