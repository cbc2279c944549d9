/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/request.h"
#include "mpi/handle.h"
#include "mpi/memory.h"
#include "mpi/record.h"

#define MESSAGE_KEY   ((uint64_t)1 << 63) /* no handle has this bit */
#define MOST_OF_A_KEY 64		  /* more than there are threads inside of MPI */

/*
 * What most requests need stands here; what persistent and a few other ones
 * need, beside it. Those used last are used next, so they stay in the cache
 * however many others are open.
 */
struct entry {
	uint64_t key;
	union {
		uint64_t bytes;
		struct request *more; /* has_more: all of it but number and cancelled */
	};
	uint32_t number;
	uint32_t next; /* in its bucket, newest first, or of the unused; 0: none */
	uint8_t kind;
	bool cancelled;
	bool exact;
	bool has_more;
};

#define FIRST_ENTRIES 256u

static struct entry *entry;	       /* from 1 */
static uint32_t room, reached, unused; /* entries; used so far; the first that is free again */
static uint32_t *bucket;	       /* twice as many as there is room for */
static unsigned shift;		       /* from 64 bits to a bucket */
static uint64_t used;
static uint32_t lock;
static uint32_t last_number;

MPI_Request vftr_request_at_once = MPI_REQUEST_NULL;

/* Handles come out of pools, equally far apart: times the golden ratio, they spread evenly. */
static inline uint64_t bucket_of(uint64_t key)
{
	return key * 0x9e3779b97f4a7c15u >> shift;
}

static inline void enter(void)
{
	if (vftr_mpi_multiple)
		spin_lock(&lock);
}

static inline void leave(void)
{
	if (vftr_mpi_multiple)
		spin_unlock(&lock);
}

/* A send to nobody is complete at once; two with one handle show that it is shared. */
void vftr_request_start(void)
{
	MPI_Request a = MPI_REQUEST_NULL, b = MPI_REQUEST_NULL;

	PMPI_Isend(NULL, 0, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_SELF, &a);
	PMPI_Isend(NULL, 0, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_SELF, &b);
	if (a == b)
		vftr_request_at_once = a;
	PMPI_Wait(&a, MPI_STATUS_IGNORE);
	PMPI_Wait(&b, MPI_STATUS_IGNORE);
}

uint32_t vftr_request_number(void)
{
	uint32_t n;

	do {
		n = (take_ticket(&last_number) + 1) & 0x7fffffff;
	} while (!n);
	return n;
}

/* The link to the entry with this key and number (0: the newest); to 0 if there is none. */
static inline uint32_t *find(uint64_t key, uint32_t number)
{
	uint32_t *at = &bucket[bucket_of(key)];

	while (*at && (entry[*at].key != key || (number && entry[*at].number != number)))
		at = &entry[*at].next;
	return at;
}

/* Each old bucket becomes two, in the same order. */
static void split_buckets(const uint32_t *old, uint32_t n)
{
	for (uint32_t b = 0; b < n; b++) {
		uint32_t *end[2] = {&bucket[2 * b], &bucket[2 * b + 1]};

		for (uint32_t i = old[b]; i; i = entry[i].next) {
			uint32_t **at = &end[bucket_of(entry[i].key) & 1];

			**at = i;
			*at = &entry[i].next;
		}
		*end[0] = *end[1] = 0;
	}
}

static bool grow(void)
{
	const uint32_t n = room, more = n ? n * 2 : FIRST_ENTRIES;
	struct entry *old_entry = entry, *new_entry = NULL;
	uint32_t *old_bucket = bucket, *new_bucket = NULL;

	if (more > n && (new_bucket = vftr_memory_take(2 * (size_t)more * sizeof(*bucket))))
		new_entry = vftr_memory_take((size_t)more * sizeof(*entry));
	if (!new_entry) {
		vftr_memory_give(new_bucket, 2 * (size_t)more * sizeof(*bucket));
		return false;
	}
	if (n)
		memcpy(new_entry, old_entry, n * sizeof(*entry));
	entry = new_entry;
	bucket = new_bucket;
	room = more;
	shift = 63 - (unsigned)__builtin_ctz(more);
	split_buckets(old_bucket, 2 * n);
	vftr_memory_give(old_entry, n * sizeof(*entry));
	vftr_memory_give(old_bucket, 2 * (size_t)n * sizeof(*bucket));
	return true;
}

