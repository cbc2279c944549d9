/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stand-ins for CUDA where there is no GPU: libcudart (standin-cudart.c), a GPU
 * that does nothing for as long as each kernel says, and libcupti
 * (standin-cupti.c), which tells of it through the real interface. The first
 * calls the second through this, as CUDA's driver does by ways of its own.
 */
#ifndef VFTR_T_STANDIN_CUDA_H
#define VFTR_T_STANDIN_CUDA_H

#include <stddef.h>
#include <stdint.h>

struct standin_hooks {
	/* site 0 enter, 1 exit; domain and function as in CUPTI */
	void (*call)(uint32_t site, uint32_t domain, uint32_t function, const char *name,
		uint32_t correlation);
	/* A record of CUPTI's (cupti/abi.h), of its full size there. */
	void (*record)(const void *record, size_t bytes);
};

/* In libcudart: CUPTI sets it when somebody subscribes. */
extern struct standin_hooks *standin_hooks;
/* The GPU's clock: ns, neither the host's time nor quite its speed. */
uint64_t standin_time(void);

/* Numbers of a cudaStream_t and its context, as activities have them. */
void standin_stream_is(void *stream, uint32_t *context, uint32_t *number);

/* What programs use; "functions" are names of kernels. */
typedef struct standin_stream *cudaStream_t;
enum {
	cudaMemcpyHostToHost,
	cudaMemcpyHostToDevice,
	cudaMemcpyDeviceToHost,
	cudaMemcpyDeviceToDevice
};

int cudaSetDevice(int device);
int cudaStreamCreate(cudaStream_t *s);
int cudaMemcpyAsync(void *to, const void *from, size_t bytes, int direction, cudaStream_t s);
int cudaMemcpyPeerAsync(
	void *to, int to_device, const void *from, int from_device, size_t bytes, cudaStream_t s);
int cudaMemsetAsync(void *to, int value, size_t bytes, cudaStream_t s);
/* ns: how long the GPU takes */
int cudaLaunchKernel(
	const char *kernel, unsigned blocks, unsigned threads, uint64_t ns, cudaStream_t s);
/* A graph of n kernels, all with the call's correlation */
int cudaGraphLaunch(const char *kernel, unsigned n, uint64_t ns, cudaStream_t s);
int cudaStreamSynchronize(cudaStream_t s);
int cudaDeviceSynchronize(void);
int cudaGetLastError(void);
/* Moves pages of unified memory. */
int cudaMemPrefetchAsync(void *at, size_t bytes, int device, cudaStream_t s);

#endif
