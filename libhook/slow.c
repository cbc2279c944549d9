/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The slow path: first event of a thread, full staging block, full ring, wrap
 * of the 31-bit time, pause, and addresses that do not fit in 32 bits. It runs
 * about once per 511 records.
 */
#include <errno.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "libhook/counters.h"
#include "libhook/emit.h"
#include "libhook/hook-cost.h"
#include "libhook/process.h"
#include "libhook/successor.h"
#include "libhook/switches.h"
#include "shm/message.h"

#ifndef SPINS_BEFORE_SLEEP /* fewer in a model test */
#define SPINS_BEFORE_SLEEP 200
#endif
#define SLEEP_NS      10000000
#define BLOCKED_WORDS 3
#define TIMED_BLOCKS  17 /* one of so many is timed; the agent's kicks come each 2^n blocks */

static uint64_t *stage_end(struct thread *t)
{
	return t->ring.stage[t->stage] + BLOCK_WORDS;
}

/* With vfork children (vfork-child.c), and until the SITE after a jump, there is no fast path. */
static uint64_t *fast_limit(struct thread *t)
{
	return t->vfork_children || t->jumped ? NULL : stage_end(t);
}

static unsigned stage_room(struct thread *t)
{
	return t->at >= stage_end(t) ? 0 : (unsigned)(stage_end(t) - t->at);
}

/* Fast path on (limit set) or off. Order matters to signal handlers. */
static void stage_enter(struct thread *t, unsigned s, bool fast, uint64_t ticks)
{
	t->limit = NULL;
	fence_signal();
	t->turns++;
	fence_signal();
	t->stage = s;
	t->cur = t->at = t->ring.stage[s] + 1;
	t->high = (uint32_t)(ticks >> RECORD_TIME_BITS);
	fence_signal();
	if (fast)
		t->limit = fast_limit(t);
}

/*
 * Stores a record of one or two words in the current block; room is there and
 * the fast path is off. cur follows, but is not believed: handlers move it.
 */
static void put(struct thread *t, uint64_t word, uint64_t payload)
{
	unsigned n = record_words(word);
	uint64_t *at = t->at;

	t->cur = t->at = at + n;
	fence_signal();
	store_relaxed(at, word);
	KILLPOINT("slow.header");
	if (n > 1)
		store_release(at + 1, payload);
	KILLPOINT("slow.put");
}

/* A wait for room is over; the record of it follows the one that room was wanted for. */
static void note_blocked(struct thread *t, uint64_t from)
{
	uint64_t now = vftr_process_ticks();

	t->blocked += now - from;
	t->blocked_until = now | !now;
}

static void sleep_on_ring(struct thread *t)
{
	struct ring_producer_shm *p = t->ring.producer;
	uint32_t seen = load_acquire(&t->ring.consumer->futex);
	struct timespec limit = {0, SLEEP_NS};

	store_relaxed(&p->waiting, 1);
	/* waiting must be seen before tail is looked at: see ring_release() */
	fence_full();
	if (!ring_has_room(&t->ring, 1))
		syscall(SYS_futex, &t->ring.consumer->futex, FUTEX_WAIT, seen, &limit, NULL, 0);
	store_relaxed(&p->waiting, 0);
}

/* Waits until a block fits. False: the agent is gone, or all patience with it. */
static bool wait_for_room(struct thread *t)
{
	uint64_t from = clock_raw_ns(), from_ticks = vftr_process_ticks();
	struct patience patience;
	unsigned rounds = 0;
	bool alive = true;

	vftr_patience_begin(&patience); /* any block that is taken ends the wait */
	vftr_agent_kick();
	while (!ring_has_room(&t->ring, 1)) {
		if (load_relaxed(&t->ring.consumer->retired)) {
			alive = false;
			break;
		}
		if (rounds++ < SPINS_BEFORE_SLEEP) {
			cpu_relax();
			continue;
		}
		sleep_on_ring(t);
		if (!vftr_patience_left(&patience)) {
			vftr_process_give_up();
			alive = false;
			break;
		}
		/* another thread may have found another agent, which knows nothing of this ring */
		if (t->generation != load_relaxed(&vftr_process.generation) ||
			(rounds % 8 == 0 && !vftr_agent_alive())) {
			alive = false;
			break;
		}
	}
	t->ring.producer->blocked_ns += clock_raw_ns() - from;
	note_blocked(t, from_ticks);
	return alive;
}

