/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The registry: a table of handles under a short lock, and in front of it a few
 * handles that each thread has used last. MPI is asked about a handle only
 * when the communicator is made, so looking up never calls into it.
 */
#include "mpi/object/comm.h"
#include "libhook/emit.h"
#include "mpi/handle.h"
#include "mpi/object/identity.h"
#include "mpi/object/members.h"
#include "mpi/memory.h"
#include "mpi/object/quiet.h"
#include "mpi/object/world.h"
#include "shm/identity.h"
#include "shm/message.h"

#define SEEN 4 /* a power of two */

enum { NUMBER_WORLD = 1, NUMBER_SELF, NUMBER_FIRST };

static __thread struct comm_seen seen[SEEN] __attribute__((tls_model("initial-exec")));

static const struct comm_seen none; /* of no generation */
__thread const struct comm_seen *vftr_comm_last = &none;

static struct mpi_comm nobody;

/* These change under the lock only. */
static struct mpi_comm **bucket;
static uint64_t n_buckets, n_comms;
static struct mpi_comm *freed; /* with references left */
uint64_t vftr_comm_generation = 1;
static uint32_t next_number = NUMBER_FIRST;
static uint32_t lock;

static uint32_t started; /* under start_lock */
static uint32_t start_lock, define_lock, unknown_lock;

static struct mpi_comm **chain_of(MPI_Comm handle)
{
	return &bucket[handle_hash(HANDLE_KEY(handle)) & (n_buckets - 1)];
}

static bool grow(void)
{
	struct mpi_comm **old = bucket, *c;
	const uint64_t n = n_buckets, more = n ? n * 2 : 64;
	struct mpi_comm **at = vftr_memory_take(more * sizeof(*at));

	if (!at)
		return false;
	bucket = at;
	n_buckets = more;
	for (uint64_t i = 0; i < n; i++) {
		while ((c = old[i])) {
			old[i] = c->next;
			c->next = *chain_of(c->handle);
			*chain_of(c->handle) = c;
		}
	}
	vftr_memory_give(old, n * sizeof(*old));
	return true;
}

static struct mpi_comm *look_up(MPI_Comm handle)
{
	struct mpi_comm *c = n_buckets ? *chain_of(handle) : NULL;

	while (c && c->handle != handle)
		c = c->next;
	return c;
}

static struct mpi_comm *look_up_locked(MPI_Comm handle, uint64_t *now)
{
	struct mpi_comm *c;

	spin_lock(&lock);
	*now = vftr_comm_generation;
	c = look_up(handle);
	spin_unlock(&lock);
	return c;
}

static struct mpi_comm *take_out(MPI_Comm handle)
{
	struct mpi_comm *c = look_up(handle), **at;

	if (!c)
		return NULL;
	for (at = chain_of(handle); *at != c; at = &(*at)->next)
		;
	*at = c->next;
	n_comms--;
	store_release(
		&vftr_comm_generation, vftr_comm_generation + 1); /* pairs with vftr_comm_find() */
	return c;
}

/* Tickets of messages and of Psend_init, by destination. */
static size_t sent_bytes(const struct mpi_comm *c)
{
	return 2 * sizeof(uint32_t) * (size_t)comm_peers(c);
}

static void destroy(struct mpi_comm *c)
{
	struct wire_about gone = {
		.head.kind = WIRE_GONE, .number = c->number, .object = WIRE_OBJECT_COMM};

	if (c->defined && c->number && vftr_active() && vftr_messages_wanted())
		vftr_define(&gone.head, sizeof(gone), NULL, 0);
	vftr_members_drop(c->members);
	vftr_memory_give(c->sent, sent_bytes(c));
	vftr_memory_give(c, sizeof(*c));
}

/* A communicator that was freed before its last persistent request was; or NULL. */
static struct mpi_comm *take_unreferenced(void)
{
	struct mpi_comm **at = &freed, *c = NULL;

