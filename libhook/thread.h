/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The state of each thread of the application, and the fast path that stores one
 * word. Everything else is behind vftr_slow(). The state is thread-local and
 * in static TLS, so that reaching it never calls into the loader or malloc.
 *
 * A signal handler may run instrumented code between any two instructions of
 * the fast path: a word is reserved by one unlocked read-modify-write
 * instruction (reserve()) before it is stored, so the handler's words come
 * after it; the slow path marks the thread busy, and calls of a handler
 * meanwhile are counted in lost_nested instead of recorded.
 *
 * A handler may also fill the block and go on in the other one, or be the first
 * to find that the upper part of the time has changed, and store a SYNC, before
 * the word is reserved or after. `base` changes with both. It is read before,
 * when the time is compared with it, and again between reserving and storing: if it
 * is the same, the word lies in the current block and behind the right SYNC.
 * If not, it stays blank, and the event goes the slow path. If `base` has changed
 * after the store, vftr_overtaken() sees to the word.
 */
#ifndef VFTR_LIBHOOK_THREAD_H
#define VFTR_LIBHOOK_THREAD_H

#include <stdbool.h>
#include <stdint.h>
#include "libhook/reserve.h"
#include "shm/clock.h"
#include "shm/ring.h"

#define likely(x)   __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

enum thread_state {
	THREAD_NEW = 0,	 /* no ring yet */
	THREAD_ACTIVE,	 /* recording */
	THREAD_PAUSED,	 /* between vftrace_pause() and vftrace_resume() */
	THREAD_DROPPING, /* the ring is full and the policy is to drop */
	THREAD_OFF,	 /* no ring was available, or the agent is gone */
};

struct thread {
	/* the fast path's three words */
	uint64_t *cur;	 /* next word of the current staging block, or beyond it */
	uint64_t *limit; /* its end; NULL sends every event to the slow path */
	union {
		uint64_t base; /* the same as long as both are */
		struct {
			uint32_t high;	/* ticks >> 31 as in the last SYNC word */
			uint32_t turns; /* counts changes of the current staging block, from 1 */
		};
	};

	struct ring ring;
	uint64_t *at; /* the slow path's cur, which no handler's reserve() moves */
	enum thread_state state;
	uint32_t stage;	       /* index of the current staging block */
	uint32_t busy;	       /* depth of functions of the slow path that are running; 0: none */
	uint32_t left;	       /* a jump may have left the slow path: unwound.c */
	int cancel;	       /* cancel state before it, or CANCEL_UNTOUCHED */
	uintptr_t busy_at;     /* stack address of the slow path's frame */
	uintptr_t busy_return; /* stack address of its caller's return address, or 0 */
	const void *busy_site; /* that return address, if known */
	uint32_t index;	       /* of the ring in this process */
	uint32_t number;       /* of the thread, for those it creates */
	uint32_t parent;       /* 1 + number of the thread that created it, or 0: unknown */
	uint32_t endings;      /* calls of the key's destructor so far */
	uint32_t generation;   /* vftr_process.generation when it got the ring (fork) */
	uint32_t pauses;
	uint64_t skipped_depth; /* open frames that were not recorded, as the ring was full */
	uintptr_t skipped_at;	/* stack address of the outermost of them */
	uint64_t skipped_key;	/* and its function */
	const void *skipped_site;
	uintptr_t skipped_return; /* stack address of its return address: unwound.c */
	uint64_t lost_here;	  /* calls skipped below the open recorded frame */
	uint64_t unclosed;	  /* recorded frames whose exit found no room */
	uint64_t nested_depth;	  /* open frames of handlers that have interrupted the slow path */
	uint64_t nested_open; /* recorded frames of handlers whose exits came in the slow path */
	bool own; /* it is attaching, with signals blocked: calls of hooks are the library's own */
	uint64_t blocked;	 /* ticks of waits for room that have no record yet */
	uint64_t blocked_until;	 /* ticks when the last of them ended; 0: there were none */
	uint64_t kicked_at;	 /* head when the doorbell was rung last */
	const void *jumped;	 /* set by longjmp(): the next enter records a SITE */
	uint64_t payload[2];	 /* of an OpenMP record on its way through the slow path */
	uint32_t vfork_children; /* children that use this memory, unrecorded: vfork-child.c */
	int32_t host; /* tid of the thread whose memory this is, if vfork_children is not 0 */
	struct counters *counters; /* of hardware, or NULL */
	uint64_t *counts;	   /* calls that are not recorded, on the ring's page: or NULL */
	uintptr_t stack_low, stack_high; /* of the thread itself; 0: not known (sampler/) */
	uint32_t periods; /* number of periods of its timer since its last stack sample */
	/* by MPI function: return address of its last CALL_SITE in this ring; or vftr_no_sites */
	uint64_t *sites;
};

