/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hardware counters: those that the agent wants, on its control page, and the
 * state of each of them, on the page of each ring that its thread writes.
 * Names are resolved by the agent; the process only opens and reads. The values
 * travel in COUNTERS records (record.h).
 */
#ifndef VFTR_SHM_COUNTERS_H
#define VFTR_SHM_COUNTERS_H

#include <stdint.h>

#define COUNTERS_MAX	   32u
#define COUNTER_NAME_BYTES 64u

enum counter_source {
	COUNTER_NONE = 0, /* not available here: its value is always 0 */
	COUNTER_DUMMY,	  /* counter i grows by i + 1 at each event; for tests */
	COUNTER_PERF,	  /* perf_event_open() of type, config ... */
	COUNTER_PAPI,	  /* PAPI's event of that name */
	COUNTER_IO,	  /* line `config` of /proc/thread-self/io */
	COUNTER_RUSAGE,	  /* `config` is an enum counter_rusage */
	COUNTER_ENERGY,	  /* sum of `type` zones, see counter_zone(), below the folder `name` */
	COUNTER_SOURCES
};

#define COUNTER_IO_LINES 7u

/* Members of getrusage(2); times in us, maxrss in bytes. */
enum counter_rusage {
	RUSAGE_MAXRSS,
	RUSAGE_UTIME,
	RUSAGE_STIME,
	RUSAGE_MINFLT,
	RUSAGE_MAJFLT,
	RUSAGE_NVCSW,
	RUSAGE_NIVCSW,
	RUSAGE_INBLOCK,
	RUSAGE_OUBLOCK,
	COUNTER_RUSAGE_LINES
};

/* One counter that the agent wants. flags: bits of enum counter_flag. */
struct counter_shm {
	uint32_t source; /* enum counter_source */
	uint32_t type;	 /* of a perf event, as are the configs */
	uint64_t config, config1, config2;
	uint32_t flags;
	uint32_t reserved;
	char name[COUNTER_NAME_BYTES]; /* PAPI's, or a folder; ends in NUL */
};

/*
 * The zones of /sys/class/powercap that an energy counter adds up, in uJ: a byte each in
 * config, config1 and config2: package << 4 | 1 + part, or 0 for the package itself.
 */
#define COUNTER_ZONES		24u
#define COUNTER_ZONE_PACKAGE(z) ((z) >> 4)
#define COUNTER_ZONE_PART(z)	((z)&15u)

static inline uint64_t *counter_zone_word(struct counter_shm *c, unsigned k)
{
	return k < 8 ? &c->config : k < 16 ? &c->config1 : &c->config2;
}

static inline unsigned counter_zone(const struct counter_shm *c, unsigned k)
{
	return *counter_zone_word((struct counter_shm *)(uintptr_t)c, k) >> k % 8 * 8 & 255;
}

enum counter_flag {
	COUNTER_USER = 1,   /* counts in user mode */
	COUNTER_KERNEL = 2, /* counts in the kernel */
};

struct counters_shm {
	uint32_t n; /* 0: nothing is read */
	uint32_t reserved;
	struct counter_shm at[COUNTERS_MAX];
};

/* The state of one counter of a thread. */
struct counter_state_shm {
	uint64_t enabled_ns, running_ns; /* it was wanted, it counted; both 0: always */
	int32_t error;			 /* -errno: it is not counted */
	uint32_t ways;			 /* COUNTER_BY_ bits: how it is read */
};

enum { COUNTER_BY_CALL = 1, COUNTER_BY_INSTRUCTION = 2 };

_Static_assert(sizeof(struct counter_shm) == 104, "on the wire");
_Static_assert(sizeof(struct counter_state_shm) == 24, "on the wire");

#endif
