/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every interleaving of a small ring. The real code runs here - vftr_record(),
 * libhook/slow.c, shm/ring.h, shm/ring.c - as two coroutines that stop before
 * each access to a shared word; the explorer takes every turn at every stop,
 * depth first, and goes on only from states it has not seen. In each state it
 * also lets the producer die and asks what the consumer would make of it:
 * exactly the stored words, in their order, each once (R1-R6 of vftr-ring(7)).
 * A producer that sleeps is woken only by a wake-up, never by its time-out.
 *
 * A second part delivers a signal, whose handler records, before each step; the
 * 31 bits of the time wrap in the handler, a few steps before, or not at all; or another
 * signal interrupts the handler, and they wrap in one of the two handlers. In a
 * third the consumer looks at the staging blocks while the producer goes on. A
 * fourth breaks the protocol on purpose; that must be noticed.
 */
#undef _FORTIFY_SOURCE /* it takes a jump to another stack for a fault */
#include <limits.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>
#include <linux/futex.h>
#include <sys/syscall.h>

#include "t/model/m-ring-atomic.h"

#define RING_BYTES (2 * BLOCK_BYTES)

static long model_futex(long number, ...);
#define syscall		 model_futex
#define ring_check	 model_ring_check
#define ring_release	 model_ring_release
#define ring_unpublished model_ring_unpublished

#include "shm/ring.c"
#include "libhook/slow.c"
#include "libhook/overtaken.c"
#include "libhook/emit.c"
#include "shm/message.h"

/* ---- the world ----------------------------------------------------------- */

#define POSITIONS   (16 * BLOCK_WORDS) /* words that are ever stored, at most */
#define STACK_BYTES 16384
#define SLACK	    256

enum who { PRODUCER, CONSUMER, NOBODY, LOOKER };

static struct world {
	struct ring_producer_shm producer;
	struct ring_consumer_shm consumer;
	struct control_agent_shm agent;
	struct control_app_shm app;
	/* the gap between the staging blocks is as in a segment */
	uint64_t stage0[BLOCK_WORDS], gap[BLOCK_WORDS], stage1[BLOCK_WORDS],
		data[2 * BLOCK_WORDS] __attribute__((aligned(64)));
	uint64_t ghost[POSITIONS];		/* what was stored, by position */
	uint64_t sync[POSITIONS / BLOCK_WORDS]; /* with which each block begins */
	uint64_t read;				/* position of the next word it reads */
	uint64_t tail;				/* the consumer's own copy */
	unsigned called, nested;		/* events of the program, calls of the handler */
	bool asleep[2], doorbell, over[2];
	void *low[2]; /* end of the live part of each stack */
} w __attribute__((aligned(64)));

static char stack[2][STACK_BYTES] __attribute__((aligned(64)));
static ucontext_t first[2];	      /* with which they begin on their stacks */
static jmp_buf context[2], scheduler; /* swapcontext() would make two system calls */
static bool begun[2];
static enum who running = NOBODY;
static const char *failure;
static unsigned n_events;
static long signal_at = -1, steps_taken; /* of the producer; second part */
static long later_from;			 /* the clock shows LATER after this step */
static long second_at, handler_steps;	 /* a signal in the handler, if not negative; its steps */
static unsigned signal_calls, handlers;	 /* handlers: those that run */

uint64_t vftr_no_sites[CALL_SITE_FUNCTIONS];
__thread struct thread vftr_thread;
struct process vftr_process;
struct own_pages vftr_own = {.gate = GATE_FUNCTIONS, .here = 1};

static void fail(const char *why)
{
	if (!failure)
		failure = why;
}

bool is_tail(const void *p)
{
	return p == &w.consumer.tail;
}

bool is_waiting(const void *p)
{
	return p == &w.producer.waiting;
}

uint64_t head_now(void)
{
	return w.producer.head;
}

/* The second half of the program runs later. */
uint64_t ticks_now(void)
{
	if (signal_at >= 0)
		return (second_at >= 0 ? handler_steps : steps_taken) > later_from ? LATER : TICKS;
	return w.called > n_events / 2 ? LATER : TICKS;
}

