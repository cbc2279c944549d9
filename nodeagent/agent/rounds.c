/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The profile of a round is that of each process less what it was before. The one who
 * writes a round leaves these profiles in a file in memory, which the next one inherits.
 */
#include "nodeagent/agent/rounds.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "nodeagent/agent/roles/agent.h"
#include "nodeagent/process/drain.h"
#include "nodeagent/agent/finish.h"
#include "nodeagent/gather/gather.h"
#include "nodeagent/agent/snapshot.h"
#include "nodeagent/internode/matching.h"
#include "nodeagent/profile/merge.h"
#include "nodeagent/process/process.h"
#include "nodeagent/process/rounds.h"
#include "nodeagent/profile/lists.h"
#include "nodeagent/profile/profile.h"
#include "nodeagent/recorder/recorder.h"
#include "nodeagent/profile/subtract.h"
#include "nodeagent/replay/user-counters.h"
#include "nodeagent/base/util.h"
#include "nodeagent/profile/vfp.h"

/* In the file, before the bytes of a profile: of a process, or (pid 0) of all together. */
struct earlier {
	int64_t pid;
	uint64_t start_ticks, ended, bytes;
};

struct rounds {
	struct round_times times;
	int before;    /* what the last one has left, or -1 */
	int after;     /* for the next one */
	unsigned from; /* the first round whose calls are not in files of an earlier one */
};

static struct rounds *rounds_of(struct agent *a)
{
	if (!a->rounds) {
		a->rounds = xcalloc(1, sizeof(*a->rounds));
		a->rounds->before = a->rounds->after = -1;
		a->rounds->from = 1;
		a->host.rounds = &a->rounds->times;
	}
	return a->rounds;
}

/* Those that no process of this node was in took no time here. */
static void set_round(struct agent *a, uint32_t round)
{
	struct round_times *t = &a->rounds->times;
	const uint64_t ticks = host_ticks(&a->host);

	for (uint32_t i = t->round + 1; i <= round && i <= ROUNDS_MAX; i++)
		t->began[i] = ticks;
	t->round = round;
	recorder_round(&a->host, round, ticks);
}

/* What it leaves is for the next one. */
static void leave_round(struct agent *a, struct rounds *r, uint32_t over)
{
	r->after = memfd_create("round", MFD_CLOEXEC);
	if (r->after < 0) {
		host_warn(&a->host, false, "round %u has no files of its own: %s", over,
			strerror(errno));
	} else if (!snapshot_round(a)) {
		host_warn(&a->host, false,
			"round %u has no files of its own, as those of rounds before are still "
			"being written: it is in those of the next round",
			over);
		close(r->after);
		r->after = r->before;
		r->before = -1;
	} else {
		r->from = over + 1;
	}
	if (r->before >= 0)
		close(r->before);
	r->before = r->after;
	r->after = -1;
}

void rounds_begin(struct agent *a, uint32_t epoch)
{
	const uint32_t over = a->rounds ? a->rounds->times.round : 0;
	struct rounds *r;

	if (epoch <= over)
		return;
	r = rounds_of(a);
	if (over && over < ROUNDS_MAX) {
		for (struct process *p = a->host.processes; p; p = p->next)
			drain_process_now(p);
		matching_round_over(&a->host, over);
		leave_round(a, r, over);
		for (struct process *p = a->host.processes; p; p = p->next)
			user_counters_new_round(p->user_counters);
	}
	if (epoch == ROUNDS_MAX)
		host_warn(&a->host, false,
			"rounds from %u on have no files of their own, as %u is the most",
			ROUNDS_MAX, ROUNDS_MAX - 1);
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
static const struct earlier *find_earlier(
	const char *at, size_t bytes, int64_t pid, uint64_t start_ticks)
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

static bool put_bytes(const struct rounds *r, const void *from, size_t bytes)
{
	return write(r->after, from, bytes) == (ssize_t)bytes;
}

/* It is not there for the next round if that fails: then that has it from the beginning. */
static void leave_profile(struct rounds *r, const struct process *p, const struct profile *one)
{
	static const char zeros[8];
	struct earlier e = {.pid = p ? p->pid : 0, .start_ticks = p ? p->start_ticks : 0};
	unsigned char *buf;
	size_t bytes;

	e.ended = p && p->end != PROCESS_RUNNING;
	if (r->after < 0 || vfp_encode(one, &buf, &bytes))
		return;
	e.bytes = bytes;
	if (!put_bytes(r, &e, sizeof(e)) || !put_bytes(r, buf, bytes) ||
		!put_bytes(r, zeros, padded(bytes) - bytes)) {
		close(r->after);
		r->after = -1;
	}
	free(buf);
}

/* ---- the round ------------------------------------------------------------------ */

/*
 * Its profile alone; gather_ranks() was called. Processes without a rank have the same
 * number in all rounds, whoever is in them.
 */
static struct profile *profile_of(struct agent *a, const struct process *p)
{
	struct profile *one = gather(&a->host, p);

	one->unranked = a->host.n_ever;
	return one;
}

/* Merging drops processes, and would number those without a rank. */
static struct profile *add_process(struct profile *node, struct profile *one)
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
		free(one->agents->affinity);
		one->n_agents = 0;
		node = profile_merge(node, one);
	} else {
		node = one;
	}
	node->processes = all;
	node->n_processes = n + more;
	return node;
}

