/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hardware counters of a thread (shm/counters.h): opened when it gets its ring,
 * read at each event, on the slow path only: with counters there is no other.
 * What cannot be opened or read counts as 0, and its state says why. Called
 * with vftr_thread.busy set; nothing here changes errno's meaning to the caller,
 * who restores it.
 */
#ifndef VFTR_LIBHOOK_COUNTERS_H
#define VFTR_LIBHOOK_COUNTERS_H

#include <stdbool.h>
#include <stdint.h>
#include "shm/counters.h"
#include "shm/record.h"

struct thread;

#define PAPI_SETS_MAX 8

/* One perf event. */
struct perf_counter {
	void *page; /* struct perf_event_mmap_page, or NULL */
	int fd;	    /* -1: the page is enough */
	bool by_instruction;
	uint64_t id;   /* the kernel's, by which a descriptor is known to be ours */
	uint64_t last; /* value */
};

/* Of one thread; it lies in pages of its own. */
struct counters {
	uint32_t n;
	uint32_t sources;		   /* 1 << enum counter_source */
	uint64_t events;		   /* of the thread so far */
	uint64_t word[1 + COUNTERS_MAX];   /* the record: header, values */
	uint64_t begin[COUNTERS_MAX];	   /* values before the first event */
	uint64_t own_calls, own_bytes;	   /* of our reading, which the kernel counts as well */
	struct counter_state_shm *state;   /* in the ring */
	const struct counters_shm *wanted; /* on the control page */
	struct perf_counter perf[COUNTERS_MAX];
	/* software events: one call reads them all */
	int group; /* its leader's index, or -1 */
	uint32_t group_n, member[COUNTERS_MAX];
	int io_fd;
	int n_sets, set[PAPI_SETS_MAX];		      /* PAPI's */
	uint32_t set_n[PAPI_SETS_MAX];		      /* counters of each ... */
	uint32_t in_set[PAPI_SETS_MAX][COUNTERS_MAX]; /* ... and which they are */
};

#pragma GCC visibility push(hidden)

/* After attaching: how many words a record of counters has, 0: none are wanted. */
unsigned counters_wanted(void);
/* For t, which has a ring now; t->counters is NULL if there is no memory. */
void counters_begin(struct thread *t);
void counters_end(struct thread *t);
/* Child of fork: the descriptors are copies of the parent's, the pages are gone.
 * interrupted: what has been interrupted may be reading them. */
void counters_forget(struct thread *t, bool interrupted);
/* An event begins: what an exit ends is read at once. */
void counters_event(struct counters *c, bool is_exit);
/* Makes c->word[] a record of the present values. */
void counters_read(struct counters *c);

/* counter-perf.c: opens number i; reads all that are open. */
void perf_open(struct counters *c, uint32_t i);
void perf_read(struct counters *c);
void perf_close(struct counters *c, bool forked);
/* Child of fork: closes all; reading goes on, and finds nothing. */
void perf_forget(struct counters *c);
/* Moves a descriptor out of the way of the program's own; -errno if there is no room. */
int descriptor_aside(int fd);

/* counter-process.c: values of getrusage(2) since the ring began; and of energy. */
void rusage_begin(struct counters *c);
void rusage_read(struct counters *c);
void energy_read(struct counters *c);
/* Child of fork. */
void process_counters_forget(void);
/* The number that text begins with. False: there is none. */
bool counter_number(const char *text, uint64_t *to);
/* Of a counter that goes from 0 to range (0: unknown) and begins anew. */
uint64_t energy_growth(uint64_t before, uint64_t now, uint64_t range);

/* counter-papi.c: the same with PAPI. */
void papi_open(struct counters *c, uint32_t i);
void papi_begin(struct counters *c); /* all have been opened */
void papi_read(struct counters *c);
void papi_close(struct counters *c);

#pragma GCC visibility pop

#endif
