/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The records of communication. They have no time: each stands inside of the
 * frame of its MPI call, and the frame's enter and exit are
 * its times. Ranks in records are ranks in the communicator (in the remote
 * group of an intercommunicator); the agent has the groups (shm/wire.h) and
 * makes world ranks of them.
 *
 * Header: bits 63..33 a field of 31 bits, bit 32 zero, bits 31..0 the kind.
 *
 *   kind        field         words
 *   SEND        tag           ticket<<32 | destination; subject; MARK | flags | bytes
 *   RECV        actual tag    ticket<<32 | actual source; subject; MARK | flags | bytes received
 *   POST        tag or 0      ticket<<32 | source; subject; MARK | flags | room in bytes
 *   DONE        actual tag    request<<32 | actual source; MARK | flags | bytes
 *   COMPLETE    request       (none: a DONE with the source, tag and bytes as posted)
 *   COMPLETE_RANGE  request   MARK | n: a COMPLETE of each of the n requests from this one on
 *   FAILED      error class   MARK
 *   COLLECTIVE  function      ticket<<32 | root; subject; sends<<32 | receives;
 *                             bytes sent; MARK | bytes received
 *   LENGTHS     first         ticket<<32 | communicator<<8 | enum lengths_flag; four words of
 *                             bytes, MARK in the last one
 *   PARTITION   0             request<<32 | first; MARK | how many
 *   START       request       MARK | number of the start
 *   RMA         function      window<<32 | target; epoch<<40 | type<<32 | request;
 *                             bytes to the target; MARK | bytes from the target
 *   EPOCH       function      window<<32 | target; MARK | flags | epoch (one for each rank of the
 *                             group of MPI_Win_start and MPI_Win_post)
 *   FILE        function      file<<32 | request; offset; MARK | flags | bytes
 *   EARLIER     0             MARK | ticks: when the next record of this frame took place
 *
 *   subject: communicator<<40 | type<<32 | request
 *
 * Tickets count, per process, the sends to one rank of a communicator, the
 * receives posted on a communicator, and the collective calls on it, each from
 * 0, modulo 2^32: a lost record is a gap. A SEND is stored before the message can
 * arrive anywhere; FAILED cancels the records of its frame. Requests are
 * numbered from 1 per process and not reused within 2^31 requests; request 0
 * is none. A SEND, POST, COLLECTIVE, RMA or FILE with a request is followed by
 * a DONE or COMPLETE(_RANGE), in whatever thread and frame its completion was learnt, or never.
 *
 * LENGTHS have the bytes of a collective call's messages in one direction, in the order
 * of the peers, from message `first` on. They stand before the COLLECTIVE with their
 * ticket, or in the frame of the init of a persistent call.
 *
 * Matched probes: Mprobe records POST with MESSAGE_MATCHED, the actual source
 * and tag, and a request number of its own. Imrecv records POST with the same
 * request, ticket and flag, and its DONE follows; Mrecv records RECV with the
 * same request, ticket and flag.
 *
 * A blocking receive or probe is recorded after the call. While a thread is in one, its page of
 * the ring has in `receive' MARK | flags | communicator, and in `receive_from' source<<32 | tag.
 * While it is in MPI_Wait they may be MARK (no communicator) and the number of the request.
 *
 * Partitioned messages: Psend_init and Precv_init record nothing; each Start
 * records SEND or POST with MESSAGE_PARTITIONED. Their tickets are the numbers
 * of the inits, which are counted apart. The same holds for persistent collective calls
 * and COLLECTIVE, but for that their inits have tickets of collective calls. All starts of an
 * init have its ticket: a START stands behind each of these records, with its request and the
 * number of the start from 1 on, modulo 2^32, in which those count, too, that are not recorded.
 * The number is 0 once a call that was to start several requests has failed: MPI may have started
 * some of them.
 */
#ifndef VFTR_SHM_MESSAGE_H
#define VFTR_SHM_MESSAGE_H

#include "shm/record.h"

#define MESSAGE_MARK	 ((uint64_t)1 << 63) /* a last word is never zero */
#define MESSAGE_BYTES	 (((uint64_t)1 << 56) - 1)
#define MESSAGE_FLAGS_AT 56

enum message_flag {
	MESSAGE_ANY_SOURCE = 1 << 0, /* posted with MPI_ANY_SOURCE ... */
	MESSAGE_ANY_TAG = 1 << 1,    /* ... with MPI_ANY_TAG */
	MESSAGE_MATCHED = 1 << 2,    /* by Mprobe or Improbe */
	MESSAGE_PARTITIONED = 1 << 3,
	MESSAGE_CANCELLED = 1 << 4, /* DONE: it did not take place */
	MESSAGE_UNKNOWN = 1 << 5,   /* DONE: freed by the user or in error; bytes unknown */
	MESSAGE_AS_POSTED = 1 << 6, /* message_read() of a COMPLETE(_RANGE); never stored */
	/* of an EPOCH, in the same place */
	MESSAGE_EXCLUSIVE = 1 << 0, /* MPI_Win_lock with MPI_LOCK_EXCLUSIVE */
	/* of a FILE record, in the same place */
	MESSAGE_READ = 1 << 0,
	MESSAGE_WRITE = 1 << 1,
};

