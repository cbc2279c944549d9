/* SPDX-License-Identifier: BSD-3-Clause */
/* The efficiency of the job, in the summary of layout run and in JSON; the times of its ranks. */
#include <math.h>
#include <stdlib.h>

#include "nodeagent/base/units.h"
#include "nodeagent/report/efficiency.h"
#include "nodeagent/report/log/internal.h"

/* ---- in the log -------------------------------------------------------------------------- */

static void print_row(struct table *t, const char *name, double factor, const char *what)
{
	char percent[32] = COLUMN_NOTHING;

	if (isnan(factor))
		return;
	if (isfinite(factor))
		snprintf(percent, sizeof(percent), "%.1f", 100.0 * factor);
	table_text(t, name);
	table_text(t, percent);
	table_text(t, what);
}

static void print_doubts(FILE *f, const struct efficiency *e)
{
	const char *before = "Estimated: ";

	for (unsigned i = 0; i < DOUBTS; i++) {
		char *text;

		if (!(e->doubts >> i & 1))
			continue;
		text = efficiency_sentence(e, i);
		fprintf(f, "%s%s", before, text);
		before = "; ";
		free(text);
	}
	if (e->doubts)
		fputs(".\n", f);
}

void section_efficiency(FILE *f, const struct report *r)
{
	struct efficiency e;
	struct table *t;

	if (!r->run || !efficiency_of(r->p, &e))
		return;
	t = columns_begin(r);
	table_column(t, "Efficiency", TABLE_LEFT);
	table_column(t, "%", TABLE_RIGHT);
	table_column(t, "is", TABLE_LEFT);
	print_row(t, "Parallel", e.parallel,
		e.hybrid ? "useful time of the threads / time of all"
			 : "useful time / time of all");
	if (e.is_job)
		print_row(t, "  Load balance", e.load_balance, "mean / greatest of a rank");
	if (e.is_job && e.nodes > 1) {
		print_row(t, "    in nodes", e.in_nodes, "greatest mean of a node / of a rank");
		print_row(
			t, "    between nodes", e.between_nodes, "mean / greatest mean of a node");
	}
	if (e.is_job)
		print_row(t, "  Communication", e.communication, "greatest of a rank / window");
	print_row(t, "  OpenMP", e.openmp, "useful time / time outside of MPI");
	print_row(t, "    Load balance", e.openmp_balance, "of threads, beyond that of ranks");
	print_row(
		t, "    Communication", e.openmp_communication, "greatest of a thread / of a rank");
	fprintf(f, "\nEfficiency in %s%s\n", quantity_seconds(e.window_s).text,
		e.is_mpi ? ", from leaving MPI_Init to entering MPI_Finalize" : "");
	columns_close(f, r, t);
	print_doubts(f, &e);
}

/* ---- in JSON ----------------------------------------------------------------------------- */

static void put_factor(struct json *j, const char *key, double factor)
{
	if (isfinite(factor))
		json_exact(j, key, factor);
}

static void put_factors(struct json *j, const struct efficiency *e)
{
	put_factor(j, "parallel", e->parallel);
	put_factor(j, "load_balance", e->load_balance);
	put_factor(j, "load_balance_in_nodes", e->in_nodes);
	put_factor(j, "load_balance_between_nodes", e->between_nodes);
	put_factor(j, "communication", e->communication);
	put_factor(j, "openmp", e->openmp);
	put_factor(j, "openmp_load_balance", e->openmp_balance);
	put_factor(j, "openmp_communication", e->openmp_communication);
}

static void put_efficiency(struct json *j, const struct efficiency *e)
{
	json_object(j, "efficiency");
	json_string(j, "model", e->hybrid ? "hybrid" : "mpi");
	json_uint(j, "ranks", e->ranks);
	json_uint(j, "threads", e->threads);
	json_real(j, "window_s", e->window_s);
	if (e->window_error_s > 0.0)
		json_real(j, "window_error_s", e->window_error_s);
	json_exact(j, "useful_s", e->useful_s);
	json_exact(j, "useful_max_s", e->useful_max_s);
	if (e->hybrid) {
		json_exact(j, "outside_mpi_s", e->outside_s);
		json_exact(j, "outside_mpi_max_s", e->outside_max_s);
	}
	if (e->is_job)
		json_uint(j, "rank_max", e->rank_max);
	put_factors(j, e);
	json_array(j, "estimated");
	for (unsigned i = 0; i < DOUBTS; i++)
		if (e->doubts >> i & 1)
			json_string(j, NULL, efficiency_doubts[i]);
	json_close(j);
	json_close(j);
}

/* What is not known of a rank is left out. */
#define HAS(name, flag) ROW_VALUE(bool, has_##name, profile_rank_time, at->flags &(flag))
HAS(mpi, RANK_HAS_MPI)
HAS(waits, RANK_HAS_WAITS)
HAS(openmp, RANK_HAS_OPENMP)
HAS(gpu, RANK_HAS_GPU)
HAS(locks, RANK_HAS_LOCKS)
HAS(io, RANK_HAS_IO)
HAS(off_cpu, RANK_HAS_OFF_CPU)
ROW_VALUE(bool, has_unknown, profile_rank_time, at->unknown_ns)
ROW_VALUE(bool, has_init, profile_rank_time, at->flags &(RANK_HAS_MPI | RANK_OF_LAUNCHER))
ROW_VALUE(uint64_t, left_init, profile_rank_time, (at->flags & RANK_LEFT_INIT) != 0)
ROW_VALUE(uint64_t, entered_finalize, profile_rank_time, (at->flags & RANK_ENTERED_FINALIZE) != 0)
ROW_VALUE(uint64_t, was_killed, profile_rank_time, (at->flags & RANK_KILLED) != 0)
ROW_VALUE(uint64_t, window_length, profile_rank_time,
	at->useful_ns + at->mpi_ns + at->openmp_wait_ns + at->openmp_idle_ns + at->gpu_wait_ns +
		at->lock_wait_ns + at->io_ns + at->blocked_ns + at->unknown_ns)
