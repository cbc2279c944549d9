/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Regions of OpenACC, by what happens and where. A site gets its number the first time
 * it is seen, and the agent is told before the number is used. Looking one up takes no
 * lock: entries are written before they are published and never change, but for
 * those of code that was unloaded, which are not found any more.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include "libhook/accelerator/openacc-tool.h"
#include "libhook/process.h"
#include "shm/fnv.h"

#define ENTRIES	    16384u /* a power of two; at most half are used */
#define SITES_MAX   (ENTRIES / 2 - OPENACC_EVENT_LAST)
#define TEXT_BYTES  1023u /* what is kept of a text */
#define CHUNK_BYTES ((size_t)1 << 18)
#define CHUNKS_MAX  64u

#define FREE 0u
#define GONE 1u /* its code was unloaded */

struct entry {
	uint64_t hash; /* FREE, GONE, or else; published last */
	uint64_t number;
	struct openacc_site site; /* its texts stay */
};

static struct entry *table;
static uint32_t used;
static char *chunk;
static size_t chunk_left;
static uint32_t chunks;

static uint64_t hash_text(uint64_t h, const char *s)
{
	return fnv_bytes(fnv_bytes(h, s, strnlen(s, TEXT_BYTES)), "", 1);
}

static uint64_t hash_of(const struct openacc_site *s)
{
	const uint64_t numbers[] = {s->address, (uint64_t)s->event << 32 | s->parent,
		(uint64_t)s->line << 32 | s->last};
	uint64_t h = fnv_bytes(FNV_BEGIN, numbers, sizeof(numbers));

	return hash_text(hash_text(hash_text(h, s->file), s->function), s->name) | 2;
}

static bool same(const struct openacc_site *a, const struct openacc_site *b)
{
	return a->address == b->address && a->event == b->event && a->parent == b->parent &&
	       a->line == b->line && a->last == b->last && !strncmp(a->file, b->file, TEXT_BYTES) &&
	       !strncmp(a->function, b->function, TEXT_BYTES) &&
	       !strncmp(a->name, b->name, TEXT_BYTES);
}

/* The entry of a site, or the free one for it. */
static struct entry *find(const struct openacc_site *s, uint64_t hash)
{
	for (uint64_t i = hash >> 7;; i++) {
		struct entry *e = &table[i % ENTRIES];
		uint64_t h = load_acquire(&e->hash); /* pairs with the release in add() */

		if (h == FREE || (h == hash && same(&e->site, s)))
			return e;
	}
}

static void tell(const struct entry *e)
{
	const struct openacc_site *s = &e->site;
	struct wire_openacc m = {.head = {.kind = WIRE_OPENACC},
		.number = e->number,
		.address = s->address,
		.event = s->event,
		.parent = s->parent,
		.line = s->line,
		.last = s->last};
	struct wire_text texts = {{s->file, s->function, s->name}};

	vftr_message_send(&m.head, sizeof(m), &texts);
}

static void *pages(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

/* A copy that stays; "" if there is no room. */
static const char *keep(const char *s)
{
	size_t bytes = strnlen(s, TEXT_BYTES);
	char *to;

	if (!bytes)
		return "";
	if (bytes + 1 > chunk_left) {
		chunk = chunks < CHUNKS_MAX ? pages(CHUNK_BYTES) : NULL;
		chunk_left = chunk ? CHUNK_BYTES : 0;
		chunks += chunk != NULL;
	}
	if (bytes + 1 > chunk_left)
		return "";
	to = chunk;
	memcpy(to, s, bytes); /* the pages are zero */
	chunk += bytes + 1;
	chunk_left -= bytes + 1;
	return to;
}

/* With the lock held. */
static struct entry *add(struct openacc_site s)
{
	struct entry *e;

	if (!table) {
		struct entry *t = pages(ENTRIES * sizeof(*t));

		if (!t)
			return NULL;
		store_release(&table, t);
	}
	if (used >= SITES_MAX || chunks == CHUNKS_MAX)
		s = (struct openacc_site){.event = s.event,
			.parent = OPENACC_NO_PARENT,
			.file = "",
			.function = "",
			.name = ""};
	e = find(&s, hash_of(&s));
	if (e->hash)
		return e;
	if (s.address)
		vftr_modules_refresh(); /* its code may have been loaded just now */
	used++;
	e->site = s;
	e->site.file = keep(s.file);
	e->site.function = keep(s.function);
	e->site.name = keep(s.name);
	e->number = vftr_region_next_number();
	tell(e);
	store_release(&e->hash, hash_of(&e->site));
	return e;
}

uint32_t vftr_openacc_region(const struct openacc_site *site)
{
	struct thread *t = &vftr_thread;
	int saved_errno = errno;
	struct entry *e = NULL;

	if (thread_is_busy(t) || vftr_thread_is_vfork_child(t))
		return 0;
	if (t->state == THREAD_NEW || t->generation != vftr_process.generation)
		vftr_slow(clock_counter(), 0, 0, NULL);
	if (!process_is_on() || t->state == THREAD_OFF || !vftr_process.openacc_wanted)
		return 0;
	if (load_acquire(&table))
		e = find(site, hash_of(site));
	if (!e || !load_relaxed(&e->hash)) {
		busy_begin(t);
		vftr_process_lock();
		e = add(*site);
		vftr_process_unlock();
		busy_end(t);
	}
	errno = saved_errno;
	return e ? (uint32_t)e->number + 1 : 0;
}

void vftr_openacc_announce(void)
{
	for (unsigned i = 0; table && i < ENTRIES; i++)
		if (table[i].hash != FREE && table[i].hash != GONE)
			tell(&table[i]);
}

void vftr_openacc_unloaded(uint64_t low, uint64_t high)
{
	for (unsigned i = 0; load_acquire(&table) && i < ENTRIES; i++)
		if (load_acquire(&table[i].hash) > GONE && table[i].site.address - low < high - low)
			store_release(&table[i].hash, (uint64_t)GONE);
}