#define MESSAGE_COMM_NONE    0u /* communicators are numbered from 1 ... */
#define MESSAGE_COMM_LIMIT   (1u << 24)
#define MESSAGE_NO_RANK	     UINT32_MAX	      /* no root, or MPI_PROC_NULL as root */
#define MESSAGE_ROOT_HERE    (UINT32_MAX - 1) /* MPI_ROOT on an intercommunicator */
#define MESSAGE_NO_OFFSET    UINT64_MAX	      /* the file's own position */
#define MESSAGE_REQUEST_MOST 0x7fffffffu
#define MESSAGE_RANGE_MOST   4096u /* n of a COMPLETE_RANGE, from 1 */
/* Types: index into the list of predefined types in mpi/generate/types.tab from 1. */
#define MESSAGE_TYPE_DERIVED 0u

static inline uint64_t message_head(enum record_id kind, uint32_t field)
{
	return (uint64_t)(field & 0x7fffffff) << 33 | kind;
}

static inline uint64_t message_pair(uint32_t high, uint32_t low)
{
	return (uint64_t)high << 32 | low;
}

static inline uint64_t message_subject(uint32_t comm, uint32_t type, uint32_t request)
{
	return (uint64_t)comm << 40 | (uint64_t)(type & 0xff) << 32 | request;
}

static inline uint64_t message_last(uint32_t flags, uint64_t bytes)
{
	return MESSAGE_MARK | (uint64_t)(flags & 0x7f) << MESSAGE_FLAGS_AT |
	       (bytes & MESSAGE_BYTES);
}

/* The words of a blocking receive or probe. */
static inline uint64_t message_receive(uint32_t flags, uint32_t comm)
{
	return message_last(flags, comm);
}

enum lengths_flag {
	LENGTHS_RECEIVED = 1 << 0,   /* of messages received, else of messages sent */
	LENGTHS_PERSISTENT = 1 << 1, /* for every start of a persistent call */
	LENGTHS_NEIGHBOURS = 1 << 2, /* the peers are those of a topology */
	LENGTHS_WIDE = 1 << 3,	     /* one length per word, else two of 31 bits */
	LENGTHS_SAME = 1 << 4,	     /* word 2: number of messages; word 5: bytes of each */
	LENGTHS_N_AT = 5,	     /* not SAME: number of lengths - 1, in 3 bits */
};
#define LENGTHS_MOST   8u
#define LENGTHS_NARROW 0x7fffffffu

/* A LENGTHS record, taken apart. */
struct message_lengths {
	uint32_t comm, ticket, flags; /* enum lengths_flag */
	uint32_t first, n;
	uint64_t bytes[LENGTHS_MOST]; /* SAME: each has bytes[0] */
};

/* A record, taken apart. Members that its kind does not have are 0, but for bytes and flags, which
 * mean nothing in a PARTITION, START, FAILED, LENGTHS and EARLIER, as do bytes in an EPOCH. */
struct message {
	enum record_id kind;
	uint32_t field;	 /* tag, function (index in mpi/generate/mpi.tab) or error class */
	uint32_t ticket; /* RMA and EPOCH: epoch */
	uint32_t peer;	 /* source, destination, root, target, first partition */
	uint32_t comm;	 /* RMA and EPOCH: window; FILE: file; PARTITION: number of them */
	uint32_t more;	 /* DONE: number of requests after this one that are over, too */
	uint32_t type;
	uint32_t request;
	uint32_t flags;
	uint32_t sends, receives; /* COLLECTIVE */
	uint32_t start; /* START; in the agent also of the record before it; 0: not known */
	uint64_t bytes; /* COLLECTIVE: sent; RMA: to the target */
	uint64_t bytes_received; /* COLLECTIVE; RMA: from the target */
	uint64_t offset;	 /* FILE; EARLIER: ticks */
};

/* Takes the words behind the header of a SEND, RECV, POST or COLLECTIVE apart; last: its last
 * word. */
static inline void message_read_ends(const uint64_t *w, uint64_t last, struct message *m)
{
	m->ticket = (uint32_t)(w[1] >> 32);
	m->peer = (uint32_t)w[1];
	m->comm = (uint32_t)(w[2] >> 40);
	m->type = (uint32_t)(w[2] >> 32) & 0xff;
	m->request = (uint32_t)w[2];
	if (m->kind == RECORD_COLLECTIVE) {
		m->sends = (uint32_t)(w[3] >> 32);
		m->receives = (uint32_t)w[3];
		m->bytes = w[4];
		m->bytes_received = last & ~MESSAGE_MARK;
		m->flags = 0;
	}
}