ROW_VALUE(const char *, host_name, profile_rank_time, efficiency_host(row->r->p, at->rank))
ROW_VALUE(uint64_t, rank_count, profile_rank_time, 1 + (uint64_t)at->others)
ROW_VALUE(bool, has_threads, profile_rank_time, at->threads > 1 + at->others)
/* Waits are those of all threads of a rank: so they are its first thread's if no other calls MPI.
 */
ROW_VALUE(bool, has_own_waits, profile_rank_time,
	at->flags &RANK_HAS_WAITS &&
		(at->threads == 1 + at->others || at->mpi_ns == at->all_mpi_ns))

#define TIME(json, type, member, ...)                                                              \
	COLUMN(NULL, json, type, struct profile_rank_time, member, ##__VA_ARGS__)

static const struct column all_columns[] = {
	TIME("useful_s", SECONDS, all_useful_ns),
	TIME("mpi_s", SECONDS, all_mpi_ns, .where = has_mpi),
	TIME("mpi_wait_s", SECONDS, mpi_wait_ns, .where = has_waits),
	TIME("openmp_wait_s", SECONDS, all_openmp_wait_ns, .where = has_openmp),
	TIME("openmp_idle_s", SECONDS, all_openmp_idle_ns, .where = has_openmp),
	TIME("lock_wait_s", SECONDS, all_lock_wait_ns, .where = has_locks),
	TIME("io_s", SECONDS, all_io_ns, .where = has_io),
	TIME("blocked_s", SECONDS, all_blocked_ns),
	TIME("unknown_s", SECONDS, all_unknown_ns, .where = has_unknown),
};
static const struct list all_list = LIST_OF(all_columns, struct profile_rank_time);

static void write_all(struct json *j, const char *key, const struct row *row)
{
	json_object(j, key);
	columns_members(j, &all_list, row);
	json_close(j);
}

/* Of a rank, or sums over ranks; what all of these have or have not. */
#define TIMES_OF_RANKS                                                                             \
	COLUMN_GET(NULL, "window_s", SECONDS, count, window_length),                               \
		TIME("useful_s", SECONDS, useful_ns),                                              \
		TIME("mpi_s", SECONDS, mpi_ns, .where = has_mpi),                                  \
		TIME("mpi_wait_s", SECONDS, mpi_wait_ns, .where = has_own_waits),                  \
		TIME("openmp_wait_s", SECONDS, openmp_wait_ns, .where = has_openmp),               \
		TIME("openmp_idle_s", SECONDS, openmp_idle_ns, .where = has_openmp),               \
		TIME("gpu_wait_s", SECONDS, gpu_wait_ns, .where = has_gpu),                        \
		TIME("lock_wait_s", SECONDS, lock_wait_ns, .where = has_locks),                    \
		TIME("io_s", SECONDS, io_ns, .where = has_io),                                     \
		TIME("blocked_s", SECONDS, blocked_ns),                                            \
		TIME("unknown_s", SECONDS, unknown_ns, .where = has_unknown),                      \
		TIME("off_cpu_s", SECONDS, off_cpu_ns, .where = has_off_cpu),                      \
		COLUMN_GET(NULL, "left_init", BOOL, count, left_init, .where = has_init),          \
		COLUMN_GET(NULL, "entered_finalize", BOOL, count, entered_finalize,                \
			.where = has_init),                                                        \
		COLUMN_GET(NULL, "killed", BOOL, count, was_killed),                               \
		TIME("threads", COUNT, threads),                                                   \
		TIME("openmp_threads", COUNT, team_threads, .where = has_openmp),                  \
		COLUMN_GET(NULL, "all_threads", WRITTEN, write, write_all, .where = has_threads),

static const struct column rank_columns[] = {
	TIME("rank", RANK, rank), COLUMN_GET(NULL, "node", TEXT, text, host_name), TIMES_OF_RANKS};
static const struct list rank_list = LIST_OF(rank_columns, struct profile_rank_time);

static const struct column sum_columns[] = {TIME("first_rank", RANK, rank),
	COLUMN_GET(NULL, "node", TEXT, text, host_name),
	COLUMN_GET(NULL, "ranks", COUNT, count, rank_count), TIMES_OF_RANKS};
static const struct list sum_list = LIST_OF(sum_columns, struct profile_rank_time);

/* Those of several ranks, or of one. */
static void put_times(struct json *j, const struct report *r, const char *key, bool sums)
{
	const struct profile *p = r->p;

	json_array(j, key);
	for (size_t i = 0; i < p->n_rank_times; i++) {
		const struct profile_rank_time *t = &p->rank_times[i];

		if (efficiency_counts(p, t) && sums == (t->others != 0))
			columns_object(j, sums ? &sum_list : &rank_list,
				&(struct row){.r = r, .at = t, .index = (uint32_t)i});
	}
	json_close(j);
}

void json_efficiency(struct json *j, const struct report *r)
{
	const struct profile *p = r->p;
	struct efficiency e;

	if (!p->n_rank_times)
		return;
	if (efficiency_of(p, &e))
		put_efficiency(j, &e);
	put_times(j, r, "per_rank", false);
	if (profile_timed_ranks(p) > p->n_rank_times)
		put_times(j, r, "ranks_by_node", true);
}
