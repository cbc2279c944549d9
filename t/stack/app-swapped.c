/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Loads one file after the other, each in the place of the one before, and calls its function for
 * so many seconds of CPU time: swapped SECONDS FILE... With -DWORK=name it is such a file.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#ifdef WORK
static volatile double sum;

__attribute__((noinline, noclone)) void WORK(void)
{
	for (int i = 0; i < 1000; i++)
		sum = sum + i;
	sum = sum + 1;
}

void work(void)
{
	WORK();
	sum = sum + 1;
}
#else
static double cpu_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(int argc, char **argv)
{
	for (int i = 2; i < argc; i++) {
		void *file = dlopen(argv[i], RTLD_NOW), (*work)(void);
		const double until = cpu_s() + atof(argv[1]);

		if (!file)
			return 1;
		*(void **)&work = dlsym(file, "work");
		printf("%p\n", *(void **)&work);
		while (cpu_s() < until)
			work();
		dlclose(file);
	}
	return 0;
}
#endif
