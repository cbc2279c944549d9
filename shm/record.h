/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The record format: what the 64-bit words in a ring mean. vftr-ring(7) is
 * the same in prose.
 *
 *   bit 63..33  ticks, modulo 2^31
 *   bit 32      0 enter, 1 exit
 *   bit 31..0   id
 *
 * A word of zero means that nothing is stored there. An id of
 * RECORD_ID_FUNCTION or more is the low half of a function's address; smaller
 * ids are the table below. Records longer than a word start with their header
 * word; the words after it stay zero until they are stored, the last one last,
 * and it is never zero: a record whose last word is zero was never completed
 * (its producer died) and is ignored. The records of communication
 * (shm/message.h) have no time of their own: they stand inside of the frame of
 * the call they belong to.
 * Records never cross the end of a block, and each block starts with a SYNC
 * word, so any block can be read without the one before it.
 */
#ifndef VFTR_SHM_RECORD_H
#define VFTR_SHM_RECORD_H

#include <stdint.h>

#define RECORD_FORMAT 6 /* raised whenever a word changes its meaning */

#ifndef BLOCK_BYTES /* smaller in a model test */
#define BLOCK_BYTES 4096u
#endif
#define BLOCK_WORDS (BLOCK_BYTES / 8)

#define RECORD_EXIT	  ((uint64_t)1 << 32)
#define RECORD_TIME_SHIFT 33
#define RECORD_TIME_BITS  31

enum record_id {
	RECORD_NONE = 0,
	RECORD_SYNC = 1,   /* its time field holds ticks >> 31 for what follows */
	RECORD_WIDE = 2,   /* enter/exit; word 1 = whole address or region key */
	RECORD_LOST = 3,   /* word 1 = calls skipped below the open frame */
	RECORD_SITE = 4,   /* word 1 = code address that now runs, after a jump */
	RECORD_PAUSE = 5,  /* recording stops here ... */
	RECORD_RESUME = 6, /* ... and goes on; word 1 = frames entered meanwhile and open, + 1 */
	RECORD_CLOSE = 7,  /* word 1 = number of frames that ended unrecorded */

	/* OpenMP, timed, bit 32 as in an enter and exit; see below */
	RECORD_FORK = 8,
	RECORD_TEAM = 9,
	RECORD_TASK = 10,
	RECORD_WAIT = 11,

	RECORD_COUNTERS = 12, /* hardware counters, right before an event; see below */
	RECORD_BLOCKED = 13,  /* the thread has waited for room; see below */

	/* inside of the frame of an MPI call; shm/message.h */
	RECORD_SEND = 16,
	RECORD_RECV = 17,
	RECORD_POST = 18,
	RECORD_DONE = 19,
	RECORD_FAILED = 20,
	RECORD_COLLECTIVE = 21,
	RECORD_PARTITION = 22,
	RECORD_RMA = 23,
	RECORD_EPOCH = 24,
	RECORD_FILE = 25,
	RECORD_COMPLETE = 26,
	RECORD_COMPLETE_RANGE = 27,
	RECORD_LENGTHS = 28,

	RECORD_EARLIER = 48,	  /* word 1 = MARK | ticks at which the next message took place */
	RECORD_USER_COUNTER = 49, /* a value of a counter of the user's; see below */

	RECORD_GPU_CALL = 32, /* inside of the frame of a call into CUDA; see below */
	RECORD_OPENACC = 33,  /* inside of the frame of an event of OpenACC; see below */

	RECORD_ID_MPI = 1024,	   /* + index of the function in mpi/mpi.tab */
	RECORD_ID_LOGGED = 4064,   /* + enum logged_call: communication without MPI */
	RECORD_ID_REGION = 4096,   /* + region number, below 4096 */
	RECORD_ID_FUNCTION = 8192, /* low half of an address */
};

/* Frames of what a program logs itself; as those of MPI, they hold records of shm/message.h. */
enum logged_call { LOGGED_SEND, LOGGED_RECEIVE, LOGGED_COLLECTIVE, LOGGED_DATA, LOGGED_CALLS };

#define RECORD_REGIONS_SHORT 4096u
/* Key of region n as the payload of a WIDE record: no code lives up there, and
 * its low half is no short id. */
#define RECORD_REGION_KEY(n)	((uint64_t)1 << 63 | (uint64_t)1 << 31 | (n))
#define RECORD_REGION_NUMBER(k) ((k) & (((uint64_t)1 << 31) - 1))
#define RECORD_IS_REGION(key)	((key) >> 63)

/*
 * COUNTERS: the values of n counters of the thread since its ring began, each
 * modulo 2^63, one a word behind the header, which has n in place of the time.
 * In the last word COUNTER_MARK is set. What they have grown by since the last
 * such record belongs to the frame that is on top when it is read.
 */
#define RECORD_COUNTERS_N(w) ((unsigned)((w) >> RECORD_TIME_SHIFT))
#define COUNTER_MARK	     ((uint64_t)1 << 63)

static inline uint64_t record_counters_word(uint32_t n)
{
	return (uint64_t)n << RECORD_TIME_SHIFT | RECORD_COUNTERS;
}

static inline uint64_t record_word(uint64_t ticks, uint64_t exit_bit, uint32_t id)
{
	return ticks << RECORD_TIME_SHIFT | exit_bit | id;
}

static inline uint64_t record_sync_word(uint64_t ticks)
{
	return (ticks >> RECORD_TIME_BITS) << RECORD_TIME_SHIFT | RECORD_SYNC;
}

