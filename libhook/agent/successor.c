/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The agent has died, or ended while the process goes on: another one of its session may come.
 * Until then the process stores what its rings have room for, and counts what they have not. Then
 * it attaches anew, as a child of fork() does, with one generation more; each thread takes along
 * from its old ring, at its next slow path, what nobody has read.
 */
#include "libhook/successor.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>
#include "libhook/find-agent.h"
#include "libhook/process.h"
#include "libhook/switches.h"
#include "shm/copy.h"
#include "shm/system.h"

/* What is not recorded costs more as long as the process waits than when it is off. */
static uint64_t wait_most_ns(void)
{
	return vftr_process.successor == WIRE_SUCCESSOR_ALWAYS ? UINT64_C(3600000000000)
							       : UINT64_C(60000000000);
}

bool vftr_successor_may_come(void)
{
	const bool in_order = load_relaxed(&vftr_process.agent->orders) & ORDER_LEAVE;
	const uint32_t least = in_order ? WIRE_SUCCESSOR_ALWAYS : WIRE_SUCCESSOR_OF_DEAD;

	/* what MPI and CUPTI have told is not told again */
	return vftr_process.successor >= least && !vftr_process.has_rank &&
	       load_relaxed(&vftr_process.gpu) != GPU_LOADED;
}

void vftr_agent_lost(void)
{
	const int fd = vftr_process.socket;

	vftr_process.agent_lost_ns = clock_raw_ns();
	vftr_process.socket = -1;
	store_release(&vftr_process.waits_for_agent, 1);
	if (fd >= 0 && vftr_socket_is(fd))
		sys_close(fd);
}

void vftr_agent_failed(int error)
{
	if (load_relaxed(&vftr_process.waits_for_agent))
		return;
	if ((error == -EPIPE || error == -ECONNRESET) && vftr_successor_may_come())
		vftr_agent_lost();
	else
		vftr_process_switch_off();
}

/* Not if the program has closed our socket: then the agent may live. */
static bool has_lost_agent(void)
{
	return load_relaxed(&vftr_process.waits_for_agent) ||
	       (vftr_process.socket >= 0 && vftr_socket_is(vftr_process.socket) &&
		       !vftr_socket_answers(vftr_process.socket));
}

/* Who reads modules sends without the lock: not to what gets the number of our socket. */
static void lose_agent(void)
{
	const bool held = vftr_modules_hold();

	vftr_agent_lost();
	if (held)
		vftr_modules_release();
}

static void look_with_lock(void)
{
	int fd;

	if (load_relaxed(&vftr_process.state) != PROCESS_ON || !has_lost_agent())
		return;
	if (!load_relaxed(&vftr_process.waits_for_agent))
		lose_agent();
	fd = vftr_find_successor();
	if (fd >= 0)
		vftr_process_go_over(fd);
	else if (fd == -EALREADY) /* it lives, and wants us no more */
		vftr_process_switch_off();
	else if (clock_raw_ns() - vftr_process.agent_lost_ns > wait_most_ns())
		vftr_process_switch_off();
}

void vftr_successor_look(uint64_t ticks)
{
	/* stale is safe: somebody looks twice */
	store_relaxed(&vftr_process.agent_looked, ticks);
	if (!process_is_on() || !has_lost_agent())
		return;
	if (!vftr_successor_may_come()) {
		if (load_relaxed(&vftr_process.waits_for_agent)) /* for none, since MPI is here */
			vftr_process_switch_off();
		return;
	}
	vftr_process_lock();
	vftr_thread.own = true;
	look_with_lock();
	vftr_thread.own = false;
	vftr_process_unlock();
}

/* ---- what nobody has read ------------------------------------------------ */

/* Number of the staging block with this position, or 2. */
static unsigned stage_of(const struct ring *r, uint64_t position)
{
	unsigned s = 0;

	while (s < 2 && r->producer->stage[s] != position)
		s++;
	return s;
}

/* The time of the first event of a block; if that is not told at once, up to 2^31 ticks before. */
static uint64_t time_of_block(const uint64_t *block, uint64_t now)
{
	const uint64_t high = block[0] >> RECORD_TIME_SHIFT << RECORD_TIME_BITS;
	const uint64_t low =
		record_has_time((uint32_t)block[1]) ? block[1] >> RECORD_TIME_SHIFT : 0;
	const uint64_t known = UINT64_MAX >> (64 - 2 * RECORD_TIME_BITS);

	return (now & ~known) | high | low;
}

uint64_t vftr_ring_unread_since(const struct ring *r)
{
	const uint64_t now = vftr_process_ticks();
	const uint64_t head = r->producer->head, tail = load_acquire(&r->consumer->tail);
	const unsigned s = stage_of(r, head);
	uint64_t time = now;

	if (tail != head)
		time = time_of_block(r->data + (tail & (r->size - 1)) / 8, now);
	else if (s < 2 && r->stage[s][1])
		time = time_of_block(r->stage[s], now);
	return time < now ? time : now;
}

/* The agent does not see the new ring yet (ring_show()). */
static void take_blocks(struct ring *to, const struct ring *from)
{
	const uint64_t head = from->producer->head;
	uint64_t at = 0;

	for (uint64_t tail = load_acquire(&from->consumer->tail); tail != head;
		tail += BLOCK_BYTES, at += BLOCK_BYTES)
		copy_block(to->data + at / 8, from->data + (tail & (from->size - 1)) / 8);
	to->producer->head = at;
}

/*
 * Staging blocks have the same number as before: a word of what was interrupted just before its
 * store comes to its place.
 */
static void take_stages(struct ring *to, const struct ring *from)
{
	const uint64_t from_head = from->producer->head, head = to->producer->head;

	for (unsigned s = 0; s < 2; s++) {
		const uint64_t ahead = from->producer->stage[s] - from_head;

		if (ahead > BLOCK_BYTES) { /* spare */
			zero_block(to->stage[s]);
			to->producer->stage[s] = UINT64_MAX;
		} else {
			memcpy(to->stage[s], from->stage[s], BLOCK_BYTES);
			to->producer->stage[s] = head + ahead;
		}
	}
}

/* False if it cannot be taken; then it is counted as lost. */
static bool take_unread(struct ring *to, const struct ring *from)
{
	const uint64_t unread = from->producer->head - load_acquire(&from->consumer->tail);

	if (unread > to->size || !vftr_rings_may_take(from->base)) {
		to->producer->lost += unread / 16; /* a call has two words, mostly */
		return false;
	}
	take_blocks(to, from);
	take_stages(to, from);
	return true;
}

void vftr_ring_give(struct ring *to, const struct ring *from, int32_t tid)
{
	ring_prepare(to, (uint32_t)tid, vftr_ring_unread_since(from));
	take_unread(to, from);
	ring_show(to);
}

bool vftr_ring_take_along(struct thread *t, const struct thread *before)
{
	if (t->ring.size != before->ring.size || !take_unread(&t->ring, &before->ring))
		return false;
	if (!vftr_rings_put_in_place(t->index, before->ring.base, &t->ring)) {
		t->state = THREAD_OFF;
		return false;
	}
	vftr_switches_share(t, t->vfork_children);
	t->stage = before->stage;
	t->cur = before->cur;
	t->at = before->at;
	t->base = before->base;
	t->state = before->state;
	t->skipped_depth = before->skipped_depth;
	t->skipped_at = before->skipped_at;
	t->skipped_key = before->skipped_key;
	t->skipped_site = before->skipped_site;
	t->skipped_return = before->skipped_return;
	t->lost_here = before->lost_here;
	t->unclosed = before->unclosed;
	return true;
}
