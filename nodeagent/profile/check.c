/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks of a profile's records beyond those by the rows of their fields. */
#include "nodeagent/profile/fold.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "nodeagent/base/util.h"
#include "nodeagent/base/wait-kinds.h"
#include "nodeagent/base/words.h"
#include "nodeagent/profile/profile.h"
#include "shm/gpu.h"
#include "shm/openacc.h"
#include "shm/locks.h"

#define TIME_MOST   (INT64_MAX / 4) /* ns: 73 years */
#define DAY_S	    86400
#define YEAR_9999_S INT64_C(253402300799) /* its last second */

static bool is_time(int64_t ns)
{
	return ns >= -TIME_MOST && ns <= TIME_MOST;
}

const char *check_begin(const struct profile *p, const void *record)
{
	return is_time(p->begin_ns) ? NULL : "a begin that cannot be";
}

static bool is_end_of_pair(const struct profile *p, uint32_t rank)
{
	return rank == PROFILE_ELSEWHERE || rank < PROFILE_UNRANKED ||
	       rank - PROFILE_UNRANKED < p->unranked;
}

const char *check_cpu(const struct profile *p, const void *record)
{
	const struct profile_cpu *c = &p->cpu;

	if ((c->least_wall_ns && !is_end_of_pair(p, c->least_rank)) ||
		(c->queued_wall_ns && !is_end_of_pair(p, c->queued_rank)))
		return "the rank with the least CPU time is not in the profile";
	return NULL;
}

const char *check_matching(const struct profile *p, const void *record)
{
	const struct profile_matching *m = &p->matching;

	if (m->violations && (!is_end_of_pair(p, m->worst_from) || !is_end_of_pair(p, m->worst_to)))
		return "the rank of a matched message is not in the profile";
	return NULL;
}

const char *check_thread_stack(const struct profile *p, const void *record)
{
	const struct profile_thread_stack *s = record;

	if (s->thread >= p->n_ended_threads || s->stack >= p->n_stacks ||
		(s != p->thread_stacks && s->thread < s[-1].thread))
		return "a thread or its stack is not in the profile";
	return NULL;
}

const char *check_thread_range(const struct profile *p, const void *record)
{
	const struct profile_thread_range *t = record;

	return t->threads && t->min_ns <= t->max_ns ? NULL : "times of threads that cannot be";
}

const char *check_thread_count(const struct profile *p, const void *record)
{
	const struct profile_thread_count *c = record;

	if (c->thread >= p->n_ended_threads ||
		(c != p->thread_counts && c->thread < c[-1].thread) ||
		(c->stack >= p->n_stacks && c->stack != PROFILE_NONE))
		return "a counter of a thread that is not in the profile";
	return NULL;
}

const char *check_openmp_thread(const struct profile *p, const void *record)
{
	const struct profile_openmp_thread *t = record;

	if (!t->threads ||
		(t->parent != PROFILE_NONE && t->parent >= (size_t)(t - p->openmp_threads)))
		return "a place in the tree of OpenMP threads comes before its parent";
	return NULL;
}

const char *check_size(const struct profile *p, const void *record)
{
	const struct profile_size *s = record;

	return s->log2 <= 64 ? NULL : "messages are larger than 2^64 bytes";
}

const char *check_wait(const struct profile *p, const void *record)
{
	const struct profile_wait *w = record;

	(void)p;
	return w->kind < WAIT_KINDS_END ? NULL : "a wait of an unknown kind";
}

const char *check_wait_pair(const struct profile *p, const void *record)
{
	const struct profile_wait_pair *w = record;

	(void)p;
	return w->log2 < 32 ? NULL : "a wait of too many ranks";
}

const char *check_lock(const struct profile *p, const void *record)
{
	const struct profile_lock *l = record;

	(void)p;
	return l->kind < LOCK_KINDS_END ? NULL : "a lock of an unknown kind";
}

const char *check_cause(const struct profile *p, const void *record)
{
	const struct profile_cause *c = record;

	(void)p;
	return c->kind < WAIT_KINDS_END ? NULL : "the cause of a wait of an unknown kind";
}

const char *check_compared(const struct profile *p, const void *record)
{
	const struct profile_compared *c = record;

	(void)p;
	return c->log2 < 32 && c->kept <= c->calls && c->partly <= c->unknown
		       ? NULL
		       : "a comparison of calls that cannot be";
}

const char *check_sampled(const struct profile *p, const void *record)
{
	const struct profile_sampled *s = record;

	(void)p;
	return s->log2 < 32 && s->kept <= s->calls ? NULL : "a sample of calls that cannot be";
}

const char *check_rank_range(const struct profile *p, const void *record)
{
	const struct profile_rank_range *q = record;

	if (q->first > q->last || (q->first < PROFILE_UNRANKED) != (q->last < PROFILE_UNRANKED))
		return "a place is no range of ranks";
	if (q != p->rank_ranges && q->first <= q[-1].last)
		return "the places overlap or are not sorted";
	return NULL;
}

static const uint32_t details[GPU_KINDS] = {[GPU_COPY] = GPU_COPIES, [GPU_MEMORY] = GPU_MEMORIES};

const char *check_gpu(const struct profile *p, const void *record)
{
	const struct profile_gpu *g = record;

	return g->kind < GPU_KINDS ? NULL : "GPUs did something of a kind that is not known";
}

const char *check_gpu_link(const struct profile *p, const void *record)
{
	const struct profile_gpu_link *l = record;

	if (l->kind >= GPU_KINDS || l->detail >= details[l->kind])
		return "GPUs moved something of a kind that is not known";
	return NULL;
}

