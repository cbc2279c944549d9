/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/process/drain.h"

#include <stdlib.h>
#include <time.h>
#include "conf/conf.h"
#include "nodeagent/base/util.h"
#include "nodeagent/process/host.h"
#include "nodeagent/match/process.h"
#include "nodeagent/process/process.h"
#include "nodeagent/process/threads.h"
#include "nodeagent/replay/comm/comm.h"
#include "nodeagent/replay/comm/sync.h"
#include "nodeagent/replay/openmp/locks.h"
#include "nodeagent/replay/stack-samples.h"
#include "nodeagent/replay/tree/activity.h"
#include "shm/ring.h"

#define RELEASE_BLOCKS 64 /* blocks given back at a time, fewer in small rings */

/* Read of a thread before others have their turn, and how far ahead of them it may be. */
#define PIECE_BYTES (16 * BLOCK_BYTES)
#define AHEAD_TICKS ((uint64_t)1 << 22)

static void quarantine(struct thread_ring *t, const char *why)
{
	t->error = true;
	store_release(&t->ring.consumer->retired, 1);
	process_quarantine(t->process, "thread %d: %s", t->tid, why);
}

/* Places the stack samples that are older than the word `from'; the first word that is later than
 * the next one. */
static unsigned until_stack_sample(struct replay *r, const uint64_t *block, unsigned from)
{
	uint64_t next;

	while ((next = replay_next_stack_sample(r)) != UINT64_MAX) {
		const unsigned to = replay_split(r, block, from, next);

		if (to > from)
			return to;
		replay_place_stack_samples(r, next);
	}
	return BLOCK_WORDS;
}

/* Words of a block. */
struct words {
	unsigned from, to;
};

static struct words all_from(unsigned from)
{
	return (struct words){from, BLOCK_WORDS};
}

/* Replays these words of a block; in parts if the meaning of addresses changes within them, or a
 * stack sample lies there. NULL, or what is wrong. */
static const char *replay_rest(const struct process *p, struct replay *r, uint32_t *epoch_at,
	const uint64_t *block, struct words words, uint64_t now)
{
	unsigned from = words.from;
	struct codemap *code = p->code;
	struct replay_epoch epoch;
	unsigned to, split;
	const char *why;

	if (from >= words.to) /* all was taken before the block was published */
		return NULL;
	codemap_reusable(code, &epoch.low, &epoch.bytes);

	do {
		to = MIN(until_stack_sample(r, block, from), words.to);
		while (*epoch_at + 1 < codemap_epochs(code)) {
			split = replay_split(
				r, block, from, codemap_epoch_start(code, *epoch_at + 1));
			if (split > from) {
				to = split < to ? split : to;
				break;
			}
			++*epoch_at;
		}
		epoch.epoch = *epoch_at;
		why = replay_block(r, block, from, to, &epoch, now);
		from = to;
	} while (!why && from < words.to);
	return why;
}

static bool take_block(struct thread_ring *t, const uint64_t *block, uint64_t now)
{
	const char *why =
		replay_rest(t->process, t->replay, &t->epoch, block, all_from(t->taken), now);

	t->taken = 0;
	if (why)
		quarantine(t, why);
	return !why;
}

/* The published position, read once: a producer that goes on cannot keep us here. Of a process that
 * was quarantined since the last look nothing more is read, however many threads read. */
static uint64_t published(struct thread_ring *t)
{
	uint64_t head;
	const char *why;

	t->error |= t->process->quarantined != NULL;
	if (t->error)
		return t->tail;
	why = ring_check(&t->ring, t->tail, &head);
	if (why)
		quarantine(t, why);
	return head;
}

