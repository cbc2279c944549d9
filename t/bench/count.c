/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * count DIRECTORY: the parts of the agent and the tools that do the work, each on the same
 * input every time, for callgrind to count their instructions (t/bench/count). Each part
 * ends with a dump that has its name, and with a line "PART EVENTS". What a part makes goes
 * into DIRECTORY.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <valgrind/callgrind.h>

#include "conf/conf.h"
#include "nodeagent/gather/gather.h"
#include "nodeagent/profile/merge.h"
#include "nodeagent/html/json-tree.h"
#include "nodeagent/html/page/page.h"
#include "nodeagent/report/output.h"
#include "nodeagent/report/report.h"
#include "nodeagent/profile/profile.h"
#include "nodeagent/profile/vfp.h"
#include "t/lib/traced.h"
#include "t/unit/profile/random-profile.h"
#include "t/unit/trace/vfd-by-hand.h"

#define BLOCKS	   200u /* of records for each part */
#define RING_BYTES (4u << 20)
#define NODES	   16u
#define STACKS	   300u
#define PATHS	   20000u

static const char *dir;

static void begin(void)
{
	CALLGRIND_ZERO_STATS;
	CALLGRIND_START_INSTRUMENTATION;
}

static void end(const char *part, uint64_t events)
{
	CALLGRIND_STOP_INSTRUMENTATION;
	CALLGRIND_DUMP_STATS_AT(part);
	printf("%s %llu\n", part, (unsigned long long)events);
}

static void fill(struct app *p, unsigned kind)
{
	const uint64_t until = p->ring.producer->head + BLOCKS * (uint64_t)BLOCK_BYTES;
	struct dice d = {.state = 5}, loop = {.state = 7};

	p->events = p->tickets = 0;
	while (p->ring.producer->head < until) {
		if (kind == 4 && !throw_dice(&loop, 8))
			d = (struct dice){.state = 5}; /* about what it did before */
		if (kind == 0 || kind == 4)
			functions(p, &d, 0);
		else if (kind == 1)
			blocking(p, p->process->rank == 0, p->ticks + TICKS, p->ticks + 2 * TICKS);
		else if (kind == 2)
			nonblocking(p, p->process->rank == 0);
		else
			together(p, p->ticks + TICKS, p->ticks + 2 * TICKS);
	}
	publish(p);
}

static void sampling_file(const char *active)
{
	set("sampling.active", active);
	set("sampling.sample_interval", "0");
}

static void replay_once(const char *part, const char *key, const char *value)
{
	static struct app p;
	uint64_t events;

	prepare(dir, RING_BYTES);
	sampling_file("false");
	set(key, value);
	attach(&p, first_ticks(), -1, 0);
	fill(&p, 0); /* the call tree grows */
	drained(&p);
	fill(&p, 0);
	begin();
	events = drained(&p);
	end(part, events);
	detach(&p);
}

static void replay_repeated(const char *part, const char *sampling)
{
	static struct app p;
	uint64_t events;

	prepare(dir, RING_BYTES);
	sampling_file(sampling);
	attach(&p, first_ticks(), -1, 0);
	for (int i = 0; i < 8; i++) { /* it is learnt */
		fill(&p, 4);
		drained(&p);
	}
	fill(&p, 4);
	begin();
	events = drained(&p);
	end(part, events);
	detach(&p);
}

static void replays(void)
{
	replay_once("drain+replay", "iterations.active", "true");
	replay_once("drain+replay-no-iterations", "iterations.active", "false");
	replay_once("drain+replay+sampling", "sampling.active", "true");

	replay_repeated("drain+replay-repeated", "false");
	replay_repeated("drain+replay+sampling-repeated", "true");
}

static void communication(void)
{
	static const char *const names[] = {
		NULL, "replay-messages", "replay-requests", "replay-collectives"};
	static struct app p, q;
	uint64_t events;

	for (unsigned kind = 1; kind < ARRAY_SIZE(names); kind++) {
		prepare(dir, RING_BYTES);
		sampling_file("false");
		attach(&p, first_ticks(), 0, 2);
		attach(&q, first_ticks(), 1, 2);
		fill(&p, kind);
		fill(&q, kind);
		begin();
		events = drained(&p);
		events += drained(&q);
		end(names[kind], events);
		detach(&p);
		detach(&q);
	}
}

/* ---- the sampling file --------------------------------------------------------------- */