const char *check_gpu_wait(const struct profile *p, const void *record)
{
	const struct profile_gpu_wait *w = record;

	return w->detail < GPU_WAITS ? NULL : "a wait for a GPU of a kind that is not known";
}

static bool is_event(uint32_t event)
{
	switch (event) {
#define ROW(event, number, ...) case number:
		OPENACC_EVENTS(ROW)
#undef ROW
		return true;
	default:
		return false;
	}
}

static unsigned line_ends(const char *text)
{
	unsigned n = 0;

	for (; (text = strchr(text, '\n')); text++)
		n++;
	return n;
}

const char *check_openacc(const struct profile *p, const void *record)
{
	const struct profile_openacc *o = record;

	if (!is_event(o->event) || line_ends(o->text) != PROFILE_OPENACC_TEXTS - 1)
		return "an event of OpenACC that is not known";
	return NULL;
}

const char *check_open(const struct profile *p, const void *record)
{
	const struct profile_open *o = record;

	return o->kind < PROFILE_OPEN_KINDS ? NULL : "open requests that cannot be";
}

const char *check_bad_end(const struct profile *p, const void *record)
{
	const struct profile_bad_end *e = record;

	if (e->rank >= PROFILE_UNRANKED || e->exit_status <= 0 || !is_time(e->end_ns) ||
		(e->end != PROCESS_EXITED && e->end != PROCESS_KILLED))
		return "the end of a rank that cannot be";
	return NULL;
}

const char *check_far_rank(const struct profile *p, const void *record)
{
	const struct profile_far_rank *r = record;

	return rank_is_far(r->far) && !rank_is_far(r->rank)
		       ? NULL
		       : "a name of a rank for other nodes that cannot be";
}

/* Each is KEY=VALUE, by rising keys. */
static bool are_tags(const char *list)
{
	char *tag, *last = xstrdup("");
	bool good = true;

	while (good && (tag = words_next(&list))) {
		const size_t key = strcspn(tag, "=");

		good = key && tag[key];
		tag[key] = '\0';
		good = good && strcmp(last, tag) < 0;
		free(last);
		last = tag;
	}
	free(last);
	return good;
}

/* Each is KEY=VALUE. */
static bool are_changes(const char *list)
{
	char *change;
	bool good = true;

	while (good && (change = words_next(&list))) {
		const size_t key = strcspn(change, "=");

		good = key && change[key];
		free(change);
	}
	return good;
}

const char *check_start(const struct profile *p, const void *record)
{
	const struct profile_start *s = record;

	if (s != p->starts || s->whose >= PROFILE_START_KINDS || s->time_s < 0 ||
		s->time_s > YEAR_9999_S || s->zone_s < -DAY_S || s->zone_s > DAY_S)
		return "a start of the run that cannot be";
	if (s->changes && !are_changes(s->changes))
		return "a configuration that cannot be";
	return s->tags && !are_tags(s->tags) ? "tags of the run that cannot be" : NULL;
}

/* Sums of a window's classes fit into 64 bits, with those of any number of ranks into 128. */
const char *check_iteration(const struct profile *p, const void *record)
{
	const struct profile_iteration *i = record;

	(void)p;
	return i->log2 < 40 && i->run < (uint64_t)1 << 24 && i->ranks && i->others <= i->ranks &&
			       i->calls && i->mpi_ns <= i->ns && i->least_ns <= i->most_ns &&
			       i->most_ns <= i->ns && i->busy_ns <= i->ns &&
			       i->wait_ns <= i->mpi_ns && i->off_ns <= i->ns - i->mpi_ns &&
			       i->busy_off_ns <= i->busy_ns &&
			       i->busy_queued_ns <= i->busy_off_ns &&
			       i->busy_asleep_ns <= i->busy_off_ns - i->busy_queued_ns
		       ? NULL
		       : "an iteration that cannot be";
}

const char *check_slice(const struct profile *p, const void *record)
{
	const struct profile_slice *s = record;

	(void)p;
	return s->log2 < 60 && s->number < (uint64_t)1 << 24 && s->ranks && s->mpi_ns <= s->ns &&
			       s->wait_ns <= s->mpi_ns
		       ? NULL
		       : "a slice of time that cannot be";
}

const char *check_rank_time(const struct profile *p, const void *record)
{
	const struct profile_rank_time *t = record;
	const unsigned __int128 all = (unsigned __int128)t->useful_ns + t->mpi_ns +
				      t->openmp_wait_ns + t->openmp_idle_ns + t->gpu_wait_ns +
				      t->io_ns + t->blocked_ns + t->unknown_ns + t->lock_wait_ns;
	const unsigned __int128 most = (unsigned __int128)t->threads * TIME_MOST;

	if (t->flags > RANK_FLAGS || !is_time(t->begin_ns) || !is_time(t->end_ns) ||
		all > TIME_MOST || !profile_is_window(t->begin_ns, t->end_ns, (uint64_t)all) ||
		t->off_cpu_ns > TIME_MOST)
		return "the times of a rank that cannot be";
	if (!t->team_threads || t->team_threads > t->threads || t->team_most_ns > TIME_MOST ||
		t->team_useful_ns > most || t->useful_ns > t->team_most_ns ||
		t->team_most_ns > t->team_useful_ns || t->all_useful_ns > most ||
		t->all_mpi_ns > most || t->all_openmp_wait_ns > most ||
		t->all_openmp_idle_ns > most || t->all_io_ns > most || t->all_blocked_ns > most ||
		t->all_unknown_ns > most || t->all_lock_wait_ns > most ||
		t->mpi_wait_ns > t->all_mpi_ns)
		return "the times of a rank's threads that cannot be";
	return NULL;
}
