/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How wrappers of other interfaces (MPI, CUDA) record. Functions with a known
 * name have a fixed id (shm/record.h) instead of an address. All of these are
 * async-signal-safe, never fail, and keep errno.
 */
#ifndef VFTR_LIBHOOK_EMIT_H
#define VFTR_LIBHOOK_EMIT_H

#include <stdbool.h>
#include <stdint.h>

/* A frame with a fixed id begins or ends on the calling thread. */
void vftr_enter_id(uint32_t id);
void vftr_exit_id(uint32_t id);

/* This process is world rank `rank` of `size`; the agent is told. */
void vftr_set_rank(int rank, int size);

#endif