	if (!load_relaxed(&freed))
		return NULL;
	spin_lock(&lock);
	while (*at && load_relaxed(&(*at)->references))
		at = &(*at)->next;
	c = *at;
	if (c)
		*at = c->next;
	spin_unlock(&lock);
	return c;
}

static void give_up(struct mpi_comm *c)
{
	if (!load_relaxed(&c->references)) {
		destroy(c);
		return;
	}
	spin_lock(&lock);
	c->next = freed;
	freed = c;
	spin_unlock(&lock);
}

/* Enters c, in place of one with the same handle whose end was not seen. */
static bool put(struct mpi_comm *c)
{
	struct mpi_comm *stale;
	bool fits;

	spin_lock(&lock);
	stale = take_out(c->handle);
	fits = n_comms < n_buckets || grow() || n_buckets;
	if (fits) {
		c->next = *chain_of(c->handle);
		*chain_of(c->handle) = c;
		n_comms++;
		store_release(&vftr_comm_generation,
			vftr_comm_generation + 1); /* pairs with vftr_comm_find() */
	}
	spin_unlock(&lock);
	if (stale)
		give_up(stale);
	return fits;
}

static uint32_t new_number(void)
{
	uint32_t n;

	spin_lock(&lock);
	n = next_number < MESSAGE_COMM_LIMIT ? next_number++ : MESSAGE_COMM_NONE;
	spin_unlock(&lock);
	return n;
}

/* Asks MPI about a good handle; NULL: no memory. */
static struct mpi_comm *describe(MPI_Comm handle, enum wire_comm_kind kind)
{
	struct mpi_comm *c = vftr_memory_take(sizeof(*c));
	int rank = 0, size = 0, remote = 0, inter = 0;

	if (!c)
		return NULL;
	PMPI_Comm_rank(handle, &rank);
	PMPI_Comm_size(handle, &size);
	PMPI_Comm_test_inter(handle, &inter);
	if (inter)
		PMPI_Comm_remote_size(handle, &remote);
	c->handle = handle;
	c->kind = kind;
	c->rank = (uint32_t)rank;
	c->size = (uint32_t)size;
	c->remote_size = (uint32_t)remote;
	c->sent = vftr_memory_take(sent_bytes(c));
	if (c->sent)
		return c;
	vftr_memory_give(c, sizeof(*c));
	return NULL;
}

/* True if MPI knows the handle. Only for handles whose making was not seen. */
static bool handle_is_good(MPI_Comm handle)
{
	struct quiet quiet;
	int inter, rc;

	if (handle == MPI_COMM_NULL || !vftr_quiet_begin(&quiet))
		return false;
	rc = PMPI_Comm_test_inter(handle, &inter);
	vftr_quiet_end(&quiet);
	return rc == MPI_SUCCESS;
}

/* True if exactly the members of the parent take part in making one of this kind. */
static bool made_by_all_of_parent(enum wire_comm_kind kind)
{
	switch (kind) {
	case WIRE_COMM_DUP:
	case WIRE_COMM_CREATE:
	case WIRE_COMM_SPLIT:
	case WIRE_COMM_TOPOLOGY:
	case WIRE_COMM_MERGE:
	case WIRE_COMM_SPAWN:
		return true;
	default:
		return false;
	}
}

/* Finds the parent without defining it for the agent. */
static struct mpi_comm *find_parent(MPI_Comm handle)
{
	uint64_t now;
	struct mpi_comm *c = handle == MPI_COMM_NULL ? &nobody : look_up_locked(handle, &now);

	return c ? c : vftr_comm_find(handle);
}

uint64_t vftr_comm_identity(MPI_Comm parent, enum wire_comm_kind kind, uint64_t more)
{
	struct mpi_comm *from = find_parent(parent);
	const uint32_t before = add_relaxed_u32(&from->made, 1);

	return identity_made(from->id, before, kind, more);
}

static uint64_t members_hash(const struct mpi_comm *c)
{
	return c->members ? c->members->hash : 0;
}

