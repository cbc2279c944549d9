/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads a perf event without a system call, by the rules of linux/perf_event.h for
 * struct perf_event_mmap_page. The kernel changes the page only while the thread is in
 * the kernel, so a value is consistent if the lock did not change. The instructions are
 * passed as functions, so that a test can replace them.
 */
#ifndef VFTR_LIBHOOK_COUNTER_PERF_PAGE_H
#define VFTR_LIBHOOK_COUNTER_PERF_PAGE_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>
#include "shm/atomic.h"

struct perf_reading {
	uint64_t count;
	uint64_t enabled, running; /* ns: the event was wanted, and it was counted */
};

/* True if the count can be read so; known only once the page is mapped. */
static inline bool perf_page_is_readable(const struct perf_event_mmap_page *page)
{
	return page && page->cap_user_rdpmc && page->pmc_width >= 1 && page->pmc_width <= 64;
}

/* Time since the page's times were those of its counts, at ticks. */
static inline uint64_t perf_page_since(const struct perf_event_mmap_page *page, uint64_t ticks)
{
	uint64_t shift = page->time_shift;
	uint64_t rest = ticks & (((uint64_t)1 << shift) - 1);

	return page->time_offset + (ticks >> shift) * page->time_mult +
	       ((rest * page->time_mult) >> shift);
}

/* The hardware's counters have fewer bits than 64, the highest of which is a sign. */
static inline uint64_t perf_page_extend(uint64_t pmc, unsigned width)
{
	unsigned above = 64 - width;

	return (uint64_t)((int64_t)(pmc << above) >> above);
}

/* While the event has no counter (index 0), offset is all that it has counted. */
static inline __attribute__((always_inline)) struct perf_reading perf_page_read(
	const struct perf_event_mmap_page *page, uint64_t (*read_pmc)(uint32_t),
	uint64_t (*ticks)(void))
{
	struct perf_reading r;
	uint32_t turn, index;

	do {
		turn = load_acquire(&page->lock);
		r.enabled = load_relaxed(&page->time_enabled);
		r.running = load_relaxed(&page->time_running);
		index = load_relaxed(&page->index);
		r.count = (uint64_t)load_relaxed(&page->offset);
		if (page->cap_user_time && r.enabled != r.running) {
			uint64_t since = perf_page_since(page, ticks());

			r.enabled += since;
			r.running += index ? since : 0;
		}
		if (index)
			r.count += perf_page_extend(read_pmc(index - 1), page->pmc_width);
		fence_acquire();
	} while (load_relaxed(&page->lock) != turn);
	return r;
}

/*
 * The count scaled up from the time that the event was counted to the time that it was
 * wanted; never less than the last one, as the estimate may shrink.
 */
static inline uint64_t perf_scaled(uint64_t last, const struct perf_reading *r)
{
	uint64_t count = r->count;

	if (r->running && r->running < r->enabled)
		count = (uint64_t)((unsigned __int128)count * r->enabled / r->running);
	return (r->running || !r->enabled) && count > last ? count : last;
}

#endif
