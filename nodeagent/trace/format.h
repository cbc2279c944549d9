/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The bytes of a sampling file BASE_HOST.vfd; vftr-vfd(5) explains them. A
 * preamble, then blocks one after the other. A block can be read alone: a reader
 * needs no end of file, and after damage it looks for the next magic with a right
 * checksum. Numbers are in the byte order of the machine that wrote them.
 */
#ifndef VFTR_NODEAGENT_TRACE_FORMAT_H
#define VFTR_NODEAGENT_TRACE_FORMAT_H

#include <stddef.h>
#include <stdint.h>

#define VFD_MAGIC	   "VFTRVFD\n"
#define VFD_VERSION	   6u
#define VFD_VERSION_PACKED 5u /* the oldest that may have packed blocks */
#define VFD_VERSION_LEAST  2u /* the oldest that is read: no VFD_MARK_SAMPLED */
#define VFD_BYTE_ORDER	   0x0102030405060708u
#define VFD_BLOCK_MAGIC	   0x6b4c4256u /* "VBLk" */
#define VFD_NO_TRACK	   UINT32_MAX
#define VFD_ALIGN	   8u
/* Most bytes of a block with its header; a longer one is damage. */
#define VFD_BLOCK_MAX (1u << 20)

struct vfd_preamble {
	char magic[8];
	uint32_t version;
	uint32_t reserved;
	uint64_t byte_order;
};

enum vfd_kind {
	VFD_BLOCK_HEADER = 1,
	VFD_BLOCK_DEFINITIONS,
	VFD_BLOCK_SAMPLES, /* of one track */
	VFD_BLOCK_MESSAGES,
	VFD_BLOCK_CLOCK,
	VFD_BLOCK_COUNTERS, /* of one track */
	VFD_BLOCK_INDEX,
	VFD_BLOCK_END,
	VFD_BLOCK_MATCHES,
	VFD_BLOCK_LAUNCHES,
	VFD_BLOCK_WAITS,
	VFD_BLOCK_LENGTHS,
	VFD_BLOCK_DICTIONARY, /* of what is packed behind it: its bytes */
	VFD_BLOCK_LOCKS,
	VFD_BLOCK_RUNS, /* of one track */
	VFD_BLOCK_KINDS
};

enum vfd_block_flag {
	VFD_HAS_STACKS = 1 << 0, /* SAMPLES: stacks are defined in it */
	VFD_HAS_MARKS = 1 << 2,	 /* SAMPLES: a mark from VFD_MARK_GAP on is in it */
	VFD_RECAP = 1 << 1,	 /* SAMPLES: repeats the stacks of a track, and has no events */
	VFD_GOES_BACK = 1 << 3,	 /* COUNTERS: a time is earlier than one before it in the track */
	/* the payload is a word of 4 bytes, the length of the right payload, and that one as a
	 * frame of zstd; with the dictionary, unless it is that itself */
	VFD_PACKED = 1 << 4,
	VFD_COLUMNS = 1 << 5, /* SAMPLES: events and times are apart; else each has both */
};

/* The payload follows, filled up with zeros to a multiple of VFD_ALIGN. */
struct vfd_block {
	uint32_t magic;
	uint32_t crc; /* crc32c of header and payload, this word counted as zero */
	uint16_t kind, flags;
	uint32_t track;
	uint32_t bytes;	  /* of the payload, not filled up */
	uint32_t records; /* events, messages, definitions ... in it */
	uint64_t sequence;
	uint64_t time; /* SAMPLES: of the first event, in units */
};

/*
 * Time in the file is in units: ticks; in files of versions before 6 ticks >> shift, shift
 * chosen so that a unit is at most 1 ns. A payload is a row of varints (varint.h) and texts: a
 * varint of their bytes, then the bytes, without NUL.
 *
 * HEADER: fields, each varint number and varint value or text.
 */
enum vfd_header_field {
	VFD_FIELD_END = 0,
	VFD_FIELD_HOST,	       /* text */
	VFD_FIELD_APPLICATION, /* text */
	VFD_FIELD_WRITER,      /* text: program and version */
	VFD_FIELD_START_UNIX,  /* UNIX time in ns; */
	VFD_FIELD_START_UNITS, /* units and */
	VFD_FIELD_START_RAW,   /* the node's CLOCK_MONOTONIC_RAW in ns, at the same moment */
	VFD_FIELD_JOB_UNIX,    /* start of the job: times of all its files count from it */
	VFD_FIELD_SHIFT,       /* units = ticks >> shift: 0 from version 6 on */
	VFD_FIELD_RATE,	       /* ns per unit, as the bits of a double: first estimate */
	VFD_FIELD_INTERVAL,    /* sampling interval in ns; 0: everything */
	VFD_FIELD_MAX_SIZE,    /* bytes; 0: no limit */
	VFD_FIELD_RUN,	       /* the number of the run; missing if it is not known */
	VFD_HEADER_FIELDS
};

/*
 * DEFINITIONS: records, each varint kind, varint bytes, and so many bytes of
 * fields: a number, and those of the kind in definitions.c. A reader skips kinds
 * and trailing fields that it does not know; a field that is missing is 0.
 */
