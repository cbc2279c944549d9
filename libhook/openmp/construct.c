/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Regions of OpenMP constructs, by kind and address, and their records. A
 * region gets its number the first time it is seen, and the agent is told
 * before the number is used. Looking one up takes no lock: entries are written
 * before they are published and never change. Those of code that was unloaded are
 * not found any more, until the same code is there again.
 */
#include "libhook/openmp/construct.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include "libhook/process.h"

#define TABLE_ENTRIES 16384u /* a power of two; at most half are used */
#define NAME_BYTES    64u    /* what is kept of a name */

#define GONE 0x80u /* in a key: the code was unloaded */

struct entry {
	uint64_t key;	 /* address<<8 | kind + 1; 0: free; published last */
	uint64_t module; /* that the code was in, if it is gone */
	uint32_t number;
	char name[NAME_BYTES];
};

static struct entry *table;
static uint32_t used;
static uint32_t teams;

static uint64_t key_of(enum construct kind, const void *address)
{
	return (uint64_t)(uintptr_t)address << 8 | ((uint64_t)kind + 1);
}

_Static_assert(CONSTRUCT_KINDS < GONE, "a kind fits below the mark");

static unsigned first_place(uint64_t key)
{
	return (unsigned)(key * 0x9e3779b97f4a7c15u >> 40) % TABLE_ENTRIES;
}

static struct entry *find(uint64_t key)
{
	unsigned i = first_place(key);

	/* pairs with the release in add() */
	for (uint64_t k; (k = load_acquire(&table[i].key)) && k != key;)
		i = (i + 1) % TABLE_ENTRIES;
	return &table[i];
}

static void tell(const struct entry *e, uint64_t key)
{
	struct wire_construct m = {.head = {.kind = WIRE_CONSTRUCT},
		.number = e->number,
		.address = key >> 8,
		.kind = (uint32_t)(key & 0xff) - 1};
	struct wire_text text = {{e->name}};

	vftr_message_send(&m.head, sizeof(m), &text);
}

/* The code that was unloaded is there again, or NULL. */
static struct entry *find_again(uint64_t key)
{
	uint64_t module = vftr_module_identity((uintptr_t)(key >> 8));

	uint64_t k;

	/* pairs with the release in vftr_constructs_unloaded() */
	for (unsigned i = first_place(key); (k = load_acquire(&table[i].key));
		i = (i + 1) % TABLE_ENTRIES)
		if (k == (key | GONE) && table[i].module == module) {
			store_release(&table[i].key, key);
			return &table[i];
		}
	return NULL;
}

void vftr_constructs_unloaded(uint64_t low, uint64_t high, uint64_t module)
{
	for (unsigned i = 0; load_acquire(&table) && i < TABLE_ENTRIES; i++) {
		uint64_t key = load_acquire(&table[i].key);

		if (!key || (key & GONE) || (key >> 8) - low >= high - low)
			continue;
		table[i].module = module;
		store_release(&table[i].key, key | GONE);
	}
}

/* With the lock held. */
static struct entry *add(uint64_t key, const char *name)
{
	struct entry *e;

