/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/causal/causal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "nodeagent/base/util.h"
#include "nodeagent/causal/internal.h"

const struct causal_doubt_words causal_doubts[CAUSAL_DOUBTS] = {
	[CAUSAL_NO_SEND] = {"unmatched_receives", "a receive has no send",
		"%llu receives have no send"},
	[CAUSAL_CYCLE] = {"contradictory_times", "a call would wait for what comes after it",
		"%llu calls would wait for what comes after them"},
	[CAUSAL_STRAY] = {"completed_elsewhere", "a message was completed by another thread",
		"%llu messages were completed by other threads"},
	[CAUSAL_MISSING] = {"incomplete_collectives", "a collective call lacks members",
		"%llu collective calls lack members"},
	[CAUSAL_ORDER] = {"times_going_back", "a time is before the one before it",
		"%llu times are before the one before them"},
	[CAUSAL_UNTOLD] = {"untold_calls",
		"1 % of the time is in calls of MPI whose waits are not known",
		"%llu %% of the time is in calls of MPI whose waits are not known"},
	[CAUSAL_NOT_SURE] = {"uncertain_matches", "the sender of a message is not certain",
		"the senders of %llu messages are not certain"},
	[CAUSAL_WINDOW] = {"window", "a rank was not seen to leave MPI_Init or enter MPI_Finalize",
		"%llu ranks were not seen to leave MPI_Init or enter MPI_Finalize"},
	[CAUSAL_KILLED] = {"killed_ranks", "a rank was killed", "%llu ranks were killed"},
	[CAUSAL_RANKS] = {"missing_ranks", "the sampling file of a rank is missing",
		"the sampling files of %llu ranks are missing"},
	[CAUSAL_JOBS] = {"jobs", "ranks of two MPI jobs are put together",
		"ranks of %llu more MPI jobs are put together"},
	[CAUSAL_CLOCKS] = {"clock", "the clock of a node was not compared",
		"the clocks of %llu nodes were not compared"},
	[CAUSAL_SAMPLED] = {"sampled", "a file is sampled: paths outside of MPI are estimates",
		"%llu files are sampled: paths outside of MPI are estimates"},
	[CAUSAL_LOST] = {"lost_calls", "a call was not recorded", "%llu calls were not recorded"},
	[CAUSAL_PAUSED] = {"paused", "recording was interrupted once",
		"recording was interrupted %llu times"},
	[CAUSAL_DAMAGED] = {"damaged", "a sampling file is damaged or has no end",
		"%llu sampling files are damaged or have no end"},
	[CAUSAL_THREADS] = {"threads", "a communication is of another thread of its rank",
		"%llu communications are of other threads of their ranks"},
	[CAUSAL_ONE_SIDED] = {"one_sided", "a one-sided operation has waits that are not known",
		"%llu one-sided operations have waits that are not known"},
	[CAUSAL_PARTITIONED] = {"partitioned", "a message in partitions is left out",
		"%llu messages in partitions are left out"},
	[CAUSAL_MEMBERS] = {"unknown_members",
		"it is not known who needs whom in a collective call",
		"it is not known who needs whom in %llu collective calls"},
	[CAUSAL_OTHER_RANKS] = {"session_ranks", "a communication of a session is left out",
		"%llu communications of sessions are left out"},
};

struct causal *causal_new(
	const struct causal_line *lines, uint32_t n, const char *folder, char **error)
{
	struct spool *spool = spool_new(folder);
	struct causal *c;
	int64_t most[2] = {0, 0};
	bool far = false;

	if (!spool) {
		*error = xasprintf(
			"%s: no temporary file can be made in it: %s", folder, strerror(errno));
		return NULL;
	}
	c = xcalloc(1, sizeof(*c));
	c->spool = spool;
	c->n = n;
	c->now = INT64_MIN;
	c->eager[0] = c->eager[1] = -1;
	c->lines = xcalloc(n + 1, sizeof(*c->lines));
	spool_list_begin(&c->waits, spool, sizeof(struct wait));
	spool_list_begin(&c->wrong_order, spool, sizeof(uint32_t));
	for (uint32_t i = 0; i < n; i++) {
		c->lines[i].is = lines[i];
		c->lines[i].last_read = INT64_MIN;
		spool_list_begin(&c->lines[i].stretches, spool, sizeof(struct stretch));
		far |= lines[i].node != lines[0].node;
		most[0] = MAX(most[0], lines[i].clock_error);
	}
	c->tolerance = far ? 2 * most[0] : 0;
	return c;
}

void causal_free(struct causal *c)
{
	if (!c)
		return;
	for (uint32_t i = 0; i < c->n; i++)
		line_free(&c->lines[i]);
	for (unsigned i = 0; i < CAUSAL_ROWS; i++)
		results_free(&c->rows[i]);
	flights_free(c);
	instances_free(c);
	spool_list_free(&c->waits);
	spool_list_free(&c->wrong_order);
	spool_free(c->spool);
	map64_free(&c->pair_at);
	free(c->pairs);
	free(c->heap);
	free(c->overdue);
	free(c->lines);
	free(c);
}

void causal_set_eager(struct causal *c, int64_t in_node, int64_t between_nodes)
{
	c->eager[0] = in_node;
	c->eager[1] = between_nodes;
}

