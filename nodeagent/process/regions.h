/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The regions of a process: those that the user has named, and constructs of OpenMP and
 * events of OpenACC, whose names are made from their kind and the location of their code.
 */
#ifndef VFTR_NODEAGENT_PROCESS_REGIONS_H
#define VFTR_NODEAGENT_PROCESS_REGIONS_H

#include <stdbool.h>
#include <stdint.h>
#include "nodeagent/symbols/lines.h"
#include "shm/construct.h"

struct host;
struct openacc_region;
struct process;
struct symcache;
struct wire_construct;
struct wire_openacc;

/* Messages of the process; number and text are untrusted. */
void regions_define(struct process *p, uint64_t number, const char *name);
void regions_construct(struct process *p, const struct wire_construct *m, const char *name);
void regions_openacc_define(struct process *p, const struct wire_openacc *m, const char *file,
	const char *function, const char *name);
void regions_free(struct process *p);

/* The raw name, or NULL: it was never defined. Valid until it is defined anew. */
const char *regions_name(struct symcache *s, const struct process *p, uint64_t number);

/* True if the process has defined the region of this key (calltree.h). */
bool regions_has(const struct process *p, uint64_t key);

/* The construct of OpenMP that the region is, or CONSTRUCT_KINDS. */
enum construct regions_kind(const struct process *p, uint64_t number);
/* The construct of OpenMP of a frame, by its key (calltree.h), or CONSTRUCT_KINDS. */
enum construct regions_kind_of_key(const struct process *p, uint64_t key);
/* True for a frame of OpenMP whose time is a wait for other threads. */
bool regions_is_wait(const struct process *p, uint64_t key);
/*
 * True for a frame of a function of the C library in which threads wait for each other; with
 * locks.active.
 */
bool regions_is_lock_wait(const struct process *p, uint64_t key);

/* The event of OpenACC (openacc.h) with the key of a frame, or NULL. */
const struct openacc_region *regions_openacc(const struct process *p, uint64_t key);
/* Location of the region's code, once it has a name: "heat.c:42", or NULL. */
const char *regions_address_location(const struct process *p, uint64_t key);
/* File and line from which the region has its name. */
struct source_place regions_source(struct symcache *s, const struct process *p, uint64_t key);

/* Before p is freed: keeps its begins and ends that do not match, for regions_warn(). */
void regions_let_go(const struct process *p);

/* A replay_mismatch of replay.h; ctx is the process. */
void regions_mismatched(void *ctx, uint64_t key, bool missing, uint64_t times);
/*
 * Warns of begins and ends of regions that do not match, summed by name over all processes of the
 * agent.
 */
void regions_warn(struct host *host);

#endif