void publish_early(void)
{
	/* the real store comes later, with the same value */
	w.producer.head += BLOCK_BYTES;
	step();
}

/* Keeps the ghost: a word that was stored in an open staging block counts. */
void stored(const void *p, uint64_t value)
{
	for (unsigned s = 0; s < 2; s++) {
		const uint64_t *from = s ? w.stage1 : w.stage0;
		uintptr_t i = ((uintptr_t)p - (uintptr_t)from) / 8;

		if (p == &w.producer.stage[s])
			w.sync[value / BLOCK_BYTES] = *from;
		if ((uintptr_t)p <= (uintptr_t)from || i >= BLOCK_WORDS)
			continue;
		if ((int64_t)(w.producer.stage[s] - w.producer.head) >= 0)
			w.ghost[w.producer.stage[s] / 8 + i] = value;
	}
}

/* ---- coroutines ---------------------------------------------------------- */

static void handler(void);
static void go_on(void);

__attribute__((noinline)) void step(void)
{
	enum who me = running;

	if (me == NOBODY)
		return;
	if (me == LOOKER) {
		go_on();
		return;
	}
	if (me == PRODUCER && signal_at >= 0) {
		if (handlers ? handler_steps++ == second_at : steps_taken++ == signal_at)
			handler();
		return; /* the second part has no turns */
	}
	w.low[me] = __builtin_frame_address(0);
	if (!_setjmp(context[me]))
		_longjmp(scheduler, 1);
}

static long model_futex(long number, ...)
{
	uint32_t *word, value;
	va_list args;
	int op;

	va_start(args, number);
	word = va_arg(args, uint32_t *);
	op = va_arg(args, int);
	value = va_arg(args, uint32_t);
	va_end(args);
	if (running == NOBODY || number != SYS_futex)
		return 0;
	step();
	if (signal_at >= 0 && op != FUTEX_WAKE) {
		fail("the producer sleeps, and the consumer has found nothing to take");
	} else if (op == FUTEX_WAKE) {
		w.asleep[PRODUCER] = false;
	} else if (*word == value) {
		w.asleep[PRODUCER] = true;
		step();
	}
	return 0;
}

bool vftr_agent_alive(void)
{
	return !failure; /* so that a wait in vain ends */
}

static void consume(void);

void vftr_agent_kick(void)
{
	step();
	w.doorbell = true;
	w.asleep[CONSUMER] = false;
	if (signal_at >= 0)
		consume();
}

#include "t/model/m-ring-stubs.h"

bool vftr_pause_keeps(const uint64_t *word)
{
	return false;
}

void vftr_process_switch_off(void)
{
	fail("the producer gave up");
}

bool vftr_successor_may_come(void)
{
	return false;
}

void vftr_successor_look(uint64_t ticks)
{
}

uint64_t vftr_process_ticks(void)
{
	return ticks_now();
}

int vftr_message_send_data(struct wire_head *head, size_t fixed, const void *data, size_t bytes)
{
	return 0;
}

static struct ring view = {.producer = &w.producer,
	.consumer = &w.consumer,
	.stage = {w.stage0, w.stage1},
	.data = w.data,
	.size = RING_BYTES,
	.base = &w,
	.bytes = sizeof(w)};

/* ---- consumer: nodeagent/process/drain.c with words instead of a replay ----------- */

static const char *const differ = "what was stored and what was found differ (R3-R6)";

/* What the consumer takes, INTO being NULL, is that which was stored: the world need not keep it.
 */
static void take(uint64_t *into, uint64_t position, const uint64_t *block)
{
	for (unsigned i = 0; i < BLOCK_WORDS; i++) {
		uint64_t word;

		/* fewer stops: the words of a block differ in their index only */
		if (i % 5 == 0)
			step();
		word = block[i];
		if (i == 0 && word != w.sync[position / BLOCK_BYTES])
			fail("a block does not start with its time");
		if (position / 8 + i >= POSITIONS)
			fail("more words than were ever stored");
		else if (i && into)
			into[position / 8 + i] = word;
		else if (i && word != w.ghost[position / 8 + i])
			fail(differ);
		if (!into)
			w.read = position + 8 * (i + 1);
		if (failure)
			return;
	}
}