extern __thread struct thread vftr_thread
	__attribute__((tls_model("initial-exec"), visibility("hidden")));

/* sites[] of threads without memory for their own. All words stay 0. */
extern uint64_t vftr_no_sites[CALL_SITE_FUNCTIONS] __attribute__((visibility("hidden")));

/*
 * To be called before a CALL_SITE of the function is stored. sites[] is set after that; a signal
 * handler that leaves in between by a jump must not leave the old address there.
 */
static inline void thread_forget_site(struct thread *t, size_t function)
{
	t->sites[function] = 0;
	fence_signal();
}

/*
 * Ids that are not below the gate's lower half, counted from RECORD_ID_FUNCTION on modulo 2^32,
 * take the slow path: with GATE_FUNCTIONS those below RECORD_ID_FUNCTION, so that the few addresses
 * that look like a fixed id are stored in full; with GATE_CODE those of all code, because modules
 * are 4 GiB apart; with GATE_SWITCHES the same ones, because some function is switched off
 * (switches.h); with GATE_ALL every event, because it needs a closer look (paused, slow clock, not
 * attached). The gate is alone on pages that the kernel zeroes in the copy of a fork: a child that
 * was made without our handlers begins with GATE_ALL and `here` unset, and so never writes to the
 * rings that it shares with its parent.
 */
#define GATE_ALL       ((uint64_t)0)
#define GATE_CODE      ((uint64_t)1 << 32)
#define GATE_SWITCHES  ((uint64_t)2 << 32)
#define GATE_FUNCTIONS ((uint64_t)(uint32_t)-RECORD_ID_FUNCTION)
#if defined(__x86_64__)
#define PAGE_BYTES_MOST 4096
#else
#define PAGE_BYTES_MOST 65536
#endif
struct own_pages {
	uint64_t gate;
	uint32_t here;	   /* 1: vftr_process speaks of this process; see process_is_on() */
	uint32_t counting; /* 1: also, threads with a ring may count calls (switches/count.h) */
} __attribute__((aligned(PAGE_BYTES_MOST)));
extern struct own_pages vftr_own __attribute__((visibility("hidden")));

/*
 * The slow path: everything that is not "store a word". key is an address, an
 * id below RECORD_ID_FUNCTION, RECORD_REGION_KEY(n), or the word of a CALL_SITE; 0: attaches, and
 * follows a pause, and records nothing. Keeps errno.
 */
void vftr_slow(uint64_t ticks, uint64_t exit_bit, uint64_t key, const void *site)
	__attribute__((visibility("hidden"), noinline, cold));

/* The same for an event that finds no place; key and site are where a hook has them. */
void vftr_store_slowly(uint64_t key, const void *site, uint64_t exit_bit, struct record_time now)
	__attribute__((visibility("hidden"), noinline, cold));

/* An event that the gate does not let pass: switches.c. */
void vftr_gated(uint64_t key, const void *site, uint64_t exit_bit)
	__attribute__((visibility("hidden"), noinline));

/* An OpenMP record of shm/record.h, slowly: a and, if it has three words, b. */
void vftr_openmp_slow(uint64_t ticks, uint64_t exit_bit, enum record_id kind, uint64_t a,
	uint64_t b) __attribute__((visibility("hidden"), noinline, cold));

