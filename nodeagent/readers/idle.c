/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/readers/idle.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "nodeagent/base/util.h"
#include "nodeagent/process/cpu/cpus.h"

/* Clock ticks of all allowed CPUs together since the machine was started. */
struct used {
	unsigned long long idle, all;
	int cpus;
};

struct idle {
	const char *stat;
	struct cpus allowed;
	struct used before;
};

struct idle *idle_new(const char *stat)
{
	struct idle *i = xcalloc(1, sizeof(*i));

	i->stat = stat;
	return i;
}

void idle_free(struct idle *i)
{
	free(i);
}

/* A line "cpuN user nice system idle iowait irq softirq steal ...", proc_stat(5). */
static void add_line(struct used *u, const struct cpus *allowed, const char *line)
{
	unsigned long long of[8];
	int cpu;

	/* the line of all together has a space there */
	if (line[3] < '0' || line[3] > '9' ||
		sscanf(line, "cpu%d %llu %llu %llu %llu %llu %llu %llu %llu", &cpu, &of[0], &of[1],
			&of[2], &of[3], &of[4], &of[5], &of[6], &of[7]) != 9 ||
		!cpus_has(allowed, cpu))
		return;
	u->cpus++;
	u->idle += of[3] + of[4];
	for (unsigned i = 0; i < ARRAY_SIZE(of); i++)
		u->all += of[i];
}

static struct used look_at_all(const struct idle *i)
{
	FILE *f = fopen(i->stat, "re");
	struct used u = {0};
	char line[512];

	while (f && fgets(line, sizeof(line), f) && !strncmp(line, "cpu", 3))
		add_line(&u, &i->allowed, line);
	if (f)
		fclose(f);
	return u;
}

void idle_begin(struct idle *i)
{
	cpus_of(0, &i->allowed);
	i->before = look_at_all(i);
}

double idle_since(const struct idle *i)
{
	const struct used now = look_at_all(i);

	if (now.cpus != i->before.cpus || now.all <= i->before.all || now.idle < i->before.idle)
		return 0;
	return now.cpus * (double)(now.idle - i->before.idle) / (double)(now.all - i->before.all);
}
