/* SPDX-License-Identifier: BSD-3-Clause */
/* A child of fork() goes on in a function and a region of its parent, ends the region and begins it
 * anew. */
#include <sys/wait.h>
#include <unistd.h>
#include <vftrace.h>

__attribute__((noinline)) static void child(void)
{
	usleep(1000);
}

__attribute__((noinline)) static int forks(void)
{
	int status = 1;

	vftrace_region_begin("solver");
	if (!fork()) {
		child();
		vftrace_region_end("solver");
		vftrace_region_begin("solver");
		child();
		vftrace_region_end("solver");
		_exit(0);
	}
	wait(&status);
	vftrace_region_end("solver");
	return status;
}

int main(void)
{
	return forks();
}
