/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Adds the records of a process to a profile: a function for each kind of record, called by
 * gather.c. Records are added in any order, those of a stack with the number of its node in
 * the union tree; in the end profile_settle_lists() replaces nodes by stacks.
 */
#ifndef VFTR_NODEAGENT_GATHER_INTERNAL_H
#define VFTR_NODEAGENT_GATHER_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nodeagent/base/map.h"
#include "nodeagent/process/host.h"

struct gathering;
struct node;
struct process;
struct profile;
struct traffic;

/* peers.c: of host->processes, as they were when one of them was first asked for. */
struct gather_peers {
	bool made;
	struct match_table by_rank; /* (job, rank in it): the process; not of the main job */
	struct map64 by_traffic;    /* address of a traffic: index into ... */
	const struct process **all;
	size_t n, cap;
};

struct gather_from {
	struct gathering *to;
	struct host *host;
	const struct process *p; /* has ended */
	uint32_t rank;
	const uint32_t *node;	     /* by node of p's tree: its node in the union tree */
	const struct map64 *node_at; /* the same by its address */
	struct gather_peers *peers;
	bool threads; /* threads are wanted one by one */
	struct profile *out;
};

/* The union tree's node of a frame below another one (PROFILE_NONE: the root), with its name. */
uint32_t gather_node(const struct gather_from *from, uint32_t parent, uint64_t key);
/* The same of a function of another node, by its name. */
uint32_t gather_named(const struct gather_from *from, uint32_t parent, const char *name);
/* The same for a path of at most DEPTH_MAX + 2 nodes, below the root of its own tree. */
uint32_t gather_path(
	const struct gather_from *from, const struct node *root, const struct node *path);

/* What so many ticks of the host's clock take. */
static inline uint64_t gather_ns(const struct gather_from *from, uint64_t ticks)
{
	return clocks_ns(&from->host->clocks, ticks);
}

/* The rank in the outputs of a rank in the process's own job, or PROFILE_ELSEWHERE. */
uint32_t gather_peer(const struct gather_from *from, uint32_t peer);

/* peers.c: a process that has ended, by its job and its rank there, or by its traffic (NULL: that
 * of none); or NULL. */
const struct process *gather_process_of_job(
	const struct gather_from *from, uint64_t job, uint32_t rank);
const struct process *gather_process_with(
	const struct gather_from *from, const struct traffic *traffic);
/* Before host->processes changes, and in the end. */
void gather_peers_free(struct gather_peers *peers);

void gather_ends(const struct gather_from *from);
void gather_files(const struct gather_from *from);
void gather_gpu(const struct gather_from *from);
void gather_locks(const struct gather_from *from);
void gather_iterations(const struct gather_from *from);
void gather_memory(const struct gather_from *from);
void gather_mpi(const struct gather_from *from);
/* What nodes have counted: a function for each kind in nodes.c. */
void gather_nodes(const struct gather_from *from);
void gather_openacc(const struct gather_from *from);
void gather_openmp(const struct gather_from *from);
void gather_rank_times(const struct gather_from *from);
void gather_slices(const struct gather_from *from);
void gather_threads(const struct gather_from *from);
void gather_user_counters(const struct gather_from *from);
void gather_waits(const struct gather_from *from);
/* How many collective calls of the node were compared, if not each was: once for a profile. */
void gather_sampled(const struct host *host, struct profile *out);
/* The waits of all threads of the process, in ns. */
uint64_t gather_wait_ns(const struct gather_from *from);

/* A time by the clock of all nodes, or, if that is not known, by this node's. */
int64_t gather_global_ns(const struct host *host, uint64_t ticks);

/* Hardware counters by number. */
void gather_counters(const struct host *host, struct profile *out);
/* Stores the times of the ends, after all were added, when the agent's clock is settled. */
void gather_ends_global(const struct host *host, struct profile *out);
/*
 * The GPUs themselves, and their transfers (gpu-devices.c): all[i] is
 * out->processes[i]; devices with the same UUID are one GPU.
 */
void gather_gpu_devices(
	struct host *host, struct process *const *all, size_t n, struct profile *out);
/* Threads' counts and times; id: by node, its index in stacks[]. */
void gather_threads_store(struct profile *p, const uint32_t *id);

#endif