/* The same for a COMPLETE or COMPLETE_RANGE, which becomes a DONE. False: it makes no sense. */
static inline int message_read_done(uint64_t last, struct message *m)
{
	const uint64_t n = m->kind == RECORD_COMPLETE ? 1 : last & ~MESSAGE_MARK;

	m->kind = RECORD_DONE;
	m->request = m->field;
	m->flags = MESSAGE_AS_POSTED;
	m->field = 0;
	m->more = (uint32_t)n - 1;
	return n && n <= MESSAGE_RANGE_MOST && m->request + m->more <= MESSAGE_REQUEST_MOST;
}

/* Takes the words w[0 .. record_words(w[0])) apart. False: they contradict the format. */
static inline int message_read(const uint64_t *w, struct message *m)
{
	const uint32_t words = record_words(w[0]), kind = (uint32_t)w[0];
	const uint64_t last = w[words - 1];

	*m = (struct message){.kind = (enum record_id)kind, .field = (uint32_t)(w[0] >> 33)};
	if (w[0] & RECORD_EXIT || (words > 1 && !(last & MESSAGE_MARK)))
		return 0;
	if (kind == RECORD_COMPLETE || kind == RECORD_COMPLETE_RANGE)
		return message_read_done(last, m);
	m->bytes = last & MESSAGE_BYTES;
	m->flags = (uint32_t)(last >> MESSAGE_FLAGS_AT) & 0x7f;
	switch (kind) {
	case RECORD_SEND:
	case RECORD_RECV:
	case RECORD_POST:
	case RECORD_COLLECTIVE:
		message_read_ends(w, last, m);
		return 1;
	case RECORD_DONE:
	case RECORD_PARTITION:
		m->request = (uint32_t)(w[1] >> 32);
		m->peer = (uint32_t)w[1];
		if (kind == RECORD_PARTITION)
			m->comm = (uint32_t)last;
		return 1;
	case RECORD_FAILED:
	case RECORD_LENGTHS:
		return 1;
	case RECORD_START:
		m->request = m->field;
		m->start = (uint32_t)last;
		return 1;
	case RECORD_EARLIER:
		m->offset = last & ~MESSAGE_MARK;
		return 1;
	case RECORD_RMA:
		m->comm = (uint32_t)(w[1] >> 32);
		m->peer = (uint32_t)w[1];
		m->ticket = (uint32_t)(w[2] >> 40);
		m->type = (uint32_t)(w[2] >> 32) & 0xff;
		m->request = (uint32_t)w[2];
		m->bytes = w[3];
		m->bytes_received = last & ~MESSAGE_MARK;
		m->flags = 0;
		return 1;
	case RECORD_EPOCH:
		m->comm = (uint32_t)(w[1] >> 32);
		m->peer = (uint32_t)w[1];
		m->ticket = (uint32_t)last;
		return 1;
	case RECORD_FILE:
		m->comm = (uint32_t)(w[1] >> 32);
		m->request = (uint32_t)w[1];
		m->offset = w[2];
		return 1;
	}
	return 0;
}

/* The two words of a blocking receive or probe in the page of a ring, as a POST. False: the thread
 * is in none. */
static inline int message_read_receive(uint64_t receive, uint64_t from, struct message *m)
{
	*m = (struct message){.kind = RECORD_POST,
		.field = (uint32_t)from,
		.peer = (uint32_t)(from >> 32),
		.comm = (uint32_t)(receive & (MESSAGE_COMM_LIMIT - 1)),
		.flags = (uint32_t)(receive >> MESSAGE_FLAGS_AT) & 0x7f};
	return receive >> 63;
}

/* Takes LENGTHS apart, which message_read() has accepted. False: they contradict the format. */
static inline int message_lengths_read(const uint64_t *w, struct message_lengths *l)
{
	const uint32_t flags = w[1] & 0xff;

	*l = (struct message_lengths){.comm = (uint32_t)w[1] >> 8,
		.ticket = (uint32_t)(w[1] >> 32),
		.flags = flags,
		.first = (uint32_t)(w[0] >> 33),
		.n = (flags >> LENGTHS_N_AT) + 1};
	if (flags & LENGTHS_SAME) {
		l->n = (uint32_t)w[2];
		l->bytes[0] = w[5] & ~MESSAGE_MARK;
		return l->n && w[2] <= LENGTHS_NARROW;
	}
	for (uint32_t i = 0; i < l->n && flags & LENGTHS_WIDE && i < 4; i++)
		l->bytes[i] = w[2 + i] & ~MESSAGE_MARK;
	for (uint32_t i = 0; i < l->n && !(flags & LENGTHS_WIDE); i++)
		l->bytes[i] = w[2 + i / 2] >> i % 2 * 32 & LENGTHS_NARROW;
	return !(flags & LENGTHS_WIDE) || l->n <= 4;
}

#endif
