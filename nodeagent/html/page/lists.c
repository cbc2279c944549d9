/* SPDX-License-Identifier: BSD-3-Clause */
/* Pages that are tables only. */
#include <string.h>

#include "nodeagent/base/util.h"
#include "nodeagent/html/page/internal.h"

struct list {
	const char *key, *caption; /* of an array of objects, or an object */
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
	{"gpu_devices", "Devices"},
	{"gpu", "Kernels, transfers and calls"},
	{"gpu_transfers", "Transfers"},
	{"gpu_host_waits", "Waits of the host for GPUs"},
	{"gpu_streams", "Streams"},
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
};
static const struct list counters_lists[] = {
	{"counters", "Hardware counters"},
	{"observables", "Values made of them"},
	{"user_counters", "Counters of the program"},
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
	for (size_t i = 0; i < n; i++)
		if (is_filled(p, lists[i].key))
			return true;
	return false;
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

#define LISTS_PAGE(name)                                                                           \
	bool page_##name##_has(const struct pages *p)                                              \
	{                                                                                          \
		return some_are_filled(p, name##_lists, ARRAY_SIZE(name##_lists));                 \
	}                                                                                          \
	void page_##name##_print(struct html *h, const struct pages *p)                            \
	{                                                                                          \
		put_lists(h, p, name##_lists, ARRAY_SIZE(name##_lists));                           \
	}

LISTS_PAGE(openmp)
LISTS_PAGE(locks)
LISTS_PAGE(gpu)
LISTS_PAGE(io)
LISTS_PAGE(memory)
LISTS_PAGE(counters)
LISTS_PAGE(nodes)
