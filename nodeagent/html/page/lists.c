/* SPDX-License-Identifier: BSD-3-Clause */
/* Pages of bars and tables. */
#include <string.h>

#include "nodeagent/base/util.h"
#include "nodeagent/html/page/internal.h"

struct list {
	const char *key, *caption; /* of an array of objects, or an object */
};

static const struct page_bars openmp_bars[] = {
	{"per_rank", "openmp-ranks", "Time of all threads of each rank", "rank",
		"A bar for each rank with OpenMP: what all its threads worked, were in MPI, waited "
		"in barriers and other constructs, and were idle outside of teams.",
		{{"rank ", "rank"}, {" on ", "node"}}, "all_threads", "openmp_wait_s", false, 4,
		{{"useful work", COLOUR_GREEN, "useful_s"}, {"MPI", COLOUR_BLUE, "mpi_s"},
			{"waits in OpenMP", COLOUR_ORANGE, "openmp_wait_s"},
			{"idle in OpenMP", COLOUR_YELLOW, "openmp_idle_s"}},
		"ranks_by_node"},
	{"openmp", "openmp-regions", "Time of threads in each parallel region", "region",
		"A bar for each parallel region: the time of all threads in its teams. At the "
		"start a thread is not there yet; at the join it waits for the end of its team.",
		{{"", "region"}, {" < ", "caller"}}, NULL, NULL, false, 5,
		{{"work", COLOUR_GREEN, "t_busy_s"},
			{"waits at barriers", COLOUR_ORANGE, "t_barrier_s"},
			{"other waits", COLOUR_RED, "t_wait_s", {"t_barrier_s"}},
			{"start", COLOUR_GREY, "t_start_s"}, {"join", COLOUR_YELLOW, "t_join_s"}}},
	{"each_thread", "openmp-threads", "Time of each thread in teams and outside", "thread",
		"A bar for each thread that was in teams, as long as the time from its first "
		"record to its end.",
		{{"rank ", "rank"}, {", thread ", "thread"}}, NULL, "t_team_waits_s", false, 4,
		{{"work in teams", COLOUR_GREEN, "t_teams_s", {"t_team_waits_s"}},
			{"waits in teams", COLOUR_ORANGE, "t_team_waits_s"},
			{"waits for the end of teams", COLOUR_RED, "t_team_joins_s"},
			{"outside of teams", COLOUR_YELLOW, "t_alive_s",
				{"t_teams_s", "t_team_joins_s"}}}},
};
static const struct page_bars gpu_bars[] = {
	{"gpus", "gpu-devices", "Use of each GPU in the time of the run", "GPU",
		"A bar for each GPU: the time in which kernels ran on it, that in which only "
		"copies and other activities did, and that in which nothing did.",
		{{"", "host"}, {", rank ", "rank"}, {", device ", "device"}}, NULL, NULL, false, 3,
		{{"kernels", COLOUR_GREEN, "t_compute_s"},
			{"only copies and others", COLOUR_BLUE, "t_busy_s", {"t_compute_s"}},
			{"idle", COLOUR_YELLOW, "runtime_s", {"t_busy_s"}}},
		"gpus_by_node", "gpus"},
};
static const struct page_bars io_bars[] = {
	{"posix_files", "io-bytes", "Bytes of each file of the program", "file",
		"A bar for each file: what the program read and wrote.", {{"", "name"}}, NULL, NULL,
		true, 2,
		{{"read", COLOUR_SKY, "bytes_read"}, {"written", COLOUR_RED, "bytes_written"}}},
	{"posix_files", "io-times", "Time for each file of the program", "file",
		"A bar for each file: the time of its calls.", {{"", "name"}}, NULL, NULL, false, 3,
		{{"reads", COLOUR_SKY, "read_s"}, {"writes", COLOUR_RED, "write_s"},
			{"other calls", COLOUR_GREY, "other_s"}}},
	{"files", "io-mpi-bytes", "Bytes of each file of MPI", "file",
		"A bar for each file that was opened through MPI: what was read and written.",
		{{"", "name"}}, NULL, NULL, true, 2,
		{{"read", COLOUR_SKY, "bytes_read"}, {"written", COLOUR_RED, "bytes_written"}}},
	{"files", "io-mpi-times", "Time for each file of MPI", "file",
		"A bar for each file that was opened through MPI: the time of its reads and "
		"writes.",
		{{"", "name"}}, NULL, NULL, false, 2,
		{{"reads", COLOUR_SKY, "t_read_s"}, {"writes", COLOUR_RED, "t_write_s"}}},
	{"io", "io-paths", "Time of input and output that the program has told", "call path",
		"A bar for each call path and kind of operation.", {{"", "path"}, {": ", "kind"}},
		NULL, NULL, false, 1, {{"operations", COLOUR_RED, "t_s"}}},
};
static const struct page_bars memory_bars[] = {
	{"memory_ranks", "memory-high-water", "High water of memory of each rank", "rank",
		"A bar for each rank: the most memory that it had at a time.", {{"rank ", "rank"}},
		NULL, NULL, true, 2,
		{{"still there at the end", COLOUR_RED, "live_bytes"},
			{"freed before the end", COLOUR_SKY, "peak_bytes", {"live_bytes"}}},
		"memory_by_node"},
	{"memory", "memory-paths", "Memory of call paths when the process had most", "call path",
		"A bar for each call path: what was allocated in it and not freed yet when the "
		"process had most.",
		{{"", "path"}}, NULL, NULL, true, 1, {{"then there", COLOUR_BLUE, "peak_bytes"}}},
};

