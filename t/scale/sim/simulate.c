/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * simulate [KEY=VALUE]... AGENTS...: the end of a job with so many agents, all in this process
 * (job.h), a row for each number of agents, and below how each column grows. With runs=K as many
 * runs of each number, with successive seeds, and no table. Status 1 if a result is not what it
 * must be. Keys and their defaults are below.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nodeagent/base/util.h"
#include "t/scale/sim/growth.h"
#include "t/scale/sim/job.h"

static struct settings {
	double ranks, stacks, own, latency_us, gbit, cost_us, cpu, delayed, delay_s, notice_s,
		rootless, by_rank;
	double delayed_from_s, seed, deadline_s, skew_s, deaths, check, wrong, runs, at, prune;
	const char *shape, *placement, *write;
} set = {
	.ranks = 64,
	.stacks = 10000,
	.own = 10,
	.latency_us = 20,
	.gbit = 10,
	.cost_us = 2,
	.cpu = 1,
	.notice_s = 1,
	.seed = 1,
	.deadline_s = 60,
	.runs = 1,
	.at = 4096,
	.prune = 1000000,
	.shape = "halo",
	.placement = "block",
};

static const struct {
	const char *name;
	double *number;
	const char **text;
} keys[] = {
	{"ranks", &set.ranks, NULL},	       /* of each node */
	{"stacks", &set.stacks, NULL},	       /* of each node */
	{"own", &set.own, NULL},	       /* ... percent that no other node has */
	{"shape", NULL, &set.shape},	       /* none, halo, all or dice: node-profile.h */
	{"placement", NULL, &set.placement},   /* of ranks: block or cyclic */
	{"by_rank", &set.by_rank, NULL},       /* 1: more lists have rows for each rank */
	{"latency_us", &set.latency_us, NULL}, /* of a message */
	{"gbit", &set.gbit, NULL},	       /* of each node's link, in a second */
	{"cost_us", &set.cost_us, NULL},       /* of sending or receiving a message */
	{"cpu", &set.cpu, NULL},	       /* seconds for one that is computed; 0: none */
	{"delayed", &set.delayed, NULL},       /* of 1 000 messages */
	{"delayed_from_s", &set.delayed_from_s,
		NULL},			   /* ... sent then or later; the job ends at 10 s */
	{"delay_s", &set.delay_s, NULL},   /* ... by at most so much */
	{"notice_s", &set.notice_s, NULL}, /* until a death is known, at most */
	{"seed", &set.seed, NULL}, {"deadline_s", &set.deadline_s, NULL}, /* agent.deadline_s */
	{"skew_s", &set.skew_s, NULL},					  /* nodes end within it */
	{"deaths", &set.deaths, NULL},					  /* agents that die */
	{"rootless", &set.rootless, NULL}, /* 1: agent 0 is one more, and there is no summary */
	{"wrong", &set.wrong, NULL},	   /* 1: one call too many, which check=1 must see */
	{"prune", &set.prune, NULL},	   /* from more call paths of the job on; 1e9: never */
	{"check", &set.check, NULL},	   /* 1: the result, byte for byte */
	{"runs", &set.runs, NULL},
	{"at", &set.at, NULL},	     /* what the laws say of so many agents is printed, too */
	{"write", NULL, &set.write}, /* a folder for the summary */
};

static const struct {
	const char *name;
	enum traffic_shape shape;
} shapes[] = {
	{"none", SHAPE_NONE},
	{"halo", SHAPE_HALO},
	{"all", SHAPE_ALL},
	{"dice", SHAPE_DICE},
};

static bool set_one(const char *word)
{
	const char *value = strchr(word, '=');
	char *end;

	for (size_t i = 0; value && i < ARRAY_SIZE(keys); i++) {
		if (strlen(keys[i].name) != (size_t)(value - word) ||
			strncmp(keys[i].name, word, (size_t)(value - word)))
			continue;
		if (keys[i].text) {
			*keys[i].text = value + 1;
			return true;
		}
		*keys[i].number = strtod(value + 1, &end);
		return end != value + 1 && !*end && *keys[i].number >= 0;
	}
	return false;
}

static struct job job_of(int n, uint64_t seed)
{
	struct job j = {.world = {.n = n,
				.latency_s = set.latency_us * 1e-6,
				.bytes_per_s = set.gbit * 1e9 / 8,
				.cost_s = set.cost_us * 1e-6,
				.cpu = set.cpu,
				.delayed = (unsigned)set.delayed,
				.delayed_from_s = set.delayed_from_s,
				.delay_s = set.delay_s,
				.notice_s = set.notice_s,
				.seed = seed},
		.shape = {.n = n,
			.ranks = (uint32_t)set.ranks,
			.stacks = (uint32_t)set.stacks,
			.own = (uint32_t)(set.stacks * set.own / 100),
			.cyclic = !strcmp(set.placement, "cyclic"),
			.by_rank = set.by_rank > 0},
		.deadline_s = set.deadline_s,
		.skew_s = set.skew_s,
		.deaths = (int)set.deaths,
		.rootless = set.rootless > 0,
		.check = set.check > 0,
		.prune = set.prune < 1e9 ? (int)set.prune : -1,
		.wrong = set.wrong > 0,
		.write = set.write};
	bool known = false;

