/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/request.h"
#include <sys/mman.h>
#include "mpi/handle.h"
#include "mpi/memory.h"
#include "mpi/record.h"

#define MESSAGE_KEY ((uint64_t)1 << 63) /* no handle has this bit */

/*
 * What most requests need stands in the table itself; what persistent and a few
 * other ones need, beside it. Open addressing; at most half full.
 */
struct entry {
	uint64_t key; /* 0: free */
	uint32_t number;
	uint8_t kind;
	bool cancelled;
	bool exact;
	uint64_t bytes;
	struct request *more; /* NULL, or all of it but number and cancelled */
};

static struct entry *table;
static uint64_t mask;
static uint64_t used;
static uint32_t lock;
static uint32_t last_number;

MPI_Request vftr_request_at_once = MPI_REQUEST_NULL;

/*
 * Requests come out of pools, so near handles go into near slots: those in use
 * stay on few pages, however many others are open. Pointers are at least 64
 * bytes apart; ints count up.
 */
static inline uint64_t slot_of(uint64_t key)
{
	return (sizeof(MPI_Request) == sizeof(int) ? key + (key >> 20) : (key >> 6) + (key >> 24)) &
	       mask;
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

/* The entry with this key and number (0: any number), or the free one where it would be. */
static struct entry *find(uint64_t key, uint32_t number)
{
	uint64_t i = slot_of(key);

	while (table[i].key && (table[i].key != key || (number && table[i].number != number)))
		i = (i + 1) & mask;
	return &table[i];
}

static struct entry *find_free(uint64_t key)
{
	uint64_t i = slot_of(key);

	while (table[i].key)
		i = (i + 1) & mask;
	return &table[i];
}

static bool grow(void)
{
	struct entry *old = table;
	uint64_t n = old ? mask + 1 : 0, more = n ? n * 2 : 512;
	void *at = mmap(NULL, more * sizeof(*table), PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED)
		return false;
	table = at;
	mask = more - 1;
	for (uint64_t i = 0; i < n; i++)
		if (old[i].key)
			*find_free(old[i].key) = old[i];
	if (old)
		munmap(old, n * sizeof(*old));
	return true;
}

/* The gap is closed, so that searches never meet one. */
static void take_out(struct entry *e)
{
	uint64_t gap = (uint64_t)(e - table), i = gap;

	for (;;) {
		uint64_t home;

		i = (i + 1) & mask;
		if (!table[i].key)
			break;
		home = slot_of(table[i].key);
		if (((i - home) & mask) < ((i - gap) & mask))
			continue;
		table[gap] = table[i];
		gap = i;
	}
	table[gap].key = 0;
	store_relaxed(&used, used - 1);
}

/*
 * What to do with an entry that has the handle already. With threads it may be
 * a request that another thread's call has completed and not yet taken out.
 */
static bool keep_older(const struct entry *old)
{
	return vftr_mpi_multiple && old->kind != REQUEST_SEND && !old->more;
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
	if (e->more)
		vftr_memory_give(e->more, sizeof(*e->more));
	e->more = NULL;
}

static void put_entry(uint64_t key, uint32_t number, uint32_t kind, bool cancelled, uint64_t bytes,
	struct request *more)
{
	struct entry *place;
	uint32_t replaced = 0, flags = 0;
	bool was_send = false;

	enter();
	if ((table && used < (mask + 1) / 2) || grow()) {
		place = find(key, 0);
		if (place->key && keep_older(place))
			place = find_free(key);
		if (place->key) {
			replaced = place->more ? 0 : place->number;
			was_send = place->kind == REQUEST_SEND;
			/* of these all is known, but that they are over */
			flags = place->kind == REQUEST_RMA ? 0 : MESSAGE_UNKNOWN;
			drop_more(place);
		} else {
			store_relaxed(&used, used + 1);
		}
		place->key = key;
		place->number = number;
		place->kind = (uint8_t)kind;
		place->cancelled = cancelled;
		place->exact = bytes != UINT64_MAX;
		place->bytes = bytes;
		place->more = more;
	}
	leave();
	if (replaced && was_send)
		record_complete(replaced);
	else if (replaced)
		record_done(replaced, 0, 0, flags, 0);
}

static void put(uint64_t key, const struct request *r)
{
	struct request *more = needs_more(r) ? more_of(r) : NULL;

	if (more || !needs_more(r))
		put_entry(key, r->number, r->kind, r->cancelled, UINT64_MAX, more);
}

/* COMPLETE: the operation is over, a persistent request is idle now. */
enum purpose { LOOK, TAKE, COMPLETE };

static bool look_up(uint64_t key, uint32_t number, enum purpose purpose, struct request *r)
{
	struct entry *e;
	bool found;

	if (!load_relaxed(&used))
		return false;
	enter();
	e = find(key, number);
	found = e->key != 0;
	if (found) {
		if (e->more)
			*r = *e->more;
		else
			r->persistent = r->partitioned = false;
		r->key = key;
		r->number = e->number;
		r->kind = e->kind;
		r->cancelled = e->cancelled;
		r->exact = e->exact;
		r->bytes = e->more ? r->bytes : e->bytes;
		if (purpose == COMPLETE && r->persistent) {
			e->number = 0;
		} else if (purpose != LOOK) {
			drop_more(e);
			take_out(e);
		}
	}
	leave();
	return found;
}

/* Wait and Test pass by this handle: what it had to say is said now. */
static void over_at_once(uint32_t number, enum request_kind kind)
{
	if (kind == REQUEST_RECEIVE || kind == REQUEST_FILE)
		record_done(number, 0, 0, MESSAGE_UNKNOWN, 0);
	else
		record_complete(number);
}

void vftr_request_made(MPI_Request handle, uint32_t number, enum request_kind kind, uint64_t bytes)
{
	if (handle == vftr_request_at_once && handle != MPI_REQUEST_NULL)
		over_at_once(number, kind);
	else if (handle != MPI_REQUEST_NULL)
		put_entry(HANDLE_KEY(handle), number, kind, false, bytes, NULL);
}

void vftr_request_put(MPI_Request handle, const struct request *r)
{
	if (handle == vftr_request_at_once && handle != MPI_REQUEST_NULL && !needs_more(r))
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
	struct entry *e;

	enter();
	e = table ? find(r->key, 0) : NULL;
	if (e && e->key) {
		e->number = r->number;
		e->cancelled = r->cancelled;
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