static void consume(void)
{
	const uint64_t *block;
	uint64_t head;
	const char *why = ring_check(&view, w.tail, &head);

	if (why)
		fail(why);
	while (!failure && (block = ring_peek(&view, w.tail, head))) {
		take(NULL, w.tail, block);
		w.tail += BLOCK_BYTES;
		ring_release(&view, w.tail);
	}
}

static void consumer(void)
{
	while (!failure && !w.over[PRODUCER]) {
		consume();
		store_relaxed(&w.agent.sleeping, 1);
		if (ring_fill(&view) >= RING_BYTES / 4)
			continue;
		step();
		if (!w.doorbell && !w.over[PRODUCER]) {
			w.asleep[CONSUMER] = true;
			step();
		}
		w.doorbell = false;
		store_relaxed(&w.agent.sleeping, 0);
	}
	w.over[CONSUMER] = true;
	for (;;)
		step();
}

/* What a consumer finds if the producer ends now; NULL or what is wrong. */
static const char *after_death(void)
{
	static uint64_t found[POSITIONS], last[2][BLOCK_WORDS];
	uint64_t head = w.producer.head, at = w.read;
	enum who was = running;
	unsigned n;

	if (head % BLOCK_BYTES || head - w.tail > RING_BYTES)
		return "R1 or R2";
	running = NOBODY;
	memset(found, 0, sizeof(found));
	memcpy(found, w.ghost, w.read);
	for (; at < head; at += 8)
		if (at % BLOCK_BYTES)
			found[at / 8] = w.data[at % RING_BYTES / 8];
		else if (w.data[at % RING_BYTES / 8] != w.sync[at / BLOCK_BYTES])
			fail("R3: a published block does not start with its time");
	n = ring_unpublished(&view, head, last);
	for (unsigned i = 0; i < n; i++)
		take(found, head + i * BLOCK_BYTES, last[i]);
	running = was;
	if (!failure && memcmp(found, w.ghost, sizeof(found)))
		fail(differ);
	return failure;
}

/* ---- producer: one program ------------------------------------------------ */

/*
 * Function k is entered at even events and left at odd ones; every twelfth call
 * stays open for the next eight, so that there are frames to skip below; every
 * eighth call stores a record of three words inside of its frame.
 */
struct event {
	uint64_t exit_bit;
	uint32_t id;
	uint32_t message; /* its number; 0: this is no message */
};

static struct event program[256];
static uint64_t began[256], ended[256]; /* each, as the clock showed; second part */

static void write_program(unsigned calls)
{
	uint32_t outer = 0;

	n_events = 0;
	for (unsigned k = 0; k < calls; k++) {
		uint32_t id = RECORD_ID_FUNCTION + k;

		program[n_events++] = (struct event){0, id, 0};
		if (k % 8 == 1)
			program[n_events++] = (struct event){0, RECORD_DONE, k};
		if (k % 12 == 3) {
			outer = id;
			continue;
		}
		program[n_events++] = (struct event){RECORD_EXIT, id, 0};
		if (k % 12 == 11) {
			program[n_events++] = (struct event){RECORD_EXIT, outer, 0};
			outer = 0;
		}
	}
	if (outer)
		program[n_events++] = (struct event){RECORD_EXIT, outer, 0};
}

static void perform(const struct event *e)
{
	const uint64_t word[EMIT_WORDS] = {message_head(RECORD_DONE, e->message),
		message_pair(e->message, 1), message_last(0, e->message)};

	if (e->message)
		vftr_emit(word);
	else
		vftr_record(e->exit_bit, e->id, vftr_is_gated(&vftr_own.gate, e->id), NULL);
}

static void producer(void)
{
	for (w.called = 0; w.called < n_events && !failure; w.called++)
		perform(&program[w.called]);
	w.over[PRODUCER] = true;
	w.asleep[CONSUMER] = false; /* the socket hangs up */
	for (;;)
		step();
}

#define HANDLER_ID (RECORD_ID_FUNCTION + 1000)

