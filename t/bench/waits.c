/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * waits DIRECTORY [PAIRS]: what the agent does more, with mpi.waits, to tell waits apart: CPU time
 * for each message and each arrival at a collective call, and memory for each thread; and what
 * waits of 256 and of 4096 ranks cost at the end. Each pair of measurements is one with waits and
 * one without, one after the other, in processes of their own; medians of PAIRS (9) are printed.
 */
#include <stdio.h>

#include "nodeagent/gather/gather.h"
#include "nodeagent/profile/merge.h"
#include "nodeagent/profile/profile.h"
#include "nodeagent/profile/vfp.h"
#include "nodeagent/report/output.h"
#include "t/bench/waits.h"

#define PAIRS_MOST 99
#define FAN	   16 /* profiles that an agent merges with its own */

static const struct scene scenes[] = {
	{"a message, late by 0 to 20 us", true, 2, 2, 4000, 20, 50000, 20000, 1 << 20, 0},
	{"a message, late by 0 to 500 us", true, 2, 2, 4000, 20, 1000000, 500000, 1 << 20, 0},
	{"an arrival, 2 ranks, late by 0 to 20 us", false, 2, 2, 4000, 20, 50000, 20000, 1 << 20,
		0},
	{"an arrival, 2 ranks, late by 0 to 500 us", false, 2, 2, 4000, 20, 1000000, 500000,
		1 << 20, 0},
	{"an arrival, 256 ranks, late by 0 to 20 us", false, 256, 256, 400, 10, 150000, 20000,
		64 << 10, 0},
	{"the same, 20 000 calls a second: sampled", false, 256, 256, 400, 10, 50000, 20000,
		64 << 10, 0},
	{"an arrival, 256 ranks, late by 0 to 500 us", false, 256, 256, 400, 10, 1000000, 500000,
		64 << 10, 0},
};

static const struct scene elsewhere[] = {
	{"2 ranks here, 2 on another node", false, 2, 4, 4000, 300, 50000, 20000, 1 << 20, 0},
	{"64 ranks here, 64 on another node", false, 64, 128, 800, 100, 50000, 20000, 128 << 10, 0},
};

static int by_value(const void *x, const void *y)
{
	const double b = *(const double *)x, c = *(const double *)y;

	return (b > c) - (b < c);
}

static double median(double *v, int n)
{
	qsort(v, (size_t)n, sizeof(*v), by_value);
	return v[n / 2];
}

static void compare(const struct scene *s, int pairs)
{
	double with[PAIRS_MOST], without[PAIRS_MOST], added[PAIRS_MOST], ratio[PAIRS_MOST];
	struct cost on, off;

	for (int i = 0; i < pairs; i++) {
		on = measure_apart(s, true);
		off = measure_apart(s, false);
		with[i] = on.ns;
		without[i] = off.ns;
		added[i] = on.ns - off.ns;
		ratio[i] = on.ns / off.ns;
	}
	printf("%-42s %8.1f %8.1f %8.1f %8.2f %8.0f %8.2f %%\n", s->name, median(without, pairs),
		median(with, pairs), median(added, pairs), median(ratio, pairs),
		(on.bytes - off.bytes) / 1024, 100 * on.share);
	fflush(stdout);
}

static void show_elsewhere(const struct scene *s)
{
	const struct cost c = measure_apart(s, true);

	printf("%-42s %8.0f %8.2f %% %8llu %8u %8.0f\n", s->name, 1e9 / s->gap, 100 * c.share,
		(unsigned long long)c.kept, c.one_in, c.told_per_s / 1000);
	fflush(stdout);
}

/* ---- at the end ------------------------------------------------------------------------------ */

/* The profile of a node, and the CPU time that it took to make it out of call trees. */
static struct profile *profile_of(const struct scene *s, double *took)
{
	struct dice d = {.state = 5 + (uint64_t)s->first};
	struct profile *p;
	double since;
	uint64_t t;

