/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writing a sampling file, vftr-vfd(5). It is a new file under its final name, and
 * what was there before is gone: after a crash, what has reached the disk can be
 * read. One thread; nothing waits for the disk but vfd_writer_close() and _wait(). After an
 * error of the file nothing more is written, and every call is cheap and harmless.
 *
 * A track is a thread. Stacks are numbered per track, from 1; 0 is the root.
 * Definitions may be given at any time before their number is used in an event.
 */
#ifndef VFTR_NODEAGENT_TRACE_WRITE_WRITER_H
#define VFTR_NODEAGENT_TRACE_WRITE_WRITER_H

#include "nodeagent/trace/format.h"
#include "nodeagent/trace/types.h"
#include "nodeagent/trace/write/file.h"
#include "nodeagent/trace/varint.h"

struct vfd_writer;

struct vfd_setup {
	const char *path, *host, *application;
	int64_t start_unix_ns; /* UNIX time, */
	uint64_t start_ticks;  /* ticks, and */
	uint64_t start_raw_ns; /* CLOCK_MONOTONIC_RAW at the same moment */
	int64_t job_unix_ns;   /* start of the job, the same in all its files; 0: start_unix_ns */
	double ns_per_tick;
	uint64_t run;	      /* the same number in all files of a run; 0: not known */
	uint64_t interval_ns; /* sampling.sample_interval; 0: everything */
	uint64_t least_ns;    /* without interval_ns: shorter calls are left out (thin.c) */
	/* bytes, or 0; exceeded by what is said later of what is defined (names, ends), the index,
	 * and what was collected: a block of each track, and some blocks of 32 KiB */
	uint64_t max_size;
	uint32_t block_bytes;	      /* of a track's buffer; 0: 16 KiB */
	uint64_t buffer_bytes;	      /* that may wait for the disk; 0: 8 MiB */
	uint64_t keep_bytes, keep_ns; /* with keep_bytes: no file is made (keep.h) */
	enum outfile_way way;
};

/* NULL and *error (caller frees) if the file can't be made. */
struct vfd_writer *vfd_writer_new(const struct vfd_setup *s, char **error);
/*
 * Ends all tracks, writes what is left, the index and the end; waits at most so
 * many seconds for the disk. 0 or -errno of the first error. Frees w.
 */
int vfd_writer_close(struct vfd_writer *w, uint64_t ticks, double seconds);

/*
 * False: the disk is behind. The caller should not read the rings for a while, so that
 * shm.when_full acts; events that it gives nevertheless are kept in memory up to 24 MiB,
 * then left out and counted.
 */
bool vfd_writer_ready(struct vfd_writer *w);
/* Sleeps while the disk is behind, at most so many seconds, below 1. */
void vfd_writer_wait(struct vfd_writer *w, double seconds);
/* Starts the writing of all data, half-filled blocks, too. To be called once a second: a crash
 * of the agent loses no more than the time since. False: the disk got behind; call it again
 * soon for the rest. */
bool vfd_writer_flush(struct vfd_writer *w);
/* A sentence for the log: an error, or why writing is slow; or NULL. Valid until close. */
const char *vfd_writer_trouble(struct vfd_writer *w);

struct vfd_written {
	uint64_t bytes, blocks, events, messages, matches, counts, launches;
	uint64_t thinned;	 /* calls left out to keep max_size, so far */
	uint64_t dropped_blocks; /* because the disk was behind */
	unsigned level;		 /* row of VFD_THINNING_ROWS */
	enum outfile_way way;
};
struct vfd_written vfd_writer_written(const struct vfd_writer *w);
/* As vfd_writer_close(), and what was written and left out with that; *trouble: as
 * vfd_writer_trouble(), the caller frees. */
int vfd_writer_end(struct vfd_writer *w, uint64_t ticks, double seconds, struct vfd_written *done,
	char **trouble);

/*
 * Definitions. Texts are copied; `number` (track) of the argument is ignored, and
 * the new one is returned. Functions, processes: from 0; communicators, objects
 * (of each kind), counters and observables: from 1.
 */
uint32_t vfd_define_process(struct vfd_writer *w, const struct vfd_process *p);
void vfd_define_rank(
	struct vfd_writer *w, uint32_t process, int32_t rank, uint32_t size, uint64_t job);
void vfd_define_process_end(
	struct vfd_writer *w, uint32_t process, uint64_t ticks, uint32_t how, int32_t exit_status);
