/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What broke other tools' regions, pauses and stacks: app-regions USE. Each use
 * prints what it has to say and ends with status 0; t3005-regions.sh knows the
 * profiles.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "vftrace.h"

#define KEEP	 __attribute__((noinline))
#define UNTRACED __attribute__((no_instrument_function))

static volatile long sink;
static jmp_buf out;

KEEP static void leaf(void)
{
	sink++;
}

static void in_region(const char *name)
{
	vftrace_region_begin(name);
	leaf();
	vftrace_region_end(name);
}

/* Two names in turns below one caller: one stack per name, not per call. */
KEEP static void turns(void)
{
	for (int i = 0; i < 5; i++) {
		in_region("A");
		in_region("B");
	}
}

KEEP static void surplus(void)
{
	for (int i = 0; i < 100; i++)
		vftrace_region_end("nothing");
	leaf();
}

KEEP static void unended(int n)
{
	for (int i = 0; i < n; i++)
		vftrace_region_begin("unended");
	leaf();
}

/* The inner one is closed by the outer one's end. */
KEEP static void crossed(void)
{
	vftrace_region_begin("outer");
	vftrace_region_begin("inner");
	vftrace_region_end("outer");
	vftrace_region_end("inner");
	leaf();
}

KEEP static void jumps(void)
{
	vftrace_region_begin("left by a jump");
	longjmp(out, 1);
}

KEEP static void jump(void)
{
	if (!setjmp(out))
		jumps();
	leaf();
}

KEEP static void names(void)
{
	char name[1500];

	memset(name, 'x', sizeof(name));
	name[1023] = '\0';
	in_region(name);
	name[1023] = 'y'; /* cut: the same */
	name[sizeof(name) - 1] = '\0';
	in_region(name);
	memset(name, 'z', 1000);
	strcpy(name, "gr\303\266\303\237e");
	in_region(name);
	strcpy(name, "changed later");
	in_region(name);
	strcpy(name, "tab\tand\nline");
	in_region(name);
	in_region("");
	in_region(NULL);
}

KEEP static void many(long n)
{
	char name[32];

	for (int twice = 0; twice < 2; twice++)
		for (long i = 0; i < n; i++) {
			snprintf(name, sizeof(name), "region %ld", i);
			in_region(name);
		}
	vftrace_region_begin("region 5000"); /* numbers beyond the short ones */
	vftrace_region_begin("region 5001");
	vftrace_region_end("region 5000");
	vftrace_region_end("region 5002");
}

KEEP static void A(void)
{
	vftrace_pause();
}

KEEP static void B(void)
{
	leaf();
}

/* Paused in one function, resumed in another: B is not below A. */
KEEP static void across(void)
{
	A();
	leaf();
	vftrace_resume();
	B();
}

KEEP static void region_in_pause(void)
{
	vftrace_region_begin("open");
	vftrace_pause();
	in_region("unseen");
	vftrace_region_end("open");
	vftrace_region_begin("unseen");
	vftrace_resume();
	leaf();
	vftrace_region_end("unseen");
	leaf();
}

UNTRACED static void print_stack(void)
{
	char *stack = vftrace_get_stack();

	puts(stack ? stack : "NULL");
	free(stack);
}

/* Before any hook ran. */
UNTRACED __attribute__((constructor)) static void early(void)
{
	if (getenv("EARLY"))
		print_stack();
}

UNTRACED __attribute__((destructor)) static void late(void)
{
	if (getenv("EARLY")) {
		print_stack();
		vftrace_region_begin("late");
		vftrace_region_end("late");
	}
}

UNTRACED static void *in_thread(void *name)
{
	for (int i = 0; i < 1000; i++) {
		vftrace_region_begin(name);
		vftrace_region_begin("shared");
		vftrace_region_end("shared");
		vftrace_region_end(name);
	}
	print_stack();
	return NULL;
}

KEEP static int threads(void)
{
	static char name[4][16];
	pthread_t t[4];

	for (int i = 0; i < 4; i++) {
		snprintf(name[i], sizeof(name[i]), "thread %d", i);
		if (pthread_create(&t[i], NULL, in_thread, name[i]))
			return 2;
	}
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
	return 0;
}

KEEP static void deep(int n)
{
	if (n)
		deep(n - 1);
	else
		print_stack();
	sink++;
}

KEEP static void wide(int n)
{
	char name[1000];

	memset(name, 'a' + n % 26, sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	vftrace_region_begin(name);
	if (n)
		wide(n - 1);
	else
		print_stack();
	vftrace_region_end(name);
}

int main(int argc, char **argv)
{
	const char *use = argc > 1 ? argv[1] : "";
	long n = argc > 2 ? strtol(argv[2], NULL, 10) : 1;

	if (!strcmp(use, "turns"))
		turns();
	else if (!strcmp(use, "surplus"))
		surplus();
	else if (!strcmp(use, "unended"))
		unended((int)n);
	else if (!strcmp(use, "crossed"))
		crossed();
	else if (!strcmp(use, "jump"))
		jump();
	else if (!strcmp(use, "names"))
		names();
	else if (!strcmp(use, "many"))
		many(n);
	else if (!strcmp(use, "across"))
		across();
	else if (!strcmp(use, "region-in-pause"))
		region_in_pause();
	else if (!strcmp(use, "threads"))
		return threads();
	else if (!strcmp(use, "deep"))
		deep((int)n);
	else if (!strcmp(use, "wide"))
		wide((int)n);
	else if (strcmp(use, "nothing"))
		return 2;
	return 0;
}