/* What finds no room from now on is counted. */
static void begin_dropping(struct thread *t)
{
	t->limit = NULL;
	fence_signal();
	t->at = t->cur; /* behind what handlers stored */
	t->state = THREAD_DROPPING;
}

/* Another agent takes what is in the ring, or may come and do so. */
static bool is_left(const struct thread *t)
{
	if (load_relaxed(&vftr_process.state) != PROCESS_ON ||
		load_relaxed(&t->ring.consumer->retired))
		return false;
	return t->generation != load_relaxed(&vftr_process.generation) ||
	       load_relaxed(&vftr_process.waits_for_agent) ||
	       ((load_relaxed(&vftr_process.agent->orders) & ORDER_LEAVE) &&
		       vftr_successor_may_come());
}

static void ring_lost(struct thread *t)
{
	t->limit = NULL;
	vftr_successor_look(clock_counter());
	if (is_left(t)) {
		if (t->state != THREAD_DROPPING)
			begin_dropping(t);
		return;
	}
	t->state = THREAD_OFF;
	if (!load_relaxed(&t->ring.consumer->retired))
		vftr_process_switch_off();
}

/* The agent sleeps until a quarter of some ring is full. */
static void kick_if_needed(struct thread *t)
{
	uint64_t head = load_relaxed(&t->ring.producer->head);

	if (load_relaxed(&vftr_process.agent->sleeping) &&
		ring_fill(&t->ring) >= t->ring.size / 4 &&
		head - t->kicked_at >= t->ring.size / 8) {
		t->kicked_at = head; /* it takes a moment to wake up */
		t->ring.producer->kicks++;
		vftr_agent_kick();
	}
}

/* False: the agent is leaving. */
static __attribute__((noinline, cold)) bool obey_orders(struct thread *t)
{
	if ((load_relaxed(&vftr_process.agent->orders) & ORDER_LEAVE) &&
		!vftr_successor_may_come()) {
		t->limit = NULL;
		t->state = THREAD_OFF;
		if (!load_relaxed(&t->ring.consumer->retired))
			vftr_process_switch_off();
		return false;
	}
	vftr_pause_follow();
	return true;
}

static bool is_timed(const struct thread *t)
{
	return t->turns % TIMED_BLOCKS == 2; /* the first turn is to the ring's first block */
}

/*
 * The current block is full (or too full for what comes): go on in the spare
 * one and publish this one. False: there was no room; the spare block is then
 * the current one, with the fast path off, and both are unpublished.
 */
static bool stage_flush(struct thread *t, uint64_t ticks)
{
	const bool timed = is_timed(t);
	unsigned full = t->stage;
	uint64_t from = timed ? clock_raw_ns() : 0;

	if (unlikely(load_relaxed(&vftr_process.agent->orders)) && !obey_orders(t))
		return false;
	ring_stage_open(&t->ring, full ^ 1, full, ticks);
	stage_enter(t, full ^ 1, true, ticks);
	if (!ring_has_room(&t->ring, 1)) {
		if (vftr_process.drop_when_full || is_left(t)) {
			begin_dropping(t);
			vftr_agent_kick();
			return false;
		}
		if (!wait_for_room(t)) {
			ring_lost(t);
			return false;
		}
		from = timed ? clock_raw_ns() : 0;
	}
	ring_publish(&t->ring, full);
	kick_if_needed(t);
	vftr_modules_refresh_rarely(ticks);
	vftr_switches_follow();
	if (timed)
		vftr_hook_cost_published(vftr_process.app, clock_raw_ns() - from);
	return true;
}

/* Makes the time base of what follows right. Needs a word of room. Who has few events learns here
 * of a pause: it begins with the next one. */
static void put_sync(struct thread *t, uint64_t ticks)
{
	if (ticks >> RECORD_TIME_BITS == t->high)
		return;
	if (load_relaxed(&vftr_process.agent->orders) & ORDER_PAUSE)
		vftr_pause_follow();
	put(t, record_sync_word(ticks), 0);
	t->high = (uint32_t)(ticks >> RECORD_TIME_BITS);
}

