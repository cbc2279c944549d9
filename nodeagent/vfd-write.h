/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writing a sampling file, vftr-vfd(5). It is a new file under its final name, and
 * what was there before is gone: after a crash, what has reached the disk can be
 * read. One thread; nothing waits for the disk but vfd_writer_close(). After an
 * error of the file nothing more is written, and every call is cheap and harmless.
 *
 * A lane is a thread. Stacks are numbered per lane, from 1; 0 is the root.
 * Definitions may be given at any time before their number is used in an event.
 */
#ifndef VFTR_NODEAGENT_VFD_WRITE_H
#define VFTR_NODEAGENT_VFD_WRITE_H

#include "nodeagent/vfd-types.h"
#include "nodeagent/vfd-uring.h"
#include "nodeagent/vfd-varint.h"

struct vfd_writer;

struct vfd_setup {
	const char *path, *host, *application;
	int64_t start_unix_ns; /* UNIX time, when ... */
	uint64_t start_ticks;  /* ... the ticks were these, and ... */
	uint64_t start_raw_ns; /* ... CLOCK_MONOTONIC_RAW was this */
	int64_t job_unix_ns;   /* start of the job, the same in all its files; 0: start_unix_ns */
	double ns_per_tick;
	uint64_t interval_ns; /* sampling.sample_interval; 0: everything */
	uint64_t max_size; /* bytes, or 0; passed by definitions, the index, and 96 KiB at most */
	uint32_t block_bytes;  /* of a lane's buffer; 0: 16 KiB */
	uint64_t buffer_bytes; /* that may wait for the disk; 0: 8 MiB */
	enum outfile_way way;
};

/* NULL and *error (caller frees) if the file can't be made. */
struct vfd_writer *vfd_writer_new(const struct vfd_setup *s, char **error);
/*
 * Ends all lanes, writes what is left, the index and the end; waits at most so
 * many seconds for the disk. 0 or -errno of the first error. Frees w.
 */
int vfd_writer_close(struct vfd_writer *w, uint64_t ticks, double seconds);

/*
 * False: the disk is behind. The caller should leave the rings alone for a while, so that
 * their full policy acts; what it gives us nevertheless is kept in memory up to
 * 24 MiB, then left out and counted.
 */
bool vfd_writer_ready(struct vfd_writer *w);
/* Sleeps while it is behind, at most so many seconds, below 1. */
void vfd_writer_wait(struct vfd_writer *w, double seconds);
/* Everything that was given goes on its way to the disk, half-filled blocks, too.
 * For once a second: it is what a crash of the agent costs at most. False: the disk got
 * behind; call it again soon for the rest. */
bool vfd_writer_flush(struct vfd_writer *w);
/* A sentence for the log: what went wrong, or why writing is slower. NULL if nothing; valid until
 * close. */
const char *vfd_writer_trouble(struct vfd_writer *w);

/* The file is still the one that this path leads to: no other run has replaced it. */
bool vfd_writer_is_at(const struct vfd_writer *w, const char *path);

struct vfd_written {
	uint64_t bytes, blocks, events, messages, matches, counts, launches;
	uint64_t thinned;	 /* calls left out to keep max_size, so far */
	uint64_t dropped_blocks; /* because the disk was behind */
	unsigned level;		 /* row of VFD_THINNING_ROWS */
	enum outfile_way way;
};
struct vfd_written vfd_writer_written(const struct vfd_writer *w);

/*
 * Definitions. Texts are copied; `number` (lane) of the argument is ignored, and
 * the new one is returned. Functions, processes: from 0; communicators, objects
 * (of each kind), counters and observables: from 1.
 */
uint32_t vfd_define_process(struct vfd_writer *w, const struct vfd_process *p);
void vfd_define_rank(
	struct vfd_writer *w, uint32_t process, int32_t rank, uint32_t size, uint64_t job);
void vfd_define_process_end(
	struct vfd_writer *w, uint32_t process, uint64_t ticks, uint32_t how, int32_t exit_status);
uint32_t vfd_define_function(struct vfd_writer *w, const struct vfd_function *f);
/* A name that became known later, and whether it is precise; this may change both. */
void vfd_define_name(struct vfd_writer *w, uint32_t function, const char *name, bool precise);
uint32_t vfd_define_comm(struct vfd_writer *w, const struct vfd_comm *c);
uint32_t vfd_define_object(struct vfd_writer *w, const struct vfd_object *o);
uint32_t vfd_define_counter(struct vfd_writer *w, const struct vfd_counter *c);
uint32_t vfd_define_observable(struct vfd_writer *w, const struct vfd_observable *o);

/* Clock: ticks and CLOCK_MONOTONIC_RAW read together, now and then and at the
 * end; knots of the node's clock (global = raw + offset); the job's start. */
void vfd_clock_pair(struct vfd_writer *w, uint64_t ticks, uint64_t raw_ns);
void vfd_clock_knot(
	struct vfd_writer *w, uint64_t raw_ns, int64_t offset_ns, uint64_t half_width_ns);
void vfd_clock_zero(struct vfd_writer *w, uint64_t global_ns);

struct vfd_link {
	uint32_t caller; /* its stack, or what is no stack until this one was used */
	uint32_t code;	 /* its number, as a varint of 1 to 4 bytes */
};

