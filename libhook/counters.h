/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hardware counters of a thread (shm/counters.h): opened when it gets its ring, and read at each
 * event. With counters all events take the slow path. A counter that cannot be opened or read is 0,
 * and its state says why. All functions are called with vftr_thread.busy set; they may change
 * errno, and the caller restores it.
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

/* The counters of one thread, in pages of their own. */
struct counters {
	uint32_t n;
	uint32_t sources;		 /* 1 << enum counter_source */
	uint64_t events;		 /* of the thread so far */
	uint64_t word[1 + COUNTERS_MAX]; /* the record: header, values */
	uint64_t begin[COUNTERS_MAX];	 /* values before the first event */
	uint64_t own_calls, own_bytes;	 /* of this library's reads, which the kernel counts, too */
	struct counter_state_shm *state; /* in the ring */
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

/* To be called after attaching: words of a COUNTERS record; 0: no counters are wanted. */
unsigned vftr_counters_wanted(void);
/* t has its ring now: opens the counters. t->counters stays NULL if there is no memory. */
void vftr_counters_begin(struct thread *t);
void vftr_counters_end(struct thread *t);
/* Child of fork: the descriptors are copies of the parent's, the pages are gone.
 * interrupted: a signal handler has forked, and the code it interrupted may read them. */
void vftr_counters_forget(struct thread *t, bool interrupted);
/* An event begins: at an exit, reads the values at once. */
void vftr_counters_event(struct counters *c, bool is_exit);
/* Makes c->word[] a record of the present values. */
void vftr_counters_read(struct counters *c);

/* perf.c: opens number i; reads all that are open. forked: the page is not here any more. */
void vftr_perf_open(struct counters *c, uint32_t i);
void vftr_perf_read(struct counters *c);
void vftr_perf_close(struct counters *c, bool forked);
/* Child of fork: closes all; reading goes on, and finds nothing. */
void vftr_perf_forget(struct counters *c);
/* counters.c: moves a descriptor to a high number, away from the program's own; -errno: no room. A
 * descriptor below 0 stands for a call that has failed: -errno, too. */
int vftr_descriptor_aside(int fd);

/* process.c: values of getrusage(2) since the ring began; and of energy, in uJ. */
void vftr_rusage_begin(struct counters *c);
void vftr_rusage_read(struct counters *c);
void vftr_energy_read(struct counters *c);
/* Child of fork. */
void vftr_process_counters_forget(void);
/* Sets *to to the number at the begin of text. False: there is none. */
bool vftr_counter_number(const char *text, uint64_t *to);
/* Growth of a counter that wraps from range (0: unknown) to 0. */
uint64_t vftr_energy_growth(uint64_t before, uint64_t now, uint64_t range);

/* papi.c: the same with PAPI. */
void vftr_papi_open(struct counters *c, uint32_t i);
void vftr_papi_begin(struct counters *c); /* after all were opened */
void vftr_papi_read(struct counters *c);
void vftr_papi_close(struct counters *c);

#pragma GCC visibility pop

#endif