static void encoder(void)
{
	struct vfd_setup s = {.way = OUTFILE_PWRITE};
	struct hand h = {.state = 5};
	uint32_t stacks[HAND_TRACKS][4];
	uint64_t events = 0;

	s.path = xasprintf("%s/encoder.vfd", dir);
	hand_begin(&h, &s);
	hand_run(&h, 20000, 400); /* call paths become known */
	for (uint32_t track = 0; track < HAND_TRACKS; track++) {
		while (h.n_open[track])
			hand_exit(&h, track);
		for (uint32_t i = 0; i < ARRAY_SIZE(stacks[0]); i++)
			stacks[track][i] = hand_stack(&h, track, 0, i);
	}
	begin();
	for (uint32_t i = 0; i < 200000; i++) {
		const uint32_t track = i % HAND_TRACKS;
		const uint32_t stack = stacks[track][i / HAND_TRACKS % ARRAY_SIZE(stacks[0])];

		vfd_enter(h.tracks[track], stack, h.ticks[track] += 100);
		vfd_exit(h.tracks[track], stack, h.ticks[track] += 100);
		events += 2;
	}
	end("encode-calls", events);
	begin();
	for (uint32_t i = 0; i < 20000; i++) {
		h.ticks[i % 4] += 100;
		hand_message(&h, i % 4);
	}
	end("encode-messages", 20000);
	hand_end(&h);
	hand_free(&h);
}

/* ---- profiles --------------------------------------------------------------------------- */

/* Its JSON, read back, and the page. */
static void write_report(const struct profile *p, const struct conf *c)
{
	char *error, *text;
	size_t bytes;
	struct report report;
	struct json_tree *all;
	FILE *f = open_memstream(&text, &bytes);

	report_init(&report, p, c, NULL, 0);
	report.log = REPORT_SUMMARY;
	all = json_tree_of(output_json_of, &report, &error);
	if (!all || !f)
		die(99, "%s", error ? error : "out of memory");
	pages_write(f, &(struct page_run){"count", all}, 1);
	fclose(f);
	free(text);
	json_tree_free(all);
	report_done(&report);
}

/* A tree of PATHS paths, each with other numbers. */
static struct profile *many_paths(void)
{
	struct profile *p = profile_new();

	p->ranks = p->world_size = 2;
	p->n_names = 300;
	p->names = xcalloc(p->n_names, sizeof(*p->names));
	for (size_t i = 0; i < p->n_names; i++)
		p->names[i] = i ? xasprintf("solver_of_equations_%zu", i) : xstrdup("init");
	p->n_stacks = PATHS;
	p->stacks = xcalloc(PATHS, sizeof(*p->stacks));
	for (uint32_t i = 0; i < PATHS; i++) {
		const uint64_t ns = (i + UINT64_C(1)) * 123457;

		p->stacks[i] = (struct profile_stack){
			.hash = (i + UINT64_C(1)) << 40 | 0xabcd,
			.parent = i ? (i - 1) / 3 : PROFILE_NONE,
			.name = i ? 1 + i % 299 : 0,
			.calls = i,
			.incl_ns = ns,
			.excl_ns = ns / 2,
			.ranks = 2,
			.rank_max = 1,
			.excl_min_ns = ns / 8,
			.excl_max_ns = ns / 8 * 3,
			.excl_sumsq_ns2 = (unsigned __int128)ns * ns / 7,
			.first_ns = i + 1,
		};
	}
	return p;
}

static void json_of_many_paths(void)
{
	struct profile *p = many_paths();
	struct conf *conf = conf_default();
	FILE *f = fopen("/dev/null", "w");

	if (!f)
		die(99, "/dev/null");
	begin();
	output_json(p, conf, f);
	end("json-of-paths", p->n_stacks);
	fclose(f);
	profile_free(p);
	conf_free(conf);
}

static void profiles(void)
{
	struct profile *node[NODES], *whole = NULL;
	unsigned char *bytes[NODES];
	size_t n[NODES];
	struct dice d = {.state = 5};
	struct conf *conf = conf_default();
	char *error = NULL;

	for (uint32_t i = 0; i < NODES; i++)
		node[i] = random_profile(&d, i, STACKS, UINT64_MAX);
	begin();
	for (uint32_t i = 0; i < NODES; i++)
		if (vfp_encode(node[i], &bytes[i], &n[i]))
			die(99, "out of memory");
	end("vfp-encode", NODES);
	for (uint32_t i = 0; i < NODES; i++)
		profile_free(node[i]);
	begin();
	for (uint32_t i = 0; i < NODES; i++)
		node[i] = vfp_decode(bytes[i], n[i], &error);
	end("vfp-decode", NODES);
	begin();
	for (uint32_t i = 0; i < NODES; i++)
		whole = profile_merge(whole, node[i]);
	end("merge", NODES);
	begin();
	if (output_summary(whole, conf, dir, "count", &error))
		die(99, "%s", error);
	end("log+json", whole->n_stacks);
	begin();
	write_report(whole, conf);
	end("report", whole->n_stacks);
	profile_free(whole);
}

int main(int argc, char **argv)
{
	if (argc != 2)
		die(2, "usage: count DIRECTORY");
	dir = argv[1];
	program_name = "count";
	replays();
	communication();
	encoder();
	profiles();
	json_of_many_paths();
	return 0;
}