uint32_t vfd_define_function(struct vfd_writer *w, const struct vfd_function *f);
/* Sets a name that became known later, and whether the function is precise. */
void vfd_define_name(struct vfd_writer *w, uint32_t function, const char *name, bool precise);
/* Sets where a function begins. */
void vfd_define_source(struct vfd_writer *w, uint32_t function, const char *file, uint32_t line);
uint32_t vfd_define_comm(struct vfd_writer *w, const struct vfd_comm *c);
/* Sets c->link and what is behind it, of c->number. */
void vfd_define_link(struct vfd_writer *w, const struct vfd_comm *c);
uint32_t vfd_define_object(struct vfd_writer *w, const struct vfd_object *o);
uint32_t vfd_define_counter(struct vfd_writer *w, const struct vfd_counter *c);
uint32_t vfd_define_observable(struct vfd_writer *w, const struct vfd_observable *o);

/* Clock: ticks and CLOCK_MONOTONIC_RAW read together, now and then and at the
 * end; sync points of the node's clock (global = raw + offset); the job's start. */
void vfd_clock_pair(struct vfd_writer *w, uint64_t ticks, uint64_t raw_ns);
void vfd_clock_sync_point(
	struct vfd_writer *w, uint64_t raw_ns, int64_t offset_ns, uint64_t half_width_ns);
void vfd_clock_zero(struct vfd_writer *w, uint64_t global_ns);

struct vfd_link {
	uint32_t caller; /* stack of the caller; no valid stack before the first use */
	uint32_t code;	 /* twice the number of the stack, as a varint of 1 to 4 bytes */
};

/* The part of a track that the functions below need; the rest is behind it. */
struct vfd_track {
	unsigned char *at, *high; /* a fast event may begin below high, and takes a byte or more */
	uint32_t *difference, *full;  /* where its time goes; below full, if at is below high */
	uint64_t units;		      /* time of the last event, in ticks */
	const struct vfd_link *links; /* by stack */
	uint32_t current;	      /* innermost open stack, as a reader knows it */
	uint32_t base;		      /* first frame of its path, 0: the thread's own */
	unsigned char *run_end;	      /* if that is at: the last events are of a run ... */
	uint32_t run, run_events;     /* ... this one, so many of it */
};

/* t->track is ignored. Freed by vfd_track_end(). */
struct vfd_track *vfd_track_new(struct vfd_writer *w, const struct vfd_thread *t);
void vfd_track_name(struct vfd_track *l, const char *name);
void vfd_track_openmp(struct vfd_track *l, uint32_t level, uint32_t number);
void vfd_track_end(struct vfd_track *l, uint64_t ticks);
uint32_t vfd_track_number(const struct vfd_track *l);
/* A new stack of the track. caller: of this track, or 0. VFD_NONE at 2^27 of them. */
uint32_t vfd_stack_new(struct vfd_track *l, uint32_t caller, uint32_t function);

void vfd_enter_slow(struct vfd_track *l, uint32_t stack, uint64_t ticks);
void vfd_exit_slow(struct vfd_track *l, uint32_t stack, uint64_t ticks);

/* True if time goes forwards, and a block can say by how much. */
static inline bool vfd_difference_fits(uint64_t difference)
{
	return difference < UINT32_MAX;
}

/* Ticks that go backwards count as no time. stack: from vfd_stack_new() of this track. */
static inline void vfd_enter(struct vfd_track *l, uint32_t stack, uint64_t ticks)
{
	const uint64_t difference = ticks - l->units;
	const struct vfd_link *link = &l->links[stack];

	if (__builtin_expect(l->at >= l->high || link->caller != l->current ||
				     !vfd_difference_fits(difference),
		    0)) {
		vfd_enter_slow(l, stack, ticks);
		return;
	}
	l->units = ticks;
	l->current = stack;
	*l->difference++ = (uint32_t)difference;
	l->at = varint_copy(l->at, link->code);
}

static inline void vfd_exit(struct vfd_track *l, uint32_t stack, uint64_t ticks)
{
	const uint64_t difference = ticks - l->units;

	if (__builtin_expect(l->at >= l->high || stack != l->current || stack == l->base ||
				     !vfd_difference_fits(difference),
		    0)) {
		vfd_exit_slow(l, stack, ticks);
		return;
	}
	l->units = ticks;
	l->current = l->links[stack].caller;
	*l->difference++ = (uint32_t)difference;
	l->at = varint_put_short(l->at, VFD_EVENT_EXIT);
}

/*
 * Runs: rows of enters and exits of a track that come again and again. stacks[]: of n of them, the
 * stack that is entered, or 0 for an exit; the first one begins where `from' is the innermost open
 * stack. The number of the run, from 1, or VFD_NONE: there will be no room for it. To be called
 * if vfd_run_waits() is false; true: the disk is behind, ask again later.
 */
