/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/process/rings.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>
#include "nodeagent/process/memory.h"
#include "nodeagent/base/util.h"

#define KEPT_MOST   16		 /* rings without a process */
#define KEPT_BYTES  (64u << 20)	 /* ... and what they may have together */
#define OPEN_MOST   64		 /* descriptors */
#define WHOLE_SHARE 8		 /* a part of all there is may be one ring */
#define SHARE	    64		 /* when half is gone: a part of what is left */
#define PLENTY	    (512u << 20) /* ... and less when that is less */
#define RESERVE	    (256u << 20) /* never taken, or an eighth of all */
#define FIRST	    (64u << 10)	 /* of a ring's data is allocated when it is made */
#define CONTROLS    16		 /* control segments with a descriptor, kept or in use */

struct ring_store {
	uint64_t ring_size;
	struct memory_left (*left)(void);
	struct stored_ring kept[KEPT_MOST];
	unsigned n_kept, n_open;
	uint64_t kept_bytes, used_bytes, peak_bytes;
	uint64_t touched_bytes; /* of the kept and the used ones, in memory */
	struct stored_control controls[CONTROLS];
	unsigned n_controls, n_controls_open; /* that are kept; that have a descriptor */
	struct stored_ring empty;	      /* base NULL: nobody has asked for it */
};

struct memory_left ring_store_memory(void)
{
	return memory_left("/proc", "/sys/fs/cgroup");
}

struct ring_store *ring_store_new(uint64_t ring_size, struct memory_left (*left)(void))
{
	struct ring_store *s = xcalloc(1, sizeof(*s));

	s->ring_size = ring_size;
	s->left = left;
	return s;
}

/* The size of a ring that is made now. 0: there is no memory for one. */
static uint64_t size_now(const struct ring_store *s, const struct memory_left *m)
{
	uint64_t live = s->used_bytes + s->kept_bytes, most = m->most / 2;
	/* what rings will still take is as good as gone */
	uint64_t reserve = MIN(m->most / 8, RESERVE) + live - s->touched_bytes;
	uint64_t size = s->ring_size, left = m->left > reserve ? (m->left - reserve) / 2 : 0;
	uint64_t room = MIN(most > live ? most - live : 0, left), share = room / WHOLE_SHARE;

	if (room < most / 2)
		share = (uint64_t)((double)room / SHARE * (double)MIN(room, MIN(most, PLENTY)) /
				   (double)MIN(most, PLENTY));
	while (size > share && size > RING_SIZE_MIN)
		size /= 2;
	return RING_SEGMENT_BYTES(size) <= room ? size : 0;
}

static int make(struct ring_store *s, struct stored_ring *out)
{
	const struct memory_left m = s->left();
	const uint64_t size = size_now(s, &m), now = m.strict ? size : MIN(size, FIRST);
	int error;

	if (!size)
		return -ENOMEM;
	error = vftr_segment_create_ring(size, now, &out->fd, &out->ring);
	if (error)
		return error;
	out->touched = RING_SEGMENT_BYTES(now);
	s->touched_bytes += out->touched;
	return 0;
}

static void destroy(struct ring_store *s, struct stored_ring *r)
{
	s->touched_bytes -= r->touched;
	vftr_segment_unmap_ring(&r->ring);
	if (r->fd >= 0)
		close(r->fd);
	r->fd = -1;
}

static void keep_ring(struct ring_store *s, const struct stored_ring *r)
{
	s->kept[s->n_kept++] = *r;
	s->kept_bytes += r->ring.bytes;
}

/* Zeroes the words that ring_start() expects to be zero in a new ring. */
static bool clear(struct stored_ring *r)
{
	static const char zero[RING_DATA_OFFSET]; /* the consumer's words are among them */

	if (pwrite(r->fd, zero, sizeof(zero), 0) != sizeof(zero))
		return false;
	r->ring.magic = ring_magic(0);
	return true;
}

static bool take_kept(struct ring_store *s, struct stored_ring *out)
{
	while (s->n_kept) {
		*out = s->kept[--s->n_kept];
		s->kept_bytes -= out->ring.bytes;
		if (clear(out))
			return true;
		destroy(s, out);
	}
	return false;
}

int ring_store_take(struct ring_store *s, struct stored_ring *out)
{
	int error = take_kept(s, out) ? 0 : make(s, out);

	if (error)
		return error;
	s->n_open++;
	s->used_bytes += out->ring.bytes;
	s->peak_bytes = MAX(s->peak_bytes, s->used_bytes);
	return 0;
}

int ring_store_empty(struct ring_store *s, struct ring *out)
{
	const int error = s->empty.ring.base ? 0 : ring_store_take(s, &s->empty);

	if (!error)
		*out = s->empty.ring;
	return error;
}

void ring_store_sent(struct ring_store *s, struct stored_ring *r)
{
	if (s->n_open <= OPEN_MOST && r->ring.size == s->ring_size)
		return;
	close(r->fd);
	r->fd = -1;
	s->n_open--;
}

void ring_store_leave(struct ring_store *s, struct stored_ring *r, bool again)
{
	s->used_bytes -= r->ring.bytes;
	s->n_open -= r->fd >= 0;
	if (again && r->fd >= 0 && s->n_kept < KEPT_MOST &&
		s->kept_bytes + r->ring.bytes <= KEPT_BYTES)
		keep_ring(s, r);
	else
		destroy(s, r);
	*r = (struct stored_ring){.fd = -1};
}

void ring_store_read(struct ring_store *s, struct stored_ring *r, uint64_t position)
{
	const uint64_t touched = RING_SEGMENT_BYTES(MIN(position, r->ring.size));

	if (touched <= r->touched)
		return;
	s->touched_bytes += touched - r->touched;
	r->touched = touched;
}

/* ---- control segments ----------------------------------------------------------------- */

static void destroy_control(struct ring_store *s, struct stored_control *c)
{
	vftr_segment_unmap_control(c->agent);
	if (c->fd < 0)
		return;
	close(c->fd);
	s->n_controls_open--;
}

/* As vftr_segment_create_control() leaves it. The application's page is not ours to write. */
static bool clear_control(const struct stored_control *c)
{
	static const char zero[SEGMENT_PAGE];
	const uint64_t magic = c->agent->magic;
	const uint32_t format = c->agent->record_format;

	if (pwrite(c->fd, zero, sizeof(zero), SEGMENT_PAGE) != sizeof(zero))
		return false;
	memset(c->agent, 0, SEGMENT_PAGE);
	c->agent->magic = magic;
	c->agent->record_format = format;
	return true;
}

int ring_store_take_control(struct ring_store *s, struct stored_control *out)
{
	int error;

	while (s->n_controls) {
		*out = s->controls[--s->n_controls];
		if (clear_control(out))
			return 0;
		destroy_control(s, out);
	}
	error = vftr_segment_create_control(&out->fd, &out->agent, &out->app);
	if (error)
		*out = (struct stored_control){.fd = -1};
	else
		s->n_controls_open++;
	return error;
}

void ring_store_sent_control(struct ring_store *s, struct stored_control *c)
{
	if (s->n_controls_open <= CONTROLS)
		return;
	close(c->fd);
	c->fd = -1;
	s->n_controls_open--;
}

void ring_store_leave_control(struct ring_store *s, struct stored_control *c, bool again)
{
	if (again && c->fd >= 0 && s->n_controls < CONTROLS)
		s->controls[s->n_controls++] = *c;
	else
		destroy_control(s, c);
	*c = (struct stored_control){.fd = -1};
}

uint64_t ring_store_peak(const struct ring_store *s)
{
	return s->peak_bytes;
}
