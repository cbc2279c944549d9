/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/agent/overhead/removal.h"

#include "nodeagent/base/util.h"
#include "nodeagent/process/drain.h"
#include "nodeagent/process/process.h"
#include "nodeagent/replay/replay.h"
#include "nodeagent/replay/shadow.h"
#include "shm/atomic.h"
#include "shm/segment.h"

/* Where calls were left out, nobody knows which ones are open. */
static bool is_whole(const struct process *p)
{
	if (p->quarantined || p->ended || p->ended_lost ||
		load_relaxed(&p->control_app->lost_nested))
		return false;
	return !ANY(i, p->n_threads,
		p->threads[i] && (p->threads[i]->error ||
					 load_relaxed(&p->threads[i]->ring.producer->lost)));
}

/* What the thread has recorded up to now, or NULL: that cannot be told, or it goes on too fast. */
static struct replay *replay_now(const struct thread_ring *t)
{
	struct replay *shadow = replay_shadow(t->replay);

	/* all that is published was read, also after the rest was */
	if (!shadow ||
		(drain_shadow(t, shadow) && load_acquire(&t->ring.producer->head) == t->tail))
		return shadow;
	replay_free(shadow);
	return NULL;
}

/*
 * Drops the bits of functions that may have a call open on the thread: now, or where it was last
 * read, if that is since the process shut its gate. Adds to *records what it has stored.
 */
static uint64_t without_open(
	const struct removal *r, const struct thread_ring *t, uint64_t wanted, uint64_t *records)
{
	const struct switches_shm *s = control_switches(t->process->control);
	struct replay *shadow = replay_now(t);
	const struct replay *now = shadow ? shadow : t->replay;

	*records +=
		replay_counts(t->replay)->records + (shadow ? replay_counts(shadow)->records : 0);
	for (unsigned i = 0; i < SWITCHES_MAX; i++) {
		const uint64_t bit = (uint64_t)1 << i;

		if (wanted & bit && ((!shadow && replay_last_ticks(now) <= r->seen_ticks[i]) ||
					    replay_may_be_open(now, load_relaxed(&s->id[i]))))
			wanted &= ~bit;
	}
	if (shadow)
		replay_free(shadow);
	return wanted;
}

/* Bits of functions that are off for the process, and were at the last look. */
static uint64_t off_there(
	struct removal *r, const struct process *p, uint64_t off, uint32_t version, uint64_t now)
{
	const struct switches_shm *s = control_switches(p->control);
	/* pairs with vftr_switches_follow() */
	const uint32_t known = load_acquire(&p->control_app->switches.version);
	uint64_t there = 0;

	for (unsigned i = 0; i < SWITCHES_MAX; i++) {
		const uint64_t bit = (uint64_t)1 << i;

		if (off & ~r->off & bit) {
			r->version[i] = version;
			r->seen_ticks[i] = 0;
		}
		if (!(off & bit) || !load_relaxed(&s->id[i]) ||
			(int32_t)(known - r->version[i]) < 0)
			continue;
		if (!r->seen_ticks[i])
			r->seen_ticks[i] = now;
		if (r->seen_ticks[i] != now)
			there |= bit;
	}
	r->off = off;
	return there;
}

uint64_t removal_look(
	struct removal *r, struct process *p, uint64_t off, uint32_t version, uint64_t now)
{
	uint64_t wanted = off_there(r, p, off, version, now) & ~r->removed;
	uint64_t records = p->ended_counts.records;

	if (!is_whole(p))
		wanted = 0;
	for (size_t i = 0; wanted && i < p->n_threads; i++)
		if (p->threads[i])
			wanted = without_open(r, p->threads[i], wanted, &records);
	/* of what is on: by these it hears of functions that are on again */
	if (wanted && r->records && records > r->records)
		r->removed |= wanted;
	r->records = wanted ? records : 0;
	r->removed &= off;
	return r->removed;
}
