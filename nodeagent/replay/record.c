/* SPDX-License-Identifier: BSD-3-Clause */
/* Records other than a short enter or exit: how replay takes each kind of shm/record.h. */
#include "nodeagent/replay/comm/comm.h"
#include "nodeagent/replay/gpu/gpu.h"
#include "nodeagent/replay/internal.h"
#include "shm/atomic.h"

#define MESSAGE_WORDS_MAX 8

static const char *check_time(const struct replay *r)
{
	if (r->high > r->not_after)
		return "time stamps from the future";
	if (r->high + (2 * FUTURE_MAX) < r->start)
		return "time stamps from before its start";
	return NULL;
}

void replay_set_time_base(struct replay *r, uint64_t w)
{
	r->high = w >> RECORD_TIME_SHIFT << RECORD_TIME_BITS;
	r->error = check_time(r);
}

bool replay_take_sync(struct replay *r, const struct ring_record *rec)
{
	replay_set_time_base(r, rec->head);
	return false;
}

static uint64_t wide_key(uint64_t address, const struct replay_epoch *e)
{
	uint32_t epoch = (uint32_t)((uint32_t)address - e->low) < e->bytes ? e->epoch : 0;

	return RECORD_IS_REGION(address) ? address : key_wide(address, epoch);
}

bool replay_take_wide(struct replay *r, const struct ring_record *rec)
{
	const bool paused = r->slow & SLOW_PAUSED;

	if (!(rec->head & RECORD_EXIT)) {
		if (paused) /* recording goes on without a word */
			replay_go_on(r, rec->ticks, 0);
		replay_enter(r, wide_key(rec->last, rec->epoch), rec->ticks);
	} else if (paused) {
		replay_leave_paused(r, (uint32_t)rec->last, rec->ticks);
	} else {
		replay_leave(r, (uint32_t)rec->last, rec->ticks);
	}
	if (r->slow & SLOW_GOT)
		replay_hold_lock(r, rec->head & RECORD_EXIT, rec->ticks);
	return true;
}

bool replay_take_lost(struct replay *r, const struct ring_record *rec)
{
	r->slow &= ~SLOW_GOT; /* the frame is among those that are missing */
	if (!replay_lost(r, rec->last, rec->ticks))
		r->error = "more calls lost than there was time for";
	return true;
}

bool replay_take_site(struct replay *r, const struct ring_record *rec)
{
	r->slow &= ~SLOW_GOT;
	if (r->slow & SLOW_PAUSED)
		replay_go_on(r, rec->ticks, 0);
	replay_jump(r, rec->last, rec->ticks);
	return true;
}

bool replay_take_pause(struct replay *r, const struct ring_record *rec)
{
	r->slow &= ~SLOW_GOT;
	replay_pause(r, rec->ticks);
	return true;
}

bool replay_take_resume(struct replay *r, const struct ring_record *rec)
{
	replay_go_on(r, rec->ticks, rec->last - 1);
	return true;
}

bool replay_take_close(struct replay *r, const struct ring_record *rec)
{
	r->slow &= ~SLOW_GOT;
	if (r->slow & SLOW_PAUSED)
		replay_pop(r, rec->ticks);
	replay_close(r, rec->last, rec->ticks);
	if (r->slow & SLOW_PAUSED)
		replay_open(r, KEY_PAUSE, rec->ticks);
	return true;
}

bool replay_take_openmp(struct replay *r, const struct ring_record *rec)
{
	replay_openmp(r, rec->head, load_relaxed(&rec->word[1]), rec->last, rec->ticks);
	return true;
}

bool replay_take_message(struct replay *r, const struct ring_record *rec)
{
	const uint64_t *word = rec->word;
	const unsigned last = rec->words - 1;
	uint64_t copy[MESSAGE_WORDS_MAX]; /* as its producer may still change it */
	struct frame *f = r->top;
	struct traffic_frame place;

	if (!r->track)
		return true;
	for (unsigned i = 1; i < last; i++)
		copy[i] = load_relaxed(&word[i]);
	copy[last] = rec->last;
	copy[0] = rec->head;
	place = (struct traffic_frame){.node = replay_node(f),
		.call = f->node &&
			(key_mpi(f->node->key) != KEY_NO_MPI || f->node->key == KEY_OVERFLOW ||
				f->node->key == KEY_PAUSE),
		.level = (uint32_t)(f - r->base),
		.depth = f->depth,
		.since = f->since};
	if (r->sampled) {
		place.stack = replay_sample(r, place.node);
		place.entered = vfd_is_entering(r->sampled->track, place.stack, f->since);
	}
	r->error = traffic_record(r->track, copy, &place, r->now);
	if (traffic_pending(r->track))
		r->slow |= SLOW_PENDING;
	if (!r->activity && traffic_asks_activity(r->track))
		replay_keep_activity(r);
	return true;
}

/* The call in whose frame we are has a number. */
bool replay_take_gpu_call(struct replay *r, const struct ring_record *rec)
{
	const uint32_t number = (uint32_t)rec->last;

	if (!r->gpu)
		return false;
	gpu_call(r->gpu, replay_node(r->top), RECORD_GPU_FUNCTION(rec->head), number,
		r->top->node ? r->top->since : r->now);
	if (r->sampled)
		replay_sampled_launch(r, number);
	return true;
}

#define RECORD_WORDS_FIT(name, id, words, timed, taken_by)                                         \
	_Static_assert((words) <= MESSAGE_WORDS_MAX, "a message has room in a copy");
RECORDS_OF_MESSAGES(RECORD_WORDS_FIT)

/* Compiled once for each kind: words and timed are constants. */
static inline __attribute__((always_inline)) unsigned take_record(struct replay *r,
	struct ring_record *rec, unsigned left, unsigned words, bool timed, record_taker *take_it)
{
	if (words > left) {
		r->error = "a record crosses the end of its block";
		return left;
	}
	rec->words = words;
	rec->last = words > 1 ? load_acquire(&rec->word[words - 1]) : 0;
	if (words > 1 && !rec->last) { /* never completed */
		if ((uint32_t)rec->head == RECORD_COUNTERS)
			replay_check_counters(r, rec->head);
		return words;
	}
	r->counts.records += take_it(r, rec);
	if (timed && rec->ticks > r->now)
		r->now = rec->ticks;
	return words;
}

#define RECORD_CASE_TAKE(name, id, words, timed, taken_by)                                         \
	case (id):                                                                                 \
		return take_record(r, &rec, left, words, timed, replay_take_##taken_by);

unsigned replay_record(struct replay *r, const uint64_t *word, unsigned left, uint64_t w,
	const struct replay_epoch *epoch)
{
	struct ring_record rec = {
		.word = word, .head = w, .ticks = r->high | w >> RECORD_TIME_SHIFT, .epoch = epoch};

	switch ((uint32_t)w) {
		RECORDS(RECORD_CASE_TAKE)
	default:
		r->error = "a record of unknown kind";
		return 1;
	}
}