#define VFD_RUN_MOST 64u
bool vfd_run_waits(struct vfd_track *l);
uint32_t vfd_run_new(struct vfd_track *l, uint32_t from, const uint32_t *stacks, unsigned n);
/* True if events are given to the file as they come, so that runs are worth making. */
bool vfd_takes_runs(const struct vfd_track *l);
/* Makes room for n events, the first one at these ticks. False: they are to be given one by one. */
bool vfd_run_room(struct vfd_track *l, unsigned n, uint64_t ticks);

/*
 * The events [first, first + n) of a run, which may be n or the rest of it, where `from' is the
 * innermost open stack before them. ticks: of the first one. Returns where the caller puts n
 * differences of ticks, each since the event before, that of the first since l->units; then it
 * calls vfd_put_run_done(). NULL: they are to be given one by one.
 */
static inline uint32_t *vfd_put_run(struct vfd_track *l, uint32_t run, uint32_t from,
	unsigned first, unsigned n, uint64_t ticks)
{
	if (l->current != from)
		return NULL;
	if (first) {
		/* what is in the file is extended */
		if (l->run_end != l->at || l->run != run || l->run_events != first ||
			(size_t)(l->full - l->difference) < n || l->at >= l->high ||
			!vfd_difference_fits(ticks - l->units))
			return NULL;
	} else {
		if ((l->at >= l->high || (size_t)(l->full - l->difference) < n ||
			    !vfd_difference_fits(ticks - l->units)) &&
			!vfd_run_room(l, n, ticks))
			return NULL;
		l->at = varint_put_short(l->at, VFD_EVENT_RUN(run)) + 1;
		l->run = run;
		l->run_end = l->at;
	}
	l->run_events = first + n;
	varint_put_byte(l->at - 1, l->run_events);
	return l->difference;
}

/* The last of n events was at these ticks, and `current' is the innermost open stack now. */
static inline void vfd_put_run_done(
	struct vfd_track *l, uint32_t current, unsigned n, uint64_t ticks)
{
	l->difference += n;
	l->current = current;
	l->units = ticks;
	if (l->high - l->at > l->full - l->difference)
		l->high = l->at + (l->full - l->difference);
}

/* Before an event of a file with an interval: events since the last one were left out, the
 * last of them at `ticks`; this stack ran at an instant since (sample.h). A second call: the
 * stack that ran from there on. Both are forgotten if the event is not recorded. */
void vfd_sample(struct vfd_track *l, uint32_t stack, uint64_t ticks);
/* Before an exit: the duration of the call. */
void vfd_call_took(struct vfd_track *l, uint64_t ticks);
/* Enters a frame that is not called by the open one (of a task, of a thread that works for a
 * parallel region): the open path is suspended until its vfd_exit(). */
void vfd_enter_aside(struct vfd_track *l, uint32_t stack, uint64_t ticks);
/* `calls` calls below the open frame were not recorded. */
void vfd_lost(struct vfd_track *l, uint64_t calls, uint64_t ticks);

/* Values of counters, at most VFD_COUNTS_MOST (trace/counters.h), of this track; real[]:
 * true for bits of a double. Times may go back. */
void vfd_counts(
	struct vfd_track *l, const struct vfd_counts *counts, const bool *real, uint64_t ticks);

/* m->track is ignored; l: the track of m->stack, or NULL if it has ended: then
 * m->track counts, and m->stack must have been used in it. */
void vfd_message(struct vfd_writer *w, struct vfd_track *l, const struct vfd_message *m);
/* The sender of a message that is given without one, earlier or later. */
void vfd_pair(struct vfd_writer *w, const struct vfd_pair *p);
/* A round of a session has begun. */
void vfd_define_round(struct vfd_writer *w, uint32_t number, uint64_t ticks);
/* To be called once for each process, communicator and direction. */
void vfd_define_neighbours(struct vfd_writer *w, const struct vfd_neighbours *n);
/* At most LENGTHS_MOST (shm/message.h) lengths that differ; in order. */
void vfd_lengths(struct vfd_writer *w, const struct vfd_lengths *l);
/* The enter of wait->stack at wait->start was recorded; the track may have ended. */
void vfd_wait(struct vfd_writer *w, const struct vfd_wait *wait);
/* Both tracks may have ended. */
void vfd_lock_wait(struct vfd_writer *w, const struct vfd_lock_wait *wait);
/* l->id is ignored. Both stacks must have been used in their tracks. */
void vfd_launch(struct vfd_writer *w, const struct vfd_launch *l);

/* True if the track's last event is the enter of this stack at that time; else the enter was
 * left out, or another event has come since. */
static inline bool vfd_is_entering(const struct vfd_track *l, uint32_t stack, uint64_t ticks)
{
	return stack && stack == l->current && l->units == ticks;
}

#endif