enum vfd_definition {
	VFD_DEFINE_STRING = 1, /* number, text */
	VFD_DEFINE_PROCESS,
	VFD_DEFINE_PROCESS_END,
	VFD_DEFINE_RANK, /* of a process */
	VFD_DEFINE_THREAD,
	VFD_DEFINE_THREAD_NAME,
	VFD_DEFINE_THREAD_END,
	VFD_DEFINE_OPENMP, /* place of a thread in its team */
	VFD_DEFINE_FUNCTION,
	VFD_DEFINE_NAME, /* of a function, later */
	VFD_DEFINE_COMM,
	VFD_DEFINE_OBJECT,
	VFD_DEFINE_COUNTER,
	VFD_DEFINE_OBSERVABLE,
	VFD_DEFINE_NEIGHBOURS, /* of a process */
	VFD_DEFINE_ROUND,      /* one of a session has begun */
	VFD_DEFINE_SOURCE,     /* line of a function, later */
	VFD_DEFINE_LINK,       /* of a communicator, later */
	VFD_DEFINITIONS
};

/*
 * SAMPLES: varint open, as many stacks (the innermost open one of each path,
 * outermost first) with varint base (the first frame of the path, 0 if it is
 * the thread's own); then, with VFD_COLUMNS, the number of bytes of events, and so many of them:
 *   VFD_EVENT_EXIT             exit of the innermost open frame
 *   VFD_EVENT_ENTER(stack)     enter of a stack whose caller is open
 *   VFD_EVENT_MARK, mark, ..   one of these
 *   VFD_EVENT_RUN(run), n      the first n events of a run
 * Then the times of all: time-column.h. Without VFD_COLUMNS:
 *   delta << 1 | 0              exit of the innermost open frame
 *   delta << 1 | 1, stack       enter of a stack whose caller is open
 *   delta << 1 | 1, 0, mark, .. one of these. delta: units since the last event
 */
#define VFD_EVENT_EXIT	       0u
#define VFD_EVENT_MARK	       1u
#define VFD_EVENT_ENTER(stack) ((uint64_t)(stack) << 1)	  /* stack: from 1 */
#define VFD_EVENT_RUN(run)     ((uint64_t)(run) << 1 | 1) /* run: from 1 */

enum vfd_mark {
	VFD_MARK_STACK = 1,   /* number, caller's stack, function: defines a stack */
	VFD_MARK_ENTER_AT,    /* stack: enter; its callers are now the open frames */
	VFD_MARK_EXIT_AT,     /* stack: exit; its callers are now the open frames */
	VFD_MARK_ENTER_ASIDE, /* stack: enter; the open frames are suspended until its exit */
	VFD_MARK_GAP,	      /* stack: nothing was recorded since the event before;
				 the open frames are now those of stack */
	VFD_MARK_THINNED,     /* number of calls that were left out, to keep the size */
	VFD_MARK_THINNING,    /* units, depth: from now on shorter or deeper calls are left out */
	VFD_MARK_LOST,	      /* number of calls below the open frame that were not recorded */
	VFD_MARK_SAMPLED,     /* stack: ran at a random instant since the event before; events
				 since then were left out */
	VFD_MARKS
};

/* RUNS: number of the first one, from 1, then runs, each the number of events, the stack that is
 * innermost before the first one, and events: 0 exit, else 1 + the stack entered (zigzag, since
 * the one entered before; at first the innermost one). */

/* MESSAGES: records, each varint kind, varint fields that are not zero (bit
 * set), and these, in the order of the table in message.c. */

/* MATCHES: records, each varint process, communicator and ticket of a receive, what
 * (partitioned, match << 1), the sender's ticket, and its thread +1. */

/* LAUNCHES: records, each the number (since that of the record before), kind, track and
 * stack of a call, its time (zigzag, since that of the record before; at first the
 * block's), track and stack of what it started, its time (zigzag, since the call), bytes. */

/* WAITS: records, each track and stack of a collective call, the function that its wait is
 * shown as, time of the call's enter (zigzag, since that of the record before; at first the
 * block's), duration of the wait. */

/* LOCKS: records, each track of a thread that waited for another one of its process, track of
 * that one, kind << 1 | 1 if the record before it with the same first track is of the same wait,
 * from when (zigzag, since that of the record before; at first the block's), and for how long. */

/* LENGTHS: records, each process, communicator and ticket of a collective call; the first
 * message << 1 | 1 if messages received; their number << 1 | 1 if all are equally long; the
 * bytes of each, or once for all. */

/* COUNTERS: values at a time; counters.h. */

/* CLOCK: records, each varint kind and fields. */
enum vfd_clock_record {
	VFD_CLOCK_PAIR = 1,   /* units, CLOCK_MONOTONIC_RAW in ns, read together */
	VFD_CLOCK_SYNC_POINT, /* CLOCK_MONOTONIC_RAW, global - raw (zigzag), half width; ns */
	VFD_CLOCK_ZERO,	      /* global time of the job's start, in ns */
	VFD_CLOCK_RECORDS
};

/* INDEX: per block offset / 8 since the last one, kind, flags, track +1, records,
 * bytes, time (zigzag, since that of the last one). */

/* END, the last block: three words. */
struct vfd_end {
	uint64_t index;	 /* offset of the first INDEX block */
	uint64_t blocks; /* in the index */
	uint64_t time;	 /* when it was closed, in units */
};

_Static_assert(sizeof(struct vfd_preamble) == 24, "layout is the format");
_Static_assert(sizeof(struct vfd_block) == 40, "layout is the format");
_Static_assert(offsetof(struct vfd_block, track) == 12, "layout is the format");
_Static_assert(offsetof(struct vfd_block, sequence) == 24, "layout is the format");
_Static_assert(sizeof(struct vfd_end) == 24, "layout is the format");

static inline uint64_t vfd_padded(uint64_t n)
{
	return (n + VFD_ALIGN - 1) & ~(uint64_t)(VFD_ALIGN - 1);
}

#endif
