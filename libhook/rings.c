/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The rings that this process has mapped, by index. Threads come and go by the
 * thousand: the ring that one leaves stays mapped and serves the next, which
 * spares both sides the making, zeroing and mapping of megabytes. The table is
 * in memory of its own; every function is called with the lock held.
 */
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include "libhook/process.h"
#include "libhook/successor.h"

#define SPARE_MAX   64 /* the rest is given back */
#define ENDED_MAX   64 /* of threads that have ended while no agent was there */
#define CHUNK_RINGS 256u
#define CHUNKS	    4096u

struct slot {
	struct ring ring;    /* base NULL: nothing is mapped */
	uintptr_t owner;     /* pthread_self() of the thread that has it, or 0 */
	uint32_t next_spare; /* 1 + index, or 0 */
};

/* A ring whose agent is gone. */
struct left {
	struct ring ring;
	struct left *next;
	int32_t tid;	 /* of its thread, if that has ended, or 0 */
	bool has_counts; /* of functions that were switched off */
};

static struct left *first_left, *free_left;
static struct slot *chunks[CHUNKS];
static uint32_t n_chunks; /* all below were used */
static uint32_t first_spare, n_spare;

static struct slot *slot_of(uint32_t index)
{
	uint32_t c = index / CHUNK_RINGS;

	return c < CHUNKS && chunks[c] ? &chunks[c][index % CHUNK_RINGS] : NULL;
}

static struct slot *slot_make(uint32_t index)
{
	uint32_t c = index / CHUNK_RINGS;
	void *memory;

