/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs of enters and exits that come again and again. Each is learnt once: the words without
 * their times, and the node of each. When it comes again its words are compared a vector at
 * a time, and the times of word i are added to a sum of word i; so nothing is looked up, and no
 * frame is pushed that is popped again within the run.
 *
 * A node's ticks are the times of its exits less those of its enters, so sums become ticks and
 * calls whenever somebody wants to read them: sequences_settle(). The stack of frames is right
 * after each sequences_take(): a frame that a run has left open stands on it with its time, and
 * what its end will take off is added to its node (ticks are modulo 2^64 until then).
 *
 * The idea is that of trace caches in processors.
 */
#ifndef VFTR_NODEAGENT_REPLAY_SEQUENCES_H
#define VFTR_NODEAGENT_REPLAY_SEQUENCES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct replay;
struct sequences;

struct sequences *sequences_new(void);
/* Drops what is not settled. */
void sequences_free(struct sequences *all);

/*
 * Takes as many of the words before `end` as sequences know, which may be none; what is new is
 * learnt. r->slow is 0, no module was unloaded, and no call or all calls are sampled; these then go
 * to the sampling file, as runs that it has got before (vfd_put_run()). Returns the number of
 * words; r->now, r->top and the calls in r->counts are up to date. (Where time goes backwards,
 * r->now is the latest; the other way does not look at each word for it.)
 */
unsigned sequences_take(struct replay *r, const uint64_t *word, const uint64_t *end);

/*
 * To be called before other words than those of calls, or words that sequences_take() does not get:
 * ends the sequence that was begun. all may be NULL.
 */
void sequences_stop(struct sequences *all);

/* The track in the sampling file is another one from now on, or none. all may be NULL. */
void sequences_new_track(struct sequences *all);

/* Adds the calls and ticks that were summed since the last time to their nodes. all may be NULL. */
void sequences_settle(struct sequences *all);
/* The number of sequences that sequences_settle() would walk over, of up to 64 words each. */
size_t sequences_unsettled(const struct sequences *all);

/*
 * Words after those that sequences_take() has taken for which it need not be called again; fewer at
 * a border.
 */
#define SEQUENCES_WAIT 16u

/*
 * To be called for each block or part of one. Returns true if little repeats itself: the block is
 * to be taken without sequences.
 */
bool sequences_rest(struct sequences *all);

/* Number of words that sequences_take() has taken. */
uint64_t sequences_taken(const struct sequences *all);

/* True for the exit of about one function in four: sequences like to begin after it. */
static inline bool sequences_border(uint32_t id)
{
	return id * 0x9e3779b1u >> 30 == 0;
}

/* ---- sequences-compare.c */

#define SEQUENCE_SHAPE 16 /* words that are looked at to find one */

/*
 * Compares words from the ring with those of a sequence, which are without their times, and adds
 * `high` and the time of each to its sum. Stops before a word that differs, or is earlier than
 * the one before; before the first one it was `now`. Returns the number of words.
 */
typedef unsigned sequence_compare(const uint64_t *word, const uint64_t *known, uint64_t *sum,
	unsigned n, uint64_t high, uint64_t now);
/* Writes the differences of the times of n words, with one time base, each to the one before; of
 * the first to `before', which has the same time base or is less than 2^32 ticks earlier. */
typedef void sequence_times(
	uint32_t *to, const uint64_t *word, unsigned n, uint64_t high, uint64_t before);
/* A bit for each of SEQUENCE_SHAPE words: it is an exit. */
typedef unsigned sequence_shape(const uint64_t *word);

struct sequence_code {
	const char *name;
	sequence_compare *compare;
	sequence_shape *shape;
	sequence_times *times;
};

/* Uses this code in place of the best one; for tests. */
void sequences_use(struct sequences *all, const struct sequence_code *code);

/* The i-th code that this processor can run, the best first; NULL: there are no more. */
const struct sequence_code *sequence_code(unsigned i);

#endif
