/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * PETSc before 3.20 calls the functions to which PetscLogPLB and PetscLogPLE point when an event
 * begins and ends; ours call those that were there (-log_view). They are set as soon as an event is
 * registered, and again where PETSc sets them. Names are those with which events and stages are
 * registered. Later versions have no such pointers: there we see stages only.
 */
#include <string.h>
#include "libhook/annotation/annotation.h"
#include "libhook/annotation/next.h"
#include "shm/atomic.h"

#define EVENTS_MOST 4096
#define STAGES_MOST 256
#define NAME_BYTES  64

typedef int log_hook(int event, int kind, void *, void *, void *, void *);

static char events[EVENTS_MOST][NAME_BYTES];
static char stages[STAGES_MOST][NAME_BYTES] = {"Main Stage"};
static uint64_t regions[EVENTS_MOST]; /* what ends the event, after its first begin */
static log_hook *next_begin, *next_end;

/* Some end in blanks, which fill a column of -log_view. */
static void keep_name(char *to, const char *name)
{
	size_t bytes = name ? strnlen(name, NAME_BYTES - 1) : 0;

	while (bytes && name[bytes - 1] == ' ')
		bytes--;
	if (bytes)
		memcpy(to, name, bytes);
}

static int event_begins(int event, int kind, void *a, void *b, void *c, void *d)
{
	log_hook *next = load_relaxed(&next_begin);

	if (event >= 0 && event < EVENTS_MOST)
		store_relaxed(
			&regions[event], annotation_begin(ANNOTATION_petsc, "",
						 events[event][0] ? events[event] : "(event)"));
	return next ? next(event, kind, a, b, c, d) : 0;
}

static int event_ends(int event, int kind, void *a, void *b, void *c, void *d)
{
	log_hook *next = load_relaxed(&next_end);
	int result = next ? next(event, kind, a, b, c, d) : 0;

	if (event >= 0 && event < EVENTS_MOST)
		annotation_end(load_relaxed(&regions[event]));
	return result;
}

static void take_hook(log_hook **at, log_hook *ours, log_hook **next)
{
	if (!at || *at == ours)
		return;
	store_relaxed(next, *at);
	*at = ours;
}

static void set_hooks(const void *caller)
{
	static log_hook **begin, **end;

	if (!begin)
		begin = annotation_variable("PetscLogPLB", caller);
	if (!end)
		end = annotation_variable("PetscLogPLE", caller);
	take_hook(begin, event_begins, &next_begin);
	take_hook(end, event_ends, &next_end);
}

EXPORT int PetscLogEventRegister(const char *name, int class, int *event);
int PetscLogEventRegister(const char *name, int class, int *event)
{
	__typeof__(&PetscLogEventRegister) next = NEXT(PetscLogEventRegister);
	int error = next ? next(name, class, event) : 0;

	if (next && !error && *event >= 0 && *event < EVENTS_MOST)
		keep_name(events[*event], name);
	if (next)
		set_hooks(__builtin_return_address(0));
	return error;
}

EXPORT int PetscLogSet(log_hook *begin, log_hook *end);
int PetscLogSet(log_hook *begin, log_hook *end)
{
	__typeof__(&PetscLogSet) next = NEXT(PetscLogSet);
	int error = next ? next(begin, end) : 0;

	set_hooks(__builtin_return_address(0));
	return error;
}

EXPORT int PetscLogStageRegister(const char *name, int *stage);
int PetscLogStageRegister(const char *name, int *stage)
{
	__typeof__(&PetscLogStageRegister) next = NEXT(PetscLogStageRegister);
	int error = next ? next(name, stage) : 0;

	if (next && !error && *stage >= 0 && *stage < STAGES_MOST)
		keep_name(stages[*stage], name);
	return error;
}

EXPORT int PetscLogStagePush(int stage);
int PetscLogStagePush(int stage)
{
	__typeof__(&PetscLogStagePush) next = NEXT(PetscLogStagePush);

	annotation_push(ANNOTATION_petsc, 0,
		stage >= 0 && stage < STAGES_MOST && stages[stage][0] ? stages[stage] : "(stage)");
	return next ? next(stage) : 0;
}

EXPORT int PetscLogStagePop(void);
int PetscLogStagePop(void)
{
	__typeof__(&PetscLogStagePop) next = NEXT(PetscLogStagePop);
	int error = next ? next() : 0;

	annotation_pop(ANNOTATION_petsc, 0, "PetscLogStagePop");
	return error;
}