	if (!table) {
		void *room = mmap(NULL, TABLE_ENTRIES * sizeof(*table), PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

		if (room == MAP_FAILED)
			return NULL;
		store_release(&table, (struct entry *)room);
	}
	e = find(key);
	if (e->key)
		return e;
	vftr_modules_refresh(); /* its code may have been loaded just now */
	e = find_again(key);
	if (e)
		return e;
	e = find(key);
	if (used >= TABLE_ENTRIES / 2)
		return NULL;
	used++;
	e->number = (uint32_t)vftr_region_next_number();
	for (size_t i = 0; name && name[i] && i + 1 < NAME_BYTES; i++)
		e->name[i] = name[i];
	tell(e, key);
	store_release(&e->key, key);
	return e;
}

uint32_t vftr_construct(enum construct kind, const void *address, const char *name)
{
	struct thread *t = &vftr_thread;
	uint64_t key = key_of(kind, address);
	struct entry *e = NULL;
	int saved_errno = errno;

	if (thread_is_busy(t))
		return 0;
	if (t->state == THREAD_NEW || t->generation != vftr_process.generation)
		vftr_slow(clock_counter(), 0, 0, NULL);
	if (load_acquire(&vftr_process.state) != PROCESS_ON || t->state == THREAD_OFF)
		return 0;
	if (load_acquire(&table))
		e = find(key);
	if (!e || !e->key) {
		busy_begin(t);
		vftr_process_lock();
		e = add(key, name);
		vftr_process_unlock();
		busy_end(t);
		errno = saved_errno;
	}
	return e ? e->number + 1 : 0;
}

void vftr_constructs_announce(void)
{
	for (unsigned i = 0; table && i < TABLE_ENTRIES; i++)
		if (table[i].key & GONE)
			table[i].module = 0; /* its number is not known to this agent */
		else if (table[i].key)
			tell(&table[i], table[i].key);
}

static void event(uint64_t exit_bit, uint32_t region)
{
	if (!region--)
		return;
	if (region < RECORD_REGIONS_SHORT)
		vftr_record(exit_bit, RECORD_ID_REGION + region, vftr_gate_is_shut(), NULL);
	else
		vftr_slow(clock_counter(), exit_bit, RECORD_REGION_KEY(region), NULL);
}

void vftr_construct_enter(uint32_t region)
{
	event(0, region);
}

void vftr_construct_exit(uint32_t region)
{
	event(RECORD_EXIT, region);
}

/* vftr_record() for a record of several words. */
static inline __attribute__((always_inline)) void openmp_at(
	uint64_t ticks, uint64_t exit_bit, enum record_id kind, uint64_t a, uint64_t b)
{
	struct thread *t = &vftr_thread;
	const unsigned n = kind == RECORD_WAIT ? 2 : 3;
	const uint64_t word[3] = {record_word(ticks, exit_bit, kind), a, b};
	const uint64_t base = thread_base(t);
	uint64_t *to;

	if (vftr_gate_is_shut() || (uint32_t)(ticks >> RECORD_TIME_BITS) != (uint32_t)base) {
		vftr_openmp_slow(ticks, exit_bit, kind, a, b);
		return;
	}
	to = reserve_words(&t->cur, n);
	if (!is_placed(t, to, n, base)) {
		vftr_openmp_slow(ticks, exit_bit, kind, a, b);
		return;
	}
	store_relaxed(&to[0], word[0]);
	if (n > 2)
		store_relaxed(&to[1], a);
	/* pairs with the agent's look at the last word */
	store_release(&to[n - 1], word[n - 1]);
	if (unlikely(load_relaxed(&t->base) != base))
		vftr_openmp_overtaken(to, word, base);
}

static void openmp(uint64_t exit_bit, enum record_id kind, uint64_t a, uint64_t b)
{
	openmp_at(clock_counter(), exit_bit, kind, a, b);
}

static uint64_t number(uint32_t n)
{
	return n < OPENMP_NUMBERS ? n : OPENMP_NUMBERS;
}

/*
 * The sampling file has calls in the order of their being read, and those of a team
 * stand below the one that made it.
 */
static void publish_fork(void)
{
	struct thread *t = &vftr_thread;

	if (thread_is_busy(t) || !process_is_on() || t->generation != vftr_process.generation ||
		vftr_thread_is_vfork_child(t) || !t->ring.base)
		return;
	busy_begin(t);
	vftr_thread_publish(t);
	t->limit = NULL;
	busy_end(t);
}

void vftr_fork(uint64_t exit_bit, uint32_t team, uint32_t region, uint32_t size)
{
	if (!region)
		return;
	openmp(exit_bit, RECORD_FORK, (uint64_t)team << 32 | (region - 1),
		OPENMP_MARK | number(size));
	if (!exit_bit && load_relaxed(&vftr_process.publish_forks))
		publish_fork();
}

void vftr_team(uint64_t exit_bit, uint32_t team, uint32_t region, uint32_t level, uint32_t size,
	uint32_t num)
{
	uint64_t levels = level < OPENMP_LEVELS ? level : OPENMP_LEVELS;

	if (region)
		openmp(exit_bit, RECORD_TEAM, (uint64_t)team << 32 | (region - 1),
			OPENMP_MARK | levels << 48 | number(size) << 24 | number(num));
}

void vftr_task(uint64_t exit_bit, uint32_t team, uint32_t region, bool resumed, uint32_t creator)
{
	if (region)
		openmp(exit_bit, RECORD_TASK, (uint64_t)team << 32 | (region - 1),
			OPENMP_MARK | (resumed ? OPENMP_RESUMED : 0) | number(creator));
}

void vftr_wait(uint64_t exit_bit, uint32_t region, uint64_t lock)
{
	if (region)
		openmp_at(clock_counter(), exit_bit, RECORD_WAIT, OPENMP_MARK | lock | (region - 1),
			0);
}

void vftr_wait_since(uint64_t ticks, uint32_t region, uint64_t lock)
{
	if (region && !thread_is_busy(&vftr_thread))
		openmp_at(ticks, 0, RECORD_WAIT, OPENMP_MARK | lock | (region - 1), 0);
}

uint32_t vftr_team_new(void)
{
	uint32_t team;

	do
		team = add_relaxed_u32(&teams, 1) + 1;
	while (!team);
	return team;
}

void vftr_note(const char *text)
{
	struct wire_head m = {.kind = WIRE_NOTE};
	struct wire_text texts = {{text}};
	struct thread *t = &vftr_thread;
	int saved_errno = errno;

	if (thread_is_busy(t))
		return;
	if (t->state == THREAD_NEW || t->generation != vftr_process.generation)
		vftr_slow(clock_counter(), 0, 0, NULL);
	if (load_acquire(&vftr_process.state) != PROCESS_ON)
		return;
	busy_begin(t);
	t->limit = NULL;
	vftr_process_lock();
	vftr_message_send(&m, sizeof(m), &texts);
	vftr_process_unlock();
	busy_end(t); /* the next event sets limit again */
	errno = saved_errno;
}
