/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Like the runtimes of vendors, it calls the acc_register_library() that it finds when it
 * begins, and then those in the libraries of ACC_PROFLIB. Several callbacks may have one event.
 */
#include "t/gpu/standin-openacc.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CALLBACKS 8

static acc_callback callbacks[OPENACC_EVENT_LAST][CALLBACKS];

void acc_prof_register(int event, acc_callback callback, int how)
{
	for (int i = 0; how == ACC_REG && i < CALLBACKS; i++)
		if (!callbacks[event][i]) {
			callbacks[event][i] = callback;
			return;
		}
}

void acc_prof_unregister(int event, acc_callback callback, int how)
{
	for (int i = 0; how == ACC_REG && i < CALLBACKS; i++)
		if (callbacks[event][i] == callback)
			callbacks[event][i] = NULL;
}

int standin_callbacks(void)
{
	int n = 0;

	for (int event = 0; event < OPENACC_EVENT_LAST; event++)
		for (int i = 0; i < CALLBACKS; i++)
			n += callbacks[event][i] != NULL;
	return n;
}

void standin_tell(struct standin_event e)
{
	struct acc_prof p = {.event_type = e.event,
		.valid_bytes = e.prof_bytes ? e.prof_bytes : (int)sizeof(p),
		.version = 201711,
		.src_file = e.file,
		.func_name = e.function,
		.line_no = e.line,
		.end_line_no = e.last,
		.func_line_no = -1,
		.func_end_line_no = -1};
	struct acc_event event = {.event_type = e.event,
		.valid_bytes = e.event_bytes ? e.event_bytes : (int)sizeof(event),
		.parent_construct = e.parent,
		.var_name = e.name,
		.bytes = e.bytes};

	for (int i = 0; i < CALLBACKS; i++) {
		int number = e.event >= 0 && e.event < OPENACC_EVENT_LAST ? e.event : 1;
		acc_callback f = callbacks[number][i];

		if (f)
			f(e.prof_bytes == NONE ? NULL : &p, e.event_bytes == NONE ? NULL : &event,
				NULL);
	}
}

#pragma weak acc_register_library

__attribute__((constructor)) static void start(void)
{
	const char *listed = getenv("ACC_PROFLIB");
	void (*f)(acc_registration, acc_registration, void *);
	void *handle = NULL, *found;

	if (acc_register_library)
		acc_register_library(acc_prof_register, acc_prof_unregister, NULL);
	if (listed)
		handle = dlopen(listed, RTLD_NOW);
	found = handle ? dlsym(handle, "acc_register_library") : NULL;
	if (!found)
		return;
	memcpy(&f, &found, sizeof(f));
	f(acc_prof_register, acc_prof_unregister, NULL);
}