ORDER_BY(by_rank, struct profile_process, RISING(rank))

/* Of the unranked process PROFILE_UNRANKED + k its rank in the round; PROFILE_NONE: not in it. */
struct round_ranks {
	uint32_t *of, n;
};

/* p->processes are sorted by rank. */
static struct round_ranks round_ranks(const struct profile *p)
{
	const uint32_t last = p->n_processes ? p->processes[p->n_processes - 1].rank : 0;
	struct round_ranks r = {.n = last < PROFILE_UNRANKED ? 0 : last - PROFILE_UNRANKED + 1};
	uint32_t k = 0;

	r.of = xmalloc(r.n * sizeof(*r.of) + 1);
	memset(r.of, 0xff, r.n * sizeof(*r.of));
	for (size_t i = 0; i < p->n_processes; i++)
		if (p->processes[i].rank >= PROFILE_UNRANKED)
			r.of[p->processes[i].rank - PROFILE_UNRANKED] = PROFILE_UNRANKED + k++;
	return r;
}

/* Those on other nodes and of other jobs stay what they are. */
static uint32_t in_round(const void *arg, uint32_t rank)
{
	const struct round_ranks *r = arg;

	if (rank < PROFILE_UNRANKED || rank >= PROFILE_FAR)
		return rank;
	return rank - PROFILE_UNRANKED < r->n ? r->of[rank - PROFILE_UNRANKED] : PROFILE_NONE;
}

static uint32_t in_round_or_elsewhere(const void *arg, uint32_t rank)
{
	const uint32_t in = in_round(arg, rank);

	return in == PROFILE_NONE ? PROFILE_ELSEWHERE : in;
}

/* Threads that are at no place go with their processes; those that stay keep their order. */
static void settle_openmp(struct profile *p)
{
	uint32_t *to = xmalloc((p->n_openmp_threads + 1) * sizeof(*to)), kept = 0;

	for (size_t i = 0; i < p->n_openmp_threads; i++) {
		struct profile_openmp_thread t = p->openmp_threads[i];

		to[i] = PROFILE_NONE;
		if (t.rank == PROFILE_NONE ||
			(t.parent != PROFILE_NONE && to[t.parent] == PROFILE_NONE)) {
			free(t.threads);
			continue;
		}
		to[i] = kept;
		t.parent = t.parent == PROFILE_NONE ? PROFILE_NONE : to[t.parent];
		p->openmp_threads[kept++] = t;
	}
	p->n_openmp_threads = kept;
	free(to);
}

/*
 * Who used a GPU first may have ended before this round: then the least rank of the round
 * that uses one of that number stands for it, or the first of all.
 */