	for (size_t i = 0; i < ARRAY_SIZE(shapes); i++)
		if (!strcmp(shapes[i].name, set.shape)) {
			j.shape.traffic = shapes[i].shape;
			known = true;
		}
	if (!known || !j.shape.ranks || !j.shape.stacks || j.shape.own >= j.shape.stacks)
		die(2, "shape=%s with %g ranks and %g call paths, %g %% of its own: no such node",
			set.shape, set.ranks, set.stacks, set.own);
	if (!j.shape.cyclic && strcmp(set.placement, "block"))
		die(2, "placement=%s: it is block or cyclic", set.placement);
	return j;
}

/* ---- the table ------------------------------------------------------------------------ */

struct column {
	const char *head, *below, *format;
	double (*of)(const struct job_result *r);
};

#define COLUMN(name, value)                                                                        \
	static double name(const struct job_result *r)                                             \
	{                                                                                          \
		return value;                                                                      \
	}
COLUMN(directory_time, r->directory_s)
COLUMN(collation_time, r->collated_s - r->directory_s)
COLUMN(writing_time, r->summary_s - r->collated_s)
COLUMN(summary_time, r->summary_s)
COLUMN(end_time, r->last_end_s)
COLUMN(root_messages, (double)r->messages)
COLUMN(root_megabytes, (double)r->bytes / 1e6)
COLUMN(root_memory, r->root_mb)
COLUMN(other_memory, r->most_mb)
COLUMN(median_memory, r->half_mb)
COLUMN(all_stacks, r->stacks)
COLUMN(all_places, r->places)

static const struct column columns[] = {
	{"directory", "s", "%10.4f", directory_time},
	{"collation", "s", "%10.4f", collation_time},
	{"writing", "s", "%10.4f", writing_time},
	{"summary", "after s", "%10.4f", summary_time},
	{"all ended", "after s", "%10.4f", end_time},
	{"agent 0:", "messages", "%10.0f", root_messages},
	{"", "MB moved", "%10.2f", root_megabytes},
	{"", "memory MB", "%10.1f", root_memory},
	{"another:", "memory MB", "%10.1f", other_memory},
	{"half of", "them MB", "%10.1f", median_memory},
	{"paths in", "summary", "%10.0f", all_stacks},
	{"runs of", "ranks", "%10.0f", all_places},
};

static void print_row(const struct job_result *r)
{
	printf("%7d", r->n);
	for (size_t i = 0; i < ARRAY_SIZE(columns); i++)
		printf(columns[i].format, columns[i].of(r));
	printf("\n");
	fflush(stdout);
}

static void print_head(void)
{
	printf("%7s", "agents");
	for (size_t i = 0; i < ARRAY_SIZE(columns); i++)
		printf("%10s", columns[i].head);
	printf("\n%7s", "");
	for (size_t i = 0; i < ARRAY_SIZE(columns); i++)
		printf("%10s", columns[i].below);
	printf("\n");
}

static void print_growth(const struct job_result *r, size_t n)
{
	double *at = xcalloc(n, sizeof(*at)), *y = xcalloc(n, sizeof(*y));

	printf("\nagents: N. Fitted, and for N = %g:\n", set.at);
	for (size_t k = 0; k < ARRAY_SIZE(columns); k++) {
		struct growth g;

		for (size_t i = 0; i < n; i++) {
			at[i] = r[i].n;
			y[i] = columns[k].of(&r[i]);
		}
		g = growth_fit(at, y, n);
		printf("%9s %-10s %12.6g + %.6g * %-9s +- %2.0f %%   %.6g\n", columns[k].head,
			columns[k].below, g.base, g.factor, g.law, 100 * g.error,
			growth_at(&g, set.at));
	}
	free(at);
	free(y);
}

/* ---- many runs -------------------------------------------------------------------------- */

static int run_many(int n)
{
	int failed = 0, missing = 0, died = 0;

	for (int k = 0; k < (int)set.runs; k++) {
		const struct job j = job_of(n, (uint64_t)set.seed + (uint64_t)k);
		struct job_result r;

		failed += !job_run(&j, &r);
		missing += r.missing;
		died += r.died;
	}
	printf("%d runs of %d agents: %d died, %d missing in summaries, %d runs failed\n",
		(int)set.runs, n, died, missing, failed);
	fflush(stdout);
	return failed;
}

int main(int argc, char **argv)
{
	struct job_result *results = xcalloc((size_t)argc, sizeof(*results));
	size_t n_results = 0;
	int failed = 0, n = 0;

	program_name = "simulate";
	for (int i = 1; i < argc; i++) {
		struct job j;

		if (strchr(argv[i], '=')) {
			if (n || !set_one(argv[i]))
				die(2,
					n ? "%s: settings come before numbers of agents"
					  : "no such setting: %s",
					argv[i]);
			continue;
		}
		n = atoi(argv[i]);
		if (n < 1 || n > 65536)
			die(2, "%s: a number of agents is 1 to 65536", argv[i]);
		if (set.runs > 1) {
			failed += run_many(n);
			continue;
		}
		if (!n_results)
			print_head();
		j = job_of(n, (uint64_t)set.seed);
		failed += !job_run(&j, &results[n_results]);
		print_row(&results[n_results++]);
	}
	if (n_results >= 3)
		print_growth(results, n_results);
	free(results);
	return failed ? 1 : 0;
}
