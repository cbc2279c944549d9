/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which allocations are recorded. The live bytes that the records tell of are summed up here, as
 * this is the only place where their order over threads is known: each time that there are more
 * than ever before a new stretch begins, and the agent finds who had how much of them then.
 */
#include "libc/memory/memory.h"

#include <elf.h>
#include <link.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#define SLEEP	    (INT64_MAX / 2) /* nothing is sampled any more */
#define LATE_MOST   256u
#define UNTOLD_MOST 16u /* large allocations without a record of totals */

/* Found when the program is loaded: nobody has to be asked for it later. */
extern const struct memory_host *vftrace_memory_host(void) __attribute__((weak));

__thread struct memory_thread memory_self;
size_t memory_large;

static const struct memory_host *host;
static bool looked_for_host;
static pthread_key_t key;
static bool has_key;

/* Of the process, since it was made. */
static struct {
	uint32_t known; /* 1: large and mean are known */
	uint32_t generation;
	uint64_t large, mean;
	uint64_t live, most; /* bytes, as the records tell; live may be a little below 0 */
	uint32_t stretch, blocks;
	/* blocks that were freed when that could not be recorded: memory_block_word(), or 0 */
	uint64_t late[LATE_MOST];
	uint32_t n_late;
} all;

/* ---- random distances ----------------------------------------------------------------- */

static uint64_t random_bits(struct memory_thread *t)
{
	t->random ^= t->random << 13;
	t->random ^= t->random >> 7;
	t->random ^= t->random << 17;
	return t->random * 0x2545f4914f6cdd1du;
}

/* The natural logarithm of x in [1, 2). */
static double log_of(double x)
{
	const double z = (x - 1) / (x + 1);
	double sum = 0, power = z;

	for (unsigned i = 1; i < 20; i += 2) {
		sum += power / i;
		power *= z * z;
	}
	return 2 * sum;
}

/* Exponentially distributed, with this mean. */
static int64_t draw(struct memory_thread *t, uint64_t mean)
{
	uint64_t bits = random_bits(t) >> 11;
	double u, ln = 0;

	if (!bits)
		bits = 1;
	u = (double)bits * 0x1p-53;
	for (; u < 1; u *= 2)
		ln -= 0.693147180559945309417;
	ln += log_of(u);
	return (int64_t)(-ln * (double)mean) + 1;
}

static void draw_next(struct memory_thread *t)
{
	t->bytes += (uint64_t)(t->drawn - t->left);
	t->left = t->drawn = draw(t, all.mean);
}

/* ---- the process, and the thread --------------------------------------------------------- */

static void fall_asleep(struct memory_thread *t)
{
	store_relaxed(&memory_large, SIZE_MAX);
	t->left = t->drawn = SLEEP;
}

static uint64_t bytes_of(const struct memory_thread *t)
{
	return t->bytes + (uint64_t)(t->drawn - t->left);
}

static void note_told(struct memory_thread *t)
{
	t->told_allocations = t->allocations;
	t->told_bytes = bytes_of(t);
	t->told_frees = t->frees;
	t->untold = 0;
}

/* A child of a fork, before it has other threads: what its parent has recorded, or has done, is not
 * its own. */
static void forget_parent(void)
{
	note_told(&memory_self);
	memory_forget();
	memset(&all, 0, sizeof(all));
}

/* Several threads may do this at the same time. */
static void begin_process(void)
{
	uint64_t large, mean;

	host->wanted(&large, &mean);
	store_relaxed(&all.large, large);
	store_relaxed(&all.mean, mean);
	store_relaxed(&all.generation, host->generation());
	store_release(&all.known, 1); /* pairs with the acquire in is_on() */
	store_relaxed(&memory_large, large);
}

/* True if records may be made now. */
static bool is_on(struct memory_thread *t)
{
	const enum memory_state state = host ? host->state() : MEMORY_OFF;

	if (state == MEMORY_OFF && (host || looked_for_host))
		fall_asleep(t);
	if (state != MEMORY_ON)
		return false;
	if (!load_acquire(&all.known) || load_relaxed(&all.generation) != host->generation())
		begin_process();
	return true;
}