/*
 * An identity by the members and a count, if the parent has no number for it. members: the hash of
 * these as each process of the job knows them; some may know more of the other job's.
 */
static uint64_t identity_of_members(struct mpi_comm *c, uint64_t members, uint64_t more)
{
	const uint64_t all = members_hash(c);
	const uint64_t base =
		identity_mix(identity_mix(identity_mix(vftr_world_id(), c->kind), more), members);
	const uint64_t count = vftr_identity_count(base);

	/* the other job has another world, and the same count of the same members */
	if ((c->kind == WIRE_COMM_FROM_GROUP || c->kind == WIRE_COMM_INTER) &&
		vftr_members_have_others(c->members))
		c->port = identity_mix(more,
			all == members ? count : vftr_identity_count(identity_mix(base, all)));
	return identity_mix(base, count);
}

static void enlist(struct mpi_comm *c, uint32_t number, uint32_t parent_number)
{
	struct mpi_comm *old;

	while ((old = take_unreferenced()))
		destroy(old);
	c->number = number;
	c->parent = parent_number;
	if (!put(c))
		destroy(c);
}

/* Completes the members of one with ranks of two jobs. Returns the number of what leads from one
 * job to the other, or that of its parent. */
static uint32_t find_jobs(struct mpi_comm *c, uint32_t parent)
{
	struct comm_members *m;
	MPI_Comm origin;
	uint32_t number;

	if (!c->remote_size || !vftr_members_have_unknown(c->members))
		return parent;
	m = vftr_members_of_jobs(c, &origin, &number);
	if (!m)
		return parent;
	vftr_members_drop(c->members);
	c->members = m;
	if (vftr_comm_number(origin) == number)
		vftr_comm_find(origin); /* the agent is to know it */
	return number;
}

/* The two sides of these do not know each other. */
static bool joins_jobs(enum wire_comm_kind kind)
{
	return kind == WIRE_COMM_SPAWN || kind == WIRE_COMM_PARENT || kind == WIRE_COMM_ACCEPT;
}

void vftr_comm_made(MPI_Comm handle, enum wire_comm_kind kind, MPI_Comm parent, uint64_t more)
{
	const bool by_parent = made_by_all_of_parent(kind) && parent != MPI_COMM_NULL;
	const bool has_its_members =
		by_parent || (kind == WIRE_COMM_FROM_GROUP && parent != MPI_COMM_NULL);
	const uint64_t settled = by_parent ? vftr_comm_identity(parent, kind, more) : 0;
	struct mpi_comm *c = NULL, *from = find_parent(parent);
	uint32_t number, parent_number = from->number;
	uint64_t members;

	if (handle != MPI_COMM_NULL)
		c = describe(handle, kind);
	if (!c)
		return;
	if (kind == WIRE_COMM_DUP && from->members)
		c->members = vftr_members_share(from->members);
	else
		/* each side of MPI_Intercomm_create has another parent, and knows other members */
		c->members = vftr_members_new(c, has_its_members ? from : NULL);
	members = members_hash(c);
	if (kind == WIRE_COMM_INTER)
		parent_number = find_jobs(c, parent_number);
	if (kind == WIRE_COMM_ACCEPT) /* only the root knows the port */
		c->port = more;
	if (!by_parent)
		c->id = identity_of_members(c, members, c->port ? 0 : more);
	else if (kind == WIRE_COMM_DUP)
		c->id = settled; /* as of MPI_Comm_idup, whose members are not known yet */
	else
		c->id = identity_mix(settled, members);
	number = new_number();
	if (joins_jobs(kind))
		vftr_members_keep_origin(c, number);
	enlist(c, number, parent_number);
}

void vftr_comm_made_as(
	MPI_Comm handle, enum wire_comm_kind kind, const struct mpi_comm *from, uint64_t id)
{
	struct mpi_comm *c = handle == MPI_COMM_NULL ? NULL : describe(handle, kind);

	if (!c)
		return;
	c->members = from->members ? vftr_members_share(from->members) : vftr_members_new(c, NULL);
	c->id = id;
	enlist(c, new_number(), from->number);
}

