/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks of a profile's records beyond those by the rows of their fields. */
#include "nodeagent/profile/fold.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "nodeagent/base/util.h"
#include "nodeagent/base/wait-kinds.h"
#include "nodeagent/base/words.h"
#include "nodeagent/profile/places.h"
#include "nodeagent/profile/profile.h"
#include "shm/gpu.h"
#include "shm/openacc.h"
#include "shm/locks.h"

#define TIME_MOST   (INT64_MAX / 4) /* ns: 73 years */
#define DAY_S	    86400
#define YEAR_9999_S INT64_C(253402300799) /* its last second */

/* check_LIST(): whether a record r of that list of profile p is right. */
#define CHECK(list, is_right, wrong)                                                               \
	const char *check_##list(const struct profile *p, const void *record)                      \
	{                                                                                          \
		const struct profile_##list *r = record;                                           \
                                                                                                   \
		return is_right ? NULL : wrong;                                                    \
	}

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

CHECK(thread_stack,
	r->thread < p->n_ended_threads && r->stack < p->n_stacks &&
		(r == p->thread_stacks || r->thread >= r[-1].thread),
	"a thread or its stack is not in the profile")
CHECK(thread_range, r->threads && r->min_ns <= r->max_ns, "times of threads that cannot be")
CHECK(thread_count,
	r->thread < p->n_ended_threads && (r == p->thread_counts || r->thread >= r[-1].thread) &&
		(r->stack < p->n_stacks || r->stack == PROFILE_NONE),
	"a counter of a thread that is not in the profile")
CHECK(openmp_thread,
	r->threads && (r->parent == PROFILE_NONE || r->parent < (size_t)(r - p->openmp_threads)),
	"a place in the tree of OpenMP threads comes before its parent")
CHECK(size, r->log2 <= 64, "messages are larger than 2^64 bytes")
CHECK(wait, r->kind < WAIT_KINDS_END, "a wait of an unknown kind")
CHECK(wait_pair, r->log2 < 32, "a wait of too many ranks")
CHECK(lock, r->kind < LOCK_KINDS_END, "a lock of an unknown kind")
CHECK(cause, r->kind < WAIT_KINDS_END, "the cause of a wait of an unknown kind")
CHECK(compared, r->log2 < 32 && r->kept <= r->calls && r->partly <= r->unknown,
	"a comparison of calls that cannot be")
CHECK(pruned, r == p->pruned, "call paths are added up by two rules")
CHECK(sampled, r->log2 < 32 && r->kept <= r->calls, "a sample of calls that cannot be")

/* That places do not overlap: places_fault(). */
const char *check_rank_range(const struct profile *p, const void *record)
{
	const struct profile_rank_range *q = record;

	if (q->first > q->last || (q->first < PROFILE_UNRANKED) != (q->last < PROFILE_UNRANKED))
		return "a place is no range of ranks";
	if (q->step && (q->step == 1 || q->last >= PLACES_STEPS_BELOW || q->first == q->last ||
			       (q->last - q->first) % q->step))
		return "the step of a place does not lead to its last rank";
	if (q != p->rank_ranges && q->first <= q[-1].first)
		return "the places overlap or are not sorted";
	return NULL;
}

static const uint32_t details[GPU_KINDS] = {[GPU_COPY] = GPU_COPIES, [GPU_MEMORY] = GPU_MEMORIES};

CHECK(gpu, r->kind < GPU_KINDS, "GPUs did something of a kind that is not known")
CHECK(gpu_link, r->kind < GPU_KINDS && r->detail < details[r->kind],
	"GPUs moved something of a kind that is not known")
CHECK(gpu_link_rest,
	r->kind < GPU_KINDS && r->detail < details[r->kind] && r->links &&
		r->from <= PROFILE_LINK_GPU && r->to < PROFILE_LINK_ENDS,
	"a sum of transfers of GPUs that cannot be")
CHECK(gpu_wait, r->detail < GPU_WAITS, "a wait for a GPU of a kind that is not known")

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

CHECK(openacc, is_event(r->event) && line_ends(r->text) == PROFILE_OPENACC_TEXTS - 1,
	"an event of OpenACC that is not known")
CHECK(open, r->kind < PROFILE_OPEN_KINDS, "open requests that cannot be")
CHECK(bad_end,
	r->exit_status > 0 && r->rank < PROFILE_UNRANKED && is_time(r->end_ns) &&
		(r->end == PROCESS_EXITED || r->end == PROCESS_KILLED),
	"the end of a rank that cannot be")
CHECK(far_rank, rank_is_far(r->far) && !rank_is_far(r->rank),
	"a name of a rank for other nodes that cannot be")

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

CHECK(user_rest, r->ranks && r->sum.top < EXACT_SUM_TOPS, "the values of a counter that cannot be")
/* Sums of a window's classes fit into 64 bits, with those of any number of ranks into 128. */
CHECK(iteration,
	r->log2 < 40 && r->run < (uint64_t)1 << 24 && r->ranks && r->others <= r->ranks &&
		r->calls && r->mpi_ns <= r->ns && r->least_ns <= r->most_ns &&
		r->most_ns <= r->ns && r->busy_ns <= r->ns && r->wait_ns <= r->mpi_ns &&
		r->off_ns <= r->ns - r->mpi_ns && r->busy_off_ns <= r->busy_ns &&
		r->busy_queued_ns <= r->busy_off_ns &&
		r->busy_asleep_ns <= r->busy_off_ns - r->busy_queued_ns,
	"an iteration that cannot be")
CHECK(slice,
	r->log2 < 60 && r->number < (uint64_t)1 << 24 && r->ranks && r->mpi_ns <= r->ns &&
		r->wait_ns <= r->mpi_ns,
	"a slice of time that cannot be")

/* The window of one rank is as long as its time; of several, there is a window. */
static bool is_window_of(const struct profile_rank_time *t, unsigned __int128 all)
{
	return t->others ? t->begin_ns <= t->end_ns
			 : profile_is_window(t->begin_ns, t->end_ns, (uint64_t)all);
}

const char *check_rank_time(const struct profile *p, const void *record)
{
	const struct profile_rank_time *t = record;
	const unsigned __int128 all = (unsigned __int128)t->useful_ns + t->mpi_ns +
				      t->openmp_wait_ns + t->openmp_idle_ns + t->gpu_wait_ns +
				      t->io_ns + t->blocked_ns + t->unknown_ns + t->lock_wait_ns;
	const unsigned __int128 ranks = (unsigned __int128)t->others + 1;
	const unsigned __int128 most = (unsigned __int128)t->threads * TIME_MOST;

	if (t->flags > RANK_FLAGS || !is_time(t->begin_ns) || !is_time(t->end_ns) ||
		all > ranks * TIME_MOST || !is_window_of(t, all) ||
		t->off_cpu_ns > ranks * TIME_MOST)
		return "the times of a rank that cannot be";
	if (t->team_threads < ranks || t->team_threads > t->threads ||
		t->team_most_ns > ranks * TIME_MOST || t->team_useful_ns > most ||
		t->useful_ns > t->team_most_ns || t->team_most_ns > t->team_useful_ns ||
		t->all_useful_ns > most || t->all_mpi_ns > most || t->all_openmp_wait_ns > most ||
		t->all_openmp_idle_ns > most || t->all_io_ns > most || t->all_blocked_ns > most ||
		t->all_unknown_ns > most || t->all_lock_wait_ns > most ||
		t->mpi_wait_ns > t->all_mpi_ns)
		return "the times of a rank's threads that cannot be";
	return NULL;
}