static void put_words(struct thread *t, const uint64_t *word, unsigned n)
{
	uint64_t *at = t->at;

	t->cur = t->at = at + n;
	fence_signal();
	for (unsigned i = 0; i + 1 < n; i++)
		store_relaxed(&at[i], word[i]);
	store_release(&at[n - 1], word[n - 1]);
}

/* A BLOCKED record, if the thread has waited for room; then the fast path stays off. */
static void put_blocked(struct thread *t)
{
	const uint64_t word[BLOCKED_WORDS] = {
		RECORD_BLOCKED, t->blocked, RECORD_BLOCKED_MARK | t->blocked_until};

	if (likely(!t->blocked_until))
		return;
	t->limit = NULL;
	fence_signal();
	if (!t->vfork_children)
		t->at = t->cur;
	if (stage_room(t) < BLOCKED_WORDS)
		return;
	put_words(t, word, BLOCKED_WORDS);
	t->blocked = t->blocked_until = 0;
}

static inline bool is_call_site(uint64_t key)
{
	return key / CALL_SITE_MARK == 1; /* a region has the bit above */
}

/* The id by which the exit comes, where key is the word of a CALL_SITE; else key. */
static inline uint64_t key_of_exit(uint64_t key)
{
	return is_call_site(key) ? RECORD_ID_MPI + CALL_SITE_FUNCTION(key) : key;
}

/* Where the program has made a call, or 0: of MPI and the like `site' is in our own wrapper. */
static uintptr_t site_of(uint64_t key, const void *site)
{
	if (is_call_site(key))
		return CALL_SITE_ADDRESS(key);
	if (key == RECORD_WAIT || (key >= RECORD_ID_MPI && key < RECORD_ID_REGION))
		return 0;
	return (uintptr_t)site;
}

/*
 * A SITE, by which the first enter after a longjmp() finds its caller. A wait, or a function of
 * another interface, whose caller is not known leaves that to the next one; but not a region, which
 * may be around that one, and would be closed.
 */
static void put_site(struct thread *t, uint64_t ticks, uint64_t key, const void *site)
{
	const uintptr_t at = site_of(key, site);

	if (!at && (key == RECORD_WAIT || (key >= RECORD_ID_MPI && key < RECORD_ID_REGION)))
		return;
	t->jumped = NULL;
	if (at)
		put(t, record_word(ticks, 0, RECORD_SITE), at);
}

/* A function's address: in a program without dynamic linking nothing else tells of hooks. */
static inline bool is_code(uint64_t key)
{
	return key >= RECORD_ID_FUNCTION && !RECORD_IS_REGION(key) && !is_call_site(key);
}

static __attribute__((noinline)) void put_call_site(struct thread *t, uint64_t ticks, uint64_t site)
{
	const uint32_t function = CALL_SITE_FUNCTION(site);

	if (!(site & CALL_SITE_ONCE))
		thread_forget_site(t, function);
	put_words(t, (const uint64_t[2]){record_word(ticks, 0, RECORD_CALL_SITE), site}, 2);
	if (!(site & CALL_SITE_ONCE) && t->sites != vftr_no_sites)
		t->sites[function] = CALL_SITE_ADDRESS(site);
}

static void put_event(struct thread *t, uint64_t ticks, uint64_t exit_bit, uint64_t key)
{
	bool is_short = key < RECORD_ID_FUNCTION ||
			((uint32_t)key >= RECORD_ID_FUNCTION && !vftr_process.modules_wide &&
				!RECORD_IS_REGION(key));
	uint64_t word[3] = {record_word(ticks, exit_bit, (uint32_t)key)};

	if (is_call_site(key)) {
		put_call_site(t, ticks, key);
	} else if (key < RECORD_ID_MPI) {
		word[1] = t->payload[0];
		word[2] = t->payload[1];
		put_words(t, word, record_words(word[0]));
	} else if (is_short) {
		put(t, record_word(ticks, exit_bit, (uint32_t)key), 0);
	} else {
		put(t, record_word(ticks, exit_bit, RECORD_WIDE), key);
	}
}

