/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A host for plug-ins: opens each file of its arguments in turn, calls its
 * plugin_run(), closes it. Between files it may occupy addresses, so that a
 * file that comes twice is loaded elsewhere: an argument "+" maps a few pages
 * where the last one was. "=FILE" opens and leaves open, "-FILE" removes the
 * file while it is open, "@FOLDER" is where it goes. "?" waits until the agent
 * has heard all. At the end it prints how many different places it saw.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define RANK_SET_MAX 64

char *vftrace_get_stack(void);

static uintptr_t rank_ranges[RANK_SET_MAX];
static int n_rank_ranges;

static void remember(uintptr_t where)
{
	for (int i = 0; i < n_rank_ranges; i++)
		if (rank_ranges[i] == where)
			return;
	if (n_rank_ranges < RANK_SET_MAX)
		rank_ranges[n_rank_ranges++] = where;
}

static int use(const char *file, int leave_open, int remove_it)
{
	void *lib = dlopen(file, RTLD_NOW | RTLD_LOCAL);
	int (*run)(int);

	if (!lib) {
		fprintf(stderr, "%s\n", dlerror());
		return -1;
	}
	if (remove_it)
		unlink(file);
	*(void **)&run = dlsym(lib, "plugin_run");
	if (!run)
		return -1;
	remember((uintptr_t)run);
	if (run(3) < 0)
		return -1;
	return leave_open ? 0 : dlclose(lib);
}

/* Occupies the page of the last plug-in's function. */
static int occupy(void)
{
	uintptr_t page = n_rank_ranges ? rank_ranges[n_rank_ranges - 1] & ~(uintptr_t)4095 : 0;

	if (!page)
		return 0;
	return mmap((void *)page, 4096, PROT_NONE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) == MAP_FAILED
		       ? -1
		       : 0;
}

static int ask(void)
{
	free(vftrace_get_stack());
	return 0;
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		const char *a = argv[i];
		int error = !strcmp(a, "+")   ? occupy()
			    : !strcmp(a, "?") ? ask()
			    : *a == '@'	      ? chdir(a + 1)
			    : *a == '='	      ? use(a + 1, 1, 0)
			    : *a == '-'	      ? use(a + 1, 0, 1)
					      : use(a, 0, 0);

		if (error) {
			fprintf(stderr, "%s: failed\n", a);
			return 1;
		}
	}
	printf("%d\n", n_rank_ranges);
	return 0;
}
