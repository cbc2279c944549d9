/* SPDX-License-Identifier: BSD-3-Clause */
/* What the program allocates, by call path and by rank: tables, and the same in JSON. */
#include <math.h>

#include "nodeagent/base/json-write.h"
#include "nodeagent/base/table.h"
#include "nodeagent/base/util.h"
#include "nodeagent/profile/profile.h"
#include "nodeagent/report/columns.h"
#include "nodeagent/report/efficiency.h"
#include "nodeagent/report/measures.h"
#include "nodeagent/report/report.h"

#define SIGMAS_95 1.96

static uint64_t weight_of(const struct profile *p, uint32_t i)
{
	const struct profile_memory *m = &p->memory[i];

	return m->peak_bytes > m->live_bytes ? m->peak_bytes : m->live_bytes;
}

static uint64_t rank_weight_of(const struct profile *p, uint32_t i)
{
	return p->memory_ranks[i].peak_bytes;
}

static double ratio_of(double a, uint64_t b)
{
	return b ? a / (double)b : NAN;
}

uint64_t report_memory_error(unsigned __int128 variance)
{
	return (uint64_t)(SIGMAS_95 * sqrt((double)variance) + 0.5);
}

ROW_VALUE(uint64_t, bytes_error, profile_memory, report_memory_error(at->bytes_variance))
ROW_VALUE(uint64_t, live_error, profile_memory, report_memory_error(at->live_variance))
ROW_VALUE(double, mean_bytes, profile_memory, ratio_of((double)at->bytes, at->allocations))
ROW_VALUE(
	double, block_lifetime, profile_memory, 1e-9 * ratio_of((double)at->lifetime_ns, at->frees))
ROW_VALUE(double, live_age, profile_memory,
	1e-9 * ratio_of((double)at->live_age_ns, at->live_age_ns ? at->live_blocks : 0))

#define MEMORY(title, json, type, member, ...)                                                     \
	COLUMN(title, json, type, struct profile_memory, member, ##__VA_ARGS__)

static const struct column memory_columns[] = {
	MEMORY(NULL, "id", STACK_ID, stack),
	MEMORY(NULL, "path", PATH, stack),
	MEMORY("Peak[B]", "peak_bytes", COUNT, peak_bytes),
	MEMORY("Live[B]", "live_bytes", COUNT, live_bytes),
	COLUMN_GET("+-[B]", "live_error", COUNT, count, live_error),
	MEMORY("Live", "live_blocks", COUNT, live_blocks),
	COLUMN_GET("t_live[s]", "live_age_s", REAL, real, live_age, .decimals = 6),
	MEMORY("Allocs", "allocations", COUNT, allocations),
	MEMORY("Alloc[B]", "bytes", COUNT, bytes),
	COLUMN_GET("+-[B]", "bytes_error", COUNT, count, bytes_error, .spare = true),
	COLUMN_GET("Mean[B]", "mean_bytes", REAL, real, mean_bytes, .decimals = 1),
	MEMORY("Mapped[B]", "mapped_bytes", COUNT, mapped_bytes, .spare = true),
	MEMORY("Max[B]", "largest", COUNT, largest, .spare = true),
	MEMORY(NULL, "frees", COUNT, frees),
	MEMORY("Other thr.", "freed_by_other_thread", COUNT, other_thread, .spare = true),
	COLUMN_GET("t_life[s]", "lifetime_s", REAL, real, block_lifetime, .decimals = 6),
	MEMORY(NULL, "records", COUNT, records),
	MEMORY("Ranks", "ranks", COUNT, ranks),
	MEMORY("Function", "function", FUNCTION, stack, .left = true),
	MEMORY("STID", NULL, STACK_ID, stack),
	MEMORY("Callpath", NULL, PATH, stack, .left = true),
};

static const struct list memory_list =
	LIST(memory_columns, memory, .title = "Memory (of small allocations estimates)",
		.sum = true, .json = "memory", .things = "rows", .weight = weight_of);

#define RANK(title, json, type, member, ...)                                                       \
	COLUMN(title, json, type, struct profile_memory_rank, member, ##__VA_ARGS__)

/* Of a rank, or summed over several. */
#define MEMORY_OF_RANKS                                                                            \
	RANK("Live[B]", "live_bytes", COUNT, live_bytes),                                          \
		RANK("Live", "live_blocks", COUNT, live_blocks),                                   \
		RANK("Allocs", "allocations", COUNT, allocations),                                 \
		RANK("Alloc[B]", "bytes", COUNT, bytes), RANK("Frees", "frees", COUNT, frees),     \
		RANK(NULL, "not_followed", COUNT, not_followed),

static const struct column rank_columns[] = {RANK("Rank", "rank", RANK, rank),
	RANK("Peak[B]", "peak_bytes", COUNT, peak_bytes),
	RANK("t_peak[s]", "peak_s", SECONDS, peak_ns), MEMORY_OF_RANKS};

ROW_VALUE(bool, is_sum, profile_memory_rank, at->others)
ROW_VALUE(bool, is_rank, profile_memory_rank, !at->others)
ROW_VALUE(const char *, host_name, profile_memory_rank, efficiency_host(row->r->p, at->rank))
ROW_VALUE(uint64_t, rank_count, profile_memory_rank, 1 + (uint64_t)at->others)

static const struct column node_columns[] = {COLUMN_GET("Node", "node", TEXT, text, host_name),
	RANK("First rank", "first_rank", RANK, rank),
	COLUMN_GET("Ranks", "ranks", COUNT, count, rank_count),
	RANK("Peaks[B]", "peak_bytes", COUNT, peak_bytes), MEMORY_OF_RANKS};

static const struct list rank_list =
	LIST(rank_columns, memory_ranks, .title = "Memory of ranks", .json = "memory_ranks",
		.things = "ranks", .weight = rank_weight_of, .shown = is_rank, .json_shown = true);
static const struct list node_list = LIST(node_columns, memory_ranks,
	.title = "Memory of the other ranks by node", .json = "memory_by_node", .things = "nodes",
	.weight = rank_weight_of, .shown = is_sum, .json_shown = true);

void section_memory(FILE *f, const struct report *r)
{
	columns_print(f, r, &memory_list, 0);
	columns_print(f, r, &rank_list, 0);
	columns_print(f, r, &node_list, 0);
}

void json_memory(struct json *j, const struct report *r)
{
	if (r->p->n_memory)
		columns_json(j, r, &memory_list);
	if (r->p->n_memory_ranks)
		columns_json(j, r, &rank_list);
	if (ANY(i, r->p->n_memory_ranks, r->p->memory_ranks[i].others))
		columns_json(j, r, &node_list);
}
