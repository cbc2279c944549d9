/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The two kinds of shared memory between a process and its agent: one control
 * segment per process and one ring segment per thread. The agent creates both
 * with memfd_create, so there are no names to clean up, and seals their size, so no access
 * goes beyond their end. A control segment is allocated in full, of a ring's data the begin
 * (vftr_segment_create_ring()); where strict overcommit may refuse a page later, all of it. The
 * seals do not forbid holes. If a process punches one into its own ring, the agent reads zeros
 * there, which are no records. A page that is not allocated yet, or a hole, needs memory when it
 * is touched; a system that has none may send SIGBUS.
 *
 * Words of the two writers lie on different pages. Each side maps the other's
 * pages read-only. Types that live here end in _shm.
 *
 *   control segment                      ring segment
 *   page 0  agent writes                 page 0      application writes
 *   page 1  application writes           page 1      agent writes
 *                                        page 2      staging block 0 (application)
 *                                        page 3      unused: see thread.h
 *                                        page 4      staging block 1 (application)
 *                                        page 5 ..   ring_size bytes of blocks (application)
 */
#ifndef VFTR_SHM_SEGMENT_H
#define VFTR_SHM_SEGMENT_H

#include <stddef.h>
#include <stdint.h>
#include "shm/counters.h"
#include "shm/record.h"
#include "shm/switches.h"

#define SEGMENT_MAGIC 0x314752465456ull /* "VTFRG1" */
#define SEGMENT_PAGE  4096u

struct control_agent_shm {
	uint64_t magic;
	uint32_t record_format;
	uint32_t clock_source; /* enum clock_source */
	uint32_t sleeping;     /* 1: the agent waits for its doorbell */
	uint32_t orders;       /* enum agent_order; 0: record */
	uint32_t outcomes;     /* counts outcomes of requests (shm/session.h); a futex */
	uint64_t counted;      /* bit i: while function number i is off, its calls are counted by
				  call path (switches.h, which has no room) */
};

/* What a process is to do; bits. */
enum agent_order {
	ORDER_LEAVE = 1, /* the agent is leaving, stop recording */
	ORDER_PAUSE = 2, /* record nothing as long as this is here */
};

struct control_app_shm {
	uint64_t definitions; /* messages sent on the socket so far */
	uint64_t blocked_ns;  /* time all threads waited for room, ns */
	uint64_t attach_ns;   /* time spent in attaching, ns */
	uint64_t lost_nested; /* calls of signal handlers that could not be stored */
	uint64_t hook_ps;     /* measured cost of one hook, ps; 0: unknown */
	uint64_t gave_up;     /* ticks when the process gave up waiting for the agent, or 0 */
	struct switches_seen_shm switches;
	uint32_t paused; /* 1: it follows ORDER_PAUSE: threads record nothing after their next
			    event */
	uint64_t look;	 /* address of its struct mpi_look (shm/look.h), or 0 */
};

/* Words that only the producer writes. */
struct ring_producer_shm {
	uint64_t magic;	     /* ring_magic() */
	uint64_t size;	     /* bytes of data, a power of two */
	uint64_t head;	     /* bytes published; free running, whole blocks */
	uint64_t stage[2];   /* ring position the staging block belongs to */
	uint64_t lost;	     /* calls skipped because the ring was full */
	uint64_t blocked_ns; /* time this thread waited for room, ns */
	uint64_t kicks;	     /* times this thread rang the agent's doorbell (wire.h) */
	uint32_t waiting;    /* 1: the producer sleeps on the consumer's futex */
	uint32_t tid;
	uint64_t lost_messages; /* records of messages skipped because the ring was full */
	uint64_t receive;	/* the blocking receive or probe that it is in, or 0 ... */
	uint64_t receive_from;	/* ... and of whom; stored before (shm/message.h) */
	uint64_t pointer;	/* to the thread's own variables (shm/look.h), or 0 */
};

/* Words that only the agent writes. */
struct ring_consumer_shm {
	uint64_t tail;	  /* bytes taken; free running, whole blocks */
	uint32_t futex;	  /* counts wake-ups; the producer sleeps on it */
	uint32_t retired; /* 1: quarantined, nothing is read from it any more */
};

/* Offsets of more words in page 0 of a segment. COUNTERS: in a control segment the counters
 * that are wanted, in a ring segment their state. SWITCHES: in a control segment the functions
 * that are off; SWITCHED: in a ring segment their calls. */
#define COUNTERS_OFFSET		 512u
#define SWITCHES_OFFSET		 3848u
#define SWITCHED_OFFSET		 2048u
#define CONTROL_BYTES		 (2 * SEGMENT_PAGE)
#define RING_STAGE_OFFSET	 (2 * SEGMENT_PAGE)
#define RING_STAGE_APART	 (2 * SEGMENT_PAGE)
#define RING_DATA_OFFSET	 (5 * SEGMENT_PAGE)
#define RING_SIZE_MIN		 (32u << 10)
#define RING_SIZE_MAX		 (1u << 30)
#define RING_SEGMENT_BYTES(size) (RING_DATA_OFFSET + (size_t)(size))

