/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/agent/affinity.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include "conf/conf.h"
#include "nodeagent/agent/roles/agent.h"
#include "nodeagent/process/process.h"
#include "nodeagent/readers/readers.h"
#include "nodeagent/base/util.h"
#include "shm/ring.h"

#define LOOK_NS	  100000000u
#define NICE_MOST 19

struct affinity {
	cpu_set_t allowed;
	uint64_t looked_at;
	unsigned placed_for; /* n_ever at the last decision */
	bool moving;	     /* unbound processes: follow the threads */
	bool shared;	     /* no CPU is free of threads that record */
};

static void describe_cpus(struct agent *a, const cpu_set_t *set, const char *why)
{
	char list[256] = "";
	size_t used = 0;

	for (int i = 0; i < CPU_SETSIZE && used < sizeof(list) - 16; i++) {
		int last = i;

		if (!CPU_ISSET(i, set))
			continue;
		while (last + 1 < CPU_SETSIZE && CPU_ISSET(last + 1, set))
			last++;
		used += (size_t)snprintf(list + used, sizeof(list) - used,
			last > i ? "%s%d-%d" : "%s%d", used ? "," : "", i, last);
		i = last;
	}
	free(a->host.affinity);
	a->host.affinity = xasprintf("cpu %s, %s", list, why);
}

void affinity_init(struct agent *a)
{
	struct affinity *c = a->affinity = xcalloc(1, sizeof(*c));
	cpu_set_t wanted;

	sched_getaffinity(0, sizeof(c->allowed), &c->allowed);
	c->looked_at = clock_raw_ns();
	if (!strcmp(a->host.conf->agent_cpu, "auto") || !strcmp(a->host.conf->agent_cpu, "any")) {
		describe_cpus(a, &c->allowed, "where the system puts it");
		return;
	}
	CPU_ZERO(&wanted);
	for (unsigned i = 0; i < CPU_SETSIZE; i++)
		if (rank_list_has(a->host.conf->agent_cpu, i))
			CPU_SET(i, &wanted);
	if (sched_setaffinity(0, sizeof(wanted), &wanted))
		host_warn(&a->host, true, "agent.cpu: no CPU of \"%s\" may be used; running on any",
			a->host.conf->agent_cpu);
	else if (!sched_getaffinity(0, sizeof(wanted), &wanted)) /* that exist */
		describe_cpus(a, &wanted, "as configured");
}

/* CPUs that no live process is bound to; false if there are none. */
static bool free_cpus(const struct agent *a, cpu_set_t *out)
{
	cpu_set_t used, one;

	CPU_ZERO(&used);
	for (const struct process *p = a->host.live; p; p = p->next_live)
		if (p->greeted && !p->ended && p->pid > 0 &&
			!sched_getaffinity(p->pid, sizeof(one), &one))
			CPU_OR(&used, &used, &one);
	CPU_XOR(out, &a->affinity->allowed, &used);
	CPU_AND(out, out, &a->affinity->allowed);
	return CPU_COUNT(out) > 0;
}

/* The CPU a thread ran on last: field 39 of its line. */
static int cpu_of(int pid, int tid)
{
	char path[64], line[1024], *p;
	int cpu = -1;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", pid, tid);
	f = fopen(path, "re");
	if (!f)
		return -1;
	if (fgets(line, sizeof(line), f) && (p = strrchr(line, ')'))) {
		for (int field = 2; p && field < 39; field++)
			p = strchr(p + 1, ' ');
		if (p)
			cpu = atoi(p + 1);
	}
	fclose(f);
	return cpu;
}

/* CPUs on which no thread with records since the last look is running. */
static bool quiet_cpus(const struct agent *a, cpu_set_t *out)
{
	int threads = 0, n = CPU_COUNT(&a->affinity->allowed);

	*out = a->affinity->allowed;
	for (const struct process *p = a->host.live; p; p = p->next_live) {
		for (size_t i = 0; !p->ended && i < p->n_threads; i++) {
			struct thread_ring *t = p->threads[i];
			int cpu;

			if (!t || t->tail == t->placed_tail)
				continue;
			t->placed_tail = t->tail;
			if (++threads >= n)
				return false; /* no CPU can be free of them */
			cpu = cpu_of(p->pid, t->tid);
			if (cpu >= 0 && cpu < CPU_SETSIZE)
				CPU_CLR(cpu, out);
		}
	}
	return threads > 0 && CPU_COUNT(out) > 0;
}

/* False: it cannot. */
static bool run_on(const struct agent *a, const cpu_set_t *set)
{
	if (sched_setaffinity(0, sizeof(*set), set))
		return false;
	if (a->readers)
		readers_follow(a->readers);
	return true;
}

/*
 * As nice as the least nice of the processes, and no nicer: while it waits for a CPU,
 * rings fill up, and then all of them wait for it. It cannot be undone, as a rule.
 */
static void follow_nice(struct agent *a)
{
	int own = getpriority(PRIO_PROCESS, 0), least = NICE_MOST + 1;

	for (const struct process *p = a->host.live; p; p = p->next_live) {
		int nice;

		errno = 0;
		nice = p->pid > 0 ? getpriority(PRIO_PROCESS, (id_t)p->pid) : NICE_MOST;
		if (!errno && !p->ended && nice < least)
			least = nice;
	}
	if (least <= NICE_MOST && least > own && !setpriority(PRIO_PROCESS, 0, least) && a->readers)
		readers_follow(a->readers);
}

static void share(struct agent *a)
{
	if (a->affinity->shared)
		return;
	a->affinity->shared = true;
	follow_nice(a);
	describe_cpus(a, &a->affinity->allowed, "shared with the application");
}

bool affinity_is_shared(const struct agent *a)
{
	return a->affinity && a->affinity->shared;
}

void affinity_again(struct agent *a)
{
	struct affinity *c = a->affinity;
	uint64_t now = clock_raw_ns();
	cpu_set_t set;

	if (strcmp(a->host.conf->agent_cpu, "auto") || !a->host.n_live)
		return;
	/* where no CPU was free, many short children do not have us look for each of them */
	if (c->moving ? now - c->looked_at < LOOK_NS : c->placed_for == a->host.n_ever)
		return;
	c->looked_at = now;
	if (c->placed_for != a->host.n_ever) {
		c->placed_for = a->host.n_ever;
		c->moving = !free_cpus(a, &set);
		if (!c->moving && run_on(a, &set)) {
			describe_cpus(a, &set, "where no process is bound");
			return;
		}
		c->moving = true;
	}
	if (quiet_cpus(a, &set)) {
		c->shared = false;
		if (run_on(a, &set))
			describe_cpus(a, &c->allowed, "moving away from busy threads");
	} else if (CPU_COUNT(&c->allowed) <= (int)a->host.n_live) {
		run_on(a, &c->allowed);
		share(a);
	}
}