static void begin_thread(struct memory_thread *t)
{
	t->random = host->ticks() ^ (uint64_t)(uintptr_t)t * 0x9e3779b97f4a7c15u;
	for (unsigned i = 0; i < 4 || !t->random; i++)
		t->random += 0x9e3779b97f4a7c15u + random_bits(t);
	t->left = t->drawn = draw(t, all.mean);
	if (has_key)
		pthread_setspecific(key, t);
}

/* What the thread has done since it was told last. */
static void tell_totals(struct memory_thread *t)
{
	host->record(memory_word(MEMORY_TOTALS, 0), t->allocations - t->told_allocations,
		bytes_of(t) - t->told_bytes, MEMORY_MARK | (t->frees - t->told_frees));
	note_told(t);
}

/* ---- records -------------------------------------------------------------------------------- */

static void record(enum memory_kind kind, uint64_t flags, uint64_t bytes, uint64_t block)
{
	host->record(memory_word(kind, flags), bytes, block, MEMORY_MARK | host->ticks());
}

static void record_late(void)
{
	for (unsigned i = 0; i < LATE_MOST && load_relaxed(&all.n_late); i++) {
		uint64_t block = load_relaxed(&all.late[i]);

		if (!block || !claim_u64(&all.late[i], block, 0))
			continue;
		add_relaxed_u32(&all.n_late, (uint32_t)-1);
		record(MEMORY_FREED, 0, 0, block);
	}
}

/* With so many bytes more: true if there were never so many. */
static bool is_peak(uint64_t bytes)
{
	/* relaxed: threads that allocate at the same time have no order */
	const uint64_t now = add_relaxed_u64(&all.live, bytes) + bytes;
	uint64_t most = load_relaxed(&all.most);

	while ((int64_t)(now - most) > 0)
		if (claim_u64(&all.most, most, now))
			return true;
		else
			most = load_relaxed(&all.most);
	return false;
}

static void record_allocation(void *p, size_t size, float weight, uint64_t flags)
{
	const uint32_t number = add_relaxed_u32(&all.blocks, 1) + 1;
	uint32_t stretch = load_relaxed(&all.stretch);

	if (load_relaxed(&all.n_late))
		record_late();
	if (!number || !memory_put(p, number, weight)) {
		record(MEMORY_ALLOCATED, flags, size, memory_block_word(stretch, 0));
		return;
	}
	if (is_peak((uint64_t)weight)) {
		flags |= MEMORY_PEAK;
		stretch = add_relaxed_u32(&all.stretch, 1);
	} else {
		stretch = load_relaxed(&all.stretch);
	}
	record(MEMORY_ALLOCATED, flags, size, memory_block_word(stretch, number));
}

/* Of the loader, libvftrace, and another library that has malloc(). */
struct code {
	uintptr_t begin, end;
};

static struct code loader, library, allocator;

static bool is_in(const struct code *c, const void *caller)
{
	return (uintptr_t)caller - c->begin < c->end - c->begin;
}

void memory_look(void *p, size_t size, const void *caller)
{
	struct memory_thread *t = &memory_self;
	bool on, small;

	if (!host && !looked_for_host)
		return; /* the constructor has not run */
	on = is_on(t);
	if (t->drawn == SLEEP)
		return;
	if (on && !t->random) {
		begin_thread(t);
		t->left -= size < all.large ? (int64_t)size : 0;
	}
	if (!load_relaxed(&all.known))
		return;
	small = size < all.large;
	if (small && t->left >= 0)
		return;
	if (small)
		draw_next(t);
	else if (p)
		t->bytes += size;
	if (!on || !p || is_in(&loader, caller))
		return;
	record_allocation(p, size, (float)memory_weight(size, all.large, all.mean), 0);
	if (small || ++t->untold == UNTOLD_MOST)
		tell_totals(t);
}

