/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Uses the GPU that standin-cuda.h stands for. What it does is its arguments,
 * one after the other:
 *
 *   copy N        N bytes to the device and back
 *   kernels N NS  N kernels of NS ns, one after the other
 *   graph N NS    a graph of N kernels
 *   streams S N NS  N kernels each in S streams
 *   threads T N NS  T threads with N kernels each
 *   devices D N NS  N kernels each on D devices, one thread each
 *   memory        memset, peer copy, unified memory
 *   wait          for all of it
 *   fork N NS MS  a child with N kernels, which is killed after MS ms, if given
 *   alarm MS      a signal after so long, whose handler calls _exit(3)
 *   kill          itself; abort: as if by a bug
 *   prefetch N    N bytes of unified memory to the host
 *   peak          prints the most memory it had, in KiB
 *   sleep MS
 */
#include "standin-cuda.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static char host[1 << 20], device[1 << 20];

static void copy_there(size_t bytes)
{
	cudaMemcpyAsync(device, host, bytes, cudaMemcpyHostToDevice, NULL);
}

static void copy_back(size_t bytes)
{
	cudaMemcpyAsync(host, device, bytes, cudaMemcpyDeviceToHost, NULL);
	cudaStreamSynchronize(NULL);
}

static void solve(unsigned n, uint64_t ns, cudaStream_t s)
{
	for (unsigned i = 0; i < n; i++) {
		cudaLaunchKernel("_Z5saxpyfPKfPf", 100 + i % 2, 256, ns, s);
		cudaGetLastError();
	}
}

static void graph(unsigned n, uint64_t ns)
{
	cudaGraphLaunch("node_kernel", n, ns, NULL);
}

static void leave(int number)
{
	(void)number;
	_exit(3);
}

static void leave_after(unsigned ms)
{
	const struct itimerval when = {.it_value = {ms / 1000, ms % 1000 * 1000}};

	signal(SIGALRM, leave);
	setitimer(ITIMER_REAL, &when, NULL);
}

struct work {
	unsigned n;
	int device;
	uint64_t ns;
};

static void *thread(void *argument)
{
	const struct work *w = argument;
	cudaStream_t s;

	cudaSetDevice(w->device);
	cudaStreamCreate(&s);
	solve(w->n, w->ns, s);
	cudaStreamSynchronize(s);
	return NULL;
}

static void threads(unsigned t, unsigned n, uint64_t ns, int devices)
{
	pthread_t id[64];
	struct work w[64];

	for (unsigned i = 0; i < t && i < 64; i++) {
		w[i] = (struct work){n, (int)(i % (unsigned)devices), ns};
		pthread_create(&id[i], NULL, thread, &w[i]);
	}
	for (unsigned i = 0; i < t && i < 64; i++)
		pthread_join(id[i], NULL);
}

static void streams(unsigned k, unsigned n, uint64_t ns)
{
	cudaStream_t s;

	for (unsigned i = 0; i < k; i++) {
		cudaStreamCreate(&s);
		solve(n, ns, s);
	}
	cudaDeviceSynchronize();
}

static void memory(void)
{
	cudaMemsetAsync(device, 1, 4096, NULL);
	cudaMemcpyPeerAsync(device, 1, host, 0, 2000, NULL);
	cudaMemcpyPeerAsync(device, 0, host, 1, 500, NULL);
	cudaMemPrefetchAsync(device, 65536, 0, NULL);
	cudaDeviceSynchronize();
}

static void prefetch(size_t bytes)
{
	cudaMemPrefetchAsync(device, bytes, -1, NULL);
}

static void peak(void)
{
	FILE *f = fopen("/proc/self/status", "r");
	char line[256];

	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, "VmHWM:", 6))
			printf("peak %ld\n", atol(line + 6));
	if (f)
		fclose(f);
}

static void in_child(unsigned n, uint64_t ns, unsigned ms)
{
	pid_t child = fork();

	if (!child) {
		solve(n, ns, NULL);
		cudaDeviceSynchronize();
		if (ms) {
			usleep(ms * 1000);
			raise(SIGKILL);
		}
		exit(0);
	}
	waitpid(child, NULL, 0);
}

int main(int n, char **word)
{
	for (int i = 1; i < n; i++) {
		unsigned long a[3] = {0};

		for (int k = 0; k < 3 && i + 1 + k < n; k++)
			a[k] = strtoul(word[i + 1 + k], NULL, 10);
		if (!strcmp(word[i], "copy")) {
			copy_there(a[0]);
			copy_back(a[0]);
		} else if (!strcmp(word[i], "kernels")) {
			solve((unsigned)a[0], a[1], NULL);
		} else if (!strcmp(word[i], "graph")) {
			graph((unsigned)a[0], a[1]);
		} else if (!strcmp(word[i], "streams")) {
			streams((unsigned)a[0], (unsigned)a[1], a[2]);
		} else if (!strcmp(word[i], "threads")) {
			threads((unsigned)a[0], (unsigned)a[1], a[2], 1);
		} else if (!strcmp(word[i], "devices")) {
			threads((unsigned)a[0], (unsigned)a[1], a[2], (int)a[0]);
		} else if (!strcmp(word[i], "memory")) {
			memory();
		} else if (!strcmp(word[i], "wait")) {
			cudaDeviceSynchronize();
		} else if (!strcmp(word[i], "fork")) {
			in_child((unsigned)a[0], a[1], (unsigned)a[2]);
		} else if (!strcmp(word[i], "kill")) {
			raise(SIGKILL);
		} else if (!strcmp(word[i], "abort")) {
			abort();
		} else if (!strcmp(word[i], "prefetch")) {
			prefetch(a[0]);
		} else if (!strcmp(word[i], "peak")) {
			peak();
		} else if (!strcmp(word[i], "alarm")) {
			leave_after((unsigned)a[0]);
		} else if (!strcmp(word[i], "sleep")) {
			usleep((useconds_t)a[0] * 1000);
		}
	}
	puts("done");
	return 0;
}
