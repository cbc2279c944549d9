/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory that nobody has freed, and ranks that need much more of it than others. */
#include "nodeagent/report/findings/internal.h"

#include <stdlib.h>

#define LIVE_BLOCKS 100	 /* of a call path in each of its processes */
#define LIVE_PART   0.1	 /* of what was live at the peaks */
#define AGE_MOST    0.75 /* of the run: older blocks were allocated as it began */

#define RANK_RATIO  1.5	       /* to the mean of ranks */
#define RANK_BEYOND (64 << 20) /* bytes */

static uint64_t peaks_of(const struct profile *p)
{
	uint64_t bytes = 0;

	EACH(const struct profile_memory_rank, m, p->memory_ranks, p->n_memory_ranks)
		bytes += m->peak_bytes;
	return bytes;
}

static double mean_age_s(const struct profile_memory *m)
{
	return m->live_blocks ? 1e-9 * (double)m->live_age_ns / (double)m->live_blocks : 0.0;
}

/* Many blocks, a large part of all memory, even if the estimate is too high by as much as it may
 * be, that were allocated while the run went on. Call paths that were added up (prune.h) are of no
 * ranks, and so leak nothing together. */
static bool stays_live(const struct facts *facts, const struct profile_memory *m, uint64_t peaks)
{
	const double least = (double)m->live_bytes - (double)report_memory_error(m->live_variance);

	return m->live_age_ns && m->ranks && m->live_blocks >= (uint64_t)LIVE_BLOCKS * m->ranks &&
	       least >= LIVE_PART * (double)peaks &&
	       mean_age_s(m) <= AGE_MOST * facts->p->runtime_s;
}

bool look_memory_leak(const struct facts *facts, struct finding *f)
{
	const struct profile *p = facts->p;
	const struct profile_memory *most = NULL;
	const uint64_t peaks = peaks_of(p);
	char *path;

	if (p->n_dead || p->n_ends) /* who is killed frees nothing */
		return false;
	EACH(const struct profile_memory, m, p->memory, p->n_memory)
		if (stays_live(facts, m, peaks) && (!most || m->live_bytes > most->live_bytes))
			most = m;
	if (!most)
		return false;
	path = short_path(facts->r, most->stack);
	finding_say(f,
		"%s in %s blocks of %s are live at the end, %.0f %% of what was live at most; they "
		"were allocated %s before the end on average.",
		quantity_bytes((double)most->live_bytes).text,
		quantity_count((double)most->live_blocks).text, path,
		100.0 * (double)most->live_bytes / (double)peaks,
		quantity_seconds(mean_age_s(most)).text);
	free(path);
	prove_stack(f, facts->r, most->stack);
	prove_count(f, "live_bytes", most->live_bytes);
	prove_count(f, "live_error", report_memory_error(most->live_variance));
	prove_count(f, "live_blocks", most->live_blocks);
	prove_seconds(f, "live_age_s", mean_age_s(most));
	prove_count(f, "allocations", most->allocations);
	prove_count(f, "ranks", most->ranks);
	prove_count(f, "peak_bytes", peaks);
	return true;
}

bool look_memory_balance(const struct facts *facts, struct finding *f)
{
	const struct profile *p = facts->p;
	const struct profile_memory_rank *most = NULL;
	uint64_t sum = 0, n = 0;
	double mean;

	EACH(const struct profile_memory_rank, m, p->memory_ranks, p->n_memory_ranks) {
		if (!p->world_size || m->rank >= PROFILE_UNRANKED)
			continue;
		sum += m->peak_bytes;
		n += 1 + (uint64_t)m->others;
		if (!m->others && (!most || m->peak_bytes > most->peak_bytes))
			most = m;
	}
	mean = n ? (double)sum / (double)n : 0.0;
	if (n < 2 || !most || (double)most->peak_bytes < RANK_RATIO * mean ||
		(double)most->peak_bytes < mean + RANK_BEYOND)
		return false;
	finding_say(f,
		"Rank %" PRIu32 " needs %s of memory at its peak, %.1f x the mean of %" PRIu64
		" ranks.",
		profile_rank_shown(p, most->rank), quantity_bytes((double)most->peak_bytes).text,
		(double)most->peak_bytes / mean, n);
	prove_rank(f, p, most->rank);
	prove_count(f, "ranks", n);
	prove_count(f, "peak_bytes", most->peak_bytes);
	prove_seconds(f, "peak_s", s_of(most->peak_ns));
	prove_count(f, "mean_peak_bytes", (uint64_t)mean);
	prove_ratio(f, "ratio", (double)most->peak_bytes / mean);
	return true;
}