/* Counters behind those of the last record: of now, or as read when an exit began. */
static void put_counters(struct thread *t, bool now)
{
	if (!t->counters)
		return;
	if (now)
		vftr_counters_read(t->counters);
	put_words(t, t->counters->word, vftr_process.counter_words);
}

/*
 * Room for SYNC, CLOSE, and COUNTERS + SITE + an OpenMP record or PAUSE/RESUME + LOST,
 * and BLOCKED behind them.
 */
#define ROOM	  (8 + vftr_process.counter_words + BLOCKED_WORDS)
#define EMIT_ROOM (3 + EMIT_WORDS + BLOCKED_WORDS) /* SYNC and CLOSE may come first */

/*
 * A signal handler that finds us busy is not recorded. If the first of its
 * frames still were, they end here: it has returned. What we call ourselves,
 * where a program has a read() or malloc() of its own, is no call of the program.
 */
static void close_nested(struct thread *t, uint64_t ticks)
{
	if (t->nested_open) {
		put_sync(t, ticks);
		put(t, record_word(ticks, 0, RECORD_CLOSE), t->nested_open);
	}
	t->nested_open = t->nested_depth = 0;
}

/* Most programs have no function that is off. */
static inline unsigned counted_words(const struct thread *t)
{
	return load_relaxed(&vftr_process.switches) ? COUNTED_WORDS * vftr_counts_due(t) : 0;
}

/* COUNTED records of calls since the last event. Room is there. */
static void put_counted(struct thread *t)
{
	uint64_t word[COUNTED_WORDS];
	uint32_t number = 0;

	while (vftr_counts_next(t, &number, word)) {
		put_words(t, word, COUNTED_WORDS);
		vftr_counts_told(t, word); /* a jump in between: it is told twice, which is once */
	}
}

void vftr_nested(struct thread *t, uint64_t exit_bit)
{
	if (t->own)
		return;
	if (!exit_bit) {
		t->nested_depth++;
		if (vftr_process.app)
			add_relaxed_u64(&vftr_process.app->lost_nested, 1);
		else
			add_relaxed_u64(&vftr_process.lost_early, 1);
	} else if (t->nested_depth) {
		t->nested_depth--;
	} else {
		/* no exit of a handler that this one interrupts may be stored inside of the frame
		 */
		t->limit = NULL;
		t->nested_open++;
	}
}

/*
 * Room for one event, with the fast path off until vftr_slow() returns, so that
 * a signal handler cannot take it away again.
 */
static bool make_room_for(struct thread *t, uint64_t ticks, unsigned words)
{
	unsigned counted;

	for (;;) {
		t->limit = NULL;
		fence_signal();
		if (!t->vfork_children)
			t->at = t->cur;
		counted = counted_words(t);
		if (stage_room(t) >= words + counted) {
			close_nested(t, ticks);
			if (unlikely(counted))
				put_counted(t);
			return true;
		}
		if (!stage_flush(t, ticks))
			return false;
	}
}

static bool make_room(struct thread *t, uint64_t ticks)
{
	return make_room_for(t, ticks, ROOM);
}

static void put_lost(struct thread *t, uint64_t ticks)
{
	if (t->lost_here)
		put(t, record_word(ticks, 0, RECORD_LOST), t->lost_here);
	t->lost_here = 0;
}

/* Dropping ends when both unpublished blocks fit and no skipped frame is open. */
static bool stop_dropping(struct thread *t, uint64_t ticks)
{
	unsigned current = t->stage;

	if (t->skipped_depth)
		return false;
	if (vftr_process.drop_when_full || is_left(t)) {
		if (!ring_has_room(&t->ring, 2))
			return false;
	} else if (!wait_for_room(t)) { /* a jump has ended the wait before */
		ring_lost(t);
		return false;
	}
	ring_publish(&t->ring, current ^ 1);
	t->state = THREAD_ACTIVE;
	/* a fresh block: every skipped event has moved cur, and a signal handler
	 * may be ending what the event below it began in this one */
	if (!stage_flush(t, ticks) || !make_room(t, ticks))
		return false;
	put_sync(t, ticks);
	if (t->unclosed)
		put(t, record_word(ticks, 0, RECORD_CLOSE), t->unclosed);
	t->unclosed = 0;
	put_lost(t, ticks);
	return true;
}