static void handler(void)
{
	const uint64_t id = HANDLER_ID + handlers++;

	w.nested += signal_calls;
	for (unsigned i = 0; i < signal_calls; i++) {
		vftr_record(0, id, vftr_is_gated(&vftr_own.gate, id), NULL);
		vftr_record(RECORD_EXIT, id, vftr_is_gated(&vftr_own.gate, id), NULL);
	}
	handlers--;
}

static void begin(bool drop)
{
	struct thread *t = &vftr_thread;

	memset(&w, 0, sizeof(w));
	memset(stack, 0, sizeof(stack));
	memset(t, 0, sizeof(*t));
	failure = NULL;
	steps_taken = handler_steps = 0;
	w.sync[0] = record_sync_word(TICKS);
	vftr_process = (struct process){.state = PROCESS_ON,
		.generation = 1,
		.drop_when_full = drop,
		.agent = &w.agent,
		.app = &w.app};
	t->ring = view;
	t->generation = 1;
	t->state = THREAD_ACTIVE;
	ring_start(&t->ring, 1, TICKS);
	t->cur = t->ring.stage[0] + 1;
	t->high = TICKS >> RECORD_TIME_BITS;
	for (unsigned i = 0; i < 2; i++) {
		getcontext(&first[i]);
		first[i].uc_stack.ss_sp = stack[i];
		first[i].uc_stack.ss_size = STACK_BYTES;
		makecontext(&first[i], i == PRODUCER ? producer : consumer, 0);
		begun[i] = false;
		w.low[i] = stack[i] + STACK_BYTES - 1024;
	}
}

/* ---- was the right thing recorded? ---------------------------------------- */

/* In the second part the time of an event is one that the clock has shown while it was recorded. */
static bool is_its_time(unsigned event, uint64_t ticks)
{
	return signal_at < 0 || program[event].message ||
	       (ticks >= began[event] && ticks <= ended[event]);
}

static const char *judge(bool drop)
{
	uint32_t open[256];
	unsigned depth = 0, next = 0;
	uint64_t lost = 0, recorded = 0, calls = w.nested, messages = 0, all_messages = 0;
	uint64_t high = 0;

	for (unsigned i = 0; i < n_events; i++) {
		all_messages += program[i].message != 0;
		calls += !program[i].exit_bit && !program[i].message;
	}
	for (unsigned i = 0; i < POSITIONS; i++) {
		uint64_t word = i % BLOCK_WORDS ? w.ghost[i] : w.sync[i / BLOCK_WORDS];
		uint32_t id = (uint32_t)word;

		if (id == RECORD_SYNC)
			high = word >> RECORD_TIME_SHIFT << RECORD_TIME_BITS;
		if (!word || id == RECORD_SYNC)
			continue;
		if (record_has_time(id) && (high | word >> RECORD_TIME_SHIFT) != TICKS &&
			(high | word >> RECORD_TIME_SHIFT) != LATER)
			return "a time that the clock has not shown";
		if (id == RECORD_LOST || id == RECORD_CLOSE) {
			uint64_t n = w.ghost[++i];

			lost += id == RECORD_LOST ? n : 0;
			if (id == RECORD_CLOSE && n > depth)
				return "CLOSE of more frames than are open";
			depth -= id == RECORD_CLOSE ? (unsigned)n : 0;
			continue;
		}
		if (id == RECORD_BLOCKED) {
			if (w.ghost[i + 2] && w.ghost[i + 2] != (RECORD_BLOCKED_MARK | TICKS) &&
				w.ghost[i + 2] != (RECORD_BLOCKED_MARK | LATER))
				return "a wait that ended when the clock did not show it";
			i += 2;
			continue;
		}
		if (id == RECORD_DONE && !w.ghost[i + 2]) {
			i += 2; /* never completed: it comes again */
			continue;
		}
		if (id == RECORD_DONE) {
			if (w.ghost[i + 1] != message_pair((uint32_t)(word >> 33), 1) ||
				w.ghost[i + 2] != message_last(0, word >> 33))
				return "a message is not whole";
			i += 2;
			messages++;
		} else if (word & RECORD_EXIT) {
			if (!depth || open[depth - 1] != id)
				return "an exit does not fit the frame on top";
			depth--;
		} else {
			open[depth++] = id;
			recorded++;
		}
		if (id >= HANDLER_ID)
			continue;
		/* in the program's order, and without gaps if nothing may be lost */
		while (next < n_events &&
			(program[next].id != id || program[next].exit_bit != (word & RECORD_EXIT) ||
				(id == RECORD_DONE && program[next].message != word >> 33)))
			if (!drop)
				return "an event of the program is missing";
			else
				next++;
		if (next++ == n_events)
			return "an event out of the program's order";
		if (!is_its_time(next - 1, high | word >> RECORD_TIME_SHIFT))
			return "a time that the clock has shown before or after the event";
	}
	if (!drop && next != n_events)
		return "events are missing at the end";
	lost += vftr_thread.lost_here;
	if (recorded + lost + w.app.lost_nested != calls || lost != w.producer.lost)
		return "recorded and lost calls are not all calls";
	if (messages + w.producer.lost_messages != all_messages)
		return "recorded and lost messages are not all messages";
	if (depth != vftr_thread.unclosed + vftr_thread.nested_open)
		return "frames stay open";
	return NULL;
}

