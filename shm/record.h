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
 * ids are the table below (RECORDS). Records longer than a word start with their header
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

#define RECORD_FORMAT 16 /* raised whenever a word changes its meaning */

#ifndef BLOCK_BYTES /* smaller in a model test */
#define BLOCK_BYTES 4096u
#endif
#define BLOCK_WORDS (BLOCK_BYTES / 8)

#define RECORD_EXIT	  ((uint64_t)1 << 32)
#define RECORD_TIME_SHIFT 33
#define RECORD_TIME_BITS  31

/*
 * Every kind of record: RECORD(name, id, words, timed, taken_by).
 *   words     in it, of the header w
 *   timed     1: bits 63..33 are the time, and bit 32 tells enter from exit; 0: they are what
 *             the kind says
 *   taken_by  how replay takes it: nodeagent/replay/record.c
 */
#define RECORDS(RECORD)                                                                            \
	RECORDS_OF_THREAD(RECORD)                                                                  \
	RECORDS_OF_OPENMP(RECORD)                                                                  \
	RECORDS_OF_MESSAGES(RECORD)                                                                \
	RECORD(COUNTERS, 12, 1 + RECORD_COUNTERS_N(w), 0, counters)                                \
	RECORD(BLOCKED, 13, 3, 0, blocked)                                                         \
	RECORD(COUNTED, 14, 2, 0, counted)                                                         \
	RECORD(CALL_SITE, 15, 2, 1, call_site)                                                     \
	RECORD(GPU_CALL, 32, 2, 0, gpu_call)                                                       \
	RECORD(OPENACC, 33, 2, 0, openacc)                                                         \
	RECORD(USER_COUNTER, 49, 3, 0, user_counter)                                               \
	RECORD(IO, 50, 3, 0, io)                                                                   \
	RECORD(UNLOCK, 51, 3, 0, unlock)                                                           \
	RECORD(FILE_CALL, 52, 3, 0, file_call)                                                     \
	RECORD(MEMORY, 54, 4, 0, memory)

/*
 * SYNC    its time field holds ticks >> 31 for what follows
 * WIDE    enter/exit; word 1 = whole address or region key
 * LOST    word 1 = calls skipped below the open frame
 * SITE    word 1 = code address that now runs, after a jump
 * PAUSE   recording stops here ...
 * RESUME  ... and goes on; word 1 = frames entered meanwhile and open, + 1
 * CLOSE   word 1 = number of frames that ended unrecorded
 */
#define RECORDS_OF_THREAD(RECORD)                                                                  \
	RECORD(SYNC, 1, 1, 0, sync)                                                                \
	RECORD(WIDE, 2, 2, 1, wide)                                                                \
	RECORD(LOST, 3, 2, 1, lost)                                                                \
	RECORD(SITE, 4, 2, 1, site)                                                                \
	RECORD(PAUSE, 5, 1, 1, pause)                                                              \
	RECORD(RESUME, 6, 2, 1, resume)                                                            \
	RECORD(CLOSE, 7, 2, 1, close)

/* See OpenMP below. */
#define RECORDS_OF_OPENMP(RECORD)                                                                  \
	RECORD(FORK, 8, 3, 1, openmp)                                                              \
	RECORD(TEAM, 9, 3, 1, openmp)                                                              \
	RECORD(TASK, 10, 3, 1, openmp)                                                             \
	RECORD(WAIT, 11, 2, 1, openmp)

/* Inside of the frame of an MPI call; shm/message.h. */
#define RECORDS_OF_MESSAGES(RECORD)                                                                \
	RECORD(SEND, 16, 4, 0, message)                                                            \
	RECORD(RECV, 17, 4, 0, message)                                                            \
	RECORD(POST, 18, 4, 0, message)                                                            \
	RECORD(DONE, 19, 3, 0, message)                                                            \
	RECORD(FAILED, 20, 2, 0, message)                                                          \
	RECORD(COLLECTIVE, 21, 6, 0, message)                                                      \
	RECORD(PARTITION, 22, 3, 0, message)                                                       \
	RECORD(RMA, 23, 5, 0, message)                                                             \
	RECORD(EPOCH, 24, 3, 0, message)                                                           \
	RECORD(FILE, 25, 4, 0, message)                                                            \
	RECORD(COMPLETE, 26, 1, 0, message)                                                        \
	RECORD(COMPLETE_RANGE, 27, 2, 0, message)                                                  \
	RECORD(LENGTHS, 28, 6, 0, message)                                                         \
	RECORD(START, 29, 2, 0, message)                                                           \
	RECORD(EARLIER, 48, 2, 0, message)

#define RECORD_ENUMERATOR(name, id, words, timed, taken_by) RECORD_##name = (id),

