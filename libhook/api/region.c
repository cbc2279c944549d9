/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Regions: frames with a name of the user's. A name gets a number the first
 * time it is seen; the agent is told before the number is used. Looking a
 * name up takes no lock: entries are written before they are published and
 * never change. A table that is half full is replaced by one of twice its
 * size; the old one stays, for those who are looking.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include "libhook/process.h"
#include "libhook/vftrace.h"
#include "shm/fnv.h"

#define ENTRIES_FIRST 1024u /* a power of two */
#define NAMES_MAX     ((size_t)1 << 19)
#define CHUNK_BYTES   ((size_t)1 << 18) /* names are stored in such pieces */
#define BYTES_MAX     ((size_t)64 << 20)
#define NAME_BYTES    1023u /* what is kept of a name */

#define EXPORT __attribute__((visibility("default")))

struct region {
	uint64_t hash; /* 0: free; published last */
	uint64_t number;
	const char *name;
};

struct regions {
	size_t entries; /* a power of two */
	struct region at[];
};

struct name {
	const char *text; /* not terminated */
	size_t bytes;
	uint64_t hash;
};

static struct regions *table;
static char *chunk; /* free room for names */
static size_t chunk_left, names_bytes, used;
static uint64_t count; /* of all regions, constructs of OpenMP among them */

static struct name name_of(const char *text, size_t most)
{
	struct name n = {.text = text, .hash = FNV_BEGIN};

	if (most > NAME_BYTES)
		most = NAME_BYTES;
	for (; n.bytes < most && text[n.bytes]; n.bytes++)
		n.hash = fnv_word(n.hash, (unsigned char)text[n.bytes]);
	n.hash |= 1;
	return n;
}

static void *pages(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

/* The entry of a region, or the free one for it. */
static struct region *find(struct regions *t, const struct name *n)
{
	for (size_t i = (size_t)n->hash;; i++) {
		struct region *r = &t->at[i & (t->entries - 1)];
		uint64_t h = load_acquire(&r->hash); /* pairs with the release in add() */

		if (!h || (h == n->hash && !strncmp(r->name, n->text, n->bytes) &&
				  !r->name[n->bytes]))
			return r;
	}
}

static void tell(const struct region *r)
{
	struct wire_region m = {.head = {.kind = WIRE_REGION}, .number = r->number};
	struct wire_text text = {{r->name}};

	vftr_message_send(&m.head, sizeof(m), &text);
}

uint64_t vftr_region_next_number(void)
{
	return count++;
}

/* Room for one more entry, with at least half of them free. */
static bool grow_table(void)
{
	size_t entries = table ? 2 * table->entries : ENTRIES_FIRST;
	struct regions *t;

	if (table && used < table->entries / 2)
		return true;
	t = pages(sizeof(*t) + entries * sizeof(t->at[0]));
	if (!t)
		return false;
	t->entries = entries;
	for (size_t i = 0; table && i < table->entries; i++) {
		const struct region *r = &table->at[i];
		const struct name n = {r->name, r->hash ? strlen(r->name) : 0, r->hash};

		if (r->hash)
			*find(t, &n) = *r;
	}
	store_release(&table, t);
	return true;
}

/* A copy that stays, or NULL. */
static const char *keep_name(const struct name *n)
{
	size_t bytes = n->bytes + 1;
	char *to;

	if (bytes > chunk_left) {
		chunk = pages(CHUNK_BYTES);
		chunk_left = chunk ? CHUNK_BYTES : 0;
	}
	if (bytes > chunk_left)
		return NULL;
	to = chunk;
	memcpy(to, n->text, n->bytes); /* the pages are zero */
	chunk += bytes;
	chunk_left -= bytes;
	names_bytes += bytes;
	return to;
}

static bool add(struct name n, uint64_t *number)
{
	struct region *r;

	if (used >= NAMES_MAX || names_bytes >= BYTES_MAX)
		n = name_of("(other regions)", NAME_BYTES);
	if (!grow_table())
		return false;
	r = find(table, &n);
	if (!r->hash) {
		r->name = keep_name(&n);
		if (!r->name)
			return false;
		r->number = vftr_region_next_number();
		used++;
		tell(r);
		store_release(&r->hash, n.hash);
	}
	*number = r->number;
	return true;
}

static bool region_number(const char *name, size_t most, uint64_t *number)
{
	struct name n = name_of(name, most);
	struct regions *t = load_acquire(&table);
	const struct region *r;
	bool found;

	if (!n.bytes)
		n = name_of("(no name)", NAME_BYTES);
	r = t ? find(t, &n) : NULL;
	if (r && load_acquire(&r->hash)) {
		*number = r->number;
		return true;
	}
	vftr_process_lock();
	found = add(n, number);
	vftr_process_unlock();
	return found;
}

void vftr_regions_announce(void)
{
	for (size_t i = 0; table && i < table->entries; i++)
		if (table->at[i].hash)
			tell(&table->at[i]);
}

bool vftr_region_number(const char *name, size_t most, uint64_t *number)
{
	struct thread *t = &vftr_thread;
	int saved_errno = errno;
	bool found;

	if (thread_is_busy(t) || vftr_thread_is_vfork_child(t))
		return false;
	busy_begin(t);
	found = region_number(name, most, number);
	busy_end(t);
	errno = saved_errno;
	return found;
}

/* False if the thread records nothing; it attaches first, if need be. */
static inline bool records(struct thread *t, uint64_t exit_bit)
{
	if (vftr_thread_is_vfork_child(t))
		return false;
	if (thread_is_busy(t)) {
		vftr_nested(t, exit_bit);
		return false;
	}
	if (t->state == THREAD_NEW || t->generation != vftr_process.generation || !process_is_on())
		vftr_slow(clock_counter(), 0, 0, NULL);
	return process_is_on() && t->state != THREAD_OFF;
}

static inline void record(uint64_t exit_bit, uint64_t number, const void *site)
{
	if (number < RECORD_REGIONS_SHORT)
		vftr_record(exit_bit, RECORD_ID_REGION + number, vftr_gate_is_shut(), site);
	else
		vftr_slow(clock_counter(), exit_bit, RECORD_REGION_KEY(number), site);
}

void vftr_region_event(uint64_t exit_bit, const char *name, size_t most, const void *site)
{
	struct thread *t = &vftr_thread;
	int saved_errno = errno;
	uint64_t number = 0;
	bool found;

	if (!name || !records(t, exit_bit))
		return;
	busy_begin(t);
	found = region_number(name, most, &number);
	busy_end(t);
	errno = saved_errno;
	if (found)
		record(exit_bit, number, site);
}

void vftr_region_numbered(uint64_t exit_bit, uint64_t number, const void *site)
{
	struct thread *t = &vftr_thread;
	const void *jumped = t->jumped;

	if (!records(t, exit_bit))
		return;
	record(exit_bit, number, site);
	/* the caller may be a library without frames, which finds none: the next enter tells it,
	 * too */
	if (jumped && site && !exit_bit) {
		t->jumped = jumped;
		t->limit = NULL;
	}
}

EXPORT void vftrace_region_begin(const char *name)
{
	vftr_region_event(0, name, NAME_BYTES, __builtin_return_address(0));
}

EXPORT void vftrace_region_end(const char *name)
{
	vftr_region_event(RECORD_EXIT, name, NAME_BYTES, __builtin_return_address(0));
}
