/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/object/members.h"
#include <string.h>
#include "libhook/emit.h"
#include "mpi/memory.h"
#include "mpi/object/runs.h"
#include "mpi/object/world.h"
#include "shm/identity.h"

static size_t members_bytes(uint32_t n_runs)
{
	return sizeof(struct comm_members) + n_runs * sizeof(struct wire_run);
}

/* ---- members that are in another job ---- */

/* Of the communicator that one is made from: the group that may have them. */
struct others {
	MPI_Group group; /* MPI_GROUP_NULL: there are none */
	int32_t *member; /* by rank in it, as in a run */
	size_t bytes;
	uint32_t size;
};

/* The first `size` members of m, which are its remote group, if there is one. */
static void others_set(struct others *o, const struct comm_members *m)
{
	uint32_t at = 0;

	for (uint32_t i = 0; i < m->n_runs; i++)
		for (int32_t k = 0; k < m->run[i].count && at < o->size; k++)
			o->member[at++] = m->run[i].first + k * m->run[i].stride;
}

bool vftr_members_have_others(const struct comm_members *m)
{
	for (uint32_t i = 0; m && i < m->n_runs; i++)
		if (m->run[i].first < 0)
			return true;
	return false;
}

bool vftr_members_have_unknown(const struct comm_members *m)
{
	for (uint32_t i = 0; m && i < m->n_runs; i++)
		if (m->run[i].first == WIRE_UNKNOWN)
			return true;
	return false;
}

/* An intercommunicator of two jobs: of its remote group nothing is known. */
static bool is_between_jobs(const struct mpi_comm *c)
{
	const struct comm_members *m = c->members;

	if (!c->remote_size || m->run[0].first != WIRE_UNKNOWN ||
		(uint32_t)m->run[0].count != c->remote_size)
		return false;
	for (uint32_t i = 1; i < m->n_runs; i++)
		if (m->run[i].first < 0)
			return false;
	return true;
}

static void others_open(struct others *o, const struct mpi_comm *from)
{
	int inter = 0;
	bool between;

	*o = (struct others){.group = MPI_GROUP_NULL};
	/* MPI may have given the handle to another communicator, whose making nobody has told */
	if (!from || !from->members || !vftr_members_have_others(from->members) ||
		PMPI_Comm_test_inter(from->handle, &inter) != MPI_SUCCESS ||
		!inter != !from->remote_size)
		return;
	o->size = comm_peers(from);
	o->bytes = o->size * sizeof(*o->member);
	o->member = vftr_memory_take(o->bytes);
	if (!o->member)
		return;
	if (from->remote_size)
		PMPI_Comm_remote_group(from->handle, &o->group);
	else
		PMPI_Comm_group(from->handle, &o->group);
	others_set(o, from->members);
	between = is_between_jobs(from);
	for (uint32_t i = 0; between && i < o->size; i++)
		o->member[i] = wire_other((int32_t)i);
}

static void others_close(struct others *o)
{
	if (o->group != MPI_GROUP_NULL)
		PMPI_Group_free(&o->group);
	if (o->member)
		vftr_memory_give(o->member, o->bytes);
}

static void find_others(
	const void *others, MPI_Group group, int some, const int *from, int32_t *member)
{
	const struct others *o = others;
	int at[RUNS_AT_ONCE];

	if (o->group == MPI_GROUP_NULL ||
		PMPI_Group_translate_ranks(group, some, from, o->group, at) != MPI_SUCCESS)
		return;
	for (int i = 0; i < some; i++)
		if (member[i] == WIRE_UNKNOWN && at[i] >= 0 && (uint32_t)at[i] < o->size &&
			o->member[at[i]] < 0)
			member[i] = o->member[at[i]];
}

static uint64_t hash_runs(const struct wire_run *run, uint32_t n)
{
	uint64_t hash = n;

	for (uint32_t i = 0; i < n; i++)
		hash = identity_run(hash, run[i].first, run[i].stride, (uint32_t)run[i].count);
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
static struct comm_members *members_of_group(MPI_Comm comm, uint32_t size,
	const struct world *world, const struct others *o, int (*get)(MPI_Comm, MPI_Group *))
{
	const size_t room = ((size_t)size + 1) * sizeof(struct wire_run);
	struct wire_run *run = vftr_memory_take(room);
	struct comm_members *m = NULL;
	MPI_Group group;

	if (!run)
		return NULL;
	if (get(comm, &group) == MPI_SUCCESS) {
		m = members_of_runs(
			run, vftr_runs_of_group(group, size, world->group, find_others, o, run));
		PMPI_Group_free(&group);
	}
	vftr_memory_give(run, room);
	return m;
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
		m->hash = identity_of_both(local->hash, remote->hash);
		memcpy(m->run, remote->run, remote->n_runs * sizeof(*m->run));
		memcpy(m->run + remote->n_runs, local->run, local->n_runs * sizeof(*m->run));
	}
	vftr_members_drop(local);
	vftr_members_drop(remote);
	return m;
}