enum record_id {
	RECORD_NONE = 0,
	/* frames */
	RECORD_ID_MPI = 1024,	   /* + index of the function in mpi/generate/mpi.tab */
	RECORD_ID_LOGGED = 4064,   /* + enum logged_call: communication without MPI */
	RECORD_ID_REGION = 4096,   /* + region number, below 4096 */
	RECORD_ID_FUNCTION = 8192, /* low half of an address */

	RECORDS(RECORD_ENUMERATOR)
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

/* The time of an event in the two parts that are stored: in its word, and in a SYNC before. */
struct record_time {
	uint32_t low;  /* the lower 31 bits of the ticks, times 2 */
	uint32_t high; /* the 32 bits above them */
};

static inline struct record_time record_time_of(uint64_t ticks)
{
	return (struct record_time){(uint32_t)ticks << 1, (uint32_t)(ticks >> RECORD_TIME_BITS)};
}

/* Ticks, modulo 2^63. */
static inline uint64_t record_time_ticks(struct record_time time)
{
	return (uint64_t)time.high << RECORD_TIME_BITS | time.low >> 1;
}

/* record_word() */
static inline uint64_t record_word_at(struct record_time time, uint64_t exit_bit, uint32_t id)
{
	return (uint64_t)time.low << 32 | exit_bit | id;
}

static inline uint64_t record_sync_word(uint64_t ticks)
{
	return (ticks >> RECORD_TIME_BITS) << RECORD_TIME_SHIFT | RECORD_SYNC;
}

#define RECORD_CASE_WORDS(name, id, words, timed, taken_by)                                        \
	case (id):                                                                                 \
		return words;
#define RECORD_CASE_TIMED(name, id, words, timed, taken_by)                                        \
	case (id):                                                                                 \
		return timed;
#define RECORD_CASE_TRUE(name, id, words, timed, taken_by)                                         \
	case (id):                                                                                 \
		return 1;

/* Words in the record that starts with header w. */
static inline unsigned record_words(uint64_t w)
{
	switch ((uint32_t)w) {
		RECORDS(RECORD_CASE_WORDS)
	default:
		return 1;
	}
}

/* True if bits 63..33 of a record with this id are its time. */
static inline int record_has_time(uint32_t id)
{
	switch (id) {
		RECORDS(RECORD_CASE_TIMED)
	default:
		return 1;
	}
}

static inline int record_is_openmp(uint32_t id)
{
	switch (id) {
		RECORDS_OF_OPENMP(RECORD_CASE_TRUE)
	default:
		return 0;
	}
}

/* True for records of shm/message.h: no time, and bit 32 is data. */
static inline int record_is_message(uint32_t id)
{
	switch (id) {
		RECORDS_OF_MESSAGES(RECORD_CASE_TRUE)
	default:
		return 0;
	}
}

/*
 * BLOCKED: the thread has waited for room in its ring. It stands behind the record that
 * had no room, and has no time. Word 1 = ticks of the wait; word 2 = MARK | ticks at its end.
 */
#define RECORD_BLOCKED_MARK ((uint64_t)1 << 63)

/*
 * COUNTED: calls of a function that is counted (switches.h) in the frame on top. In place of the
 * time and the exit bit the low half of its address; word 1 = MARK | its number << 56 | its calls
 * since the ring began, modulo 2^56: what this is more than in the record before is this frame's.
 */
#define COUNTED_WORDS	  2
#define COUNTED_MARK	  ((uint64_t)1 << 63)
#define COUNTED_CALLS	  (((uint64_t)1 << 56) - 1)
#define COUNTED_NUMBER(w) ((uint32_t)((w) >> 56) & 127)

static inline uint64_t counted_head(uint32_t id)
{
	return (uint64_t)id << 32 | RECORD_COUNTED;
}

static inline uint64_t counted_calls(uint32_t number, uint64_t calls)
{
	return COUNTED_MARK | (uint64_t)number << 56 | (calls & COUNTED_CALLS);
}

/*
 * CALL_SITE: the thread enters an MPI function that was called from known code. word 1 = MARK |
 * ONCE | index of the function << 48 | return address of the call. An enter of the same function
 * that follows as a word has the same place, until there is another CALL_SITE for it; one with
 * ONCE speaks of one call only. The record is the enter, so no call is without its place.
 */
#define CALL_SITE_MARK	      ((uint64_t)1 << 62)
#define CALL_SITE_ONCE	      ((uint64_t)1 << 61)
#define CALL_SITE_SHIFT	      48
#define CALL_SITE_FUNCTIONS   ((uint32_t)(RECORD_ID_LOGGED - RECORD_ID_MPI))
#define CALL_SITE_FUNCTION(w) ((uint32_t)((w) >> CALL_SITE_SHIFT) & 0xfff)
#define CALL_SITE_ADDRESS(w)  ((w) & (((uint64_t)1 << CALL_SITE_SHIFT) - 1))

static inline uint64_t call_site_word(uint32_t function, uint64_t address)
{
	return CALL_SITE_MARK | (uint64_t)function << CALL_SITE_SHIFT | CALL_SITE_ADDRESS(address);
}

/*
 * USER_COUNTER: in place of the time the counter's number (wire.h, COUNTER); word 1
 * the value, an int64_t or the bits of a double by the counter's type; word 2 = MARK |
 * ticks at which it had this value, which may be earlier than what is around it.
 */
#define RECORD_USER_NUMBER(w) ((uint32_t)((w) >> RECORD_TIME_SHIFT))
#define RECORD_USER_MARK      ((uint64_t)1 << 63)

/*
 * IO: an operation that has ended in the frame that is open. In place of the time its kind;
 * word 1 = bytes, an int64_t, -1 if it failed; word 2 = MARK | ticks that it took.
 */
enum record_io { RECORD_IO_READ, RECORD_IO_WRITE, RECORD_IO_KINDS };
#define RECORD_IO_MARK ((uint64_t)1 << 63)

static inline uint64_t record_io_word(enum record_io kind)
{
	return (uint64_t)kind << RECORD_TIME_SHIFT | RECORD_IO;
}

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
 *         makes team `team`; exit: all its threads have ended, the frame ends.
 *         word 1 = team<<32 | region; word 2 = MARK | size (enter: asked for, or 0)
 *   TEAM  a thread begins or ends its part in a team (its implicit task). Thread
 *         0 is the one of FORK and goes on in its frame; the others open a frame
 *         of the region below the path of FORK.
 *         word 1 = team<<32 | region; word 2 = MARK | level<<48 | size<<24 | number
 *   TASK  an explicit task runs. Its frame hangs directly below the frame of its
 *         team's region, whatever the thread did before, which goes on at the exit.
 *         word 1 = team<<32 | region; word 2 = MARK | RESUMED | creator's number
 *   WAIT  a frame in which the thread waits for others. For a lock or the like, the thread has
 *         it from the exit on: if HOLDS is set, during the frame that it opens next; else until it
 *         gives the lock back, of which UNLOCK tells if another thread waits for it then; TURN
 *         without HOLDS: it has got nothing.
 *         word 1 = MARK | HOLDS | lock<<32 | TURN | region
 */
#define OPENMP_MARK	 ((uint64_t)1 << 63)
#define OPENMP_RESUMED	 ((uint64_t)1 << 62) /* TASK: part of a task that has begun before */
#define OPENMP_HOLDS	 ((uint64_t)1 << 62) /* WAIT */
#define OPENMP_TURN	 ((uint64_t)1 << 31) /* WAIT: threads have it in an order that is fixed */
#define OPENMP_LOCKS	 ((1u << 30) - 1)
#define OPENMP_LOCK(w)	 ((uint32_t)((w) >> 32) & OPENMP_LOCKS) /* WAIT */
#define OPENMP_REGION(w) ((uint32_t)(w)&0x7fffffffu)
#define OPENMP_NUMBERS	 ((1u << 24) - 1) /* greatest size and number; larger ones are cut */
#define OPENMP_LEVELS	 255u
#define OPENMP_LEVEL(w)	 ((uint32_t)((w) >> 48) & OPENMP_LEVELS)
#define OPENMP_SIZE(w)	 ((uint32_t)((w) >> 24) & OPENMP_NUMBERS) /* TEAM */
#define OPENMP_NUMBER(w) ((uint32_t)(w)&OPENMP_NUMBERS)		  /* TEAM, TASK; size in FORK */

/*
 * The number of the lock at an address, 0 for none: locks of one process less than 4 GiB from each
 * other have different ones, unless a multiple of 16 GiB is between them.
 */
static inline uint32_t openmp_lock(uint64_t address)
{
	return (uint32_t)(address >> 2 ^ address >> 34) & OPENMP_LOCKS;
}

/*
 * UNLOCK: the thread gives back a lock for which another thread waits. The header has no time;
 * word 1 = openmp_lock(); word 2 = MARK | ticks just before.
 */

_Static_assert(BLOCK_BYTES % 64 == 0, "blocks are copied in whole cache lines");
_Static_assert(RECORD_ID_LOGGED - RECORD_ID_MPI < 1 << 12, "a function fits into CALL_SITE");
_Static_assert(RECORD_ID_LOGGED + LOGGED_CALLS <= RECORD_ID_REGION, "id ranges touch");
_Static_assert(RECORD_ID_REGION + RECORD_REGIONS_SHORT == RECORD_ID_FUNCTION, "id ranges touch");

#endif