void memory_mapped(void *p, size_t size, const void *caller)
{
	struct memory_thread *t = &memory_self;

	if ((!host && !looked_for_host) || t->drawn == SLEEP || is_in(&loader, caller) ||
		is_in(&library, caller) || is_in(&allocator, caller) || !is_on(t))
		return;
	if (!t->random)
		begin_thread(t);
	t->allocations++;
	t->bytes += size;
	record_allocation(p, size, (float)size, MEMORY_MAPPED);
}

bool memory_going(const void *p, uint32_t *number, float *weight)
{
	if (!p || !host || load_relaxed(&all.generation) != host->generation())
		return false;
	return memory_take(p, number, weight);
}

void memory_gone(uint32_t number, float weight)
{
	const uint64_t block = memory_block_word(load_relaxed(&all.stretch), number);
	struct memory_thread *t = &memory_self;

	add_relaxed_u64(&all.live, -(uint64_t)weight);
	if (host->state() == MEMORY_ON) {
		if (!t->random)
			begin_thread(t);
		record(MEMORY_FREED, 0, 0, block);
		return;
	}
	for (unsigned i = 0; i < LATE_MOST; i++)
		if (!load_relaxed(&all.late[i]) && claim_u64(&all.late[i], 0, block)) {
			add_relaxed_u32(&all.n_late, 1);
			return;
		}
}

bool memory_belongs(const void *p)
{
	uint32_t number;
	float weight;

	if (!memory_going(p, &number, &weight))
		return false;
	if (!memory_put(p, number, weight)) /* its place was taken meanwhile */
		memory_gone(number, weight);
	else if (host->state() == MEMORY_ON)
		host->record(memory_word(MEMORY_BELONGS, 0), 0, memory_block_word(0, number),
			MEMORY_MARK);
	return true;
}

/* ---- begin and end -------------------------------------------------------------------------- */

/*
 * Nobody is to be attached now: without a ring nothing happens. What other destructors free is told
 * when all of them have had their turn.
 */
static void end_thread(void *arg)
{
	struct memory_thread *t = arg;

	if (has_key && !t->endings++)
		pthread_setspecific(key, t);
	if (load_relaxed(&all.known) && t->drawn != SLEEP)
		tell_totals(t);
}

static uintptr_t end_of(const Elf64_Phdr *p, unsigned n, uintptr_t base)
{
	uintptr_t end = base;

	for (unsigned i = 0; i < n; i++)
		if (p[i].p_type == PT_LOAD && base + p[i].p_vaddr + p[i].p_memsz > end)
			end = base + p[i].p_vaddr + p[i].p_memsz;
	return end;
}

/* What it allocates, it does in the middle of its own work. */
static void find_loader(void)
{
	const uintptr_t base = getauxval(AT_BASE);
	const Elf64_Ehdr *head = (const Elf64_Ehdr *)base;

	if (base)
		loader = (struct code){base,
			end_of((const Elf64_Phdr *)(base + head->e_phoff), head->e_phnum, base)};
}

/* What malloc() maps is no memory of its own. That of the C library asks the kernel itself. */
static int see_module(struct dl_phdr_info *info, size_t size, void *arg)
{
	const struct code c = {
		info->dlpi_addr, end_of(info->dlpi_phdr, info->dlpi_phnum, info->dlpi_addr)};

	(void)size;
	(void)arg;
	if (is_in(&c, (const void *)memory_real.malloc))
		allocator = c;
	if (host && is_in(&c, host))
		library = c;
	return 0;
}

static __attribute__((constructor(101))) void begin(void)
{
	const struct memory_host *h = vftrace_memory_host ? vftrace_memory_host() : NULL;

	memory_find_real(); /* malloc() may be the program's own, and not have asked for it */
	find_loader();
	has_key = !pthread_key_create(&key, end_thread);
	pthread_atfork(NULL, NULL, forget_parent);
	if (h && h->version == MEMORY_SEAM_VERSION)
		host = h;
	dl_iterate_phdr(see_module, NULL);
	looked_for_host = true;
}

static __attribute__((destructor)) void end(void)
{
	if (!host)
		return;
	if (load_relaxed(&all.n_late) && host->state() == MEMORY_ON)
		record_late();
	end_thread(&memory_self);
}
