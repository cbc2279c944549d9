/* SPDX-License-Identifier: BSD-3-Clause */
/* Counters of a thread, whatever their source; those of dummy and /proc are here. */
#include "libhook/counters.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>
#include "libhook/process.h"
#include "shm/system.h"

/* not in programs that are linked with -static */
#pragma weak vftr_papi_open
#pragma weak vftr_papi_begin
#pragma weak vftr_papi_read
#pragma weak vftr_papi_close

#define HAS(c, source) ((c)->sources & 1u << (source))

unsigned vftr_counters_wanted(void)
{
	const struct counters_shm *w = control_counters(vftr_process.agent);

	return w->n && w->n <= COUNTERS_MAX ? w->n + 1 : 0;
}

/* Programs expect low numbers, and some of them all that their limit allows. */
int vftr_descriptor_aside(int fd)
{
	struct rlimit most;
	int aside = -1, error;

	if (fd < 0)
		return -errno;
	if (!getrlimit(RLIMIT_NOFILE, &most))
		aside = sys_fcntl(fd, F_DUPFD_CLOEXEC,
			most.rlim_cur > 8192 ? 4096 : (int)(most.rlim_cur / 2));
	error = errno;
	sys_close(fd);
	return aside >= 0 ? aside : -error;
}

/* ---- /proc/thread-self/io: rchar, wchar, syscr, syscw, read_bytes, ... ------------- */

static const char io_begin[] = "rchar: ";

static void io_open(struct counters *c)
{
	if (c->io_fd < 0)
		c->io_fd = vftr_descriptor_aside(
			sys_open("/proc/thread-self/io", O_RDONLY | O_CLOEXEC));
}

static bool io_lines(struct counters *c, uint64_t line[static COUNTER_IO_LINES])
{
	char text[512];
	const char *at = text;
	/* at a position: nothing is taken from a file that the program may have there now */
	ssize_t n = sys_pread(c->io_fd, text, sizeof(text) - 1, 0);

	if (n < (ssize_t)sizeof(io_begin) || memcmp(text, io_begin, sizeof(io_begin) - 1))
		return false;
	text[n] = '\0';
	for (unsigned i = 0; i < COUNTER_IO_LINES; i++) {
		uint64_t value = 0;

		at = strchr(at, ':');
		if (!at)
			return false;
		for (at += 2; *at >= '0' && *at <= '9'; at++)
			value = value * 10 + (uint64_t)(*at - '0');
		line[i] = value;
	}
	line[0] -= c->own_bytes;
	line[2] -= c->own_calls;
	c->own_bytes += (uint64_t)n;
	c->own_calls++;
	return true;
}

static void io_read(struct counters *c)
{
	uint64_t line[COUNTER_IO_LINES];

	if (c->io_fd < 0 || !io_lines(c, line))
		return;
	for (uint32_t i = 0; i < c->n; i++)
		if (c->wanted->at[i].source == COUNTER_IO &&
			c->wanted->at[i].config < COUNTER_IO_LINES)
			c->word[1 + i] = line[c->wanted->at[i].config] - c->begin[i];
}

/* ---- all --------------------------------------------------------------------------- */

static void dummy_read(struct counters *c)
{
	for (uint32_t i = 0; i < c->n; i++)
		if (c->wanted->at[i].source == COUNTER_DUMMY)
			c->word[1 + i] = c->events * (i + 1);
}

static void open_one(struct counters *c, uint32_t i)
{
	uint32_t source = c->wanted->at[i].source;

	if (source >= COUNTER_SOURCES)
		return;
	c->sources |= 1u << source;
	switch (source) {
	case COUNTER_PERF:
		vftr_perf_open(c, i);
		break;
	case COUNTER_PAPI:
		if (vftr_papi_open) {
			vftr_papi_open(c, i);
			break;
		}
		c->state[i].error = -ELIBACC;
		c->sources &= ~(1u << source);
		break;
	case COUNTER_IO:
		io_open(c);
		c->state[i].error = c->io_fd < 0 ? c->io_fd : 0;
		break;
	case COUNTER_RUSAGE:
	case COUNTER_ENERGY:
		c->state[i].ways = COUNTER_BY_CALL;
		break;
	default:
		break;
	}
}

void vftr_counters_event(struct counters *c, bool is_exit)
{
	c->events++;
	if (is_exit)
		vftr_counters_read(c);
}

void vftr_counters_read(struct counters *c)
{
	uint64_t *last = &c->word[c->n];

	if (HAS(c, COUNTER_DUMMY))
		dummy_read(c);
	if (HAS(c, COUNTER_PERF))
		vftr_perf_read(c);
	if (HAS(c, COUNTER_PAPI))
		vftr_papi_read(c);
	if (HAS(c, COUNTER_IO))
		io_read(c);
	if (HAS(c, COUNTER_RUSAGE))
		vftr_rusage_read(c);
	if (HAS(c, COUNTER_ENERGY))
		vftr_energy_read(c);
	*last |= COUNTER_MARK;
}

static void finish(struct thread *t, bool forked)
{
	struct counters *c = t->counters;

	t->counters = NULL;
	if (!c)
		return;
	if (HAS(c, COUNTER_PERF))
		vftr_perf_close(c, forked);
	if (HAS(c, COUNTER_PAPI) && !forked)
		vftr_papi_close(c);
	/* only if it is still ours */
	if (c->io_fd >= 0) {
		char text[sizeof(io_begin) - 1];

		if (sys_pread(c->io_fd, text, sizeof(text), 0) == (ssize_t)sizeof(text) &&
			!memcmp(text, io_begin, sizeof(text)))
			sys_close(c->io_fd);
	}
	munmap(c, sizeof(*c));
}

void vftr_counters_begin(struct thread *t)
{
	struct counters *c;

	if (t->counters)
		finish(t, true); /* a parent's */
	if (!vftr_process.counter_words)
		return;
	c = mmap(NULL, sizeof(*c), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (c == MAP_FAILED)
		return;
	c->n = vftr_process.counter_words - 1;
	c->wanted = control_counters(vftr_process.agent);
	c->state = ring_counters(t->ring.producer);
	c->word[0] = record_counters_word(c->n);
	c->group = c->io_fd = -1;
	memset(c->state, 0, c->n * sizeof(*c->state));
	for (uint32_t i = 0; i < c->n; i++)
		c->perf[i].fd = -1;
	for (uint32_t i = 0; i < c->n; i++)
		open_one(c, i);
	if (HAS(c, COUNTER_PAPI))
		vftr_papi_begin(c);
	if (HAS(c, COUNTER_RUSAGE))
		vftr_rusage_begin(c);
	if (HAS(c, COUNTER_IO)) {
		io_read(c);
		for (uint32_t i = 0; i < c->n; i++)
			if (c->wanted->at[i].source == COUNTER_IO)
				c->begin[i] = c->word[1 + i];
	}
	t->counters = c;
}

void vftr_counters_end(struct thread *t)
{
	finish(t, false);
}

void vftr_counters_forget(struct thread *t, bool interrupted)
{
	vftr_process_counters_forget();
	if (!interrupted)
		finish(t, true);
	else if (t->counters) /* its reading will go on */
		vftr_perf_forget(t->counters);
}
