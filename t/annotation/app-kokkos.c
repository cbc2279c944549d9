/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Does what Kokkos does with a tool: finds the library by the environment (argv[1] is the name of
 * the variable), looks up its functions, and calls them. argv[2] says how; "calls" prints what the
 * profile must have, as "CALLS PATH".
 */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct space {
	char name[64];
};
typedef void begin_function(const char *, uint32_t, uint64_t *);
typedef void end_function(uint64_t);
typedef void name_function(const char *);
typedef void plain_function(void);
typedef void data_function(struct space, const char *, const void *, uint64_t);
typedef void copy_function(struct space, const char *, const void *, struct space, const char *,
	const void *, uint64_t);
typedef void section_function(uint32_t);

static begin_function *begin_for, *begin_reduce, *begin_scan, *begin_fence;
static end_function *end_for, *end_reduce, *end_scan, *end_fence;
static name_function *push, *event;
static plain_function *pop, *end_copy, *finalize;
static data_function *allocate, *deallocate;
static copy_function *begin_copy;
static void (*create_section)(const char *, uint32_t *);
static section_function *start_section, *stop_section, *destroy_section;
static void (*init)(int, uint64_t, uint32_t, void *);
static void (*settings)(uint32_t, void *);

static const struct {
	const char *name;
	void *to;
} functions[] = {{"kokkosp_init_library", &init}, {"kokkosp_finalize_library", &finalize},
	{"kokkosp_request_tool_settings", &settings}, {"kokkosp_begin_parallel_for", &begin_for},
	{"kokkosp_end_parallel_for", &end_for}, {"kokkosp_begin_parallel_reduce", &begin_reduce},
	{"kokkosp_end_parallel_reduce", &end_reduce}, {"kokkosp_begin_parallel_scan", &begin_scan},
	{"kokkosp_end_parallel_scan", &end_scan}, {"kokkosp_begin_fence", &begin_fence},
	{"kokkosp_end_fence", &end_fence}, {"kokkosp_push_profile_region", &push},
	{"kokkosp_pop_profile_region", &pop}, {"kokkosp_profile_event", &event},
	{"kokkosp_allocate_data", &allocate}, {"kokkosp_deallocate_data", &deallocate},
	{"kokkosp_begin_deep_copy", &begin_copy}, {"kokkosp_end_deep_copy", &end_copy},
	{"kokkosp_create_profile_section", &create_section},
	{"kokkosp_start_profile_section", &start_section},
	{"kokkosp_stop_profile_section", &stop_section},
	{"kokkosp_destroy_profile_section", &destroy_section}};

/* As Kokkos: without a tool all stay NULL. */
static int load(const char *variable)
{
	const char *path = getenv(variable);
	void *tool = path ? dlopen(path, RTLD_NOW | RTLD_GLOBAL) : NULL;

	for (size_t i = 0; tool && i < sizeof(functions) / sizeof(functions[0]); i++) {
		void *f = dlsym(tool, functions[i].name);

		if (!f) {
			printf("no %s\n", functions[i].name);
			exit(1);
		}
		memcpy(functions[i].to, &f, sizeof(f));
	}
	return tool != NULL;
}

static void kernels(int n)
{
	static const struct space host = {"Host"}, device = {"Cuda"};
	uint64_t id = 0, inner = 0;

	for (int i = 0; i < n; i++) {
		begin_for("axpy", 1, &id);
		begin_reduce("dot", 1, &inner);
		end_reduce(inner);
		end_for(id);
		begin_scan("sum", 1, &id);
		end_scan(id);
		begin_fence("wait", 1, &id);
		end_fence(id);
		begin_copy(device, "x", NULL, host, "x_host", NULL, 8);
		end_copy();
	}
}

static void *thread(void *n)
{
	push("thread");
	kernels(*(int *)n);
	pop();
	return NULL;
}