/* A free entry's index, or 0. */
static inline uint32_t take_unused(void)
{
	const uint32_t i = unused;

	if (i) {
		unused = entry[i].next;
		return i;
	}
	return reached + 1 < room || grow() ? ++reached : 0;
}

static inline void take_out(uint32_t *at)
{
	const uint32_t i = *at;

	*at = entry[i].next;
	entry[i].next = unused;
	unused = i;
	store_relaxed(&used, used - 1);
}

/*
 * What to do with an entry that has the handle already. With threads it may be
 * a request that another thread's call has completed and not yet taken out.
 */
static bool keep_older(const struct entry *old)
{
	return vftr_mpi_multiple && old->kind != REQUEST_SEND && !old->has_more;
}

static bool needs_more(const struct request *r)
{
	return r->persistent || r->kind == REQUEST_IDUP || r->kind == REQUEST_MESSAGE;
}

static struct request *more_of(const struct request *r)
{
	struct request *more = vftr_memory_take(sizeof(*more));

	if (more)
		*more = *r;
	return more;
}

static void drop_more(struct entry *e)
{
	if (e->has_more)
		vftr_memory_give(e->more, sizeof(*e->more));
	e->has_more = false;
}

/*
 * The older entry that one with this key takes the place of, as it is over; a link to 0:
 * none. Those that were completed behind our back must not pile up.
 */
static uint32_t *find_over(uint64_t key)
{
	uint32_t *at = find(key, 0), *over = at;
	unsigned n = 0;

	if (!*at || !keep_older(&entry[*at]))
		return at;
	for (; *at; at = &entry[*at].next) {
		if (entry[*at].key != key)
			continue;
		over = at;
		n++;
	}
	return n < MOST_OF_A_KEY ? at : over;
}

/* It is over; what is still to be said of it, if its number is not 0, is returned. */
static struct entry take_over(uint32_t *at)
{
	struct entry *e = &entry[*at], was = *e;

	if (e->has_more) {
		if (e->more->comm)
			add_relaxed_u32(&e->more->comm->references, (uint32_t)-1);
		was.number = 0;
	}
	drop_more(e);
	take_out(at);
	return was;
}

static void record_over(const struct entry *e)
{
	if (!e->number)
		return;
	if (e->kind == REQUEST_RECEIVE || e->kind == REQUEST_EXCHANGE || e->kind == REQUEST_FILE)
		record_done(e->number, 0, 0, MESSAGE_UNKNOWN, 0);
	else /* all is known, but that it is over */
		record_complete(e->number);
}

/* The key, kind and contents of e. */
static void put_entry(const struct entry *e)
{
	struct entry over = {0}, *to;
	uint32_t i, *at;

	enter();
	i = take_unused();
	if (i) {
		if (*(at = find_over(e->key)))
			over = take_over(at);
		/* one by one: a copy of the whole would wait for each of them to be stored */
		to = &entry[i];
		to->key = e->key;
		to->bytes = e->bytes;
		to->number = e->number;
		to->kind = e->kind;
		to->cancelled = e->cancelled;
		to->exact = e->exact;
		to->has_more = e->has_more;
		at = &bucket[bucket_of(e->key)];
		to->next = *at;
		*at = i;
		store_relaxed(&used, used + 1);
	}
	leave();
	if (!i && e->has_more)
		vftr_memory_give(e->more, sizeof(*e->more));
	record_over(&over);
}

