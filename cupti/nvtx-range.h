/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What NVTX knows beside regions: ranges that start with one call and end with
 * another one, on any thread, and names of streams, devices and threads. Each
 * function may be called on any thread of the program, and none fails visibly.
 */
#ifndef VFTR_CUPTI_NVTX_RANGE_H
#define VFTR_CUPTI_NVTX_RANGE_H

#include <stdint.h>

#define NVTX_NAME_BYTES 96 /* what is kept of a name */

/* The number that ends it, never 0; a range for which there is no room is not kept. */
uint64_t nvtx_range_start(const char *name);
/* A number that no open range has is nothing. */
void nvtx_range_end(uint64_t number);

void nvtx_name_thread(uint32_t tid, const char *name);
void nvtx_name_device(uint32_t device, const char *name);
/* A CUstream or cudaStream_t; nothing without CUPTI. */
void nvtx_name_stream(void *stream, const char *name);

#endif
