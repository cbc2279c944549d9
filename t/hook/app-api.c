/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Uses the interface of vftrace.h in a way whose profile is known: app-api
 * stack|regions|pause. Its functions are weak here: the program also links
 * without the library.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "vftrace.h"

#pragma weak vftrace_region_begin
#pragma weak vftrace_region_end
#pragma weak vftrace_get_stack
#pragma weak vftrace_get_stack_string_length
#pragma weak vftrace_pause
#pragma weak vftrace_resume

#define KEEP	 __attribute__((noinline))
#define UNTRACED __attribute__((no_instrument_function))

static volatile long sink;

KEEP static void leaf(void)
{
	sink++;
}

KEEP static void work(int n)
{
	for (int i = 0; i < n; i++)
		leaf();
}

UNTRACED static void begin(const char *name)
{
	if (vftrace_region_begin)
		vftrace_region_begin(name);
}

UNTRACED static void end(const char *name)
{
	if (vftrace_region_end)
		vftrace_region_end(name);
}

UNTRACED static void pause_recording(void)
{
	if (vftrace_pause)
		vftrace_pause();
}

UNTRACED static void resume_recording(void)
{
	if (vftrace_resume)
		vftrace_resume();
}

UNTRACED static void print_stack(void)
{
	char *s;

	if (!vftrace_get_stack) {
		puts("not linked");
		return;
	}
	s = vftrace_get_stack();
	if ((size_t)vftrace_get_stack_string_length() != strlen(s))
		puts("length differs");
	puts(s);
	free(s);
}

KEEP static void shows(void)
{
	print_stack();
}

KEEP static int use_stack(void)
{
	print_stack();
	shows();
	begin("a region");
	shows();
	end("a region");
	for (int i = 0; i < 1000; i++)
		leaf();
	shows();
	return 0;
}

KEEP static void missing_end(void)
{
	begin("left open");
	leaf();
}

KEEP static int use_regions(void)
{
	for (int i = 0; i < 10; i++) {
		begin("red");
		leaf();
		begin("blue");
		work(2);
		end("blue");
		end("red");
		begin("blue");
		end("blue");
	}
	end("never begun");
	missing_end();
	leaf();
	begin("left open");
	return 0;
}

KEEP static void pauses(void)
{
	leaf();
	pause_recording();
	leaf();
}

KEEP static int use_pause(void)
{
	work(1);
	pause_recording();
	work(100);
	pause_recording();
	work(100);
	resume_recording();
	work(100); /* still paused: calls nest */
	resume_recording();
	work(2);
	pauses(); /* paused inside, resumed outside */
	work(100);
	resume_recording();
	work(3);
	resume_recording(); /* one too many */
	work(4);
	return 0;
}

int main(int argc, char **argv)
{
	const char *use = argc > 1 ? argv[1] : "";

	if (!strcmp(use, "stack"))
		return use_stack();
	if (!strcmp(use, "regions"))
		return use_regions();
	if (!strcmp(use, "pause"))
		return use_pause();
	fprintf(stderr, "usage: app-api stack|regions|pause\n");
	return 2;
}
