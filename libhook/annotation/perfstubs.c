/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * PerfStubs, the stubs in ADIOS2 and others: they look for these functions by name when they start.
 * Only the first must be there; what a tool lacks is not called. Counters and metadata are not
 * kept. A dynamic phase is a region each time, of the same name.
 */
#include <stddef.h>
#include "libhook/annotation/annotation.h"
#include "libhook/annotation/next.h"
#include "libhook/annotation/names.h"

static struct names timers;

static const char *name_of(const void *timer)
{
	const char *name = annotation_name_of(&timers, (uint64_t)timer);

	return name ? name : "(timer)";
}

EXPORT void ps_tool_initialize(void);
void ps_tool_initialize(void)
{
	__typeof__(&ps_tool_initialize) next = NEXT(ps_tool_initialize);

	if (next)
		next();
}

EXPORT void ps_tool_finalize(void);
void ps_tool_finalize(void)
{
	__typeof__(&ps_tool_finalize) next = NEXT(ps_tool_finalize);

	if (next)
		next();
}

/* A timer is the other tool's, or else a number that is never followed. */
EXPORT void *ps_tool_timer_create(const char *name);
void *ps_tool_timer_create(const char *name)
{
	__typeof__(&ps_tool_timer_create) next = NEXT(ps_tool_timer_create);
	void *timer = next ? next(name) : NULL;

	return (void *)annotation_name_keep(&timers, (uint64_t)timer, name);
}

EXPORT void ps_tool_timer_start(const void *timer);
void ps_tool_timer_start(const void *timer)
{
	__typeof__(&ps_tool_timer_start) next = NEXT(ps_tool_timer_start);

	annotation_begin(ANNOTATION_perfstubs, "", name_of(timer));
	if (next)
		next(timer);
}

EXPORT void ps_tool_timer_stop(const void *timer);
void ps_tool_timer_stop(const void *timer)
{
	__typeof__(&ps_tool_timer_stop) next = NEXT(ps_tool_timer_stop);

	if (next)
		next(timer);
	annotation_end_name(ANNOTATION_perfstubs, name_of(timer));
}

EXPORT void ps_tool_start_string(const char *name);
void ps_tool_start_string(const char *name)
{
	__typeof__(&ps_tool_start_string) next = NEXT(ps_tool_start_string);

	annotation_begin(ANNOTATION_perfstubs, "", name);
	if (next)
		next(name);
}

EXPORT void ps_tool_stop_string(const char *name);
void ps_tool_stop_string(const char *name)
{
	__typeof__(&ps_tool_stop_string) next = NEXT(ps_tool_stop_string);

	if (next)
		next(name);
	annotation_end_name(ANNOTATION_perfstubs, name);
}

EXPORT void ps_tool_dynamic_phase_start(const char *name, int index);
void ps_tool_dynamic_phase_start(const char *name, int index)
{
	__typeof__(&ps_tool_dynamic_phase_start) next = NEXT(ps_tool_dynamic_phase_start);

	annotation_begin(ANNOTATION_perfstubs, "", name);
	if (next)
		next(name, index);
}

EXPORT void ps_tool_dynamic_phase_stop(const char *name, int index);
void ps_tool_dynamic_phase_stop(const char *name, int index)
{
	__typeof__(&ps_tool_dynamic_phase_stop) next = NEXT(ps_tool_dynamic_phase_stop);

	if (next)
		next(name, index);
	annotation_end_name(ANNOTATION_perfstubs, name);
}