/* Tells the matcher about lost records, for which it would wait. */
static void note_losses(struct thread_ring *t)
{
	const struct ring_producer_shm *shm = t->ring.producer;
	struct match_process *match = t->process->match;
	uint64_t lost = load_relaxed(&shm->lost) + load_relaxed(&shm->lost_messages);

	if (t->process->traffic && lost != t->lost_seen)
		traffic_lost(t->process->traffic);
	if (match && lost != t->lost_seen)
		match_process_lost(match);
	if (t->process->session_match && lost != t->lost_seen)
		match_process_lost(t->process->session_match);
	t->lost_seen = lost;
}

static bool locks_are_told(const struct process *p)
{
	return p->locks && locks_pending(p->locks);
}

static uint64_t release_bytes(const struct thread_ring *t)
{
	const uint64_t most = RELEASE_BLOCKS * (uint64_t)BLOCK_BYTES;

	return t->ring.size / 8 < most ? t->ring.size / 8 : most;
}

/*
 * Where no other thread asks what this one did lately, the more is read in turn the less often its
 * call tree has to come back into the cache.
 */
static uint64_t piece_bytes(const struct thread_ring *t)
{
	const uint64_t most = release_bytes(t);

	if (most <= PIECE_BYTES || replay_keeps_activity(t->replay) || locks_are_told(t->process))
		return PIECE_BYTES;
	return most;
}

/* No more than a piece, unless it is read as a whole. */
enum amount { WHOLE, PIECE_WITH_LOCKS, PIECE };

static bool is_piece(const struct process *p, enum amount amount)
{
	return amount == PIECE || (amount == PIECE_WITH_LOCKS && locks_are_told(p));
}

/* Of blocks that are given back at a time. */
static uint64_t drain_to(struct thread_ring *t, uint64_t head, enum amount amount)
{
	struct process *p = t->process;
	uint64_t start = t->tail, batch = release_bytes(t) / BLOCK_BYTES, piece = piece_bytes(t);
	uint64_t now = host_ticks(p->host);
	const uint64_t *block;
	unsigned blocks = 0;

	note_losses(t);
	while ((block = ring_peek(&t->ring, t->tail, head)) && take_block(t, block, now)) {
		t->tail += BLOCK_BYTES;
		if (++blocks >= batch) {
			ring_release(&t->ring, t->tail);
			blocks = 0;
		}
		if (t->tail - start >= piece && is_piece(p, amount))
			break;
	}
	if (blocks)
		ring_release(&t->ring, t->tail);
	sync_settle(p->host->sync);
	p->host->drained_bytes += t->tail - start;
	return t->tail - start;
}

uint64_t drain_thread_to(struct thread_ring *t, uint64_t position)
{
	uint64_t head = published(t);

	if (position % BLOCK_BYTES || position - t->tail > head - t->tail)
		position = (int64_t)(position - t->tail) < 0 ? t->tail : head;
	return drain_to(t, position, WHOLE);
}

uint64_t drain_thread(struct thread_ring *t)
{
	return drain_to(t, published(t), WHOLE);
}

/* What other threads freed, and who had a lock, is forgotten when all records that may speak of it
 * have been read: each thread's last record is later. */
static void sweep_traffic(struct process *p)
{
	uint64_t least = host_ticks(p->host);

	for (size_t i = 0; i < p->n_threads; i++) {
		const struct thread_ring *t = p->threads[i];

		if (t && !t->error && replay_last_ticks(t->replay) < least)
			least = replay_last_ticks(t->replay);
	}
	if (p->match)
		match_process_progress(p->match, least);
	if (p->session_match)
		match_process_progress(p->session_match, least);
	traffic_sweep(p->traffic, least);
	if (p->locks)
		locks_settle(p->locks, least);
}

/* Definitions that published records need were sent before them: all are read
 * first. False: there are too many of them for now. */
static bool definitions_read(struct process *p)
{
	if (p->socket < 0)
		return true;
	if (!traffic_in_use(p->traffic) &&
		load_acquire(&p->control_app->definitions) == p->definitions)
		return true;
	return process_receive_all(p);
}

/*
 * What all threads have published, read at once and the first thread last: a
 * team's first thread is mostly an earlier one than the others, so that what
 * they tell of is known when their rings are read.
 */
