/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Regions: frames with a name of the user's. A name gets a number the first
 * time it is seen; the agent is told before the number is used. Looking a
 * name up takes no lock: entries are written before they are published and
 * never change.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include "libhook/process.h"
#include "libhook/vftrace.h"

#define TABLE_ENTRIES 8192u /* a power of two; at most half are used */
#define NAMES_BYTES   (1u << 20)
#define NAME_BYTES    1023u /* what is kept of a name */

#define EXPORT __attribute__((visibility("default")))

struct region {
	uint64_t hash; /* 0: free; published last */
	uint64_t number;
	const char *name;
};

static struct region *table;
static char *names;
static size_t names_used;
static unsigned used;
static uint64_t count; /* of all regions, constructs of OpenMP among them */

static uint64_t hash_name(const char *s)
{
	uint64_t h = 0xcbf29ce484222325u; /* FNV-1a, 64 bit */

	for (size_t i = 0; i < NAME_BYTES && s[i]; i++)
		h = (h ^ (unsigned char)s[i]) * 0x100000001b3u;
	return h | 1;
}

static bool get_room(void)
{
	size_t bytes = TABLE_ENTRIES * sizeof(*table) + NAMES_BYTES;
	char *room;

	if (load_acquire(&table))
		return true;
	room = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (room == MAP_FAILED)
		return false;
	names = room + TABLE_ENTRIES * sizeof(*table);
	store_release(&table, (struct region *)(void *)room);
	return true;
}

static bool find(const char *name, uint64_t hash, unsigned *slot, uint64_t *number)
{
	for (unsigned i = (unsigned)hash % TABLE_ENTRIES;; i = (i + 1) % TABLE_ENTRIES) {
		uint64_t h = load_acquire(&table[i].hash); /* pairs with the release in add() */

		*slot = i;
		if (!h)
			return false;
		if (h == hash && !strncmp(table[i].name, name, NAME_BYTES)) {
			*number = table[i].number;
			return true;
		}
	}
}

static void tell(const struct region *r)
{
	struct wire_region m = {.head = {.kind = WIRE_REGION}, .number = r->number};
	struct wire_text text = {{r->name}};

	message_send(&m.head, sizeof(m), &text);
}

uint64_t region_next_number(void)
{
	return count++;
}

static bool add(const char *name, uint64_t hash, uint64_t *number)
{
	size_t bytes = strnlen(name, NAME_BYTES) + 1;
	unsigned slot;

	if (find(name, hash, &slot, number))
		return true;
	if (used >= TABLE_ENTRIES / 2 || names_used + bytes > NAMES_BYTES)
		return false;
	memcpy(names + names_used, name, bytes - 1);
	table[slot].name = names + names_used;
	table[slot].number = *number = region_next_number();
	names_used += bytes;
	used++;
	tell(&table[slot]);
	store_release(&table[slot].hash, hash);
	return true;
}

bool region_number(const char *name, uint64_t *number)
{
	uint64_t hash = hash_name(name);
	unsigned slot;
	bool found;

	if (load_acquire(&table) && find(name, hash, &slot, number))
		return true;
	process_lock();
	found = get_room() && add(name, hash, number);
	process_unlock();
	return found;
}

void regions_announce(void)
{
	for (unsigned i = 0; table && i < TABLE_ENTRIES; i++)
		if (table[i].hash)
			tell(&table[i]);
}

static void region_event(uint64_t exit_bit, const char *name, const void *site)
{
	struct thread *t = &vftr_thread;
	int saved_errno = errno;
	uint64_t number = 0;
	bool found;

	if (!name || t->busy || thread_is_guest(t))
		return;
	if (t->state == THREAD_NEW || t->life != vftr_process.life || !process_is_on())
		vftr_slow(clock_counter(), 0, 0, NULL);
	if (!process_is_on() || t->state == THREAD_OFF)
		return;
	t->busy = 1;
	fence_signal();
	found = region_number(name, &number);
	fence_signal();
	t->busy = 0;
	errno = saved_errno;
	if (!found)
		return;
	if (number < RECORD_REGIONS_SHORT)
		vftr_record(exit_bit, RECORD_ID_REGION + number,
			load_relaxed(&vftr_own.gate) == GATE_ALL ? GATE_ALL : GATE_NONE, site);
	else
		vftr_slow(clock_counter(), exit_bit, RECORD_REGION_KEY(number), site);
}

EXPORT void vftrace_region_begin(const char *name)
{
	region_event(0, name, __builtin_return_address(0));
}

EXPORT void vftrace_region_end(const char *name)
{
	region_event(RECORD_EXIT, name, __builtin_return_address(0));
}