static void skip(struct thread *t, uint64_t key, const void *site)
{
	if (!t->skipped_depth) {
		t->skipped_at = t->busy_at;
		t->skipped_key = key_of_exit(key);
		t->skipped_site = site;
		t->skipped_return = 0;
	}
	t->skipped_depth++;
}

/* A TEAM of the thread that made it, a task's next part: their call was before. */
static bool goes_on(const struct thread *t, uint64_t key)
{
	return (key == RECORD_TEAM && !OPENMP_NUMBER(t->payload[1])) ||
	       (key == RECORD_TASK && (t->payload[1] & OPENMP_RESUMED));
}

static void drop(
	struct thread *t, uint64_t ticks, uint64_t exit_bit, uint64_t key, const void *site)
{
	if (!exit_bit) {
		skip(t, key, site);
		if (load_relaxed(&vftr_process.pauses) || goes_on(t, key))
			return; /* not wanted, so not lost; or no call of its own */
		t->lost_here++;
		t->ring.producer->lost++;
	} else if (t->skipped_depth) {
		t->skipped_depth--;
	} else if (t->unclosed || stage_room(t) < ROOM + counted_words(t)) {
		t->unclosed++;
	} else {
		close_nested(t, ticks);
		put_counted(t);
		put_sync(t, ticks);
		put_lost(t, ticks);
		put_counters(t, false);
		put_event(t, ticks, exit_bit, key);
	}
}

/* site: of what is called, or 0. */
static void thread_pause(struct thread *t, uint64_t ticks, uintptr_t site)
{
	if (!make_room(t, ticks))
		return;
	put_sync(t, ticks);
	put_counters(t, true);
	if (t->jumped && site)
		put_site(t, ticks, 0, (const void *)site);
	put(t, record_word(ticks, 0, RECORD_PAUSE), 0);
	t->state = THREAD_PAUSED;
	t->skipped_depth = 0;
}

static void thread_resume(struct thread *t, uint64_t ticks)
{
	t->state = THREAD_ACTIVE;
	if (!make_room(t, ticks))
		return;
	put_sync(t, ticks);
	put_counters(t, true);
	put(t, record_word(ticks, 0, RECORD_RESUME), t->skipped_depth + 1);
	t->skipped_depth = 0;
}

/* While paused only the exits of recorded frames are recorded. */
static void while_paused(
	struct thread *t, uint64_t ticks, uint64_t exit_bit, uint64_t key, const void *site)
{
	if (!exit_bit) {
		skip(t, key, site);
	} else if (t->skipped_depth) {
		t->skipped_depth--;
	} else if (make_room(t, ticks)) {
		put_sync(t, ticks);
		put_event(t, ticks, exit_bit, key);
	} else if (t->state == THREAD_DROPPING) {
		drop(t, ticks, exit_bit, key, site);
	}
}

/* The thread has a ring of this generation and may record, now or after a pause. */
static void record_slowly(
	struct thread *t, uint64_t ticks, uint64_t exit_bit, uint64_t key, const void *site)
{
	bool paused = load_relaxed(&vftr_process.pauses) != 0;

	if (unlikely(is_call_site(key)) && !vftr_process.call_sites)
		key = key_of_exit(key);
	if (unlikely(t->jumped))
		vftr_skipped_forget(t, exit_bit, key_of_exit(key), site);
	if (t->state == THREAD_DROPPING && !stop_dropping(t, ticks)) {
		drop(t, ticks, exit_bit, key, site);
		return;
	}
	if (t->state == THREAD_PAUSED) {
		paused = vftr_pause_follow();
		if (!paused)
			thread_resume(t, ticks);
	}
	if (t->state == THREAD_ACTIVE && paused)
		thread_pause(t, ticks, exit_bit ? 0 : site_of(key, site));
	if (t->state == THREAD_PAUSED) {
		while_paused(t, ticks, exit_bit, key, site);
		return;
	}
	if (t->state == THREAD_ACTIVE && make_room(t, ticks)) {
		put_sync(t, ticks);
		put_counters(t, !exit_bit);
		if (t->jumped && !exit_bit)
			put_site(t, ticks, key, site);
		put_event(t, ticks, exit_bit, key);
	} else if (t->state == THREAD_DROPPING) {
		drop(t, ticks, exit_bit, key, site);
	}
}