/* Words in the record that starts with header w. */
static inline unsigned record_words(uint64_t w)
{
	switch ((uint32_t)w) {
	case RECORD_WIDE:
	case RECORD_LOST:
	case RECORD_SITE:
	case RECORD_RESUME:
	case RECORD_CLOSE:
	case RECORD_WAIT:
	case RECORD_FAILED:
	case RECORD_COMPLETE_RANGE:
	case RECORD_GPU_CALL:
	case RECORD_OPENACC:
	case RECORD_EARLIER:
		return 2;
	case RECORD_FORK:
	case RECORD_TEAM:
	case RECORD_TASK:
	case RECORD_DONE:
	case RECORD_PARTITION:
	case RECORD_EPOCH:
	case RECORD_USER_COUNTER:
	case RECORD_BLOCKED:
		return 3;
	case RECORD_SEND:
	case RECORD_RECV:
	case RECORD_POST:
	case RECORD_FILE:
		return 4;
	case RECORD_RMA:
		return 5;
	case RECORD_COLLECTIVE:
	case RECORD_LENGTHS:
		return 6;
	case RECORD_COUNTERS:
		return 1 + RECORD_COUNTERS_N(w);
	default:
		return 1;
	}
}

/*
 * BLOCKED: no time; behind the record that was to be stored when there was no room.
 * Word 1 = ticks that the thread has waited; word 2 = MARK | ticks at which it went on.
 */
#define RECORD_BLOCKED_MARK ((uint64_t)1 << 63)

/*
 * USER_COUNTER: in place of the time the counter's number (wire.h, COUNTER); word 1
 * the value, an int64_t or the bits of a double by the counter's type; word 2 = MARK |
 * ticks at which it had this value, which may be earlier than what is around it.
 */
#define RECORD_USER_NUMBER(w) ((uint32_t)((w) >> RECORD_TIME_SHIFT))
#define RECORD_USER_MARK      ((uint64_t)1 << 63)

/*
 * GPU_CALL: in place of the time the function, its interface << 24 | its number
 * there; word 1 = MARK | the number by which activities of the GPU (shm/gpu.h)
 * name the call in whose frame this stands.
 */
#define RECORD_GPU_MARK	       ((uint64_t)1 << 63)
#define RECORD_GPU_FUNCTION(w) ((uint32_t)((w) >> RECORD_TIME_SHIFT))

static inline uint64_t record_gpu_call_word(uint32_t function)
{
	return (uint64_t)function << RECORD_TIME_SHIFT | RECORD_GPU_CALL;
}

/* OPENACC: no time; word 1 = MARK | bytes that were moved or allocated (shm/openacc.h). */
#define RECORD_OPENACC_MARK ((uint64_t)1 << 63)

/*
 * OpenMP. A team has a number in its process, from 1; 0 is none. `region` is
 * the number of the construct's region (wire.h, CONSTRUCT).
 *
 *   FORK  enter: the calling thread opens the frame of a parallel region and
 *         makes team `team`; exit: all of them have ended, the frame ends.
 *         word 1 = team<<32 | region; word 2 = MARK | size (enter: asked for, or 0)
 *   TEAM  a thread begins or ends its part in a team (its implicit task). Thread
 *         0 is the one of FORK and goes on in its frame; the others open a frame
 *         of the region below the path of FORK.
 *         word 1 = team<<32 | region; word 2 = MARK | level<<48 | size<<24 | number
 *   TASK  an explicit task runs. Its frame hangs directly below the frame of its
 *         team's region, whatever the thread was doing; that goes on at the exit.
 *         word 1 = team<<32 | region; word 2 = MARK | RESUMED | creator's number
 *   WAIT  a frame in which the thread waits for others. word 1 = MARK | region
 */
#define OPENMP_MARK	 ((uint64_t)1 << 63)
#define OPENMP_RESUMED	 ((uint64_t)1 << 62) /* TASK: part of a task that has begun before */
#define OPENMP_NUMBERS	 ((1u << 24) - 1)    /* greatest size and number; larger ones are cut */
#define OPENMP_LEVELS	 255u
#define OPENMP_LEVEL(w)	 ((uint32_t)((w) >> 48) & OPENMP_LEVELS)
#define OPENMP_SIZE(w)	 ((uint32_t)((w) >> 24) & OPENMP_NUMBERS) /* TEAM */
#define OPENMP_NUMBER(w) ((uint32_t)(w)&OPENMP_NUMBERS)		  /* TEAM, TASK; size in FORK */

static inline int record_is_openmp(uint32_t id)
{
	return id >= RECORD_FORK && id <= RECORD_WAIT;
}

/* Whether this is a record of shm/message.h: no time, and bit 32 is data. */
static inline int record_is_message(uint32_t id)
{
	return (id >= RECORD_SEND && id <= RECORD_LENGTHS) || id == RECORD_EARLIER;
}

/* Whether the bits of the time are the time. */
static inline int record_has_time(uint32_t id)
{
	return id != RECORD_COUNTERS && id != RECORD_GPU_CALL && id != RECORD_OPENACC &&
	       id != RECORD_USER_COUNTER && id != RECORD_BLOCKED && !record_is_message(id);
}

_Static_assert(BLOCK_BYTES % 64 == 0, "blocks are copied in whole cache lines");
_Static_assert(RECORD_ID_LOGGED + LOGGED_CALLS <= RECORD_ID_REGION, "id ranges touch");
_Static_assert(RECORD_ID_REGION + RECORD_REGIONS_SHORT == RECORD_ID_FUNCTION, "id ranges touch");

#endif