static void settle_gpus(struct profile *p)
{
	size_t kept = 0;

	for (size_t i = 0; i < p->n_gpu_devices; i++) {
		struct profile_gpu_device d = p->gpu_devices[i];
		const bool ended = d.rank == PROFILE_NONE;

		for (size_t k = 0; ended && k < p->n_gpu_streams; k++)
			if (p->gpu_streams[k].device == d.number && p->gpu_streams[k].rank < d.rank)
				d.rank = p->gpu_streams[k].rank;
		if (d.rank == PROFILE_NONE && p->n_processes)
			d.rank = p->processes[0].rank;
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
	struct round_ranks r;

	qsort(p->processes, p->n_processes, sizeof(*p->processes), by_rank);
	r = round_ranks(p);
	p->unranked = 0;
	for (size_t i = 0; i < p->n_processes; i++)
		p->unranked += p->processes[i].rank >= PROFILE_UNRANKED;
	for (enum profile_list i = 0; i < PROFILE_LISTS; i++) {
		const bool others = i == PROFILE_THREAD_PAIRS || i == PROFILE_MATCHING;

		profile_renumber_ranks(p, i, others ? in_round_or_elsewhere : in_round, &r);
	}
	free(r.of);
	settle_gpus(p);
	settle_openmp(p);
	profile_combine(p, PROFILE_THREAD_PAIRS);
	profile_combine(p, PROFILE_USER_COUNTERS);
}

/* All are on this node. */
static void settle_rank_ranges(struct profile *p)
{
	size_t kept = 0;

	for (size_t i = 0; i < p->n_rank_ranges; i++) {
		if (p->rank_ranges[i].first < PROFILE_UNRANKED)
			p->rank_ranges[kept++] = p->rank_ranges[i];
		else
			free(p->rank_ranges[i].host);
	}
	if (p->unranked) {
		p->rank_ranges = xrealloc(p->rank_ranges, (kept + 1) * sizeof(*p->rank_ranges));
		p->rank_ranges[kept++] = (struct profile_rank_range){PROFILE_UNRANKED,
			PROFILE_UNRANKED + p->unranked - 1, xstrdup(p->agents->host)};
	}
	p->n_rank_ranges = kept;
}

/* All rounds have the name of the whole run, whoever was in them. */
static void set_name(const struct agent *a, struct profile *to)
{
	const struct process *first = NULL;

	for (const struct process *p = a->host.processes; p; p = p->next)
		if (p->greeted && p->ended &&
			(!first || p->rank < first->rank ||
				(p->rank == first->rank && p->start_ticks < first->start_ticks)))
			first = p;
	if (!first)
		return;
	free(to->application);
	to->application = xstrdup(basename(first->executable));
}

static uint32_t rank_of_process(void *unused, const struct process *p)
{
	return p->greeted && p->ended ? (uint32_t)p->rank : PROFILE_ELSEWHERE;
}

/* What only the whole node can say. */
static void add_node(struct agent *a, struct profile *round, const char *at, size_t bytes)
{
	const struct earlier *e = find_earlier(at, bytes, 0, 0);
	struct profile *all = gather(&a->host, NULL), *before = NULL;
	char *error = NULL;

	leave_profile(a->rounds, NULL, all);
	if (e)
		before = vfp_decode((const unsigned char *)(e + 1), e->bytes, &error);
	free(error);
	profile_subtract_node(round, all, before);
	matching_store_round(&a->host, a->rounds->times.round, round, rank_of_process, NULL);
	profile_free(all);
	profile_free(before);
}

static int write_round(struct agent *a, struct profile *p, unsigned from)
{
	const unsigned round = a->rounds->times.round;

	set_name(a, p);
	settle_ranks(p);
	settle_rank_ranges(p);
	p->agents->processes = p->ranks;
	p->agents->records = p->records;
	if (from < round)
		profile_warn(p,
			"these are the results of rounds %u to %u: those before the last "
			"have no files of their own",
			from, round);
	else
		profile_warn(p, "these are the results of round %u alone", round);
	return agent_write_round(a, p, round);
}

/* That of all its processes, or NULL; at: what there was of them before. */
static struct profile *gather_round(struct agent *a, const char *at, size_t bytes)
{
	struct profile *node = NULL;

	for (struct process *p = a->host.processes; p; p = p->next) {
		const struct earlier *e =
			p->greeted ? find_earlier(at, bytes, p->pid, p->start_ticks) : NULL;
		struct profile *one, *before = NULL;
		char *error = NULL;

		if (!p->greeted || !p->ended)
			continue;
		user_counters_only_round(p->user_counters);
		one = profile_of(a, p);
		leave_profile(a->rounds, p, one);
		if (e)
			before = vfp_decode((const unsigned char *)(e + 1), e->bytes, &error);
		free(error);
		profile_subtract(one, before);
		if (e && e->ended)
			profile_free(one);
		else
			node = add_process(node, one);
		profile_free(before);
	}
	return node;
}

int rounds_write(struct agent *a)
{
	size_t bytes;
	const char *at = map_file(a->rounds->before, &bytes);
	struct profile *node = gather_round(a, at, bytes);
	int failed = 0;

	if (node) {
		add_node(a, node, at, bytes);
		/* the copy that was to leave something was killed */
		failed = write_round(a, node, at ? a->rounds->from : 1);
	}
	profile_free(node);
	if (at)
		munmap((void *)at, bytes);
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
static int complete_round(struct agent *a, const struct profile *like, unsigned round)
{
	char *error;
	struct profile *p = agent_read_round(a, like, round, &error);
	int failed = error != NULL;

	if (error)
		host_warn(&a->host, false, "round %u: %s", round, error);
	free(error);
	if (p && matching_store_round(&a->host, round, p, rank_by_pid, p))
		failed = agent_write_round(a, p, round);
	profile_free(p);
	return failed;
}

int rounds_end(struct agent *a)
{
	const unsigned last = a->rounds ? a->rounds->times.round : 0;
	struct profile *like;
	int failed = 0;

	if (last < 2 || a->late_profile)
		return 0;
	like = profile_new();
	set_name(a, like);
	for (unsigned i = 1; i < last && i < ROUNDS_MAX; i++)
		failed |= complete_round(a, like, i);
	profile_free(like);
	return last < ROUNDS_MAX ? failed | rounds_write(a) : failed;
}
