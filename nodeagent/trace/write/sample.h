/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Chooses the enters and exits of a thread that are recorded: ordinary ones that come
 * more than an interval after the last recorded ordinary one; all of precise functions;
 * and the end of a call of more than two intervals. An interval of 0 records everything.
 */
#ifndef VFTR_NODEAGENT_TRACE_WRITE_SAMPLE_H
#define VFTR_NODEAGENT_TRACE_WRITE_SAMPLE_H

#include <stdbool.h>
#include <stdint.h>

struct vfd_sampler {
	uint64_t interval, next; /* in one unit, any */
};

static inline bool vfd_sampled(struct vfd_sampler *s, uint64_t time, bool precise)
{
	if (precise || !s->interval)
		return true;
	if (time <= s->next)
		return false;
	s->next = time + s->interval;
	return true;
}

/*
 * The events left out between two recorded ones: a random instant of that time is drawn,
 * each as likely as any other, and the stack that ran then stands for the whole time. So
 * each function gets its share, whatever the rhythm of the program. If the last instant
 * was e after the beginning, the next one is e / u after it, with u evenly between 0 and
 * 1: then, whenever the time ends, the last instant is evenly distributed in it.
 */
struct vfd_window {
	uint64_t begin;	 /* the event that was recorded last */
	uint64_t last;	 /* the last event */
	uint64_t next;	 /* the first event after this time moves the instant */
	uint64_t random; /* never 0 */
};

static inline void vfd_window_open(struct vfd_window *w, uint64_t time)
{
	w->begin = w->last = w->next = time;
}

static inline bool vfd_window_has(const struct vfd_window *w)
{
	return w->last > w->begin;
}

/* For an event that is left out. True: the instant is now just before it. */
static inline bool vfd_window_pass(struct vfd_window *w, uint64_t time)
{
	double e;

	w->last = time;
	if (time <= w->next)
		return false;
	w->random ^= w->random << 13;
	w->random ^= w->random >> 7;
	w->random ^= w->random << 17;
	e = (double)(time - w->begin) / (((double)(w->random >> 11) + 1) * 0x1p-53);
	w->next = e < 0x1p62 ? w->begin + (uint64_t)e : UINT64_MAX;
	return true;
}

/* ---- thinning: events that a file leaves out as it grows towards its limit ----- */

struct vfd_thinning {
	unsigned percent; /* written share of the limit from which on this holds */
	uint64_t ns;	  /* shorter calls are left out */
	uint32_t depth;	  /* frames below this depth are left out */
	bool precise;	  /* calls of precise functions are left out, too */
	unsigned slower;  /* factor of the sampling interval, if there is one */
};

#define VFD_THINNING_ROWS                                                                          \
	{0, 0, UINT32_MAX, false, 1}, {50, 1000, 64, false, 4}, {75, 20000, 32, false, 16},        \
		{90, 1000000, 16, true, 64},                                                       \
	{                                                                                          \
		98, UINT64_MAX, 0, true, 0                                                         \
	}
#define VFD_THINNING_LEVELS 5
#define VFD_THINNING_ALL    (VFD_THINNING_LEVELS - 1) /* no call is written any more */

/* Row for a file of so many bytes; max_size 0: no limit. */
static inline unsigned vfd_thinning_level(uint64_t bytes, uint64_t max_size)
{
	static const struct vfd_thinning rows[] = {VFD_THINNING_ROWS};
	unsigned level = 0;

	while (max_size && level < VFD_THINNING_ALL &&
		bytes >= max_size / 100 * rows[level + 1].percent)
		level++;
	return level;
}

#endif