static void calls(int n)
{
	static const char *const kernel[] = {"Kokkos::parallel_for axpy",
		"Kokkos::parallel_reduce dot<Kokkos::parallel_for axpy",
		"Kokkos::parallel_scan sum", "Kokkos::fence wait",
		"Kokkos::deep_copy x from x_host"};
	static const char *const where[] = {"step<init", "thread<init"};
	static const struct space host = {"Host"};
	unsigned char asked[256] = {1};
	uint32_t section = 9;
	pthread_t t;

	settings(1, asked);
	push("step");
	allocate(host, "x", asked, 256);
	kernels(n);
	event("here");
	deallocate(host, "x", asked, 256);
	pop();
	create_section("phase", &section);
	for (int i = 0; i < n; i++) {
		start_section(section);
		stop_section(section);
	}
	destroy_section(section);
	pthread_create(&t, NULL, thread, &n);
	pthread_join(t, NULL);
	printf("%d\n", asked[0]); /* whether it wants fences around kernels */
	for (int w = 0; w < 2; w++)
		for (int k = 0; k < 5; k++)
			printf("%d %s<%s\n", n, kernel[k], where[w]);
	printf("%d phase<init\n1 step<init\n1 thread<init\n1 here<step<init\n"
	       "1 Kokkos::allocate x<step<init\n1 Kokkos::deallocate x<step<init\n",
		n);
}

/* 2 MiB of which the data begin with the block, and 2 MiB behind a header; 1 MiB on a device; 30 kB
 * in a block of their own; and a block of which nothing is told. Some of it stays. */
static void memory(void)
{
	static const struct space host = {"Host"}, device = {"Cuda"};
	static char *volatile all[5];
	const size_t mib = 1 << 20;

	push("step");
	for (int i = 0; i < 3; i++) {
		all[0] = malloc(2 * mib);
		allocate(host, "plain", all[0], 2 * mib - 4096);
		if (i < 2)
			deallocate(host, "plain", all[0], 2 * mib - 4096), free(all[0]);
	}
	all[1] = malloc(2 * mib);
	allocate(host, "headed", all[1] + 128, 2 * mib - 128);
	allocate(device, "away", (void *)0x7f0000000000, mib);
	allocate(host, "null", NULL, mib);
	all[2] = malloc(30000);
	allocate(host, "small", all[2], 30000);
	deallocate(host, "small", all[2], 30000);
	free(all[2]);
	all[3] = malloc(4 * mib);
	free(all[1]);
	pop();
}

static void in_handler(int signal)
{
	uint64_t id;

	(void)signal;
	push("handler");
	begin_for("in handler", 1, &id);
	end_for(id);
	pop();
}

static void at_the_end(void)
{
	if (pop) {
		pop();
		push("too late");
		end_for(12345);
	}
}

static void hostile(void)
{
	uint64_t id = 0;
	int status = 0;
	pid_t child;

	atexit(at_the_end);
	for (int i = 0; i < 100; i++)
		pop();
	end_for(0);
	end_for(UINT64_MAX);
	end_for(77777);
	end_copy();
	stop_section(12345);
	start_section(UINT32_MAX);
	push(NULL);
	pop();
	push("");
	pop();
	for (int i = 0; i < 1000; i++)
		push("deep");
	for (int i = 0; i < 1000; i++)
		pop();
	push("crossed");
	begin_for("crossed too", 1, &id);
	pop();
	end_for(id);
	signal(SIGALRM, in_handler);
	for (int i = 0; i < 200; i++) {
		push("interrupted");
		raise(SIGALRM);
		pop();
	}
	push("forked");
	child = fork();
	if (!child) {
		pop();
		push("child");
		pop();
		_exit(7);
	}
	waitpid(child, &status, 0);
	pop();
	push("never popped");
	printf("%d\n", WEXITSTATUS(status));
}

int main(int argc, char **argv)
{
	(void)argc;
	if (!load(argv[1])) {
		printf("no tool\n");
		return 3;
	}
	init(0, 20210225, 0, NULL);
	if (!strcmp(argv[2], "calls"))
		calls(5);
	else if (!strcmp(argv[2], "memory"))
		memory();
	else
		hostile();
	finalize();
	return 3;
}