/* The part of a lane that the functions below need; the rest is behind it. */
struct vfd_lane {
	unsigned char *at, *high;     /* a fast event may begin below high */
	uint64_t units;		      /* time of the last event */
	const struct vfd_link *links; /* by stack */
	uint32_t current;	      /* innermost open stack, as a reader knows it */
	uint32_t base;		      /* first frame of its path, 0: the thread's own */
	uint32_t events;	      /* in this block */
	uint32_t shift;
};

/* t->lane is ignored. Freed by vfd_lane_end(). */
struct vfd_lane *vfd_lane_new(struct vfd_writer *w, const struct vfd_thread *t);
void vfd_lane_name(struct vfd_lane *l, const char *name);
void vfd_lane_openmp(struct vfd_lane *l, uint32_t level, uint32_t number);
void vfd_lane_end(struct vfd_lane *l, uint64_t ticks);
uint32_t vfd_lane_number(const struct vfd_lane *l);
/* A new stack of the lane. caller: of this lane, or 0. VFD_NONE at 2^28 of them. */
uint32_t vfd_stack_new(struct vfd_lane *l, uint32_t caller, uint32_t function);

void vfd_enter_slow(struct vfd_lane *l, uint32_t stack, uint64_t ticks);
void vfd_exit_slow(struct vfd_lane *l, uint32_t stack, uint64_t ticks);

/* Neither backwards nor for very long: then two times it and one fit a short varint. */
static inline bool vfd_delta_is_plain(uint64_t delta)
{
	return delta >> (VARINT_SHORT_BITS - 1) == 0;
}

/* Ticks that go backwards count as no time. stack: from vfd_stack_new() of this lane. */
static inline void vfd_enter(struct vfd_lane *l, uint32_t stack, uint64_t ticks)
{
	const uint64_t units = ticks >> l->shift, delta = units - l->units;
	const struct vfd_link *link = &l->links[stack];

	if (__builtin_expect(
		    l->at >= l->high || link->caller != l->current || !vfd_delta_is_plain(delta),
		    0)) {
		vfd_enter_slow(l, stack, ticks);
		return;
	}
	l->units = units;
	l->current = stack;
	l->events++;
	l->at = varint_copy(varint_put_short(l->at, delta << 1 | 1), link->code);
}

static inline void vfd_exit(struct vfd_lane *l, uint32_t stack, uint64_t ticks)
{
	const uint64_t units = ticks >> l->shift, delta = units - l->units;

	if (__builtin_expect(l->at >= l->high || stack != l->current || stack == l->base ||
				     !vfd_delta_is_plain(delta),
		    0)) {
		vfd_exit_slow(l, stack, ticks);
		return;
	}
	l->units = units;
	l->current = l->links[stack].caller;
	l->events++;
	l->at = varint_put_short(l->at, delta << 1);
}

/* Before an event of a file with an interval: events since the last one were left out, the
 * last of them at `ticks`; this stack ran at an instant since (vfd-sample.h). Once more:
 * what ran from there on. It is forgotten if that event is not recorded. */
void vfd_sample(struct vfd_lane *l, uint32_t stack, uint64_t ticks);
/* Before an exit: how long the call was. */
void vfd_call_took(struct vfd_lane *l, uint64_t ticks);
/* A frame that does not hang on the one below it (of a task, of a thread that
 * works for a parallel region): that is suspended until its vfd_exit(). */
void vfd_enter_aside(struct vfd_lane *l, uint32_t stack, uint64_t ticks);
/* Nothing was recorded since the event before; open are now the frames of stack. */
void vfd_gap(struct vfd_lane *l, uint32_t stack, uint64_t ticks);
/* So many calls below the open frame were not recorded. */
void vfd_lost(struct vfd_lane *l, uint64_t calls, uint64_t ticks);

/* Values of counters, at most VFD_COUNTS_MOST (vfd-counters.h), of this lane; real[]:
 * which of them are bits of a double. Times may go back. */
void vfd_counts(
	struct vfd_lane *l, const struct vfd_counts *counts, const bool *real, uint64_t ticks);

/* m->lane is ignored; l: the lane of m->stack, or NULL if it has ended: then
 * m->lane counts, and m->stack must have been used in it. */
void vfd_message(struct vfd_writer *w, struct vfd_lane *l, const struct vfd_message *m);
/* The sender of a message that was or will be given without one. */
void vfd_pair(struct vfd_writer *w, const struct vfd_pair *p);
/* A round of a session has begun. */
void vfd_define_round(struct vfd_writer *w, uint32_t number, uint64_t ticks);
/* Once for each process, communicator and direction. */
void vfd_define_neighbours(struct vfd_writer *w, const struct vfd_neighbours *n);
/* At most LENGTHS_MOST (shm/message.h) that are not the same; in their order. */
void vfd_lengths(struct vfd_writer *w, const struct vfd_lengths *l);
/* The enter of wait->stack at wait->start was recorded; the lane may have ended. */
void vfd_wait(struct vfd_writer *w, const struct vfd_wait *wait);
/* l->id is ignored. Both stacks must have been used in their lanes. */
void vfd_launch(struct vfd_writer *w, const struct vfd_launch *l);

/* The last event of the lane is the enter of this stack at that time; else it was left
 * out, or something else has come since. */
static inline bool vfd_is_entering(const struct vfd_lane *l, uint32_t stack, uint64_t ticks)
{
	return stack && stack == l->current && l->units == ticks >> l->shift;
}

#endif