/* ---- the explorer --------------------------------------------------------- */

struct snapshot {
	struct world world;
	struct thread thread;
	jmp_buf context[2];
	bool begun[2];
	char live[2][3072];
};

#define DEPTH_MOST 4096
#define SEEN_SLOTS (1u << 23)
static struct snapshot *saved[DEPTH_MOST];
static uint64_t *seen;
static unsigned long n_states, n_ends;

static size_t live_bytes(unsigned i)
{
	return (size_t)(stack[i] + STACK_BYTES - ((char *)w.low[i] - SLACK));
}

static void save(struct snapshot *s)
{
	s->world = w;
	s->thread = vftr_thread;
	memcpy(s->context, context, sizeof(context));
	memcpy(s->begun, begun, sizeof(begun));
	for (unsigned i = 0; i < 2; i++) {
		size_t n = live_bytes(i);

		if (n > sizeof(s->live[i])) {
			fail("the model's stack is too deep");
			return;
		}
		memcpy(s->live[i], stack[i] + STACK_BYTES - n, n);
	}
}

static void restore(const struct snapshot *s)
{
	w = s->world;
	vftr_thread = s->thread;
	memcpy(context, s->context, sizeof(context));
	memcpy(begun, s->begun, sizeof(begun));
	for (unsigned i = 0; i < 2; i++) {
		size_t n = live_bytes(i);

		memcpy(stack[i] + STACK_BYTES - n, s->live[i], n);
	}
}

/* In four lanes: one multiplication after the other took most of the time of all tests here. */
static uint64_t mix(uint64_t h, const void *p, size_t bytes)
{
	const uint64_t *word = p;
	uint64_t lane[4] = {h, h + 1, h + 2, h + 3};

	for (size_t i = 0; i < bytes / 8 / 4 * 4; i += 4) {
#pragma GCC unroll 4
		for (unsigned l = 0; l < 4; l++) {
			lane[l] = (lane[l] ^ word[i + l]) * 0x9e3779b97f4a7c15u;
			lane[l] ^= lane[l] >> 29;
		}
	}
	h = 0;
	for (size_t i = bytes / 8 / 4 * 4; i < bytes / 8; i++)
		h = (h ^ word[i]) * 0x9e3779b97f4a7c15u;
	for (unsigned i = 0; i < 4; i++) {
		h = (h ^ lane[i]) * 0x9e3779b97f4a7c15u;
		h ^= h >> 29;
	}
	return h;
}

static bool is_new(void)
{
	uint64_t h = mix(1, &w, sizeof(w));

	h = mix(h, &vftr_thread, sizeof(vftr_thread));
	for (unsigned i = 0; i < 2; i++) {
		char *from = (char *)((uintptr_t)w.low[i] & ~(uintptr_t)7);

		h = mix(h, from, (size_t)(stack[i] + STACK_BYTES - from));
		h = mix(h, context[i]->__jmpbuf, sizeof(context[i]->__jmpbuf));
	}
	h |= 1;
	for (size_t i = h >> 20 & (SEEN_SLOTS - 1);; i = (i + 1) & (SEEN_SLOTS - 1)) {
		if (seen[i] == h)
			return false;
		if (!seen[i]) {
			seen[i] = h;
			return true;
		}
	}
}