void vftr_thread_publish(struct thread *t)
{
	busy_begin(t);
	if (t->state == THREAD_ACTIVE || t->state == THREAD_PAUSED)
		stage_flush(t, vftr_process_ticks());
	if (t->state == THREAD_ACTIVE || t->state == THREAD_PAUSED)
		put_blocked(t);
	if (t->state == THREAD_ACTIVE && counted_words(t))
		make_room_for(t, vftr_process_ticks(), 0);
	t->limit = t->state == THREAD_ACTIVE ? fast_limit(t) : NULL;
	busy_end(t);
}

/*
 * A record that is not stored. If a handler has interrupted the slow path, maybe while the ring is
 * attached, its pointer is cleared first, and of a child of fork the generation is another one.
 */
static void count_lost_record(struct thread *t, const uint64_t *word)
{
	struct ring_producer_shm *p = load_relaxed(&t->ring.producer);
	struct message m;

	if (t->own || !p || t->generation != vftr_process.generation || !process_is_on() ||
		load_relaxed(&vftr_process.pauses) || vftr_thread_is_vfork_child(t))
		return;
	if (message_read(word, &m))
		add_relaxed_u64(&p->lost_messages, 1);
	else
		add_relaxed_u64(&vftr_process.app->lost_nested, 1);
}

void vftr_emit_slow(const uint64_t *word)
{
	struct thread *t = &vftr_thread;
	int saved_errno = errno;
	bool wanted;

	if (thread_is_busy(t)) {
		count_lost_record(t, word);
		return;
	}
	if (!t->ring.base || t->generation != vftr_process.generation || !process_is_on() ||
		vftr_thread_is_vfork_child(t))
		return;
	busy_begin_surely(t, NULL);
	wanted = t->state == THREAD_ACTIVE || (t->state == THREAD_PAUSED && vftr_pause_keeps(word));
	if (wanted && make_room_for(t, vftr_process_ticks(), EMIT_ROOM))
		put_words(t, word, record_words(word[0]));
	else if (t->state == THREAD_DROPPING)
		count_lost_record(t, word);
	if (t->state == THREAD_ACTIVE) {
		put_blocked(t);
		t->limit = fast_limit(t);
	}
	busy_end_surely(t);
	errno = saved_errno;
}

/* Nothing stands between the thread, which is busy, and its block but that calls were counted. */
static bool is_only_counting(const struct thread *t, uint64_t ticks, uint64_t key)
{
	const uint32_t special = t->vfork_children | vftr_process.clock_is_raw |
				 vftr_process.counter_words | (t->state != THREAD_ACTIVE) |
				 !load_relaxed(&vftr_own.counting);
	const uint64_t rare = (t->generation ^ vftr_process.generation) | t->nested_open |
			      t->nested_depth | t->blocked_until | t->skipped_depth |
			      (uintptr_t)t->jumped | ((ticks >> RECORD_TIME_BITS) ^ t->high);

	return t->counts && !special && !rare && key >= RECORD_ID_MPI && !RECORD_IS_REGION(key) &&
	       !is_call_site(key) && load_relaxed(&vftr_process.state) == PROCESS_ON &&
	       (key < RECORD_ID_FUNCTION || (uint32_t)key >= RECORD_ID_FUNCTION);
}

/* The event after counted calls, as long as there is room for all. */
static bool store_after_counted(
	struct thread *t, uint64_t ticks, uint64_t exit_bit, uint64_t key, const void *site)
{
	bool stored = false;

	if (!load_relaxed(&vftr_process.switches) || !t->counts || t->busy)
		return false;
	busy_begin_at(t, site);
	t->left = 1; /* if it is cancelled at once, as in busy_end_surely() */
	fence_signal();
	/* only now: a handler may have paused, dropped or jumped before */
	stored = is_only_counting(t, ticks, key);
	if (stored) {
		t->limit = NULL;
		fence_signal();
		t->at = t->cur;
		stored = stage_room(t) >= 1 + COUNTED_WORDS * SWITCHES_MAX;
	}
	if (stored) {
		put_counted(t);
		put(t, record_word(ticks, exit_bit, (uint32_t)key), 0);
		t->limit = fast_limit(t);
	}
	busy_end(t);
	return stored;
}