static const struct list openmp_lists[] = {
	{"openmp", "Parallel regions of OpenMP"},
};
static const struct list locks_lists[] = {
	{"locks", "Locks that threads waited for"},
};
static const struct list gpu_lists[] = {
	{"gpu_efficiency", "Efficiency of GPUs"},
	{"gpus", "GPUs"},
	{"gpus_by_node", "The other GPUs, by node"},
	{"gpu_devices", "Devices"},
	{"gpu_devices_by_node", "The other devices, by node"},
	{"gpu", "Kernels, transfers and calls"},
	{"gpu_transfers", "Transfers"},
	{"other_gpu_transfers", "The other transfers, by kind"},
	{"gpu_host_waits", "Waits of the host for GPUs"},
	{"gpu_streams", "Streams"},
	{"gpu_streams_by_node", "The other streams, by node"},
	{"openacc", "OpenACC"},
};
static const struct list io_lists[] = {
	{"io", "Input and output"},
	{"files", "Files"},
	{"posix_files", "Files of the program"},
};
static const struct list memory_lists[] = {
	{"memory", "Memory by call path"},
	{"memory_ranks", "Memory of ranks"},
	{"memory_by_node", "Memory of the other ranks, by node"},
};
static const struct list counters_lists[] = {
	{"counters", "Hardware counters"},
	{"observables", "Values made of them"},
	{"user_counters", "Counters of the program"},
	{"user_counters_of_others", "Counters of the program in the other processes"},
};
static const struct list nodes_lists[] = {
	{"places", "Where ranks ran"},
	{"agents", "Agents"},
	{"clocks", "Clocks of nodes against that of the first"},
	{"started", "How it was started"},
	{"configuration", "Configuration, where it is not the default"},
	{"builds", "Programs"},
	{"dead", "Processes that did not end normally"},
	{"first_end", "The first of them"},
	{"switched_off", "Functions that were switched off"},
	{"matching", "Matching of messages"},
};

/* An array of objects, or an object, that has something in it. */
static bool is_filled(const struct pages *p, const char *key)
{
	const struct value *v = page_member(p, key), *first = value_first(p->all, v);

	if (value_kind(v) == VALUE_ARRAY)
		return value_kind(first) == VALUE_OBJECT;
	return value_kind(v) == VALUE_OBJECT && first;
}

static bool some_are_filled(const struct pages *p, const struct list *lists, size_t n)
{
	return ANY(i, n, is_filled(p, lists[i].key));
}

static void put_lists(struct html *h, const struct pages *p, const struct list *lists, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct value *v = page_member(p, lists[i].key);

		if (!is_filled(p, lists[i].key))
			continue;
		if (value_kind(v) == VALUE_ARRAY)
			list_table_by_time(h, p->all, v, lists[i].caption, NULL);
		else
			list_members(h, p->all, v, lists[i].caption);
	}
}

#define LISTS_HAS(name)                                                                            \
	bool page_##name##_has(const struct pages *p)                                              \
	{                                                                                          \
		return some_are_filled(p, name##_lists, ARRAY_SIZE(name##_lists));                 \
	}
#define LISTS_PAGE(name)                                                                           \
	LISTS_HAS(name)                                                                            \
	void page_##name##_print(struct html *h, const struct pages *p)                            \
	{                                                                                          \
		put_lists(h, p, name##_lists, ARRAY_SIZE(name##_lists));                           \
	}
#define BARS_PAGE(name)                                                                            \
	LISTS_HAS(name)                                                                            \
	void page_##name##_print(struct html *h, const struct pages *p)                            \
	{                                                                                          \
		for (size_t i = 0; i < ARRAY_SIZE(name##_bars); i++)                               \
			page_bars_print(h, p, &name##_bars[i]);                                    \
		put_lists(h, p, name##_lists, ARRAY_SIZE(name##_lists));                           \
	}

BARS_PAGE(openmp)
LISTS_PAGE(locks)
BARS_PAGE(gpu)
LISTS_HAS(io)
BARS_PAGE(memory)
LISTS_PAGE(counters)
LISTS_PAGE(nodes)

void page_io_print(struct html *h, const struct pages *p)
{
	for (size_t i = 0; i < ARRAY_SIZE(io_bars); i++)
		page_bars_print(h, p, &io_bars[i]);
	page_slices_print_bytes(h, p);
	put_lists(h, p, io_lists, ARRAY_SIZE(io_lists));
}