static struct comm_members *members_of(const struct mpi_comm *c, const struct others *o)
{
	struct comm_members *local, *remote;
	struct world w;

	if (!vftr_world_open(&w))
		return NULL;
	local = members_of_group(c->handle, c->size, &w, o, PMPI_Comm_group);
	remote = c->remote_size ? members_of_group(
					  c->handle, c->remote_size, &w, o, PMPI_Comm_remote_group)
				: NULL;
	vftr_world_close(&w);
	return c->remote_size ? members_of_both(local, remote) : local;
}

struct comm_members *vftr_members_new(const struct mpi_comm *c, const struct mpi_comm *from)
{
	const struct wire_run all = {0, 1, (int32_t)c->size};
	struct comm_members *m;
	struct others o;

	if (c->handle == MPI_COMM_WORLD)
		return members_of_runs(&all, 1);
	others_open(&o, from);
	m = members_of(c, &o);
	others_close(&o);
	return m;
}

/* ---- the other sides of intercommunicators between jobs ---- */

struct origin {
	MPI_Group group;	      /* of the other side */
	struct comm_members *members; /* of both */
	MPI_Comm handle;
	uint32_t number, size;
};

static struct origin origins[ORIGINS_MAX];
static uint32_t n_origins;
static uint32_t origins_lock; /* of those who add one; who reads takes the number first */

void vftr_members_keep_origin(const struct mpi_comm *c, uint32_t number)
{
	struct origin o = {.handle = c->handle, .number = number, .size = c->remote_size};

	if (!c->members || !number || !is_between_jobs(c) ||
		PMPI_Comm_remote_group(c->handle, &o.group) != MPI_SUCCESS)
		return;
	spin_lock(&origins_lock);
	if (n_origins < ORIGINS_MAX) {
		o.members = vftr_members_share(c->members);
		origins[n_origins] = o;
		store_release(&n_origins, n_origins + 1); /* pairs with vftr_members_of_jobs() */
		o.group = MPI_GROUP_NULL;
	}
	spin_unlock(&origins_lock);
	if (o.group != MPI_GROUP_NULL)
		PMPI_Group_free(&o.group);
}

void vftr_members_forget_origins(void)
{
	spin_lock(&origins_lock);
	for (uint32_t i = 0; i < n_origins; i++) {
		PMPI_Group_free(&origins[i].group);
		vftr_members_drop(origins[i].members);
	}
	n_origins = 0;
	spin_unlock(&origins_lock);
}

static struct comm_members *members_by_origin(const struct mpi_comm *c, const struct origin *from)
{
	struct others o = {
		.group = from->group, .size = from->size, .bytes = from->size * sizeof(*o.member)};
	struct comm_members *m;

	o.member = vftr_memory_take(o.bytes);
	if (!o.member)
		return NULL;
	for (uint32_t i = 0; i < o.size; i++)
		o.member[i] = wire_other((int32_t)i);
	m = members_of(c, &o);
	vftr_memory_give(o.member, o.bytes);
	return m;
}

static bool run_has(const struct wire_run *run, int32_t rank)
{
	const int32_t way = rank - run->first;

	return run->stride ? way % run->stride == 0 && way / run->stride >= 0 &&
				     way / run->stride < run->count
			   : !way;
}

static bool has_rank(const struct comm_members *m, int32_t rank)
{
	for (uint32_t i = 0; i < m->n_runs; i++)
		if (m->run[i].first >= 0 && run_has(&m->run[i], rank))
			return true;
	return false;
}

/* True if all ranks of this job in m are in `of', too. */
static bool has_own(const struct comm_members *of, const struct comm_members *m)
{
	for (uint32_t i = 0; i < m->n_runs; i++)
		for (int32_t k = 0; m->run[i].first >= 0 && k < m->run[i].count; k++)
			if (!has_rank(of, m->run[i].first + k * m->run[i].stride))
				return false;
	return true;
}

struct comm_members *vftr_members_of_jobs(
	const struct mpi_comm *c, MPI_Comm *origin, uint32_t *number)
{
	/* pairs with vftr_members_keep_origin() */
	const uint32_t n = load_acquire(&n_origins);

	for (uint32_t i = 0; i < n; i++) {
		struct comm_members *m = NULL;

		if (has_own(origins[i].members, c->members))
			m = members_by_origin(c, &origins[i]);
		if (m && vftr_members_have_others(m) && !vftr_members_have_unknown(m)) {
			*origin = origins[i].handle;
			*number = origins[i].number;
			return m;
		}
		vftr_members_drop(m);
	}
	return NULL;
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
		.port = c->port,
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