	begin(s, true);
	t = apps[0].ticks;
	for (unsigned i = 0; i < s->rounds; i++) {
		t = fill(s, &d, t);
		look(s);
	}
	for (int r = 0; r < s->here; r++)
		detach(&apps[r]);
	since = cpu_s();
	gather_ranks(host);
	p = gather(host, NULL);
	*took = cpu_s() - since;
	return p;
}

static size_t bytes_of(const struct profile *p)
{
	unsigned char *buf;
	size_t bytes;

	if (vfp_encode(p, &buf, &bytes))
		die(99, "out of memory");
	free(buf);
	return bytes;
}

static void show_profile(const char *name, const struct profile *p, double took)
{
	char *error = NULL;
	const double since = cpu_s();

	if (output_summary(p, host->conf, dir, "waits", &error))
		die(99, "%s", error);
	printf("%-42s %8.1f %8.1f %8zu %8zu %8zu %8zu\n", name, 1e3 * took, 1e3 * (cpu_s() - since),
		bytes_of(p) / 1024, p->n_waits, p->n_causes, p->n_rank_times);
	fflush(stdout);
}

/* Agent 0 of these nodes, whose own children in the tree have merged theirs. */
static void show_job(struct scene s, int nodes)
{
	struct profile *at[RANKS_MOST], *whole = NULL;
	double took, since;
	char name[64];

	s.all = nodes * s.here;
	for (int i = 0; i < nodes; i++) {
		s.first = i * s.here;
		at[i] = profile_of(&s, &took);
	}
	for (int i = 0; i < nodes; i++)
		if (i % FAN)
			at[i - i % FAN] = profile_merge(at[i - i % FAN], at[i]);
	since = cpu_s();
	for (int i = 0; i < nodes; i += FAN)
		whole = profile_merge(whole, at[i]);
	snprintf(name, sizeof(name),
		nodes > 1 ? "%d ranks on %d nodes: at agent 0" : "%d ranks on a node: there", s.all,
		nodes);
	show_profile(name, whole, nodes > 1 ? cpu_s() - since : took);
	profile_free(whole);
}

static void apart(struct scene s, int nodes)
{
	int status;
	pid_t child;

	fflush(stdout);
	child = fork();
	if (!child) {
		show_job(s, nodes);
		_exit(0);
	}
	if (child < 0 || waitpid(child, &status, 0) != child || status)
		die(99, "%d nodes: no measurement", nodes);
}

int main(int argc, char **argv)
{
	const int pairs = argc > 2 ? atoi(argv[2]) : 9;
	const struct scene large = {"", false, 256, 256, 400, 2, 200000, 100000, 64 << 10, 0};
	const struct scene small = {"", false, 64, 64, 400, 2, 200000, 100000, 64 << 10, 0};

	if (argc < 2 || pairs < 1 || pairs > PAIRS_MOST)
		die(2, "usage: waits DIRECTORY [PAIRS]");
	dir = argv[1];
	program_name = "waits";
	printf("ns of the agent's CPU for each; KiB more of its memory for each thread; its share "
	       "of a CPU\n");
	printf("%-42s %8s %8s %8s %8s %8s %8s\n", "", "no waits", "waits", "added", "ratio", "KiB",
		"share");
	for (size_t i = 0; i < ARRAY_SIZE(scenes); i++)
		compare(&scenes[i], pairs);
	printf("\ncollective calls with members on other nodes: made in a second, the agent's "
	       "share of a CPU,\n"
	       "instances kept, one in how many, kB/s that agents exchange when the job is over\n");
	for (size_t i = 0; i < ARRAY_SIZE(elsewhere); i++)
		show_elsewhere(&elsewhere[i]);
	printf("\nms to make the profile, and to write the summary; KiB of it; rows of waits, "
	       "causes, ranks\n");
	apart(large, 1);
	apart(small, 4);
	apart(small, 64);
	return 0;
}
