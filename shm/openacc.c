/* SPDX-License-Identifier: BSD-3-Clause */
#include "shm/openacc.h"

#include <stddef.h>

static const struct {
	const char *name;
	bool ends;
	enum openacc_time time;
} events[OPENACC_EVENT_LAST] = {
#define ROW(event, number, what, has_end, column) [number] = {what, has_end, column},
	OPENACC_EVENTS(ROW)
#undef ROW
};

static const char *const parents[] = {
#define ROW(number, name) [number] = name,
	OPENACC_PARENTS(ROW)
#undef ROW
};

const char *openacc_event_name(uint32_t event)
{
	return event < OPENACC_EVENT_LAST ? events[event].name : NULL;
}

bool openacc_event_ends(uint32_t event)
{
	return event < OPENACC_EVENT_LAST && events[event].ends;
}

enum openacc_time openacc_event_time(uint32_t event)
{
	return event < OPENACC_EVENT_LAST ? events[event].time : OPENACC_OTHER;
}

const char *openacc_parent_name(uint32_t parent)
{
	return parent < sizeof(parents) / sizeof(parents[0]) ? parents[parent] : "";
}
