/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The profile of a round is that of each process less what it was before. The one who
 * writes a round leaves these profiles in a file in memory, which the next one inherits.
 */
#include "nodeagent/rounds.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "nodeagent/agent.h"
#include "nodeagent/drain.h"
#include "nodeagent/finish.h"
#include "nodeagent/gather-mpi.h"
#include "nodeagent/gather.h"
#include "nodeagent/interim.h"
#include "nodeagent/matching.h"
#include "nodeagent/merge.h"
#include "nodeagent/process.h"
#include "nodeagent/profile-mpi.h"
#include "nodeagent/profile.h"
#include "nodeagent/sampling.h"
#include "nodeagent/subtract.h"
#include "nodeagent/user-counters.h"
#include "nodeagent/util.h"
#include "nodeagent/vfp.h"

#define ROUNDS_MAX 100 /* that have files of their own */

/* In the file, before the bytes of a profile: of a process, or (pid 0) of all together. */
struct earlier {
	int64_t pid;
	uint64_t start_ticks, ended, bytes;
};

static struct {
	uint32_t round;			/* that goes on, 0: none yet */
	int before;			/* what the last one has left, or -1 */
	int after;			/* for the next one */
	uint64_t began[ROUNDS_MAX + 1]; /* ticks */
} now = {.before = -1, .after = -1};

unsigned rounds_at(uint64_t ticks)
{
	unsigned round = now.round < ROUNDS_MAX ? now.round : ROUNDS_MAX;

	while (round > 1 && ticks < now.began[round])
		round--;
	return round;
}

/* Those that no process of this node was in took no time here. */
static void set_round(struct agent *a, uint32_t round)
{
	const uint64_t ticks = agent_ticks(a);

	for (uint32_t i = now.round + 1; i <= round && i <= ROUNDS_MAX; i++)
		now.began[i] = ticks;
	now.round = round;
	sampling_round(a, round, ticks);
}

bool rounds_begun(void)
{
	return now.round > 0;
}

void rounds_begin(struct agent *a, uint32_t epoch)
{
	uint32_t over = now.round;

	if (epoch <= over)
		return;
	if (over && over < ROUNDS_MAX) {
		for (struct process *p = a->processes; p; p = p->next)
			drain_process(p);
		matching_round_over(a, over);
		now.after = memfd_create("round", MFD_CLOEXEC);
		if (now.after >= 0)
			interim_round(a);
		else
			agent_warn(a, false, "round %u has no files of its own: %s", over,
				strerror(errno));
		if (now.before >= 0)
			close(now.before);
		now.before = now.after;
		now.after = -1;
		for (struct process *p = a->processes; p; p = p->next)
			user_counters_new_round(p->user_counters);
	}
	if (epoch == ROUNDS_MAX)
		agent_warn(a, false, "rounds from %u on have no files of their own", ROUNDS_MAX);
	set_round(a, epoch);
}

/* ---- what the last one has left ------------------------------------------------ */

static size_t padded(size_t bytes)
{
	return (bytes + 7) & ~(size_t)7;
}

static const char *map_file(int fd, size_t *bytes)
{
	struct stat st;
	void *at = MAP_FAILED;

	*bytes = 0;
	if (fd >= 0 && !fstat(fd, &st) && st.st_size)
		at = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (at == MAP_FAILED)
		return NULL;
	*bytes = (size_t)st.st_size;
	return at;
}

/* What there was of a process; NULL: nothing. */
static const struct earlier *find(const char *at, size_t bytes, int64_t pid, uint64_t start_ticks)
{
	size_t used = 0;

	while (used < bytes && bytes - used >= sizeof(struct earlier)) {
		const struct earlier *e = (const void *)(at + used);

		if (e->bytes > bytes - used - sizeof(*e))
			return NULL;
		if (e->pid == pid && e->start_ticks == start_ticks)
			return e;
		used += sizeof(*e) + padded(e->bytes);
	}
	return NULL;
}

static bool put(const void *from, size_t bytes)
{
	return write(now.after, from, bytes) == (ssize_t)bytes;
}

