/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/object/members.h"
#include <string.h>
#include "libhook/emit.h"
#include "mpi/memory.h"
#include "mpi/object/world.h"
#include "shm/identity.h"

#define AT_ONCE 512 /* ranks translated in one call */

static size_t members_bytes(uint32_t n_runs)
{
	return sizeof(struct comm_members) + n_runs * sizeof(struct wire_run);
}

uint32_t vftr_run_append(struct wire_run *run, uint32_t n, int rank)
{
	struct wire_run *last = n ? &run[n - 1] : run;

	if (rank == MPI_UNDEFINED || rank < 0)
		rank = WIRE_UNKNOWN;
	if (n && rank == WIRE_UNKNOWN && last->first == WIRE_UNKNOWN) {
		last->count++;
		return n;
	}
	if (n && rank != WIRE_UNKNOWN && last->first != WIRE_UNKNOWN) {
		if (last->count == 1)
			last->stride = rank - last->first;
		if (rank == last->first + last->stride * last->count) {
			last->count++;
			return n;
		}
	}
	run[n] = (struct wire_run){rank, rank != WIRE_UNKNOWN, 1};
	return n + 1;
}

/* All `size` members of a group as runs; returns the number of runs. */
static uint32_t translate(MPI_Group group, uint32_t size, MPI_Group world, struct wire_run *run)
{
	int from[AT_ONCE], to[AT_ONCE];
	uint32_t n = 0;

	for (uint32_t at = 0; at < size; at += AT_ONCE) {
		const int some = (int)(size - at < AT_ONCE ? size - at : AT_ONCE);

		for (int i = 0; i < some; i++)
			from[i] = (int)at + i;
		if (PMPI_Group_translate_ranks(group, some, from, world, to) != MPI_SUCCESS)
			memset(to, 0xff, sizeof(to));
		for (int i = 0; i < some; i++)
			n = vftr_run_append(run, n, to[i]);
	}
	return n;
}

static uint64_t hash_runs(const struct wire_run *run, uint32_t n)
{
	uint64_t hash = n;

	for (uint32_t i = 0; i < n; i++) {
		hash = identity_mix(
			hash, (uint64_t)(uint32_t)run[i].first << 32 | (uint32_t)run[i].stride);
		hash = identity_mix(hash, (uint64_t)run[i].count);
	}
	return hash;
}

static struct comm_members *members_of_runs(const struct wire_run *run, uint32_t n)
{
	struct comm_members *m = vftr_memory_take(members_bytes(n));

	if (!m)
		return NULL;
	m->references = 1;
	m->n_runs = n;
	m->hash = hash_runs(run, n);
	memcpy(m->run, run, n * sizeof(*run));
	return m;
}

/* get: PMPI_Comm_group or PMPI_Comm_remote_group. */
static struct comm_members *members_of_group(
	MPI_Comm comm, uint32_t size, MPI_Group world, int (*get)(MPI_Comm, MPI_Group *))
{
	const size_t room = ((size_t)size + 1) * sizeof(struct wire_run);
	struct wire_run *run = vftr_memory_take(room);
	struct comm_members *m = NULL;
	MPI_Group group;

	if (!run)
		return NULL;
	if (get(comm, &group) == MPI_SUCCESS) {
		m = members_of_runs(run, translate(group, size, world, run));
		PMPI_Group_free(&group);
	}
	vftr_memory_give(run, room);
	return m;
}

/* Adds both hashes in an order that does not depend on which side is local. */
static uint64_t hash_of_both(uint64_t a, uint64_t b)
{
	return a < b ? identity_mix(a, b) : identity_mix(b, a);
}

/* The runs of both groups, which are freed. */
static struct comm_members *members_of_both(struct comm_members *local, struct comm_members *remote)
{
	struct comm_members *m = NULL;

	if (local && remote)
		m = vftr_memory_take(members_bytes(local->n_runs + remote->n_runs));
	if (m) {
		m->references = 1;
		m->n_runs = local->n_runs + remote->n_runs;
		m->hash = hash_of_both(local->hash, remote->hash);
		memcpy(m->run, remote->run, remote->n_runs * sizeof(*m->run));
		memcpy(m->run + remote->n_runs, local->run, local->n_runs * sizeof(*m->run));
	}
	vftr_members_drop(local);
	vftr_members_drop(remote);
	return m;
}

struct comm_members *vftr_members_new(const struct mpi_comm *c)
{
	struct comm_members *local, *remote;
	struct world w;

	if (!vftr_world_open(&w))
		return NULL;
	local = members_of_group(c->handle, c->size, w.group, PMPI_Comm_group);
	remote = c->remote_size ? members_of_group(c->handle, c->remote_size, w.group,
					  PMPI_Comm_remote_group)
				: NULL;
	vftr_world_close(&w);
	return c->remote_size ? members_of_both(local, remote) : local;
}

struct comm_members *vftr_members_share(struct comm_members *m)
{
	if (m)
		add_relaxed_u32(&m->references, 1);
	return m;
}

void vftr_members_drop(struct comm_members *m)
{
	if (m && add_relaxed_u32(&m->references, UINT32_MAX) == 1)
		vftr_memory_give(m, members_bytes(m->n_runs));
}

void vftr_members_define(const struct mpi_comm *c)
{
	struct wire_comm message = {.head.kind = WIRE_COMM,
		.id = c->id,
		.number = c->number,
		.parent = c->parent,
		.kind = c->kind,
		.rank = c->rank,
		.size = c->size,
		.remote_size = c->remote_size};
	const struct wire_run unknown[] = {
		{WIRE_UNKNOWN, 0, (int32_t)comm_peers(c)}, {WIRE_UNKNOWN, 0, (int32_t)c->size}};
	const struct wire_run *run = c->members ? c->members->run : unknown;
	const uint32_t n = c->members ? c->members->n_runs : c->remote_size ? 2 : 1;

	if (!c->number || !vftr_active() || !vftr_messages_wanted())
		return;
	do {
		const uint32_t left = n - message.runs_before;

		message.runs = left < WIRE_RUNS_MAX ? left : WIRE_RUNS_MAX;
		vftr_define(&message.head, sizeof(message), run + message.runs_before,
			message.runs * sizeof(*run));
		message.runs_before += message.runs;
	} while (message.runs_before < n);
}