static void turn(enum who who)
{
	running = who;
	if (!_setjmp(scheduler)) {
		if (begun[who])
			_longjmp(context[who], 1);
		begun[who] = true;
		setcontext(&first[who]);
	}
	running = NOBODY;
}

static void explore(unsigned depth, bool drop)
{
	bool moved = false;

	if (failure || !is_new())
		return;
	if (++n_states > SEEN_SLOTS / 4 * 3 || depth == DEPTH_MOST) {
		fail("the model is too large");
		return;
	}
	if (after_death())
		return;
	if (!saved[depth] && !(saved[depth] = malloc(sizeof(*saved[depth]))))
		abort();
	save(saved[depth]);
	for (enum who who = PRODUCER; who <= CONSUMER && !failure; who++) {
		if (moved)
			restore(saved[depth]);
		if (w.over[who] || w.asleep[who])
			continue;
		moved = true;
		turn(who);
		explore(depth + 1, drop);
	}
	if (moved || failure)
		return;
	n_ends++;
	if (!w.over[PRODUCER])
		fail("everybody sleeps: a wake-up was lost");
	else if (judge(drop))
		fail(judge(drop));
}

static int reports, wrong;

/* ---- a look at a producer that goes on ------------------------------------ */

static unsigned pace; /* its steps between two loads of ours */

static void go_on(void)
{
	for (unsigned i = 0; i < pace && !w.over[PRODUCER]; i++)
		turn(PRODUCER);
	running = LOOKER;
}

/* Of what it stored in this order nothing may be missing before what is found. */
static const char *look_in_passing(void)
{
	static uint64_t last[2][BLOCK_WORDS];
	const uint64_t head = w.producer.head;
	bool missing = false;
	unsigned n;

	running = LOOKER;
	n = ring_unpublished(&view, head, last);
	running = NOBODY;
	for (unsigned i = 0; i < n * BLOCK_WORDS; i++) {
		const uint64_t word = last[0][i], is = w.ghost[head / 8 + i];

		if (i % BLOCK_WORDS == 0)
			continue;
		if (word && (missing || word != is))
			return "a word is missing before what was found";
		missing |= !word && is;
	}
	return NULL;
}

static void report(bool ok, const char *what, const char *detail)
{
	wrong += !ok;
	printf("%sok %d - %s%s%s\n", ok ? "" : "not ", ++reports, what, detail ? ": " : "",
		detail ? detail : "");
}

static void every_interleaving(const char *what, unsigned calls, bool drop, enum mutation m)
{
	char text[200];

	memset(seen, 0, SEEN_SLOTS * sizeof(*seen));
	n_states = n_ends = 0;
	mutation = m;
	write_program(calls);
	begin(drop);
	explore(0, drop);
	if (m) {
		report(failure != NULL, what, failure);
		return;
	}
	snprintf(text, sizeof(text), "%lu states, %lu ends%s%s", n_states, n_ends,
		failure ? "; " : "", failure ? failure : "");
	report(!failure, what, text);
}

/* A signal before one step of the producer; the clock shows LATER after step `later`. */
static void one_signal(bool drop, long later)
{
	const char *why = NULL;

	begin(drop);
	later_from = later;
	running = PRODUCER;
	for (w.called = 0; w.called < n_events && !failure; w.called++) {
		began[w.called] = ticks_now();
		perform(&program[w.called]);
		ended[w.called] = ticks_now();
	}
	running = NOBODY;
	if (!after_death())
		why = judge(drop);
	if (why)
		fail(why);
}

#define LEAD_MOST 9 /* steps in which the fast path stores an event, and more */

/* The same before each step, with handlers of several sizes, at each time near a wrap, and without.
 */