static void look_ahead(struct process *p)
{
	for (size_t i = p->n_threads; i-- > 0;)
		if (p->threads[i])
			p->threads[i]->head = published(p->threads[i]);
}

/* Then the rings fill, and do what shm.when_full says. */
static bool is_behind(const struct host *host)
{
	return host->is_behind && host->is_behind(host);
}

uint64_t drain_process(struct process *p)
{
	if (is_behind(p->host))
		return 0;
	return drain_process_now(p);
}

static bool has_more(const struct thread_ring *t)
{
	return t && !t->error && (int64_t)(t->head - t->tail) > 0;
}

/* How far each thread that has more was read, at least. */
static uint64_t read_until(const struct process *p)
{
	uint64_t least = UINT64_MAX;

	for (size_t i = 0; i < p->n_threads; i++)
		if (has_more(p->threads[i]) && replay_last_ticks(p->threads[i]->replay) < least)
			least = replay_last_ticks(p->threads[i]->replay);
	return least;
}

/*
 * Threads that tell of locks are read side by side, as who waits and who has the lock is kept until
 * both were read; and those of several processes.
 */
static bool has_its_turn(
	const struct process *p, const struct thread_ring *t, enum amount amount, uint64_t least)
{
	return !is_piece(p, amount) || replay_last_ticks(t->replay) <= least + AHEAD_TICKS;
}

/* False: no more for now. ended: all messages of the process were received. least: how far others
 * were read. */
static bool drain_round(
	struct process *p, bool ended, enum amount amount, uint64_t least, uint64_t *bytes)
{
	const uint64_t before = *bytes;

	for (size_t i = 0; i < p->n_threads; i++) {
		struct thread_ring *t = p->threads[i];
		uint32_t number = t ? t->number : 0;

		/* a new one has its turn the next time */
		if (!has_more(t))
			continue;
		if (!ended && !definitions_read(p))
			return false;
		/* one may be that this thread has ended, and then t is gone, or another */
		if (p->threads[i] != t || t->number != number)
			continue;
		/* ... or a question, for which we read on */
		if (has_more(t) && has_its_turn(p, t, amount, least)) {
			*bytes += drain_to(t, t->head, amount);
			threads_ring_read(p, i);
		}
	}
	return *bytes != before && read_until(p) != UINT64_MAX;
}

/* All was read for now. */
static void settle_process(struct process *p)
{
	threads_settle(p);
	if (p->match || traffic_has_gone(p->traffic) || locks_are_told(p))
		sweep_traffic(p);
}

uint64_t drain_process_now(struct process *p)
{
	uint64_t bytes = 0;

	look_ahead(p);
	while (drain_round(p, false, PIECE_WITH_LOCKS, read_until(p), &bytes))
		if (locks_are_told(p))
			sweep_traffic(p);
	settle_process(p);
	return bytes;
}

/* How far each process was read that has more, and has got on before. */
static uint64_t all_read_until(const struct host *host)
{
	uint64_t least = UINT64_MAX;

	for (const struct process *p = host->live; p; p = p->next_live)
		if (!p->ended && !p->read_no_more && read_until(p) < least)
			least = read_until(p);
	return least;
}

uint64_t drain_host(struct host *host)
{
	uint64_t bytes = 0, before, least;

	if (is_behind(host))
		return 0;
	if (host->live && !host->live->next_live)
		return host->live->ended ? 0 : drain_process_now(host->live);
	for (struct process *p = host->live; p; p = p->next_live) {
		p->read_no_more = p->ended;
		if (!p->ended)
			look_ahead(p);
	}
	while (!is_behind(host) && (least = all_read_until(host)) != UINT64_MAX)
		for (struct process *p = host->live; p; p = p->next_live) {
			if (p->ended || p->read_no_more || read_until(p) - least > AHEAD_TICKS)
				continue;
			before = bytes;
			drain_round(p, false, PIECE, least, &bytes);
			p->read_no_more = bytes == before;
			if (locks_are_told(p))
				sweep_traffic(p);
		}
	for (struct process *p = host->live; p; p = p->next_live)
		if (!p->ended)
			settle_process(p);
	return bytes;
}