static void put(uint64_t key, const struct request *r)
{
	struct entry e = {.key = key,
		.number = r->number,
		.kind = r->kind,
		.cancelled = r->cancelled,
		.has_more = needs_more(r)};

	if (!e.has_more || (e.more = more_of(r)))
		put_entry(&e);
}

/* COMPLETE: the operation is over, a persistent request is idle now. */
enum purpose { LOOK, TAKE, COMPLETE };

static bool look_up(uint64_t key, uint32_t number, enum purpose purpose, struct request *r)
{
	struct entry *e;
	uint32_t *at;
	bool found;

	if (!load_relaxed(&used))
		return false;
	enter();
	at = find(key, number);
	found = *at != 0;
	if (found) {
		e = &entry[*at];
		if (e->has_more) {
			*r = *e->more;
		} else {
			r->persistent = r->partitioned = false;
			r->bytes = e->bytes;
		}
		r->key = key;
		r->number = e->number;
		r->kind = e->kind;
		r->cancelled = e->cancelled;
		r->exact = e->exact;
		if (purpose == COMPLETE && r->persistent) {
			e->number = 0;
		} else if (purpose != LOOK) {
			drop_more(e);
			take_out(at);
		}
	}
	leave();
	return found;
}

/* Wait and Test pass by this handle, and by MPI_REQUEST_NULL, which MPICH gives for a
 * collective call that has nothing to do: what it had to say is said now. */
static void over_at_once(uint32_t number, enum request_kind kind)
{
	if (kind == REQUEST_RECEIVE || kind == REQUEST_EXCHANGE || kind == REQUEST_FILE)
		record_done(number, 0, 0, MESSAGE_UNKNOWN, 0);
	else
		record_complete(number);
}

void vftr_request_made(MPI_Request handle, uint32_t number, enum request_kind kind, uint64_t bytes)
{
	if (handle == vftr_request_at_once || handle == MPI_REQUEST_NULL)
		over_at_once(number, kind);
	else
		put_entry(&(const struct entry){.key = HANDLE_KEY(handle),
			.number = number,
			.kind = (uint8_t)kind,
			.exact = bytes != UINT64_MAX,
			.bytes = bytes});
}

void vftr_request_put(MPI_Request handle, const struct request *r)
{
	if ((handle == vftr_request_at_once || handle == MPI_REQUEST_NULL) && !needs_more(r))
		over_at_once(r->number, r->kind);
	else if (handle != MPI_REQUEST_NULL)
		put(HANDLE_KEY(handle), r);
}

bool vftr_request_get(MPI_Request handle, struct request *r)
{
	return handle != MPI_REQUEST_NULL && look_up(HANDLE_KEY(handle), 0, LOOK, r);
}

bool vftr_request_take(MPI_Request handle, uint32_t number, struct request *r)
{
	return handle != MPI_REQUEST_NULL && look_up(HANDLE_KEY(handle), number, TAKE, r);
}

bool vftr_request_complete(MPI_Request handle, uint32_t number, struct request *r)
{
	return handle != MPI_REQUEST_NULL && look_up(HANDLE_KEY(handle), number, COMPLETE, r);
}

void vftr_request_update(const struct request *r)
{
	uint32_t i;

	enter();
	i = bucket ? *find(r->key, 0) : 0;
	if (i) {
		entry[i].number = r->number;
		entry[i].cancelled = r->cancelled;
	}
	leave();
}

void vftr_message_put(MPI_Message handle, const struct request *r)
{
	if (handle != MPI_MESSAGE_NULL && handle != MPI_MESSAGE_NO_PROC)
		put(HANDLE_KEY(handle) | MESSAGE_KEY, r);
}

bool vftr_message_take(MPI_Message handle, struct request *r)
{
	return look_up(HANDLE_KEY(handle) | MESSAGE_KEY, 0, TAKE, r);
}

bool vftr_requests_open(void)
{
	return load_relaxed(&used) != 0;
}
