/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a program with OpenACC would make its runtime tell (standin-openacc.c). Each word is
 * a thing to do: model, wild, deep, jump, many, own, fork; threads N; callbacks.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "t/gpu/standin-openacc.h"

#define PARALLEL 0
#define DATA	 3
#define API	 15

static void work(long us)
{
	struct timespec t = {us / 1000000, us % 1000000 * 1000};

	nanosleep(&t, NULL);
}

static void tell(int event, int line, const char *name, size_t bytes)
{
	standin_tell((struct standin_event){.event = event,
		.parent = line < 20 ? DATA : PARALLEL,
		.file = "/src/heat.c",
		.line = line,
		.last = line + 8,
		.function = "solve",
		.name = name,
		.bytes = bytes});
}

/* A data region with a kernel in it; of two variables one is copied back. */
static void solve(void)
{
	tell(OPENACC_ENTER_DATA_EVENT, 10, NULL, 0);
	tell(OPENACC_ALLOC_EVENT, 10, NULL, 4096);
	tell(OPENACC_CREATE_EVENT, 10, "a", 1000);
	tell(OPENACC_UPLOAD_EVENT, 10, "a", 1000);
	work(2000);
	tell(OPENACC_UPLOAD_EVENT + 1, 10, "a", 1000);
	tell(OPENACC_CREATE_EVENT, 10, "b", 500);
	tell(OPENACC_UPLOAD_EVENT, 10, "b", 500);
	tell(OPENACC_UPLOAD_EVENT + 1, 10, "b", 500);
	tell(OPENACC_ENTER_DATA_EVENT + 1, 10, NULL, 0);

	tell(OPENACC_COMPUTE_EVENT, 20, NULL, 0);
	tell(OPENACC_LAUNCH_EVENT, 20, "solve_20_gpu", 7);
	work(1000);
	tell(OPENACC_LAUNCH_EVENT + 1, 20, "solve_20_gpu", 7);
	tell(OPENACC_WAIT_EVENT, 20, NULL, 0);
	work(3000);
	tell(OPENACC_WAIT_EVENT + 1, 20, NULL, 0);
	tell(OPENACC_COMPUTE_EVENT + 1, 20, NULL, 0);

	tell(OPENACC_EXIT_DATA_EVENT, 10, NULL, 0);
	tell(OPENACC_DOWNLOAD_EVENT, 10, "a", 0); /* told at its end only */
	tell(OPENACC_DOWNLOAD_EVENT + 1, 10, "a", 1000);
	tell(OPENACC_DELETE_EVENT, 10, "a", 1000);
	tell(OPENACC_DELETE_EVENT, 10, "b", 500);
	tell(OPENACC_FREE_EVENT, 10, NULL, 4096);
	tell(OPENACC_EXIT_DATA_EVENT + 1, 10, NULL, 0);
}

/* What no runtime should tell. */
static void wild(void)
{
	const struct standin_event whole = {
		.event = OPENACC_UPDATE_EVENT, .file = "w.c", .line = 5};
	struct standin_event e;

	for (int bytes = -1; bytes < 80; bytes++) {
		e = whole;
		e.prof_bytes = e.event_bytes = bytes;
		standin_tell(e);
		e.event++;
		standin_tell(e);
		e = whole;
		e.event = OPENACC_UPLOAD_EVENT;
		e.event_bytes = bytes;
		e.bytes = SIZE_MAX;
		standin_tell(e);
	}
	for (int event = -3; event < 40; event++) /* ends without a begin among them */
		standin_tell((struct standin_event){.event = event, .parent = -event, .line = -5});
	standin_tell((struct standin_event){.event = OPENACC_COMPUTE_EVENT, .file = "a\nb<c\xff"});
	standin_tell((struct standin_event){.event = OPENACC_COMPUTE_EVENT + 1});
}

static void deep(int n)
{
	for (int i = 0; i < n; i++)
		tell(OPENACC_COMPUTE_EVENT, 30 + i, NULL, 0);
	for (int i = n; i--;)
		tell(OPENACC_COMPUTE_EVENT + 1, 30 + i, NULL, 0);
}

static jmp_buf out;

static void leave(void)
{
	tell(OPENACC_COMPUTE_EVENT, 40, NULL, 0);
	longjmp(out, 1);
}

static void jump(void)
{
	for (volatile int i = 0; i < 100; i++)
		if (!setjmp(out))
			leave();
}

static void many(void)
{
	for (int i = 0; i < 20000; i++) {
		tell(OPENACC_UPDATE_EVENT, 100 + i, NULL, 0);
		tell(OPENACC_UPDATE_EVENT + 1, 100 + i, NULL, 0);
	}
}

static int heard;

static void on_event(const struct acc_prof *p, const struct acc_event *e, void *api)
{
	(void)e;
	(void)api;
	heard += p->event_type;
}

static void own(void)
{
	for (int event = 1; event < OPENACC_EVENT_LAST; event++)
		acc_prof_register(event, on_event, ACC_REG);
	solve();
	for (int event = 1; event < OPENACC_EVENT_LAST; event++)
		acc_prof_unregister(event, on_event, ACC_REG);
	solve();
	printf("heard %d\n", heard);
}

static void *thread(void *times)
{
	for (int i = 0; i < *(int *)times; i++)
		solve();
	return NULL;
}

static void threads(int times)
{
	pthread_t t[4];

	for (int i = 0; i < 4; i++)
		pthread_create(&t[i], NULL, thread, &times);
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
}

static void forks(void)
{
	int status;
	pid_t child;

	solve();
	child = fork();
	if (!child) {
		solve();
		exit(0);
	}
	waitpid(child, &status, 0);
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "model"))
			solve();
		else if (!strcmp(argv[i], "wild"))
			wild();
		else if (!strcmp(argv[i], "deep"))
			deep(100);
		else if (!strcmp(argv[i], "jump"))
			jump();
		else if (!strcmp(argv[i], "many"))
			many();
		else if (!strcmp(argv[i], "own"))
			own();
		else if (!strcmp(argv[i], "fork"))
			forks();
		else if (!strcmp(argv[i], "callbacks"))
			printf("callbacks %d\n", standin_callbacks());
		else if (!strcmp(argv[i], "threads") && i + 1 < argc)
			threads(atoi(argv[++i]));
	}
	puts("done");
	return 0;
}
