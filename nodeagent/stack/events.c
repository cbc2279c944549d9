/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/stack/events.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "nodeagent/base/util.h"
#include "shm/atomic.h"

/* By depth. A ring, a power of 2, has room for all samples between two passes (stack.c); a sample
 * is shorter than 64 KiB, as the kernel counts its bytes in 16 bits. */
static const size_t ring_bytes[] = {(size_t)64 << 10, (size_t)256 << 10};
static const uint32_t stack_bytes[] = {8192, 61440};

#if defined(__x86_64__)
#define REGS_MASK                                                                                  \
	0xff0fffu /* the general ones, with flags and segments; not the four data ones             \
		   */
#elif defined(__aarch64__)
#define REGS_MASK ((1ull << STACK_REGS) - 1)
#else
#define REGS_MASK 0
#endif

struct stack_events {
	int fd;
	pid_t owner; /* a copy of the agent has not got the pages, maybe others in their place */
	enum stack_depth depth;
	struct perf_event_mmap_page *page;
	const unsigned char *data;
	uint64_t period_ns, lost;
	bool other_program;
	size_t record_bytes;
	uint64_t record[];
};

static size_t page_bytes(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

size_t stack_events_bytes(enum stack_depth depth)
{
	const size_t ring = ring_bytes[depth];

	return page_bytes() + (ring > page_bytes() ? ring : page_bytes());
}

static int open_event(int tid, uint64_t period_ns, enum stack_depth depth)
{
	struct perf_event_attr a = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(a),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = period_ns,
		.sample_type = PERF_SAMPLE_TIME | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER,
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED,
		.sample_regs_user = REGS_MASK,
		.sample_stack_user = stack_bytes[depth],
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.comm = 1, /* with a mark at execve() */
		.comm_exec = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC_RAW,
	};

	return (int)syscall(SYS_perf_event_open, &a, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

int stack_events_refused(void)
{
	const int fd = STACK_REGS ? open_event(0, 1000000000, STACK_USUAL) : -1;

	if (fd < 0)
		return STACK_REGS ? errno : ENOSYS;
	close(fd);
	return 0;
}

static int paranoid(void)
{
	FILE *f = fopen("/proc/sys/kernel/perf_event_paranoid", "re");
	int level = 0;

	if (f && fscanf(f, "%d", &level) != 1)
		level = 0;
	if (f)
		fclose(f);
	return level;
}

char *stack_events_why(int error)
{
	const int level = paranoid();

	switch (error) {
	case EACCES:
	case EPERM:
		if (level > 2)
			return xasprintf(
				"perf_event_paranoid is %d, and CAP_PERFMON is missing", level);
		return xasprintf("perf_event_open: %s, as where a container's filter forbids it",
			strerror(error));
	case ENOSYS:
	case ENOENT:
	case EINVAL:
	case EOPNOTSUPP:
		return xasprintf("perf_event_open: %s, as the kernel or the processor has none",
			strerror(error));
	default:
		return NULL;
	}
}

struct stack_events *stack_events_open(
	int tid, uint64_t period_ns, enum stack_depth depth, int *error)
{
	const size_t bytes = stack_events_bytes(depth), record = stack_bytes[depth] + 1024;
	struct stack_events *e;
	void *map;
	int fd = STACK_REGS ? open_event(tid, period_ns, depth) : -1;

	if (fd < 0) {
		*error = STACK_REGS ? errno : ENOSYS;
		return NULL;
	}
	map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED) {
		*error = errno == EPERM ? ENOMEM : errno; /* of memory that is locked */
		close(fd);
		return NULL;
	}
	e = xmalloc(sizeof(*e) + record);
	*e = (struct stack_events){.fd = fd,
		.owner = getpid(),
		.depth = depth,
		.record_bytes = record,
		.page = map,
		.data = (const unsigned char *)map + page_bytes(),
		.period_ns = period_ns};
	return e;
}

void stack_events_close(struct stack_events *e)
{
	if (!e)
		return;
	if (e->owner == getpid())
		munmap(e->page, stack_events_bytes(e->depth));
	close(e->fd);
	free(e);
}

void stack_events_set_period(struct stack_events *e, uint64_t period_ns)
{
	if (!ioctl(e->fd, PERF_EVENT_IOC_PERIOD, &period_ns))
		e->period_ns = period_ns;
}

static void copy_out(const struct stack_events *e, uint64_t from, void *to, size_t bytes)
{
	const size_t size = stack_events_bytes(e->depth) - page_bytes(),
		     at = (size_t)from & (size - 1);
	const size_t first = bytes < size - at ? bytes : size - at;

	memcpy(to, e->data + at, first);
	memcpy((char *)to + first, e->data, bytes - first);
}

/* The words behind the header of a sample, as sample_type has them. */
static bool parse_sample(const struct stack_events *e, size_t words, struct stack_raw *s)
{
	const uint64_t *w = e->record + 1, *end = e->record + words;

	if (words < 3 || !w[1]) /* no registers: a thread of the kernel, or one that ends */
		return false;
	*s = (struct stack_raw){.raw_ns = w[0], .period_ns = e->period_ns, .regs = w + 2};
	w += 2 + STACK_REGS;
	if (w >= end || *w % 8 || *w / 8 + 2 > (size_t)(end - w))
		return false;
	s->stack = (const unsigned char *)(w + 1);
	s->stack_bytes = *w ? (size_t)w[1 + *w / 8] : 0;
	s->is_cut = s->stack_bytes == stack_bytes[e->depth];
	return s->stack_bytes <= *w;
}

/* True if it was a sample. */
static bool take_record(struct stack_events *e, const struct perf_event_header *h,
	void (*take)(void *ctx, const struct stack_raw *s), void *ctx)
{
	struct stack_raw s;

	switch (h->type) {
	case PERF_RECORD_LOST:
		e->lost += e->record[2];
		return false;
	case PERF_RECORD_COMM:
		e->other_program |= h->misc & PERF_RECORD_MISC_COMM_EXEC;
		return false;
	case PERF_RECORD_SAMPLE:
		if (parse_sample(e, h->size / 8u, &s))
			take(ctx, &s);
		return true;
	default:
		return false;
	}
}

bool stack_events_read(struct stack_events *e, size_t most,
	void (*take)(void *ctx, const struct stack_raw *s), void *ctx)
{
	uint64_t tail = e->page->data_tail;
	/* pairs with the kernel, which stores it after the records */
	const uint64_t head = load_acquire((uint64_t *)&e->page->data_head);

	while (tail != head && most && !e->other_program) {
		struct perf_event_header h;

		copy_out(e, tail, &h, sizeof(h));
		if (h.size < sizeof(h) || h.size > head - tail)
			break;
		if (h.size <= e->record_bytes) {
			copy_out(e, tail, e->record, h.size);
			most -= take_record(e, &h, take, ctx);
		}
		tail += h.size;
	}
	/* pairs with the kernel, which reads it before it stores there again */
	store_release((uint64_t *)&e->page->data_tail, tail);
	return !e->other_program;
}

uint64_t stack_events_lost(const struct stack_events *e)
{
	return e->lost;
}

/* Such an event is enabled while its thread is on a CPU. */
uint64_t stack_events_cpu_ns(const struct stack_events *e)
{
	uint64_t value_and_time[2];

	return read(e->fd, value_and_time, sizeof(value_and_time)) == sizeof(value_and_time)
		       ? value_and_time[1]
		       : 0;
}
