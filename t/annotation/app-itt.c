/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Does what the static part of ITT does in a program: loads the library that INTEL_LIBITTNOTIFY64
 * names, hands over its table of functions, and calls those that were replaced. Prints what the
 * profile must have, as "CALLS PATH"; with "misuse", calls in no order.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct id {
	unsigned long long d1, d2, d3;
};
struct domain {
	volatile int flags;
	const char *name;
};
struct string {
	const char *text;
};
struct function {
	const char *name;
	void **pointer;
	void *init, *null;
	int group;
};
struct global {
	unsigned char magic[8];
	unsigned long major, minor, build;
	volatile long initialized, mutex_initialized, atomic_counter;
	char mutex[40];
	void *library, *error_handler;
	const char **dll_path;
	struct function *functions;
	struct global *next;
};

static struct domain *(*domain_create)(const char *);
static struct string *(*string_handle_create)(const char *);
static void (*task_begin)(struct domain *, struct id, struct id, struct string *);
static void (*task_end)(struct domain *);
static void (*frame_begin)(struct domain *, struct id *);
static void (*frame_end)(struct domain *, struct id *);
static void *(*caller_create)(void);
static void (*callee_enter)(void *), (*callee_leave)(void *), (*caller_destroy)(void *);
static void (*unknown)(void);

static struct function functions[] = {
	{"__itt_domain_create", (void **)&domain_create, NULL, NULL, 1},
	{"__itt_string_handle_create", (void **)&string_handle_create, NULL, NULL, 1},
	{"__itt_task_begin", (void **)&task_begin, NULL, NULL, 1},
	{"__itt_task_end", (void **)&task_end, NULL, NULL, 1},
	{"__itt_frame_begin_v3", (void **)&frame_begin, NULL, NULL, 1},
	{"__itt_frame_end_v3", (void **)&frame_end, NULL, NULL, 1},
	{"__itt_stack_caller_create", (void **)&caller_create, NULL, NULL, 1},
	{"__itt_stack_callee_enter", (void **)&callee_enter, NULL, NULL, 1},
	{"__itt_stack_callee_leave", (void **)&callee_leave, NULL, NULL, 1},
	{"__itt_stack_caller_destroy", (void **)&caller_destroy, NULL, NULL, 1},
	{"__itt_nobody_has_this", (void **)&unknown, NULL, NULL, 1},
	{NULL, NULL, NULL, NULL, 0},
};

static int load(void)
{
	static struct global g = {.major = 3, .functions = functions};
	const char *path = getenv("INTEL_LIBITTNOTIFY64");
	void *library = path ? dlopen(path, RTLD_LAZY) : NULL, *f;
	void (*init)(struct global *, int);

	f = library ? dlsym(library, "__itt_api_init") : NULL;
	memcpy(&init, &f, sizeof(init));
	if (f)
		init(&g, 0xffff);
	return f != NULL;
}

int main(int argc, char **argv)
{
	const struct id none = {0, 0, 0};
	struct domain *ours, *theirs;
	struct string *solve, *inner;

	(void)argv;
	if (!load()) {
		puts("no collector");
		return 3;
	}
	ours = domain_create("ours");
	theirs = domain_create("theirs");
	solve = string_handle_create("solve");
	inner = string_handle_create("inner");
	if (!ours->flags || strcmp(ours->name, "ours") != 0 || strcmp(solve->text, "solve") != 0 ||
		!caller_create() || unknown)
		return 1;
	callee_enter(caller_create());
	callee_leave(caller_create());
	caller_destroy(caller_create());
	if (argc > 1) {
		for (int i = 0; i < 10; i++)
			task_end(ours);
		frame_end(NULL, NULL);
		task_begin(NULL, none, none, NULL);
		for (int i = 0; i < 5000; i++) { /* earlier versions follow what they get */
			char name[32];

			snprintf(name, sizeof(name), "one of too many %d", i);
			if (!domain_create(name) || !domain_create(name)->flags ||
				string_handle_create("solve") != solve)
				return 1;
		}
		if (!string_handle_create("one more") || !string_handle_create("one more")->text ||
			domain_create("ours") != ours)
			return 1;
		task_begin(ours, none, none, string_handle_create("one more"));
		puts("went on");
		return 3;
	}
	for (int i = 0; i < 5; i++) {
		frame_begin(ours, NULL);
		task_begin(ours, none, none, solve);
		task_begin(theirs, none, none, inner);
		task_end(theirs);
		task_end(ours);
		frame_end(ours, NULL);
	}
	puts("5 ours<init\n5 solve<ours<init\n5 inner<solve<ours<init");
	return 3;
}
