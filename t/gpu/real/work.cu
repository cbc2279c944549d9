// SPDX-License-Identifier: BSD-3-Clause
/*
 * A program for a real GPU. What it does is its first argument: tiny N, streams,
 * graph, managed, copies, threads, fork, events, copying, occupancy, ranges, killed, reset.
 * It prints what it has measured itself, as "name value", for run to compare with the
 * trace.
 */
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
#include <nvtx3/nvToolsExt.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#define CHECK(call)                                                                                \
	do {                                                                                       \
		cudaError_t e = (call);                                                            \
		if (e != cudaSuccess) {                                                            \
			fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(e));                 \
			exit(3);                                                                   \
		}                                                                                  \
	} while (0)

__global__ void tiny(float *x)
{
	x[threadIdx.x] += 1;
}

__global__ void spin(long long cycles)
{
	long long from = clock64();

	while (clock64() - from < cycles)
		;
}

__global__ void saxpy(int n, float a, const float *x, float *y)
{
	for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
		y[i] += a * x[i];
}

static double now()
{
	return std::chrono::duration<double>(
		std::chrono::steady_clock::now().time_since_epoch())
		.count();
}

// launches in a row; the time is until all have run
static void launch_tiny(int n)
{
	float *x;

	CHECK(cudaMalloc(&x, 32 * sizeof(*x)));
	tiny<<<1, 32>>>(x);
	CHECK(cudaDeviceSynchronize());
	double from = now();
	for (int i = 0; i < n; i++)
		tiny<<<1, 32>>>(x);
	double launched = now();
	CHECK(cudaDeviceSynchronize());
	printf("launch_us %g\n", 1e6 * (launched - from) / n);
	printf("total_us %g\n", 1e6 * (now() - from) / n);
	CHECK(cudaFree(x));
}

// the GPU's own measurement of kernels that are long enough for it
static void events(int n)
{
	cudaEvent_t from, to;
	float ms, sum = 0;

	CHECK(cudaEventCreate(&from));
	CHECK(cudaEventCreate(&to));
	for (int i = 0; i < n; i++) {
		CHECK(cudaEventRecord(from));
		spin<<<1, 1>>>(5000000);
		CHECK(cudaEventRecord(to));
		CHECK(cudaEventSynchronize(to));
		CHECK(cudaEventElapsedTime(&ms, from, to));
		sum += ms;
	}
	printf("events_s %g\n", 1e-3 * sum);
}

static void streams(int k, int n)
{
	std::vector<cudaStream_t> s(k);

	for (auto &t : s)
		CHECK(cudaStreamCreate(&t));
	double from = now();
	for (int i = 0; i < n; i++)
		for (auto t : s)
			spin<<<1, 1, 0, t>>>(1000000);
	CHECK(cudaDeviceSynchronize());
	printf("wall_s %g\n", now() - from);
}

static void graph(int nodes, int launches)
{
	cudaStream_t s;
	cudaGraph_t g;
	cudaGraphExec_t exec;
	float *x;

	CHECK(cudaMalloc(&x, 32 * sizeof(*x)));
	CHECK(cudaStreamCreate(&s));
	CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
	for (int i = 0; i < nodes; i++)
		tiny<<<1, 32, 0, s>>>(x);
	CHECK(cudaStreamEndCapture(s, &g));
	CHECK(cudaGraphInstantiateWithFlags(&exec, g, 0));
	for (int i = 0; i < launches; i++)
		CHECK(cudaGraphLaunch(exec, s));
	CHECK(cudaStreamSynchronize(s));
}

static void managed(size_t n)
{
	float *x, *y;

	CHECK(cudaMallocManaged(&x, n * sizeof(*x)));
	CHECK(cudaMallocManaged(&y, n * sizeof(*y)));
	for (size_t i = 0; i < n; i++)
		x[i] = y[i] = 1;
	saxpy<<<256, 256>>>((int)n, 2, x, y);
	CHECK(cudaDeviceSynchronize());
	printf("sum %g\n", y[0] + y[n - 1]);
}

