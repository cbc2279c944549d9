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

#define SPARE_MAX   64 /* the rest is given back */
#define CHUNK_RINGS 256u
#define CHUNKS	    4096u

struct slot {
	struct ring ring;    /* base NULL: nothing is mapped */
	uintptr_t owner;     /* pthread_self() of the thread that has it, or 0 */
	uint32_t next_spare; /* 1 + index, or 0 */
};

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
	first_spare = n_spare = 0;
}

void vftr_rings_forget(void)
{
	for (uint32_t c = 0; c < n_chunks; c++)
		for (uint32_t i = 0; chunks[c] && i < CHUNK_RINGS; i++) {
			vftr_segment_unmap_ring(&chunks[c][i].ring);
			chunks[c][i].owner = 0;
		}
	first_spare = n_spare = 0;
}
