/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/readers/team.h"

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "nodeagent/base/util.h"
#include "nodeagent/process/cpu/cpus.h"
#include "shm/atomic.h"
#include "shm/clock.h"

#define JOBS_MOST 1024u /* at once */
/* A member that has nothing to do looks for so long before it sleeps: rounds come one after the
 * other, and to wake it takes longer than many a round. */
#define LOOKS_NS 20000u

/* A word that one waits for, and others change. On a line of its own. */
struct bell {
	uint32_t rung, asleep;
	char unused[56];
};

struct member {
	struct bell bell; /* its number of the round; UINT32_MAX: it ends */
	struct team *team;
	unsigned number;
	int tid; /* 0: it has not begun */
	pthread_t thread;
};

/*
 * A round is called to the members whose bells are rung. A job is claimed by changing its word from
 * the number of the round to CLAIMED; so one who comes late, for a round that is over, gets none,
 * whatever has begun meanwhile. What a round is of is read after a job was claimed: until that is
 * done the round is not over.
 */
struct team {
	struct member *members; /* of TEAM_MOST; [0] is the one that gives jobs */
	unsigned size, threads; /* that take part; that there are, with [0] */
	pid_t pid;
	uint32_t round; /* even */
	uint32_t n, strides;
	team_job *job;
	void *ctx;
	size_t first;
	struct bell done; /* jobs of the round */
	uint32_t claimed[JOBS_MOST];
};

#define OVER UINT32_MAX

static void sleep_on(uint32_t *word, uint32_t seen)
{
	syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, seen, NULL, NULL, 0);
}

static void ring_bell(struct bell *b)
{
	/* pairs with the fence in wait_for_bell(): one of us sees the other's word */
	fence_full();
	if (load_relaxed(&b->asleep))
		syscall(SYS_futex, &b->rung, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

/* Until the word is not `seen' any more; with until_is, until it is that. Returns it. */
static uint32_t wait_for_bell(struct bell *b, uint32_t seen, bool until_is)
{
	const uint64_t begin = clock_raw_ns();
	uint32_t now;

	/* pairs with the release of who changes it */
	for (unsigned i = 1; ((now = load_acquire(&b->rung)) == seen) != until_is; i++) {
		if (i % 64) {
			cpu_relax();
			continue;
		}
		if (clock_raw_ns() - begin < LOOKS_NS)
			continue;
		store_relaxed(&b->asleep, 1);
		fence_full(); /* pairs with the one in ring_bell() */
		now = load_relaxed(&b->rung);
		if ((now == seen) != until_is)
			sleep_on(&b->rung, now);
		store_relaxed(&b->asleep, 0);
	}
	return now;
}

/* Pairs with the acquire in wait_for_bell(): what the job did is seen. Returns how many are done.
 */
static uint32_t count_job(struct team *t)
{
	uint32_t n;

	do
		n = load_relaxed(&t->done.rung);
	while (!claim_u32(&t->done.rung, n, n + 1));
	return n + 1;
}

static void take_jobs(struct team *t, unsigned number, uint32_t round)
{
	const uint32_t n = load_relaxed(&t->n), strides = load_relaxed(&t->strides);

	/* its own ones first: their data are near by; then those which nobody has begun */
	for (unsigned turn = 0; turn < 2; turn++)
		for (uint32_t i = turn ? 0 : number; i < n; i += turn ? 1 : strides) {
			if (load_relaxed(&t->claimed[i]) != round ||
				!claim_u32(&t->claimed[i], round, round + 1))
				continue;
			t->job(t->ctx, t->first + i);
			if (count_job(t) == n)
				ring_bell(&t->done);
		}
}

static void *member_works(void *arg)
{
	struct member *m = arg;
	uint32_t round = 0;

	store_release(&m->tid, (int)syscall(SYS_gettid)); /* pairs with start_member() */
	while ((round = wait_for_bell(&m->bell, round, false)) != OVER)
		take_jobs(m->team, m->number, round);
	return NULL;
}

struct team *team_new(void)
{
	struct team *t = xcalloc(1, sizeof(*t));
	void *members;

	if (posix_memalign(&members, sizeof(struct bell), TEAM_MOST * sizeof(*t->members)))
		die(125, "out of memory for reading threads");
	t->members = memset(members, 0, TEAM_MOST * sizeof(*t->members));
	t->size = t->threads = 1;
	t->pid = getpid();
	return t;
}

static void call_member(struct member *m, uint32_t word)
{
	store_release(&m->bell.rung, word);
	ring_bell(&m->bell);
}

void team_free(struct team *t)
{
	if (!t)
		return;
	for (unsigned i = 1; i < t->threads && t->pid == getpid(); i++) {
		call_member(&t->members[i], OVER);
		pthread_join(t->members[i].thread, NULL);
	}
	free(t->members);
	free(t);
}

static int start_member(struct team *t)
{
	struct member *m = &t->members[t->threads];
	sigset_t all, before;
	int error;

	m->team = t;
	m->number = t->threads;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	error = pthread_create(&m->thread, NULL, member_works, m);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (error)
		return -error;
	while (!load_acquire(&m->tid)) /* for team_follow() */
		sched_yield();
	t->threads++;
	return 0;
}

int team_resize(struct team *t, unsigned wanted)
{
	int error = 0;

	wanted = MIN(wanted, TEAM_MOST);
	while (t->threads < wanted && t->pid == getpid() && !error)
		error = start_member(t);
	t->size = !wanted ? 1 : wanted < t->threads ? wanted : t->threads;
	return error;
}

unsigned team_size(const struct team *t)
{
	return t->size;
}

static void run_some(struct team *t, uint32_t n, team_job *job, void *ctx, size_t first)
{
	const unsigned size = n < t->size ? n : t->size;

	t->first = first;
	t->round += 2;
	t->job = job;
	t->ctx = ctx;
	store_relaxed(&t->n, n);
	store_relaxed(&t->strides, size);
	store_relaxed(&t->done.rung, 0);
	for (uint32_t i = 0; i < n; i++)
		store_release(&t->claimed[i], t->round); /* pairs with claim_u32() */
	for (unsigned i = 1; i < size; i++)
		call_member(&t->members[i], t->round);
	take_jobs(t, 0, t->round);
	wait_for_bell(&t->done, n, true);
}

void team_run(struct team *t, size_t n, team_job *job, void *ctx)
{
	const bool alone = t->size == 1 || t->pid != getpid();

	for (size_t i = 0; alone && i < n; i++)
		job(ctx, i);
	for (size_t i = 0; !alone && i < n; i += JOBS_MOST)
		run_some(t, n - i < JOBS_MOST ? (uint32_t)(n - i) : JOBS_MOST, job, ctx, i);
}

void team_follow(const struct team *t)
{
	struct cpus cpus;
	int nice;

	if (t->threads == 1 || t->pid != getpid())
		return;
	errno = 0;
	nice = getpriority(PRIO_PROCESS, 0);
	for (unsigned i = 1; i < t->threads && !errno; i++)
		setpriority(PRIO_PROCESS, (id_t)t->members[i].tid, nice);
	for (unsigned i = 1; i < t->threads && cpus_of(0, &cpus); i++)
		cpus_bind(t->members[i].tid, &cpus);
}