void causal_add_doubt(struct causal *c, enum causal_doubt why, uint64_t n)
{
	c->totals.doubts[why] += n;
}

void causal_thread_wait(struct causal *c, uint32_t line, const struct causal_thread_wait *w)
{
	const uint32_t others[] = {CAUSAL_NONE, w->holder, w->there};

	c->totals.thread_waits += (double)w->ns;
	for (unsigned i = 0; i < ARRAY_SIZE(others); i++) {
		struct causal_row *row;

		if (i && others[i] == CAUSAL_NONE)
			continue;
		row = results_row(
			&c->rows[CAUSAL_THREAD_WAITS + i], w->kind, w->path, line, others[i]);
		row->calls += w->so_far == w->ns;
		row->ns += (double)w->ns;
		row->longest = w->so_far > row->longest ? w->so_far : row->longest;
	}
}

/* ---- events of one line -----------------------------------------------------------------------
 */

void causal_begin(struct causal *c, uint32_t line, int64_t t, uint32_t init, uint32_t path)
{
	line_read(c, line, &(struct item){.t = t, .kind = ITEM_BEGIN, .path = path, .other = init});
}

void causal_end(struct causal *c, uint32_t line, int64_t t, uint32_t path)
{
	line_read(c, line, &(struct item){.t = t, .kind = ITEM_END, .path = path});
}

void causal_path(struct causal *c, uint32_t line, int64_t t, uint32_t path, enum causal_work work)
{
	line_read(c, line, &(struct item){.t = t, .kind = ITEM_PATH, .path = path, .work = work});
}

void causal_enter(struct causal *c, uint32_t line, int64_t t, uint32_t path)
{
	line_read(c, line, &(struct item){.t = t, .kind = ITEM_ENTER, .path = path});
}

void causal_leave(struct causal *c, uint32_t line, int64_t t, uint32_t path)
{
	line_read(c, line, &(struct item){.t = t, .kind = ITEM_LEAVE, .path = path});
}

/* ---- the end ----------------------------------------------------------------------------------
 */

static void add_up(struct causal *c)
{
	struct causal_totals *t = &c->totals;

	t->begin = INT64_MAX;
	t->end = INT64_MIN;
	for (uint32_t i = 0; i < c->n; i++) {
		const struct line *l = &c->lines[i];

		if (!l->begun)
			continue;
		t->lines++;
		t->begin = l->begin < t->begin ? l->begin : t->begin;
		t->end = l->end > t->end ? l->end : t->end;
		t->useful += (double)l->sum_useful;
		t->lock_wait += (double)l->sum_lock_wait;
		t->mpi += (double)(l->end - l->begin - l->sum_useful - l->sum_lock_wait);
		t->ideal = l->k > t->ideal ? l->k : t->ideal;
		if (t->lines == 1 || l->sum_useful > t->useful_max) {
			t->useful_max = l->sum_useful;
			t->useful_line = i;
		}
	}
	if (!t->lines)
		t->begin = t->end = 0;
}

/* What was never seen to end, ends with what was read last. */
static void end_lines(struct causal *c)
{
	for (uint32_t i = 0; i < c->n; i++) {
		const struct line *l = &c->lines[i];

		if (l->begun && !l->ended)
			causal_end(c, i, l->last_read, l->path);
	}
	lines_finish(c);
}

static void count_missing(struct causal *c)
{
	for (size_t k = 0; c->instances.slots && k <= c->instances.mask; k++)
		if (c->instances.slots[k].value)
			c->totals.doubts[CAUSAL_MISSING]++;
}

/* A few short ones are in each program. */
static void doubt_untold(struct causal *c)
{
	const double share =
		c->totals.untold / (c->totals.useful + c->totals.lock_wait + c->totals.mpi);

	if (share >= 0.01)
		causal_add_doubt(c, CAUSAL_UNTOLD, (uint64_t)(100.0 * share + 0.5));
}

bool causal_finish(struct causal *c, char **error)
{
	lines_finish(c);
	end_lines(c);
	count_missing(c);
	add_up(c);
	doubt_untold(c);
	if (!spool_map(c->spool)) {
		*error = xasprintf("the temporary file: %s", strerror(errno));
		return false;
	}
	if (c->totals.lines) {
		walk_critical_path(c);
		count_waits(c);
		count_delays(c);
	}
	for (unsigned i = 0; i < CAUSAL_ROWS; i++)
		results_sort(&c->rows[i]);
	return true;
}

/* ---- results -----------------------------------------------------------------------------------
 */

const struct causal_totals *causal_totals(const struct causal *c)
{
	return &c->totals;
}

bool causal_line_times(const struct causal *c, uint32_t line, struct causal_line_times *to)
{
	const struct line *l = &c->lines[line];

	*to = (struct causal_line_times){
		l->begin, l->end, l->sum_useful, l->sum_lock_wait, l->waits};
	return l->begun;
}

const struct causal_row *causal_rows(const struct causal *c, enum causal_rows which, size_t *n)
{
	*n = c->rows[which].n;
	return c->rows[which].rows;
}

const struct causal_row *causal_row(
	const struct causal *c, enum causal_rows which, uint32_t path, uint32_t line)
{
	return results_find(&c->rows[which], path, line);
}