/* ---- by several threads ------------------------------------------------------------------- */

#define VAIN_MOST  4u /* 2 to the power of it: blocks of a piece */
#define KEPT_BYTES (ACTIVITY_CALLS / 2 / (BLOCK_WORDS / 2) * (uint64_t)BLOCK_BYTES)

void drain_begin(struct process *p)
{
	p->read_no_more = p->ended;
	if (!p->ended)
		look_ahead(p);
}

bool drain_may_go_on(struct process *p)
{
	if (!p->ended && !p->read_no_more && read_until(p) != UINT64_MAX)
		p->read_no_more = !definitions_read(p);
	return !p->ended && !p->read_no_more;
}

uint64_t drain_least(const struct host *host)
{
	return all_read_until(host);
}

uint64_t drain_until(const struct host *host, uint64_t least)
{
	if (host->live && !host->live->next_live && !locks_are_told(host->live))
		return UINT64_MAX;
	return least + AHEAD_TICKS;
}

/*
 * What is kept of a thread is its last calls: so it reads in pieces, and begins one when all have
 * come to where the one before began. Two have no more calls than are kept.
 */
bool drain_has_turn(struct thread_ring *t, uint64_t least, uint64_t until)
{
	const uint64_t now = has_more(t) ? replay_last_ticks(t->replay) : UINT64_MAX;

	if (now > until || now == UINT64_MAX)
		return false;
	if (until == UINT64_MAX || !replay_keeps_activity(t->replay)) {
		t->piece_end = t->head;
		t->piece_ticks = 0;
		return true;
	}
	if (t->piece_ticks && (int64_t)(t->piece_end - t->tail) > 0)
		return true;
	if (t->piece_ticks > least)
		return false;
	t->piece_ticks = now;
	t->piece_end = t->tail + KEPT_BYTES;
	return true;
}

/* False: there is damage, or a word that is not for it. */
static bool take_own(
	struct thread_ring *t, const uint64_t *block, uint64_t now, const char **damage)
{
	const struct codemap *code = t->process->code;
	struct replay_epoch epoch = {.epoch = t->epoch};
	unsigned to;

	t->stopped = true;
	if (t->epoch + 1 < codemap_epochs(code) ||
		replay_next_stack_sample(t->replay) != UINT64_MAX)
		return false;
	codemap_reusable(code, &epoch.low, &epoch.bytes);
	*damage = replay_block_own(t->replay, block, t->taken, &epoch, now, &to);
	t->taken = (uint16_t)to;
	if (*damage || to < BLOCK_WORDS)
		return false;
	t->stopped = false;
	t->taken = 0;
	return true;
}

uint64_t drain_own(struct thread_ring *t, uint64_t until, const char **damage)
{
	const uint64_t start = t->tail, now = host_ticks(t->process->host);
	const uint64_t batch = release_bytes(t);
	uint64_t released = start;
	const uint64_t *block;

	*damage = NULL;
	t->stopped = false;
	while (replay_last_ticks(t->replay) <= until && (int64_t)(t->piece_end - t->tail) > 0 &&
		(block = ring_peek(&t->ring, t->tail, t->head)) &&
		take_own(t, block, now, damage)) {
		t->tail += BLOCK_BYTES;
		if (t->tail - released >= batch) {
			ring_release(&t->ring, t->tail);
			released = t->tail;
		}
	}
	if (t->tail != released)
		ring_release(&t->ring, t->tail);
	if (t->tail != start || !t->stopped)
		t->vain = 0;
	else if (t->vain < VAIN_MOST)
		t->vain++;
	return t->tail - start;
}