/* It is not there for the next round if that fails: then that has it from the beginning. */
static void leave(const struct process *p, const struct profile *one)
{
	static const char zeros[8];
	struct earlier e = {.pid = p ? p->pid : 0, .start_ticks = p ? p->start_ticks : 0};
	unsigned char *buf;
	size_t bytes;

	e.ended = p && p->end != PROCESS_RUNNING;
	if (now.after < 0 || vfp_encode(one, &buf, &bytes))
		return;
	e.bytes = bytes;
	if (!put(&e, sizeof(e)) || !put(buf, bytes) || !put(zeros, padded(bytes) - bytes))
		now.after = -1;
	free(buf);
}

/* ---- the round ------------------------------------------------------------------ */

/*
 * Its profile alone; gather_ranks() was called. Processes without a rank have the same
 * number in all rounds, whoever is in them.
 */
static struct profile *profile_of(struct agent *a, const struct process *p)
{
	struct profile *one = gather(a, p);

	one->unranked = a->n_ever;
	return one;
}

/* Merging drops processes, and would number those without a rank. */
static struct profile *add(struct profile *node, struct profile *one)
{
	struct profile_process *all = node ? node->processes : NULL;
	const size_t n = node ? node->n_processes : 0, more = one->n_processes;

	all = xrealloc(all, (n + more) * sizeof(*all) + 1);
	memcpy(all + n, one->processes, more * sizeof(*all));
	free(one->processes);
	one->processes = NULL;
	one->n_processes = 0;
	one->unranked = 0;
	if (node) {
		node->processes = NULL;
		node->n_processes = 0;
		free(one->agents->host);
		free(one->agents->place);
		one->n_agents = 0;
		node = profile_merge(node, one);
	} else {
		node = one;
	}
	node->processes = all;
	node->n_processes = n + more;
	return node;
}

static int by_rank(const void *x, const void *y)
{
	const struct profile_process *a = x, *b = y;

	return a->rank < b->rank ? -1 : a->rank > b->rank;
}

/* The number in this round, from PROFILE_UNRANKED on; others stay. PROFILE_NONE: not in it. */
static uint32_t in_round(const struct profile *p, uint32_t rank)
{
	uint32_t k = 0;

	if (rank < PROFILE_UNRANKED || rank == PROFILE_ELSEWHERE)
		return rank;
	for (size_t i = 0; i < p->n_processes; i++) {
		if (p->processes[i].rank == rank)
			return PROFILE_UNRANKED + k;
		k += p->processes[i].rank >= PROFILE_UNRANKED;
	}
	return PROFILE_NONE;
}

/* Threads that are at no place go with their processes; those that stay keep their order. */
static void settle_openmp(struct profile *p)
{
	uint32_t *to = xmalloc((p->n_openmp_threads + 1) * sizeof(*to)), kept = 0;

	for (size_t i = 0; i < p->n_openmp_threads; i++) {
		struct profile_openmp_thread t = p->openmp_threads[i];
		const uint32_t rank = in_round(p, t.rank);

		to[i] = PROFILE_NONE;
		if (rank == PROFILE_NONE ||
			(t.parent != PROFILE_NONE && to[t.parent] == PROFILE_NONE)) {
			free(t.threads);
			continue;
		}
		to[i] = kept;
		t.rank = rank;
		t.parent = t.parent == PROFILE_NONE ? PROFILE_NONE : to[t.parent];
		p->openmp_threads[kept++] = t;
	}
	p->n_openmp_threads = kept;
	free(to);
}

static uint32_t in_round_or_elsewhere(const struct profile *p, uint32_t rank)
{
	const uint32_t in = in_round(p, rank);

	return in == PROFILE_NONE ? PROFILE_ELSEWHERE : in;
}

static void combine(struct profile *p, size_t array)
{
	for (size_t i = 0; i < PROFILE_N_LISTS; i++)
		if (profile_lists[i].array == array)
			gather_combine(p, &profile_lists[i]);
}

