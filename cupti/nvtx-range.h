/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The parts of NVTX that are no regions: ranges that start with one call and end with
 * another one, on any thread, and names of streams, devices and threads. Each
 * function may be called on any thread of the program, and keeps its errors to itself.
 */
#ifndef VFTR_CUPTI_NVTX_RANGE_H
#define VFTR_CUPTI_NVTX_RANGE_H

#include <stdint.h>

#define NVTX_NAME_BYTES 96 /* longer names are cut */

/* Starts a range; returns the number that ends it, never 0. Without room it is not kept. */
uint64_t nvtx_range_start(const char *name);
/* Ends the open range with this number, if there is one. */
void nvtx_range_end(uint64_t number);

void nvtx_name_thread(uint32_t tid, const char *name);
void nvtx_name_device(uint32_t device, const char *name);
/* stream: a CUstream or cudaStream_t. Does nothing without CUPTI. */
void nvtx_name_stream(void *stream, const char *name);

#endif
