/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/agent/affinity.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include "conf/conf.h"
#include "nodeagent/agent/roles/agent.h"
#include "nodeagent/process/cpu/cpus.h"
#include "nodeagent/process/process.h"
#include "nodeagent/readers/readers.h"
#include "nodeagent/base/util.h"
#include "shm/ring.h"

#define LOOK_NS	  100000000u
#define NICE_MOST 19

struct affinity {
	struct cpus allowed;
	uint64_t looked_at;
	unsigned placed_for; /* n_ever at the last decision */
	bool moving;	     /* unbound processes: follow the threads */
	bool shared;	     /* no CPU is free of threads that record */
};

static void describe_cpus(struct agent *a, const struct cpus *set, const char *why)
{
	char list[256] = "";
	size_t used = 0;

	for (int i = 0; i < CPUS_MOST && used < sizeof(list) - 16; i++) {
		int last = i;

		if (!cpus_has(set, i))
			continue;
		while (cpus_has(set, last + 1))
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
	struct cpus wanted = {0};

	cpus_of(0, &c->allowed);
	c->looked_at = clock_raw_ns();
	if (!strcmp(a->host.conf->agent_cpu, "auto") || !strcmp(a->host.conf->agent_cpu, "any")) {
		describe_cpus(a, &c->allowed, "where the system puts it");
		return;
	}
	for (unsigned i = 0; i < CPUS_MOST; i++)
		if (rank_list_has(a->host.conf->agent_cpu, i))
			cpus_add(&wanted, (int)i);
	if (!cpus_bind(0, &wanted))
		host_warn(&a->host, true, "agent.cpu: no CPU of \"%s\" may be used; running on any",
			a->host.conf->agent_cpu);
	else if (cpus_of(0, &wanted)) /* that exist */
		describe_cpus(a, &wanted, "as configured");
}

/* CPUs that no live process is bound to; false if there are none. */
static bool free_cpus(const struct agent *a, struct cpus *out)
{
	struct cpus its;

	*out = a->affinity->allowed;
	for (const struct process *p = a->host.live; p; p = p->next_live)
		if (p->greeted && !p->ended && p->pid > 0 && cpus_of(p->pid, &its))
			cpus_remove_all(out, &its);
	return cpus_count(out) > 0;
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
static bool quiet_cpus(const struct agent *a, struct cpus *out)
{
	int threads = 0, n = cpus_count(&a->affinity->allowed);

	*out = a->affinity->allowed;
	for (const struct process *p = a->host.live; p; p = p->next_live) {
		for (size_t i = 0; !p->ended && i < p->n_threads; i++) {
			struct thread_ring *t = p->threads[i];

			if (!t || t->tail == t->placed_tail)
				continue;
			t->placed_tail = t->tail;
			if (++threads >= n)
				return false; /* no CPU can be free of them */
			cpus_remove(out, cpu_of(p->pid, t->tid));
		}
	}
	return threads > 0 && cpus_count(out) > 0;
}

/* False: it cannot. */
static bool run_on(const struct agent *a, const struct cpus *set)
{
	if (!cpus_bind(0, set))
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
	struct cpus set;

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
	} else if (cpus_count(&c->allowed) <= (int)a->host.n_live) {
		run_on(a, &c->allowed);
		share(a);
	}
}