static void settle_threads(struct profile *p)
{
	size_t kept = 0;

	for (size_t i = 0; i < p->n_each; i++)
		p->each[i].rank = in_round(p, p->each[i].rank);
	for (size_t i = 0; i < p->n_thread_ranges; i++) {
		p->thread_ranges[i].rank_min = in_round(p, p->thread_ranges[i].rank_min);
		p->thread_ranges[i].rank_max = in_round(p, p->thread_ranges[i].rank_max);
	}
	for (size_t i = 0; i < p->n_thread_pairs; i++) {
		p->thread_pairs[i].from = in_round_or_elsewhere(p, p->thread_pairs[i].from);
		p->thread_pairs[i].to = in_round_or_elsewhere(p, p->thread_pairs[i].to);
	}
	combine(p, offsetof(struct profile, thread_pairs));
	for (size_t i = 0; i < p->n_user_counters; i++) {
		struct profile_user_counter c = p->user_counters[i];

		c.rank = in_round(p, c.rank);
		if (c.rank == PROFILE_NONE)
			free(c.name);
		else
			p->user_counters[kept++] = c;
	}
	p->n_user_counters = kept;
	combine(p, offsetof(struct profile, user_counters));
	settle_openmp(p);
}

/*
 * Who used a GPU first may have ended before this round: then the least rank of the round
 * that uses one of that number stands for it, or the first of all.
 */
static uint32_t user_in_round(const struct profile *p, const struct profile_gpu_device *d)
{
	uint32_t least = in_round(p, d->rank);

	if (least != PROFILE_NONE || !p->n_processes)
		return least;
	for (size_t i = 0; i < p->n_gpu_streams; i++)
		if (p->gpu_streams[i].device == d->number && p->gpu_streams[i].rank < least)
			least = p->gpu_streams[i].rank;
	return least != PROFILE_NONE ? least : in_round(p, p->processes[0].rank);
}

static void settle_gpus(struct profile *p)
{
	size_t kept = 0;

	for (size_t i = 0; i < p->n_gpu_streams; i++)
		p->gpu_streams[i].rank = in_round(p, p->gpu_streams[i].rank);
	for (size_t i = 0; i < p->n_gpu_devices; i++) {
		struct profile_gpu_device d = p->gpu_devices[i];

		d.rank = user_in_round(p, &d);
		if (d.rank == PROFILE_NONE)
			free(d.name);
		else
			p->gpu_devices[kept++] = d;
	}
	p->n_gpu_devices = kept;
}

/* By rank; those without one have the numbers 0, 1 ... */
static void settle_ranks(struct profile *p)
{
	size_t kept = 0;
	uint32_t k = 0;

	qsort(p->processes, p->n_processes, sizeof(*p->processes), by_rank);
	for (size_t i = 0; i < p->n_stacks; i++) {
		p->stacks[i].rank_min = in_round(p, p->stacks[i].rank_min);
		p->stacks[i].rank_max = in_round(p, p->stacks[i].rank_max);
	}
	for (size_t i = 0; i < p->n_functions; i++) {
		p->functions[i].rank_min = in_round(p, p->functions[i].rank_min);
		p->functions[i].rank_max = in_round(p, p->functions[i].rank_max);
	}
	for (size_t i = 0; i < p->n_open; i++) {
		p->open[i].rank_min = in_round(p, p->open[i].rank_min);
		p->open[i].rank_max = in_round(p, p->open[i].rank_max);
	}
	for (size_t i = 0; i < p->n_dead; i++)
		p->dead[i].rank = in_round(p, p->dead[i].rank);
	settle_gpus(p);
	settle_threads(p);
	for (size_t i = 0; i < p->n_pairs; i++) {
		struct profile_pair q = p->pairs[i];

		q.from = in_round(p, q.from);
		q.to = in_round(p, q.to);
		if (q.from != PROFILE_NONE && q.to != PROFILE_NONE)
			p->pairs[kept++] = q;
	}
	p->n_pairs = kept;
	for (size_t i = 0; i < p->n_processes; i++)
		if (p->processes[i].rank >= PROFILE_UNRANKED)
			p->processes[i].rank = PROFILE_UNRANKED + k++;
	p->unranked = k;
}

/* All are on this node. */
static void settle_places(struct profile *p)
{
	size_t kept = 0;

	for (size_t i = 0; i < p->n_places; i++) {
		if (p->places[i].first < PROFILE_UNRANKED)
			p->places[kept++] = p->places[i];
		else
			free(p->places[i].host);
	}
	if (p->unranked) {
		p->places = xrealloc(p->places, (kept + 1) * sizeof(*p->places));
		p->places[kept++] = (struct profile_place){PROFILE_UNRANKED,
			PROFILE_UNRANKED + p->unranked - 1, xstrdup(p->agents->host)};
	}
	p->n_places = kept;
}