/*
 * To be called when t->base has changed since is_placed() was true of the word, as a signal handler
 * came before the event was stored or after; base is t->base as it was before. If the event's block
 * was published without the event, the event is recorded again, after the handler's records.
 */
void vftr_overtaken(uint64_t key, const void *site, uint64_t value, bool is_exit, uint64_t *word,
	uint64_t base) __attribute__((visibility("hidden"), noinline, cold));

/* The same two for records of several words: emit.h. */
void vftr_emit_slow(const uint64_t *word) __attribute__((visibility("hidden"), noinline, cold));
void vftr_emit_overtaken(uint64_t *to, const uint64_t *word, uint64_t base)
	__attribute__((visibility("hidden"), noinline, cold));
void vftr_call_overtaken(uint64_t *to, const uint64_t *word, uint64_t base)
	__attribute__((visibility("hidden"), noinline, cold));
void vftr_openmp_overtaken(uint64_t *to, const uint64_t *word, uint64_t base)
	__attribute__((visibility("hidden"), noinline, cold));

/* t->base, to be read before words are reserved. */
static inline __attribute__((always_inline)) uint64_t thread_base(const struct thread *t)
{
	const uint64_t base = load_relaxed(&t->base);

	fence_signal();
	return base;
}

/* How often another block has become the current one since t->base was `base`. */
static inline uint32_t turns_since(const struct thread *t, uint64_t base)
{
	return t->turns - (uint32_t)(base >> 32);
}

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "high is the lower half of base");

/*
 * True if n words at `to`, which were reserved while t->base was `base`, lie in the current block:
 * as it is the same block, only its end is looked at. False for a limit of NULL, too. What only
 * this thread and its handlers change is read where it is compared, between fences.
 */
static inline __attribute__((always_inline)) bool is_placed(
	const struct thread *t, const uint64_t *to, unsigned n, uint64_t base)
{
	fence_signal();
	if ((uintptr_t)to + 8 * (uintptr_t)(n - 1) >= (uintptr_t)t->limit)
		return false;
	fence_signal(); /* a handler between the two changes base */
	return t->base == base;
}

static inline __attribute__((always_inline)) bool vftr_is_gated(const uint64_t *gate, uint64_t key)
{
	/* relaxed: a thread may notice a change of the gate an event later */
	return reaches_lower_half((uint32_t)key - RECORD_ID_FUNCTION, gate);
}

/* The same for fixed ids: only a gate for everything stops them. */
static inline bool vftr_gate_is_shut(void)
{
	return load_relaxed(&vftr_own.gate) == GATE_ALL;
}

/*
 * The rest of the fast path. It is as short as it can be, and most of it behind the reading of
 * the clock: some processors hide nothing of it.
 */
static inline __attribute__((always_inline)) void vftr_store(
	uint64_t exit_bit, uint64_t key, const void *site)
{
	struct thread *t = &vftr_thread;
	const struct record_time now = clock_record_time();
	const uint64_t base = thread_base(t);
	uint64_t *word, value;

	if (unlikely(now.high != (uint32_t)base))
		goto slowly;
	word = reserve(&t->cur);
	KILLPOINT("fast.reserved");
	if (unlikely(!is_placed(t, word, 1, base)))
		goto slowly;
	value = record_word_at(now, exit_bit, (uint32_t)key);
	store_relaxed(word, value);
	KILLPOINT("fast.stored");
	fence_signal();
	if (unlikely(t->base != base))
		vftr_overtaken(key, site, value, exit_bit != 0, word, base);
	return;
slowly:
	vftr_store_slowly(key, site, exit_bit, now);
}

static inline __attribute__((always_inline)) void vftr_record(
	uint64_t exit_bit, uint64_t key, bool gated, const void *site)
{
	if (unlikely(gated))
		vftr_gated(key, site, exit_bit);
	else
		vftr_store(exit_bit, key, site);
}

#endif