static void copies(size_t bytes)
{
	char *host, *device;

	CHECK(cudaMallocHost(&host, bytes));
	CHECK(cudaMalloc(&device, bytes));
	CHECK(cudaMemcpy(device, host, bytes, cudaMemcpyHostToDevice));
	CHECK(cudaMemset(device, 1, bytes));
	CHECK(cudaMemcpy(host, device, bytes, cudaMemcpyDeviceToHost));
}

// the GPU's own measurement of copies to the device, and their bandwidth
static void copying(int n)
{
	const size_t bytes = 64 << 20;
	char *host, *device;
	cudaEvent_t from, to;
	float ms, sum = 0;

	CHECK(cudaMallocHost(&host, bytes));
	CHECK(cudaMalloc(&device, bytes));
	CHECK(cudaEventCreate(&from));
	CHECK(cudaEventCreate(&to));
	for (int i = 0; i < n; i++) {
		CHECK(cudaEventRecord(from));
		CHECK(cudaMemcpyAsync(device, host, bytes, cudaMemcpyHostToDevice));
		CHECK(cudaEventRecord(to));
		CHECK(cudaEventSynchronize(to));
		CHECK(cudaEventElapsedTime(&ms, from, to));
		sum += ms;
	}
	printf("events_s %g\n", 1e-3 * sum);
}

// blocks of a size that shared memory limits, and the runtime's own occupancy
static void occupancy(int threads)
{
	const size_t shared = 40 << 10;
	cudaDeviceProp device;
	float *x;
	int blocks;

	CHECK(cudaMalloc(&x, threads * sizeof(*x)));
	CHECK(cudaGetDeviceProperties(&device, 0));
	CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, tiny, threads, shared));
	tiny<<<1, threads, shared>>>(x);
	CHECK(cudaDeviceSynchronize());
	printf("occupancy %g\n", (double)blocks * threads / device.maxThreadsPerMultiProcessor);
}

static void ranges(int n)
{
	for (int i = 0; i < n; i++) {
		nvtxRangePushA("outer range");
		launch_tiny(1);
		nvtxRangePushA("inner range");
		launch_tiny(1);
		nvtxRangePop();
		nvtxRangePop();
	}
}

// what has run for a second when the process is killed
static void killed(int n)
{
	launch_tiny(n);
	sleep(1);
	raise(SIGKILL);
}

int main(int n, char **word)
{
	const char *what = n > 1 ? word[1] : "";
	int count = n > 2 ? atoi(word[2]) : 100;

	if (!strcmp(what, "tiny")) {
		launch_tiny(count);
	} else if (!strcmp(what, "events")) {
		events(count);
	} else if (!strcmp(what, "streams")) {
		streams(4, count);
	} else if (!strcmp(what, "graph")) {
		graph(20, count);
	} else if (!strcmp(what, "managed")) {
		managed((size_t)count << 10);
	} else if (!strcmp(what, "copies")) {
		copies((size_t)count << 10);
	} else if (!strcmp(what, "copying")) {
		copying(count);
	} else if (!strcmp(what, "occupancy")) {
		occupancy(count);
	} else if (!strcmp(what, "ranges")) {
		ranges(count);
	} else if (!strcmp(what, "killed")) {
		killed(count);
	} else if (!strcmp(what, "reset")) {
		launch_tiny(count);
		CHECK(cudaDeviceReset());
		launch_tiny(count);
	} else if (!strcmp(what, "threads")) {
		std::vector<std::thread> t;

		for (int i = 0; i < 4; i++)
			t.emplace_back([count] { launch_tiny(count); });
		for (auto &one : t)
			one.join();
	} else if (!strcmp(what, "fork")) {
		if (!fork()) { // before CUDA is used: the child may
			launch_tiny(count);
			return 0;
		}
		int status;

		wait(&status);
		return status != 0;
	} else {
		fprintf(stderr, "work: no `%s'\n", what);
		return 2;
	}
	return 0;
}