uint64_t drain_common(struct thread_ring *t, size_t index, const char *damage)
{
	uint64_t to, bytes = 0;

	if (damage) {
		quarantine(t, damage);
	} else if (!t->stopped) {
		note_losses(t);
	} else {
		to = t->tail + ((uint64_t)BLOCK_BYTES << t->vain);
		if ((int64_t)(to - t->piece_end) > 0)
			to = t->piece_end;
		if ((int64_t)(to - t->head) > 0)
			to = t->head;
		bytes = drain_to(t, to, WHOLE);
	}
	threads_ring_read(t->process, index);
	return bytes;
}

void drain_round_over(struct process *p)
{
	if (locks_are_told(p))
		sweep_traffic(p);
}

/* ------------------------------------------------------------------------------------------- */

void drain_ended(struct process *p)
{
	uint64_t bytes = 0;

	if (!locks_are_told(p))
		return;
	look_ahead(p);
	while (drain_round(p, true, PIECE_WITH_LOCKS, read_until(p), &bytes))
		sweep_traffic(p);
}

/* Calls skipped since the last LOST record, in a thread that died full. */
static void count_missing(struct thread_ring *t)
{
	uint64_t lost = load_relaxed(&t->ring.producer->lost);
	uint64_t told = replay_counts(t->replay)->lost;

	if (lost > told)
		replay_lost(t->replay, lost - told, host_ticks(t->process->host));
}

/* NULL, or what is wrong. */
static const char *drain_unpublished(struct thread_ring *t)
{
	static uint64_t blocks[2][BLOCK_WORDS];
	struct host *host = t->process->host;
	uint64_t now = host_ticks(host);
	unsigned n = ring_unpublished(&t->ring, t->tail, blocks);
	const char *why = NULL;

	for (unsigned i = 0; i < n && !why; i++) {
		why = replay_rest(
			t->process, t->replay, &t->epoch, blocks[i], all_from(t->taken), now);
		t->taken = 0;
		host->drained_bytes += why ? 0 : BLOCK_BYTES;
	}
	return why;
}

void drain_last(struct thread_ring *t)
{
	const char *why;

	drain_thread(t);
	if (t->error)
		return;
	why = drain_unpublished(t);
	if (why)
		quarantine(t, why);
	count_missing(t);
}

/* Of a running thread: up to the first word that is not stored, or a record that is not complete.
 * It will be, or is a place of which nobody knows whether it will. */
static unsigned stored_words(const uint64_t *block, unsigned from)
{
	while (from < BLOCK_WORDS && block[from]) {
		const unsigned words = record_words(block[from]);

		if (words > BLOCK_WORDS - from || !block[from + words - 1])
			break;
		from += words;
	}
	return from;
}

/* The rest of the block stays for the time when it is published. */
static void drain_stored(struct process *p, size_t index)
{
	static uint64_t blocks[2][BLOCK_WORDS];
	struct thread_ring *t = p->threads[index];
	struct words words = {0, 0};
	uint32_t number = t ? t->number : 0;
	const char *why;
	uint64_t tail;

	if (!t || t->error)
		return;
	tail = t->tail;
	/* of two, only the first: it is published in a moment, but by a thread that drops calls,
	 * which does so with its next event */
	if (!ring_unpublished(&t->ring, tail, blocks))
		return;
	/* definitions were sent before the words that need them; thereby it may end, or be read */
	if (!definitions_read(p) || p->threads[index] != t || t->number != number ||
		t->tail != tail || t->error)
		return;
	words = (struct words){t->taken, stored_words(blocks[0], t->taken)};
	if (words.to <= words.from)
		return;
	why = replay_rest(p, t->replay, &t->epoch, blocks[0], words, host_ticks(p->host));
	t->taken = (uint16_t)words.to;
	if (why)
		quarantine(t, why);
}

