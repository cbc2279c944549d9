/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The functions by which the two OpenMP fronts (ompt.c, gomp.c) record. All of them
 * keep errno, never fail, and attach the process if need be.
 */
#ifndef VFTR_LIBHOOK_OPENMP_CONSTRUCT_H
#define VFTR_LIBHOOK_OPENMP_CONSTRUCT_H

#include <stdbool.h>
#include <stdint.h>
#include "shm/construct.h"
#include "shm/record.h"

/*
 * The region of a construct: address is the return address of the call into
 * the OpenMP runtime (or any address of the construct's code), name the user's
 * name of it or NULL. 0: nothing can be recorded; the functions below ignore it.
 * No lock once the region is known.
 */
uint32_t vftr_construct(enum construct kind, const void *address, const char *name);

/* A frame of the construct begins or ends on the calling thread. */
void vftr_construct_enter(uint32_t region);
void vftr_construct_exit(uint32_t region);

/* The records of shm/record.h, with exit_bit 0 or RECORD_EXIT. */
void vftr_fork(uint64_t exit_bit, uint32_t team, uint32_t region, uint32_t size);
void vftr_team(uint64_t exit_bit, uint32_t team, uint32_t region, uint32_t level, uint32_t size,
	uint32_t number);
void vftr_task(uint64_t exit_bit, uint32_t team, uint32_t region, bool resumed, uint32_t creator);
/* lock: 0, or vftr_lock_bits(). */
void vftr_wait(uint64_t exit_bit, uint32_t region, uint64_t lock);
/* The enter of such a wait that began at these ticks (clock_counter()), if no record is later. */
void vftr_wait_since(uint64_t ticks, uint32_t region, uint64_t lock);

/* A number for a new team, never 0. */
uint32_t vftr_team_new(void);

/* A sentence for the user, once in the logs. */
void vftr_note(const char *text);

#endif