/* All rounds have the name of the whole run, whoever was in them. */
static void set_name(const struct agent *a, struct profile *to)
{
	const struct process *first = NULL;
	const char *slash;

	for (const struct process *p = a->processes; p; p = p->next)
		if (p->greeted && p->ended &&
			(!first || p->rank < first->rank ||
				(p->rank == first->rank && p->start_ticks < first->start_ticks)))
			first = p;
	slash = strrchr(first->executable, '/');
	free(to->application);
	to->application = xstrdup(slash ? slash + 1 : first->executable);
}

static uint32_t rank_of_process(void *unused, const struct process *p)
{
	return p->greeted && p->ended ? (uint32_t)p->rank : PROFILE_ELSEWHERE;
}

/* What only the whole node can say. */
static void add_node(struct agent *a, struct profile *round, const char *at, size_t bytes)
{
	const struct earlier *e = find(at, bytes, 0, 0);
	struct profile *all = gather(a, NULL), *before = NULL;
	char *error = NULL;

	leave(NULL, all);
	if (e)
		before = vfp_decode((const unsigned char *)(e + 1), e->bytes, &error);
	free(error);
	profile_subtract_node(round, all, before);
	matching_store_round(a, now.round, round, rank_of_process, NULL);
	profile_free(all);
	profile_free(before);
}

static int write_round(struct agent *a, struct profile *p)
{
	set_name(a, p);
	settle_ranks(p);
	settle_places(p);
	p->agents->processes = p->ranks;
	p->agents->records = p->records;
	profile_warn(p, "these are the results of round %u alone", now.round);
	return agent_write_round(a, p, now.round);
}

int rounds_write(struct agent *a)
{
	struct profile *node = NULL;
	size_t bytes;
	const char *at = map_file(now.before, &bytes);
	int failed;

	for (struct process *p = a->processes; p; p = p->next) {
		const struct earlier *e =
			p->greeted ? find(at, bytes, p->pid, p->start_ticks) : NULL;
		struct profile *one, *before = NULL;
		char *error = NULL;

		if (!p->greeted || !p->ended)
			continue;
		user_counters_only_round(p->user_counters);
		one = profile_of(a, p);
		leave(p, one);
		if (e)
			before = vfp_decode((const unsigned char *)(e + 1), e->bytes, &error);
		free(error);
		profile_subtract(one, before);
		if (e && e->ended)
			profile_free(one);
		else
			node = add(node, one);
		profile_free(before);
	}
	if (!node)
		return 0;
	add_node(a, node, at, bytes);
	failed = write_round(a, node);
	profile_free(node);
	return failed;
}

/* ---- at the end of the run ------------------------------------------------------- */

/* In the profile of a round. */
static uint32_t rank_by_pid(void *arg, const struct process *p)
{
	const struct profile *round = arg;

	for (size_t i = 0; i < round->n_processes; i++)
		if (round->processes[i].pid == p->pid)
			return round->processes[i].rank;
	return PROFILE_ELSEWHERE;
}

/* Messages between nodes have been matched now: those of a round that is over, too. */
static int complete(struct agent *a, const struct profile *like, unsigned round)
{
	char *error;
	struct profile *p = agent_read_round(a, like, round, &error);
	int failed = error != NULL;

	if (error)
		agent_warn(a, false, "round %u: %s", round, error);
	free(error);
	if (p && matching_store_round(a, round, p, rank_by_pid, p))
		failed = agent_write_round(a, p, round);
	profile_free(p);
	return failed;
}

int rounds_end(struct agent *a)
{
	struct profile *like;
	int failed = 0;

	if (now.round < 2 || a->adopted)
		return 0;
	like = profile_new();
	set_name(a, like);
	for (unsigned i = 1; i < now.round && i < ROUNDS_MAX; i++)
		failed |= complete(a, like, i);
	profile_free(like);
	return now.round < ROUNDS_MAX ? failed | rounds_write(a) : failed;
}
