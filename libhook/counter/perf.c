/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counters by perf_event_open(2). Events of a PMU are opened one by one, so that
 * the kernel may take turns with them, and read by one instruction where it lets
 * us; else by a call each. Software events are one group that one call reads.
 * A page that is mapped keeps its event alive, so that most need no descriptor.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "libhook/counters.h"
#include "libhook/counter/perf-page.h"
#include "shm/atomic.h"
#include "shm/clock.h"
#include "shm/system.h"

#define TIMES (PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING)
#define VALUE (COUNTER_MARK - 1)

static int open_event(const struct counter_shm *w, int group, bool in_group)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = w->type,
		.config = w->config,
		.config1 = w->config1,
		.config2 = w->config2,
		.exclude_kernel = (w->flags & COUNTER_USER) != 0,
		.exclude_user = (w->flags & COUNTER_KERNEL) != 0,
		.exclude_hv = (w->flags & (COUNTER_USER | COUNTER_KERNEL)) != 0,
		.read_format = TIMES | (in_group ? PERF_FORMAT_GROUP : 0),
	};

	return (int)syscall(SYS_perf_event_open, &attr, 0, -1, group, PERF_FLAG_FD_CLOEXEC);
}

/* True for software events but the clocks; a clock is only brought up to date when it is
 * read as the first one of its group. */
static bool goes_in_group(const struct counter_shm *w)
{
	return w->type == PERF_TYPE_SOFTWARE && w->config != PERF_COUNT_SW_CPU_CLOCK &&
	       w->config != PERF_COUNT_SW_TASK_CLOCK;
}

static bool is_readable_by_instruction(const struct perf_counter *p)
{
#if defined(__x86_64__)
	return perf_page_is_readable(p->page);
#else
	return false;
#endif
}

void vftr_perf_open(struct counters *c, uint32_t i)
{
	struct perf_counter *p = &c->perf[i];
	bool is_software = goes_in_group(&c->wanted->at[i]);
	bool is_member = is_software && c->group >= 0;
	int fd = vftr_descriptor_aside(
		open_event(&c->wanted->at[i], is_member ? c->perf[c->group].fd : -1, is_software));

	if (fd < 0) {
		c->state[i].error = fd;
		return;
	}
	p->fd = fd;
	if (sys_ioctl(fd, PERF_EVENT_IOC_ID, &p->id))
		p->id = 0;
	p->page = mmap(NULL, (size_t)sysconf(_SC_PAGESIZE), PROT_READ, MAP_SHARED, fd, 0);
	if (p->page == MAP_FAILED)
		p->page = NULL;
	if (is_software) {
		if (!is_member)
			c->group = (int)i;
		c->member[c->group_n++] = i;
	}
	p->by_instruction = !is_software && is_readable_by_instruction(p);
	c->state[i].ways = p->by_instruction ? COUNTER_BY_INSTRUCTION : COUNTER_BY_CALL;
	if (p->page && (p->by_instruction || is_member)) {
		sys_close(fd);
		p->fd = -1;
	}
}

/* The program may have closed it, and opened something else there. */
static bool is_ours(const struct perf_counter *p)
{
	uint64_t id;

	return p->fd >= 0 && !sys_ioctl(p->fd, PERF_EVENT_IOC_ID, &id) && id == p->id;
}

static void store(struct counters *c, uint32_t i, const struct perf_reading *r)
{
	struct perf_counter *p = &c->perf[i];

	p->last = perf_scaled(p->last, r);
	c->word[1 + i] = p->last & VALUE;
	store_relaxed(&c->state[i].enabled_ns, r->enabled);
	store_relaxed(&c->state[i].running_ns, r->running);
}

#if defined(__x86_64__)
static inline uint64_t read_pmc(uint32_t index)
{
	return (uint64_t)__builtin_ia32_rdpmc((int)index);
}
#endif

/* Times that are not known to the call are those of the last change. */
static void by_instruction(struct counters *c, uint32_t i)
{
#if defined(__x86_64__)
	struct perf_reading r = perf_page_read(c->perf[i].page, read_pmc, clock_counter);

	store(c, i, &r);
#endif
}

static void by_call(struct counters *c, uint32_t i)
{
	struct perf_counter *p = &c->perf[i];
	uint64_t word[3]; /* value, enabled, running */

	if (!is_ours(p) || sys_read(p->fd, word, sizeof(word)) != (ssize_t)sizeof(word))
		return;
	c->own_calls++;
	c->own_bytes += sizeof(word);
	store(c, i, &(struct perf_reading){word[0], word[1], word[2]});
}

static void read_group(struct counters *c)
{
	uint64_t word[3 + COUNTERS_MAX]; /* number, enabled, running, values */
	struct perf_counter *leader = &c->perf[c->group];
	ssize_t n;

	if (!is_ours(leader) || (n = sys_read(leader->fd, word, sizeof(word))) < 24)
		return;
	c->own_calls++;
	c->own_bytes += (uint64_t)n;
	for (uint32_t k = 0; k < c->group_n && k < word[0]; k++)
		store(c, c->member[k], &(struct perf_reading){word[3 + k], word[1], word[2]});
}

void vftr_perf_read(struct counters *c)
{
	for (uint32_t i = 0; i < c->n; i++) {
		const struct counter_shm *w = &c->wanted->at[i];

		if (w->source != COUNTER_PERF || goes_in_group(w))
			continue;
		if (c->perf[i].by_instruction)
			by_instruction(c, i);
		else if (c->perf[i].fd >= 0)
			by_call(c, i);
		else
			c->word[1 + i] = 0;
	}
	if (c->group >= 0)
		read_group(c);
}

static void close_ours(struct perf_counter *p)
{
	if (is_ours(p))
		sys_close(p->fd);
	p->fd = -1;
}

void vftr_perf_close(struct counters *c, bool forked)
{
	for (uint32_t i = 0; i < c->n; i++) {
		close_ours(&c->perf[i]);
		if (c->perf[i].page && !forked)
			munmap(c->perf[i].page, (size_t)sysconf(_SC_PAGESIZE));
	}
}

/* The pages are not in a child's memory: blank ones take their place. */
void vftr_perf_forget(struct counters *c)
{
	for (uint32_t i = 0; i < c->n; i++) {
		close_ours(&c->perf[i]);
		if (c->perf[i].page)
			mmap(c->perf[i].page, (size_t)sysconf(_SC_PAGESIZE), PROT_READ,
				MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	}
}
