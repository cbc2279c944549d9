/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An independent counter: what a profile must agree with. Each traced function
 * starts with COUNT("name"); the counter keeps its own stack and its own tree
 * of paths, knows nothing of hooks, and is itself not instrumented. Direct
 * recursion folds into one frame, as in the profiles. One thread only, or with
 * COUNTER_LOCAL __thread one counter per thread, of smaller sizes.
 */
#ifndef VFTR_T_APP_COUNTER_H
#define VFTR_T_APP_COUNTER_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __clang__
#define UNTRACED __attribute__((no_instrument_function, xray_never_instrument, unused))
#else
#define UNTRACED __attribute__((no_instrument_function, unused))
#endif
#define KEEP __attribute__((noinline))

#ifdef COUNTER_LOCAL
enum { COUNTER_NODES = 100, COUNTER_DEPTH = 100 };
#else
#define COUNTER_LOCAL
enum { COUNTER_NODES = 20000, COUNTER_DEPTH = 100000 };
#endif

struct counter_node {
	const char *name;
	int parent;
	int next; /* sibling */
	int child;
	long calls;
};

static COUNTER_LOCAL struct counter_node counter_nodes[COUNTER_NODES] = {{"init", -1, 0, 0, 0}};
static COUNTER_LOCAL int counter_used = 1;
static COUNTER_LOCAL int counter_stack[COUNTER_DEPTH]; /* node per open call; [0] is init */
static COUNTER_LOCAL int counter_depth;

static UNTRACED void counter_enter(const char *name)
{
	int top = counter_stack[counter_depth], n;

	if (top && !strcmp(counter_nodes[top].name, name)) {
		n = top;
	} else {
		for (n = counter_nodes[top].child; n; n = counter_nodes[n].next)
			if (!strcmp(counter_nodes[n].name, name))
				break;
		if (!n) {
			if (counter_used == COUNTER_NODES)
				abort();
			n = counter_used++;
			counter_nodes[n].name = name;
			counter_nodes[n].parent = top;
			counter_nodes[n].next = counter_nodes[top].child;
			counter_nodes[top].child = n;
		}
	}
	counter_nodes[n].calls++;
	if (++counter_depth == COUNTER_DEPTH)
		abort();
	counter_stack[counter_depth] = n;
}

static UNTRACED void counter_leave(void)
{
	counter_depth--;
}

/* For jumps, which run no clean-up: go back to the frame of this depth. */
static UNTRACED int counter_mark(void)
{
	return counter_depth;
}

static UNTRACED void counter_jumped_to(int mark)
{
	counter_depth = mark;
}

/* "CALLS PATH" lines, each after `before`. */
static UNTRACED void counter_print(FILE *f, const char *before)
{
	for (int i = 1; i < counter_used; i++) {
		if (!counter_nodes[i].calls)
			continue;
		fprintf(f, "%s%ld %s", before, counter_nodes[i].calls, counter_nodes[i].name);
		for (int n = counter_nodes[i].parent; n >= 0; n = counter_nodes[n].parent)
			fprintf(f, "<%s", counter_nodes[n].name);
		fputc('\n', f);
	}
}

/* The same to a file; a process may add to one of its parent. */
static UNTRACED void counter_write(const char *file, const char *mode)
{
	FILE *f = fopen(file, mode);

	if (!f) {
		perror(file);
		exit(99);
	}
	counter_print(f, "");
	if (fclose(f)) {
		perror(file);
		exit(99);
	}
}

/* After fork: what was counted so far is the parent's. Open frames stay open. */
static UNTRACED void counter_forget(void)
{
	for (int i = 0; i < counter_used; i++)
		counter_nodes[i].calls = 0;
}

#ifdef __cplusplus
struct counter_guard {
	UNTRACED counter_guard(const char *name)
	{
		counter_enter(name);
	}
	UNTRACED ~counter_guard()
	{
		counter_leave();
	}
};
#define COUNT(name) counter_guard counter_here(name)
#else
static UNTRACED inline void counter_end(const int *unused)
{
	(void)unused;
	counter_leave();
}
#define COUNT(name)                                                                                \
	__attribute__((cleanup(counter_end), unused)) int counter_here = (counter_enter(name), 0)
#endif

#endif