void drain_host_stored(struct host *host)
{
	drain_host(host);
	for (struct process *p = host->live; p; p = p->next_live) {
		for (size_t i = 0; i < p->n_threads && !p->ended && !p->quarantined; i++)
			drain_stored(p, i);
		if (!p->ended)
			settle_process(p);
	}
	sync_settle(host->sync);
}

void drain_copy(struct thread_ring *t)
{
	if (!t->error)
		drain_unpublished(t); /* what they speak of may be in the socket, unread */
	t->error = true;
}

bool drain_shadow(const struct thread_ring *t, struct replay *shadow)
{
	uint64_t(*blocks)[BLOCK_WORDS] = xmalloc(2 * sizeof(*blocks));
	const unsigned n = t->error ? 0 : ring_unpublished(&t->ring, t->tail, blocks);
	const uint64_t now = host_ticks(t->process->host);
	uint32_t epoch = t->epoch;
	const char *why = NULL;

	for (unsigned i = 0; i < n && !why; i++)
		why = replay_rest(
			t->process, shadow, &epoch, blocks[i], all_from(i ? 0 : t->taken), now);
	free(blocks);
	return !why;
}

bool drain_is_urgent(const struct process *p)
{
	for (size_t i = 0; i < p->n_threads; i++) {
		const struct thread_ring *t = p->threads[i];
		uint64_t head;

		/* what is wrong is urgent, too: draining puts an end to it */
		if (t && !t->error &&
			(ring_check(&t->ring, t->tail, &head) ||
				head - t->tail >= t->ring.size / 4))
			return true;
	}
	return false;
}

/* ---- time without a CPU ------------------------------------------------------------------- */

/* The agent wakes up for it so often, and looks when it is awake, but not more often than this. */
#define OFF_CPU_NS	 20000000u
#define OFF_CPU_NS_LEAST 1000000u
/* After so many looks without records it does not wake up until there are some. */
#define OFF_CPU_VAIN  25
#define OFF_CPU_SHARE 200 /* of the time that a look takes, at least until the next */

static bool has_several_threads(const struct process *p)
{
	for (size_t i = 1; i < p->n_threads; i++)
		if (p->threads[i])
			return true;
	return false;
}

static void look_at_cpu(struct process *p)
{
	struct thread_ring *t = p->n_threads ? p->threads[0] : NULL;
	struct off_time off;

	if (t && !p->ended && !t->number && !t->error &&
		off_clock_read(
			&p->off_cpu, p->pid, has_several_threads(p), &off.ns, &off.queued_ns))
		replay_note_off_cpu(t->replay, host_ticks(p->host), off);
}

static uint64_t until_next_look(struct host *host)
{
	if (host->off_cpu_bytes == host->drained_bytes) {
		host->off_cpu_vain++;
	} else {
		host->off_cpu_bytes = host->drained_bytes;
		host->off_cpu_vain = 0;
	}
	return host->off_cpu_vain < OFF_CPU_VAIN ? OFF_CPU_NS : UINT64_MAX;
}

/* What others run meanwhile is no cost of a look. */
static uint64_t own_cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

double drain_off_cpu_tick(struct host *host)
{
	uint64_t now = clock_raw_ns(), began, took, next;

	if (!host->conf->iterations_active || !host->n_live)
		return NEVER_S;
	if (now >= host->off_cpu_least_ns) {
		began = own_cpu_ns();
		for (struct process *p = host->live; p; p = p->next_live)
			if (!p->ended)
				look_at_cpu(p);
		took = own_cpu_ns() - began;
		next = until_next_look(host);
		host->off_cpu_least_ns = now + OFF_CPU_NS_LEAST + OFF_CPU_SHARE * took;
		host->off_cpu_due_ns =
			next == UINT64_MAX ? next : now + next + OFF_CPU_SHARE * took;
		now = clock_raw_ns();
	}
	if (host->off_cpu_due_ns == UINT64_MAX)
		return NEVER_S;
	return host->off_cpu_due_ns > now ? 1e-9 * (double)(host->off_cpu_due_ns - now) : 0;
}