	if (c >= CHUNKS)
		return NULL;
	if (!chunks[c]) {
		memory = mmap(NULL, CHUNK_RINGS * sizeof(struct slot), PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (memory == MAP_FAILED)
			return NULL;
		chunks[c] = memory;
		if (c >= n_chunks)
			n_chunks = c + 1;
	}
	return &chunks[c][index % CHUNK_RINGS];
}

uint32_t vftr_rings_take_spare(void)
{
	uint32_t taken = first_spare;

	if (taken) {
		first_spare = slot_of(taken - 1)->next_spare;
		n_spare--;
	}
	return taken;
}

int vftr_rings_use(const struct wire_ring *reply, int fd, struct ring *ring)
{
	struct slot *s = reply->uses ? slot_of(reply->index) : slot_make(reply->index);
	int error = 0;

	if (!s)
		return reply->uses ? -EPROTO : -ENOMEM;
	if (!reply->uses) {
		vftr_segment_unmap_ring(&s->ring);
		error = fd < 0 ? -EPROTO : vftr_segment_map_ring(fd, reply->ring_size, &s->ring);
	} else if (!s->ring.base) {
		error = -EPROTO;
	}
	if (error)
		return error;
	s->ring.magic = ring_magic(reply->uses);
	s->owner = (uintptr_t)pthread_self();
	*ring = s->ring;
	return 0;
}

bool vftr_rings_keep(uint32_t index)
{
	return n_spare < SPARE_MAX && slot_of(index);
}

void vftr_rings_leave(uint32_t index, bool keep)
{
	struct slot *s = slot_of(index);

	if (!s)
		return;
	s->owner = 0;
	if (!keep) {
		vftr_segment_unmap_ring(&s->ring);
		return;
	}
	s->next_spare = first_spare;
	first_spare = index + 1;
	n_spare++;
}

/* More items for free_left, of a page; they are used again. */
static bool more_left(void)
{
	struct left *page = mmap(
		NULL, SEGMENT_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (page == MAP_FAILED)
		return false;
	for (size_t i = 0; i < SEGMENT_PAGE / sizeof(*page); i++) {
		page[i].next = free_left;
		free_left = &page[i];
	}
	return true;
}

/* Without memory for an item the ring stays mapped. */
static bool leave_ring(struct ring *ring, int32_t tid)
{
	struct left *l;

	if (!free_left && !more_left())
		return false;
	l = free_left;
	free_left = l->next;
	*l = (struct left){*ring, first_left, tid, load_relaxed(&vftr_process.switches) != 0};
	first_left = l;
	return true;
}

bool vftr_rings_leave_ended(uint32_t index, int32_t tid)
{
	struct slot *s = slot_of(index);
	unsigned n = 0;

	for (const struct left *l = first_left; l; l = l->next)
		n += l->tid != 0;
	if (!s || !s->ring.base || n >= ENDED_MAX || !leave_ring(&s->ring, tid))
		return false;
	memset(s, 0, sizeof(*s));
	return true;
}

bool vftr_rings_next_ended(struct ring *ring, int32_t *tid)
{
	const struct left *l = first_left;

	while (l && !l->tid)
		l = l->next;
	if (!l)
		return false;
	*ring = l->ring;
	*tid = l->tid;
	return true;
}

void vftr_rings_are_left(void)
{
	for (uint32_t c = 0; c < n_chunks; c++)
		for (uint32_t i = 0; chunks[c] && i < CHUNK_RINGS; i++) {
			struct slot *s = &chunks[c][i];

			if (s->ring.base && s->owner)
				leave_ring(&s->ring, 0);
			else
				vftr_segment_unmap_ring(&s->ring);
			memset(s, 0, sizeof(*s));
		}
	first_spare = n_spare = 0;
}

static struct left **find_left(const void *base)
{
	struct left **l = &first_left;

	while (*l && (*l)->ring.base != base)
		l = &(*l)->next;
	return l;
}

bool vftr_rings_is_left(const void *base)
{
	return base && *find_left(base);
}

bool vftr_rings_may_take(const void *base)
{
	return vftr_rings_is_left(base) && !(*find_left(base))->has_counts;
}

uint64_t vftr_rings_unread_since(void)
{
	uint64_t least = vftr_process_ticks();

	for (const struct left *l = first_left; l; l = l->next) {
		const uint64_t since = vftr_ring_unread_since(&l->ring);

		least = since < least ? since : least;
	}
	return least;
}

bool vftr_rings_put_in_place(uint32_t index, void *base, struct ring *ring)
{
	struct left **at = find_left(base), *l = *at;
	struct slot *s = slot_of(index);
	const uint64_t magic = s->ring.magic;
	int error =
		l->ring.bytes == s->ring.bytes ? vftr_segment_move_ring(&s->ring, base) : -EINVAL;

	if (error)
		return false;
	s->ring.magic = magic;
	*ring = s->ring;
	*at = l->next;
	l->next = free_left;
	free_left = l;
	return true;
}

void vftr_rings_end_left(const void *base, int32_t tid)
{
	if (vftr_rings_is_left(base))
		(*find_left(base))->tid = tid;
}

void vftr_rings_blank_left(const void *base)
{
	vftr_rings_let_go(base);
	/* the fast path, or a count, may have been interrupted just before its store */
	vftr_segment_blank((void *)(uintptr_t)base, RING_DATA_OFFSET);
}

void vftr_rings_let_go(const void *base)
{
	struct left **at = find_left(base), *l = *at;

	if (!l)
		return;
	*at = l->next;
	vftr_segment_unmap_ring(&l->ring);
	l->next = free_left;
	free_left = l;
}

uint32_t vftr_rings_of(uintptr_t pthread_self)
{
	for (uint32_t c = 0; c < n_chunks; c++)
		for (uint32_t i = 0; chunks[c] && i < CHUNK_RINGS; i++)
			if (chunks[c][i].owner == pthread_self)
				return c * CHUNK_RINGS + i;
	return UINT32_MAX;
}

void vftr_rings_blank(void)
{
	for (uint32_t c = 0; c < n_chunks; c++)
		for (uint32_t i = 0; chunks[c] && i < CHUNK_RINGS; i++) {
			vftr_segment_blank(chunks[c][i].ring.base, chunks[c][i].ring.bytes);
			memset(&chunks[c][i], 0, sizeof(chunks[c][i]));
		}
	for (struct left *l = first_left; l; l = l->next)
		vftr_segment_blank(l->ring.base, l->ring.bytes);
	first_left = NULL;
	first_spare = n_spare = 0;
}

void vftr_rings_forget(void)
{
	while (first_left)
		vftr_rings_let_go(first_left->ring.base);
	for (uint32_t c = 0; c < n_chunks; c++)
		for (uint32_t i = 0; chunks[c] && i < CHUNK_RINGS; i++) {
			vftr_segment_unmap_ring(&chunks[c][i].ring);
			chunks[c][i].owner = 0;
		}
	first_spare = n_spare = 0;
}
