/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counters by getrusage(2), most of them of the thread, and by the energy counters
 * of the machine. The high-water mark of the memory is the process's and energy the
 * machine's: what they have grown by is that of the thread that sees it first.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include "libhook/counters.h"
#include "shm/atomic.h"
#include "shm/clock.h"
#include "shm/system.h"

#define ENERGY_NS 1000000 /* the hardware counts in steps of about this time */

/* ---- getrusage -------------------------------------------------------------------- */

static uint64_t peak_seen; /* of the process, in bytes */

static uint64_t microseconds(const struct timeval *t)
{
	return (uint64_t)t->tv_sec * 1000000u + (uint64_t)t->tv_usec;
}

/* By enum counter_rusage. */
static bool rusage_lines(uint64_t line[static COUNTER_RUSAGE_LINES])
{
	struct rusage u;

	if (getrusage(RUSAGE_THREAD, &u))
		return false;
	line[RUSAGE_MAXRSS] = (uint64_t)u.ru_maxrss * 1024;
	line[RUSAGE_UTIME] = microseconds(&u.ru_utime);
	line[RUSAGE_STIME] = microseconds(&u.ru_stime);
	line[RUSAGE_MINFLT] = (uint64_t)u.ru_minflt;
	line[RUSAGE_MAJFLT] = (uint64_t)u.ru_majflt;
	line[RUSAGE_NVCSW] = (uint64_t)u.ru_nvcsw;
	line[RUSAGE_NIVCSW] = (uint64_t)u.ru_nivcsw;
	line[RUSAGE_INBLOCK] = (uint64_t)u.ru_inblock;
	line[RUSAGE_OUBLOCK] = (uint64_t)u.ru_oublock;
	return true;
}

/* The growth of the peak that no thread has counted yet. */
static uint64_t peak_growth(uint64_t peak)
{
	uint64_t seen = load_relaxed(&peak_seen);

	while (peak > seen) {
		if (claim_u64(&peak_seen, seen, peak))
			return peak - seen;
		seen = load_relaxed(&peak_seen);
	}
	return 0;
}

void vftr_rusage_read(struct counters *c)
{
	uint64_t line[COUNTER_RUSAGE_LINES], grown;

	if (!rusage_lines(line))
		return;
	grown = peak_growth(line[RUSAGE_MAXRSS]);
	for (uint32_t i = 0; i < c->n; i++) {
		uint64_t which = c->wanted->at[i].config;

		if (c->wanted->at[i].source != COUNTER_RUSAGE || which >= COUNTER_RUSAGE_LINES)
			continue;
		if (which == RUSAGE_MAXRSS)
			c->word[1 + i] += grown;
		else
			c->word[1 + i] = line[which] - c->begin[i];
	}
}

void vftr_rusage_begin(struct counters *c)
{
	uint64_t line[COUNTER_RUSAGE_LINES];

	if (!rusage_lines(line))
		return;
	for (uint32_t i = 0; i < c->n; i++)
		if (c->wanted->at[i].source == COUNTER_RUSAGE &&
			c->wanted->at[i].config < COUNTER_RUSAGE_LINES)
			c->begin[i] = line[c->wanted->at[i].config];
}

/* ---- energy ----------------------------------------------------------------------- */

/* Opens the file each time: a descriptor kept open might become another file's. */
static bool read_number(const char *folder, unsigned zone, const char *name, uint64_t *to)
{
	unsigned package = COUNTER_ZONE_PACKAGE(zone), part = COUNTER_ZONE_PART(zone);
	char path[COUNTER_NAME_BYTES + 64], text[32];
	ssize_t n;
	int fd;

	if (part)
		snprintf(path, sizeof(path), "%s/intel-rapl:%u:%u/%s", folder, package, part - 1,
			name);
	else
		snprintf(path, sizeof(path), "%s/intel-rapl:%u/%s", folder, package, name);
	fd = sys_open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = sys_read(fd, text, sizeof(text) - 1);
	sys_close(fd);
	if (n <= 0)
		return false;
	text[n] = '\0';
	return vftr_counter_number(text, to);
}

bool vftr_counter_number(const char *text, uint64_t *to)
{
	uint64_t value = 0;

	if (*text < '0' || *text > '9')
		return false;
	for (; *text >= '0' && *text <= '9'; text++)
		value = value * 10 + (uint64_t)(*text - '0');
	*to = value;
	return true;
}

uint64_t vftr_energy_growth(uint64_t before, uint64_t now, uint64_t range)
{
	if (now >= before)
		return now - before;
	return range >= before ? range - before + now : now;
}

static uint64_t last[COUNTERS_MAX][COUNTER_ZONES]; /* 1 + what a zone had, 0: unknown */
static uint64_t due_ns;

/* Looked at before the zone is read, and claimed behind it: threads may be here at once. */
static uint64_t zone_growth(const struct counter_shm *w, uint32_t i, unsigned k)
{
	uint64_t before = load_acquire(&last[i][k]), now, range = 0;
	unsigned zone = counter_zone(w, k);

	if (!read_number(w->name, zone, "energy_uj", &now))
		return 0;
	if (before && now < before - 1)
		read_number(w->name, zone, "max_energy_range_uj", &range);
	if (!claim_u64(&last[i][k], before, now + 1) || !before)
		return 0;
	return vftr_energy_growth(before - 1, now, range);
}

void vftr_energy_read(struct counters *c)
{
	uint64_t now = clock_raw_ns(), due = load_relaxed(&due_ns);

	if (now < due || !claim_u64(&due_ns, due, now + ENERGY_NS))
		return;
	for (uint32_t i = 0; i < c->n; i++) {
		const struct counter_shm *w = &c->wanted->at[i];

		for (unsigned k = 0; w->source == COUNTER_ENERGY && k < w->type; k++)
			if (k < COUNTER_ZONES)
				c->word[1 + i] += zone_growth(w, i, k);
	}
}

/* Child of fork: its memory is another one, and its agent has another reader. */
void vftr_process_counters_forget(void)
{
	peak_seen = 0;
	memset(last, 0, sizeof(last));
	due_ns = 0;
}