/* False, too, for a ring that the last agent did not know, as long as there is no other one. */
static bool needs_ring(const struct thread *t, uint64_t ticks)
{
	if (unlikely(ticks - load_relaxed(&vftr_process.agent_looked) >= AGENT_LOOK_TICKS))
		vftr_successor_look(ticks);
	if (t->state != THREAD_NEW && likely(t->generation == vftr_process.generation))
		return false;
	return t->state == THREAD_NEW || !t->ring.base ||
	       !load_relaxed(&vftr_process.waits_for_agent);
}

/* Key 0 makes the slow path attach and follow a pause, and records nothing. */
void vftr_slow(uint64_t ticks, uint64_t exit_bit, uint64_t key, const void *site)
{
	struct thread *t = &vftr_thread;
	int saved_errno = errno;

	if (store_after_counted(t, ticks, exit_bit, key, site))
		return;
	if (t->vfork_children && vftr_thread_is_vfork_child(t))
		return;
	if (unlikely(!load_relaxed(&vftr_own.here)) &&
		load_relaxed(&vftr_process.state) == PROCESS_ON)
		vftr_process_born();
	if (unlikely(t->busy)) {
		if (!vftr_slow_path_left(t, (uintptr_t)__builtin_dwarf_cfa(), site)) {
			if (key)
				vftr_nested(t, exit_bit);
			return;
		}
		vftr_slow_path_repair(t);
	}
	if (t->state == THREAD_OFF && load_acquire(&vftr_process.state) == PROCESS_OFF) {
		t->limit = NULL;
		return;
	}
	busy_begin_surely(t, site);
attach:
	if (load_acquire(&vftr_process.state) == PROCESS_NEW) {
		vftr_process_attach(is_code(key));
		ticks = clock_counter(); /* looking for the agent is not the program's time */
	}
	if (load_acquire(&vftr_process.state) == PROCESS_OFF) {
		t->state = THREAD_OFF;
		t->limit = NULL;
		goto out;
	}
	if (needs_ring(t, ticks)) {
		vftr_thread_attach(t);
		ticks = clock_counter();
		if (t->state == THREAD_NEW)
			goto attach;
	}
	if (t->state == THREAD_OFF)
		goto out;
	if (vftr_process.clock_is_raw)
		ticks = clock_raw_ns();
	if (t->counters && key && !(t->state == THREAD_PAUSED && vftr_pause_follow()))
		vftr_counters_event(t->counters, exit_bit);
	if (key)
		record_slowly(t, ticks, exit_bit, key, site);
	else if (t->state == THREAD_ACTIVE && load_relaxed(&vftr_process.pauses))
		thread_pause(t, ticks, (uintptr_t)site);
	else if (t->state == THREAD_PAUSED && !vftr_pause_follow())
		thread_resume(t, ticks);
	if (t->state == THREAD_ACTIVE || t->state == THREAD_PAUSED)
		put_blocked(t);
out:
	if (t->state == THREAD_ACTIVE && t->generation == vftr_process.generation)
		t->limit = fast_limit(t);
	busy_end_surely(t);
	if (unlikely(load_relaxed(&vftr_process.gpu) == GPU_SEEN) && !t->busy && vftr_gpu_load)
		vftr_gpu_load();
	errno = saved_errno;
}

void vftr_store_slowly(uint64_t key, const void *site, uint64_t exit_bit, struct record_time now)
{
	vftr_slow(record_time_ticks(now), exit_bit, key, site);
}

void vftr_openmp_slow(
	uint64_t ticks, uint64_t exit_bit, enum record_id kind, uint64_t a, uint64_t b)
{
	struct thread *t = &vftr_thread;

	if (!t->busy) { /* signal handlers come here only where OpenMP forbids it */
		t->payload[0] = a;
		t->payload[1] = b;
	}
	vftr_slow(ticks, exit_bit, kind, NULL);
}