static void start_with(MPI_Comm handle, uint32_t number, uint64_t id)
{
	struct mpi_comm *c = describe(handle, WIRE_COMM_PREDEFINED);

	if (!c)
		return;
	c->members = vftr_members_new(c, NULL);
	c->id = id;
	enlist(c, number, MESSAGE_COMM_NONE);
}

void vftr_comm_start(void)
{
	const uint64_t id = load_acquire(&started) || !vftr_world_is_up() ? 0 : vftr_world_id();
	int rank = 0;

	if (!id)
		return;
	spin_lock(&start_lock);
	if (!started) {
		PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
		start_with(MPI_COMM_WORLD, NUMBER_WORLD, id);
		start_with(MPI_COMM_SELF, NUMBER_SELF, identity_mix(id, (uint64_t)rank));
		store_release(&started, 1); /* pairs with the look at it above */
	}
	spin_unlock(&start_lock);
}

bool vftr_comm_is(MPI_Comm handle, enum wire_comm_kind kind)
{
	uint64_t now;
	const struct mpi_comm *c = look_up_locked(handle, &now);

	return c && c->kind == kind;
}

/* Defines c at its first use, for the agent. A second thread waits until that is sent. */
static void define(struct mpi_comm *c)
{
	if (load_acquire(&c->defined)) /* pairs with the store below */
		return;
	spin_lock(&define_lock);
	if (!c->defined)
		vftr_members_define(c);
	store_release(&c->defined, 1);
	spin_unlock(&define_lock);
}

/*
 * A communicator whose making was not seen, or NULL. One thread at a time, so that it is made
 * once. It gives up after a while, as the other may wait for it.
 */
static struct mpi_comm *meet(MPI_Comm handle, uint64_t *now)
{
	struct mpi_comm *c;

	if (!spin_try_lock(&unknown_lock))
		return NULL;
	c = look_up_locked(handle, now);
	if (!c && handle_is_good(handle)) {
		vftr_comm_made(handle, WIRE_COMM_UNKNOWN, MPI_COMM_NULL, 0);
		c = look_up_locked(handle, now);
	}
	spin_unlock(&unknown_lock);
	return c;
}

static __attribute__((noinline)) struct mpi_comm *find_slowly(MPI_Comm handle, struct comm_seen *s)
{
	uint64_t now;
	struct mpi_comm *c = look_up_locked(handle, &now);

	if (!c) {
		vftr_comm_start();
		c = look_up_locked(handle, &now);
	}
	if (!c)
		c = meet(handle, &now);
	if (!c)
		return &nobody;
	define(c);
	*s = (struct comm_seen){HANDLE_KEY(handle), now, c};
	return c;
}

struct mpi_comm *vftr_comm_look_up(MPI_Comm handle)
{
	const uint64_t key = HANDLE_KEY(handle);
	struct comm_seen *s = &seen[(handle_hash(key) >> 8) & (SEEN - 1)];

	vftr_comm_last = s;
	if (s->key == key && s->generation == load_acquire(&vftr_comm_generation))
		return s->comm;
	return find_slowly(handle, s);
}

void vftr_comm_tell_joint(MPI_Comm handle)
{
	if (vftr_members_have_others(find_parent(handle)->members))
		vftr_comm_find(handle);
}

uint32_t vftr_comm_number(MPI_Comm handle)
{
	uint64_t now;
	const struct mpi_comm *c = look_up_locked(handle, &now);

	return c ? c->number : MESSAGE_COMM_NONE;
}

void vftr_comm_freed(MPI_Comm handle, uint32_t number)
{
	struct mpi_comm *c;

	spin_lock(&lock);
	c = look_up(handle);
	if (c && c->number == number && c->kind != WIRE_COMM_PREDEFINED)
		c = take_out(handle);
	else
		c = NULL;
	spin_unlock(&lock);
	if (c)
		give_up(c);
}
