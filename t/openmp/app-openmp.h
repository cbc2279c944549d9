/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counts calls per (thread, path) of an OpenMP program on its own, as
 * app-counter.h does for one thread: functions by COUNT, constructs by the
 * macros below, where the runtime lets a tool see them. Written at the end to
 * "counts" as "TID CALLS PATH". Constructs have names as omp_for@FILE:LINE; those
 * that wait are counted without a place, as compilers disagree about their lines.
 */
#ifndef VFTR_T_APP_OPENMP_H
#define VFTR_T_APP_OPENMP_H

#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define UNTRACED __attribute__((no_instrument_function, unused))
#define KEEP	 __attribute__((noinline))

/* What can be seen of the runtime that this compiler uses. */
#ifdef __clang__
#define SEES_STATIC   1 /* loops of a static schedule */
#define SEES_SINGLE   1
#define SEES_MASKED   1
#define PLAIN_BARRIER "omp_barrier_implicit" /* after a static loop, and single */
#define COMBINED_LINE 1 /* of the loop of a combined construct, below its directive */
#else
#define SEES_STATIC   0
#define SEES_SINGLE   0
#define SEES_MASKED   0
#define PLAIN_BARRIER "omp_barrier"
#define COMBINED_LINE 0
#endif

enum { PATH_BYTES = 2000, TABLE = 1024 };

struct path {
	char text[PATH_BYTES];
};

struct counts {
	struct counts *next;
	int tid;
	char *path[TABLE];
	long calls[TABLE];
};

static struct counts *all_counts;
static __thread struct counts *own_counts;
static __thread struct path own_path;
static __thread const void *own_team; /* whose first iteration was seen: WORKED */

static UNTRACED struct path *here(void)
{
	if (!own_path.text[0])
		strcpy(own_path.text, "init");
	return &own_path;
}

static UNTRACED struct counts *mine(void)
{
	struct counts *c = own_counts;

	if (c)
		return c;
	c = own_counts = calloc(1, sizeof(*c));
	if (!c)
		abort();
	c->tid = (int)syscall(SYS_gettid);
	c->next = __atomic_load_n(&all_counts, __ATOMIC_RELAXED);
	while (!__atomic_compare_exchange_n(
		&all_counts, &c->next, c, 0, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
		;
	return c;
}

static UNTRACED void count_here(void)
{
	struct counts *c = mine();
	const char *path = here()->text;
	unsigned i = 5381;

	for (const char *s = path; *s; s++)
		i = i * 33 + (unsigned char)*s;
	for (i %= TABLE; c->path[i] && strcmp(c->path[i], path); i = (i + 1) % TABLE)
		;
	if (!c->path[i])
		c->path[i] = strdup(path);
	c->calls[i]++;
}

/* A frame below the current path; direct recursion folds. Returns the path before. */
static UNTRACED void push(const char *name)
{
	struct path before = *here();
	size_t n = strlen(name);

	if (strncmp(before.text, name, n) || before.text[n] != '<')
		snprintf(own_path.text, PATH_BYTES, "%s<%.*s", name, PATH_BYTES - 100, before.text);
	count_here();
}

static UNTRACED struct path push_saving(const char *name)
{
	struct path before = *here();

	push(name);
	return before;
}

static UNTRACED void restore(const struct path *before)
{
	own_path = *before;
}

static UNTRACED const char *place(
	char *out, size_t bytes, const char *kind, const char *file, int line)
{
	const char *slash = strrchr(file, '/');

	snprintf(out, bytes, "%s@%s:%d", kind, slash ? slash + 1 : file, line);
	return out;
}

static UNTRACED struct path push_construct(const char *kind, const char *file, int line)
{
	char name[200];

	return push_saving(place(name, sizeof(name), kind, file, line));
}

/* ---- frames: functions, and constructs with a place ---- */

#define FRAME(name)                                                                                \
	__attribute__((cleanup(restore), unused)) struct path counted_frame = push_saving(name)
#define COUNT(name) FRAME(name)

/* ENTER(kind, line) ... LEAVE() around a construct; kind as "omp_for" */
#define ENTER(kind, line)                                                                          \
	{                                                                                          \
		struct path entered = push_construct(kind, __FILE__, line)
#define LEAVE()                                                                                    \
	restore(&entered);                                                                         \
	}
/* The same where the runtime may not show it. */
#define ENTER_IF(seen, kind, line)                                                                 \
	{                                                                                          \
		struct path entered = *here();                                                     \
		if (seen)                                                                          \
		push_construct(kind, __FILE__, line)
/* A construct with nothing below it: a wait. */
#define WAITED(kind) waited(kind)
static UNTRACED void waited(const char *kind)
{
	struct path before = push_saving(kind);

	restore(&before);
}

/* ---- parallel regions ---- */

/*
 *	struct path fork = FORK(__LINE__ + 1);
 *	#pragma omp parallel
 *	{
 *		TEAM(fork);
 *	}
 *	JOIN();
 *
 * fork is the region's path, for all its threads and its tasks.
 */
static __thread struct path own_joins[16];
static __thread int own_forks;

static UNTRACED struct path forked(const char *file, int line)
{
	own_joins[own_forks++] = push_construct("omp_parallel", file, line);
	return own_path;
}

static UNTRACED void join(void)
{
	restore(&own_joins[--own_forks]);
}

static UNTRACED struct path teamed(const struct path *fork)
{
	struct path before = *here();

	if (omp_get_thread_num()) {
		own_path = *fork;
		count_here();
	}
	return before;
}

#define FORK(line) forked(__FILE__, line)
#define JOIN()	   join()
#define TEAM(fork)                                                                                 \
	__attribute__((cleanup(restore), unused)) struct path counted_team = teamed(&(fork))

/*
 * Combined constructs have no room for TEAM: the first iteration on a thread
 * counts its part in the team and in the loop. Each thread must have one, and
 * `id` is different for each region that runs.
 */
static UNTRACED void worked(
	const struct path *fork, const void *id, const char *kind, const char *file, int line)
{
	if (own_team == id)
		return;
	own_team = id;
	if (omp_get_thread_num()) {
		own_path = *fork;
		count_here();
	}
	if (kind)
		push_construct(kind, file, line);
}
#define WORKED(fork, id, kind, line) worked(&(fork), id, kind, __FILE__, line)

/* ---- tasks: TASK(fork, line) at the begin of the body, line of the directive ---- */

static UNTRACED struct path tasked(const struct path *fork, const char *file, int line)
{
	struct path before = *here();

	own_path = *fork;
	push_construct("omp_task", file, line);
	return before;
}
#define TASK(fork, line)                                                                           \
	__attribute__((cleanup(restore), unused)) struct path counted_task =                       \
		tasked(&(fork), __FILE__, line)
/* ... and on the creating thread */
#define CREATED(line) created(__FILE__, line)
static UNTRACED void created(const char *file, int line)
{
	struct path before = push_construct("omp_task_create", file, line);

	restore(&before);
}

/* ---- the result ---- */

static UNTRACED void write_counts(void)
{
	FILE *f = fopen("counts", "w");

	if (!f)
		exit(99);
	for (struct counts *c = __atomic_load_n(&all_counts, __ATOMIC_ACQUIRE); c; c = c->next)
		for (int i = 0; i < TABLE; i++)
			if (c->path[i])
				fprintf(f, "%d %ld %s\n", c->tid, c->calls[i], c->path[i]);
	if (fclose(f))
		exit(99);
}

#endif