/* One mapped ring segment, seen from either side. */
struct ring {
	struct ring_producer_shm *producer;
	struct ring_consumer_shm *consumer;
	uint64_t *stage[2];
	uint64_t *data;
	uint64_t size;	/* private copy: the shared one is not trusted */
	uint64_t magic; /* ring_magic(): the producer stores it when it has started */
	void *base;
	size_t bytes;
};

static inline struct counters_shm *control_counters(struct control_agent_shm *agent)
{
	return (struct counters_shm *)(void *)((char *)agent + COUNTERS_OFFSET);
}

static inline struct counter_state_shm *ring_counters(struct ring_producer_shm *producer)
{
	return (struct counter_state_shm *)(void *)((char *)producer + COUNTERS_OFFSET);
}

static inline struct switches_shm *control_switches(struct control_agent_shm *agent)
{
	return (struct switches_shm *)(void *)((char *)agent + SWITCHES_OFFSET);
}

static inline struct switched_shm *ring_switched(struct ring_producer_shm *producer)
{
	return (struct switched_shm *)(void *)((char *)producer + SWITCHED_OFFSET);
}

/* Differs for 65535 successive uses of a ring, so that an old magic does not say that the new use
 * began. */
static inline uint64_t ring_magic(uint32_t uses)
{
	return SEGMENT_MAGIC | (uint64_t)(uses ? 1 + uses % 0xffff : 0) << 48;
}

/*
 * Agent's side. Create a sealed segment and map it. The descriptor is for
 * sending to the process; the caller closes it. 0 or -errno (-ENOMEM when the
 * memory cannot be had, -EINVAL for a size that is no power of two from RING_SIZE_MIN to
 * RING_SIZE_MAX); nothing is left behind then.
 */
int vftr_segment_create_control(
	int *fd, struct control_agent_shm **agent, struct control_app_shm **app);
/* now: bytes of data that are allocated at once; the kernel adds what lies behind them as it is
 * written. */
int vftr_segment_create_ring(uint64_t size, uint64_t now, int *fd, struct ring *ring);

/* Application's side. Map a descriptor that the agent sent; its size is checked. 0 or -errno;
 * -EPROTO: the size, or of a control segment magic or format, is another one. */
int vftr_segment_map_control(
	int fd, struct control_agent_shm **agent, struct control_app_shm **app);
int vftr_segment_map_ring(int fd, uint64_t size, struct ring *ring);
/* The same at the place of a segment that is mapped, which other threads may be using; the size of
 * a ring must be the same. */
int vftr_segment_replace_control(int fd, struct control_agent_shm *agent);
int vftr_segment_replace_ring(int fd, const struct ring *ring);
/*
 * The mapped ring moves to `base', in the place of one of its size, which code that is interrupted
 * may be storing to. Page by page: after an error what was mapped at both places is not whole,
 * unless it is the first page's: then *ring is as it was.
 */
int vftr_segment_move_ring(struct ring *ring, void *base);

void vftr_segment_unmap_control(struct control_agent_shm *agent);
void vftr_segment_unmap_ring(struct ring *ring);
/* Application's side: puts private zeroed memory in place of the `bytes` mapped at base; without
 * memory nothing happens. */
void vftr_segment_blank(void *base, size_t bytes);

_Static_assert(sizeof(struct control_agent_shm) <= COUNTERS_OFFSET, "one page with them");
_Static_assert(sizeof(struct ring_producer_shm) <= COUNTERS_OFFSET, "one page with them");
_Static_assert(COUNTERS_OFFSET + sizeof(struct counters_shm) <= SWITCHES_OFFSET, "one page");
_Static_assert(SWITCHES_OFFSET + sizeof(struct switches_shm) <= SEGMENT_PAGE, "one page");
_Static_assert(COUNTERS_OFFSET + COUNTERS_MAX * sizeof(struct counter_state_shm) <= SWITCHED_OFFSET,
	"one page");
_Static_assert(SWITCHED_OFFSET + sizeof(struct switched_shm) <= SEGMENT_PAGE, "one page");
_Static_assert(offsetof(struct ring_producer_shm, head) == 16, "on the wire");
_Static_assert(offsetof(struct ring_producer_shm, stage) == 24, "on the wire");
_Static_assert(offsetof(struct ring_producer_shm, tid) == 68, "on the wire");
_Static_assert(offsetof(struct ring_consumer_shm, futex) == 8, "on the wire");

#endif
