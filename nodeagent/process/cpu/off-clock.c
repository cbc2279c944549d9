/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/process/cpu/off-clock.h"
#include "nodeagent/base/util.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "shm/clock.h"

#define READ_NS_MOST 50000u /* else we had no CPU ourselves between two clocks ... */
#define READS_MOST   8	    /* ... and read them again, at most so often */
#define NOISE_NS     20000u /* of two clocks that are not read at once */

/* What a thread had of CPUs, and waited for them, in ns; 0: it is not known. */
struct schedstat {
	unsigned long long cpu, queue;
};

static struct schedstat read_file(int file)
{
	struct schedstat s = {0, 0};
	char text[64];
	const ssize_t n = file < 0 ? -1 : pread(file, text, sizeof(text) - 1, 0);

	if (n <= 0)
		return s;
	text[n] = 0;
	if (sscanf(text, "%llu %llu", &s.cpu, &s.queue) != 2)
		s = (struct schedstat){0, 0};
	return s;
}

/* CPU time in ns; 0: it is not known. */
static uint64_t read_cpu(const struct off_clock *c)
{
	struct timespec t;

	if (c->of_thread)
		return read_file(c->file).cpu;
	if (clock_gettime(c->clock, &t))
		return 0;
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void begin_reading(struct off_clock *c, int pid, bool of_thread)
{
	const uint64_t off = c->off, queued = c->queued;
	struct schedstat s;
	char path[64];

	off_clock_end(c);
	snprintf(path, sizeof(path), "/proc/%d/task/%d/schedstat", pid, pid);
	*c = (struct off_clock){.begun = true,
		.file = open(path, O_RDONLY | O_CLOEXEC),
		.before = off,
		.off = off,
		.queued_before = queued,
		.queued = queued};
	c->of_thread = of_thread || clock_getcpuclockid(pid, &c->clock);
	s = read_file(c->file);
	c->knows_queue = s.cpu;
	c->queue = s.queue;
	c->wall = clock_raw_ns();
	c->cpu = read_cpu(c);
}

/* Both clocks at one instant. False: we had no CPU between them again and again. */
static bool read_both(const struct off_clock *c, uint64_t *now, uint64_t *cpu)
{
	for (int i = 0; i < READS_MOST; i++) {
		*now = clock_raw_ns();
		*cpu = read_cpu(c);
		if (clock_raw_ns() - *now <= READ_NS_MOST)
			return true;
	}
	return false;
}

/* The file has no more than there was, but it may be read a little later than the clocks. */
static void read_queue(struct off_clock *c)
{
	const uint64_t queue = read_file(c->file).queue;

	if (queue > c->queue && c->queued_before + queue - c->queue > c->queued)
		c->queued = c->queued_before + queue - c->queue;
	c->queued = MIN(c->queued, c->off);
}

bool off_clock_read(struct off_clock *c, int pid, bool several, uint64_t *ns, uint64_t *queued_ns)
{
	uint64_t now, cpu, off;

	if (pid <= 0)
		return false;
	/* the clock of a process is that of all its threads */
	if (!c->begun || (several && !c->of_thread))
		begin_reading(c, pid, several);
	if (!read_both(c, &now, &cpu) || !c->cpu || cpu < c->cpu)
		return false;
	off = now - c->wall > cpu - c->cpu ? now - c->wall - (cpu - c->cpu) : 0;
	if (c->before + off > c->off + NOISE_NS) {
		c->off = c->before + off;
		read_queue(c);
	}
	*ns = c->off;
	*queued_ns = c->queued;
	return true;
}

void off_clock_end(struct off_clock *c)
{
	if (c->begun && c->file >= 0)
		close(c->file);
	*c = (struct off_clock){.knows_queue = c->knows_queue};
}