static void every_signal(const char *what, bool drop)
{
	/* words of one block at most: see vftr-ring(7) about larger ones */
	static const unsigned sizes[] = {1, 2, 3, 5, 6};
	unsigned long runs = 0;
	long lead = -1;
	char text[200];

	mutation = NONE;
	second_at = -1;
	write_program(30);
	failure = NULL;
	for (unsigned k = 0; k < sizeof(sizes) / sizeof(sizes[0]) && !failure; k++) {
		/* a wrap and the end of dropping need room: what is a block elsewhere is more here
		 */
		const long most = drop && sizes[k] > 2 ? -1 : LEAD_MOST;

		signal_calls = sizes[k];
		signal_at = steps_taken = 0;
		for (; !failure && steps_taken >= signal_at; signal_at++)
			for (lead = -1; !failure && lead <= most; lead++, runs++)
				one_signal(drop, lead < 0 ? LONG_MAX : signal_at - lead);
	}
	snprintf(text, sizeof(text), "%lu runs%s%s", runs, failure ? "; " : "",
		failure ? failure : "");
	if (failure)
		printf("# handler of %u calls before step %ld, event %u; wrap %ld steps before it; "
		       "lost %lu, nested %lu\n",
			signal_calls, signal_at - 1, w.called, lead - 1,
			(unsigned long)w.producer.lost, (unsigned long)w.app.lost_nested);
	signal_at = -1;
	report(!failure, what, text);
}

/*
 * A handler of one call before each step, another one before each step of its own, and a wrap after
 * each step of both. The program fills a block.
 */
static void every_second_signal(const char *what)
{
	unsigned long runs = 0;
	char text[200];

	mutation = NONE;
	write_program(10);
	failure = NULL;
	signal_calls = 1;
	signal_at = steps_taken = 0;
	for (; !failure && steps_taken >= signal_at; signal_at++) {
		second_at = handler_steps = 0;
		for (; !failure && handler_steps >= second_at; second_at++) {
			long later = handler_steps = 0;

			for (; !failure && handler_steps >= later; later++, runs++)
				one_signal(false, later);
			if (failure)
				printf("# handlers before steps %ld and %ld, event %u; wrap after "
				       "step %ld\n",
					signal_at, second_at, w.called, later - 1);
		}
	}
	snprintf(text, sizeof(text), "%lu runs%s%s", runs, failure ? "; " : "",
		failure ? failure : "");
	signal_at = second_at = -1;
	report(!failure, what, text);
}

static void every_look(const char *what)
{
	static const unsigned paces[] = {1, 2, 3, 7, 40};
	const char *why = NULL;

	mutation = NONE;
	write_program(14);
	for (unsigned k = 0; k < sizeof(paces) / sizeof(paces[0]) && !why; k++) {
		pace = paces[k];
		begin(false);
		for (unsigned from = 0; !w.over[PRODUCER] && !why; from++) {
			begin(false);
			for (unsigned i = 0; i < from && !w.over[PRODUCER]; i++) {
				turn(PRODUCER);
				consume();
			}
			why = failure ? failure : look_in_passing();
		}
	}
	report(!why, what, why);
}

int main(void)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	printf("1..0 # SKIP sanitizers do not follow stacks that are copied\n");
	return 0;
#endif
	seen = calloc(SEEN_SLOTS, sizeof(*seen));
	if (!seen)
		return 1;
	every_interleaving("a full ring blocks", 26, false, NONE);
	every_interleaving("a full ring drops", 36, true, NONE);
	every_signal("signals while a full ring blocks", false);
	every_signal("signals while a full ring drops", true);
	every_second_signal("signals while handlers run");
	every_look("a look while the producer goes on");
	every_interleaving("noticed: head stored before the copy", 36, false, HEAD_BEFORE_COPY);
	every_interleaving("noticed: zeroed before head is stored", 36, false, ZERO_BEFORE_HEAD);
	every_interleaving("noticed: no look at tail", 36, false, NO_ROOM_CHECK);
	every_interleaving("noticed: staging block not zeroed", 36, false, NOT_ZEROED);
	every_interleaving("noticed: asleep without saying so", 36, false, NOT_WAITING);
	printf("1..%d\n", reports);
	return wrong != 0;
}
