/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/recorder/request.h"
#include "mpi/handle.h"
#include "mpi/memory.h"
#include "mpi/recorder/record.h"
#include "mpi/recorder/status.h"

#define MESSAGE_KEY   ((uint64_t)1 << 63) /* no handle has this bit */
#define MOST_OF_A_KEY 64		  /* more than there are threads inside of MPI */

/*
 * The members that most requests need; persistent and a few other ones have more
 * beside it. Entries used last are used next, so they stay in the cache however
 * many others are open.
 */
struct entry { /* as struct look_entry */
	uint64_t key;
	union {
		uint64_t bytes;
		struct request *more; /* HAS_MORE: all of it but number and cancelled */
	};
	uint32_t number;
	uint32_t next; /* in its bucket, newest first, or of the unused; 0: none */
	uint32_t what; /* enum request_kind and these: small members would be read as one, too
			  early after they were stored as several, and the CPU would wait */
};

#define KIND	  0xffu
#define CANCELLED 0x100u
#define EXACT	  0x200u
#define HAS_MORE  0x400u

#define FIRST_ENTRIES 256u

static struct entry *entry;	       /* from 1 */
static uint32_t room, reached, unused; /* entries; used so far; the first that is free again */
static uint32_t *bucket;	       /* twice as many as there is room for */
static unsigned shift;		       /* from 64 bits to a line of them */
static uint64_t used;
static uint32_t lock;
uint32_t vftr_request_last_number;

MPI_Request vftr_request_at_once = MPI_REQUEST_NULL;

#define LINE_BUCKETS LOOK_LINE_BUCKETS
#define APART_BITS   (sizeof(MPI_Request) == sizeof(int) ? 0 : 8)

static inline uint64_t bucket_of(uint64_t key)
{
	return look_bucket(key, shift, APART_BITS);
}

_Static_assert(sizeof(struct entry) == sizeof(struct look_entry) &&
		       offsetof(struct entry, number) == offsetof(struct look_entry, number) &&
		       offsetof(struct entry, next) == offsetof(struct look_entry, next),
	"an entry is not what who looks takes it for");

void vftr_request_look(struct mpi_look *look)
{
	look->handle_bytes = sizeof(MPI_Request);
	look->apart_bits = APART_BITS;
	look->entries = (uint64_t)(uintptr_t)&entry;
	look->buckets = (uint64_t)(uintptr_t)&bucket;
	look->shift = (uint64_t)(uintptr_t)&shift;
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

/* The link to the entry with this key and number (0: the newest); to 0 if there is none. */
static inline uint32_t *find(uint64_t key, uint32_t number)
{
	uint32_t *at = &bucket[bucket_of(key)];

	while (*at && (entry[*at].key != key || (number && entry[*at].number != number)))
		at = &entry[*at].next;
	return at;
}

/* Splits each old bucket into two, keeping the order. */
static void split_buckets(const uint32_t *old, uint32_t n)
{
	for (uint32_t b = 0; b < n; b++) {
		uint32_t *to = &bucket[2 * b - b % LINE_BUCKETS];
		uint32_t *end[2] = {to, to + LINE_BUCKETS};

		for (uint32_t i = old[b]; i; i = entry[i].next) {
			uint32_t **at = &end[&bucket[bucket_of(entry[i].key)] != to];

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
	shift = 63 - (unsigned)__builtin_ctz(more / LINE_BUCKETS);
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
 * True to keep an older entry with the same handle. With threads it may be a request
 * that another thread's call has completed and not yet taken out.
 */
static bool keep_older(const struct entry *old)
{
	const uint32_t kind = old->what & KIND;

	return vftr_mpi_multiple && kind != REQUEST_SEND &&
	       (kind == REQUEST_IDUP || !(old->what & HAS_MORE));
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
	if (e->what & HAS_MORE)
		vftr_memory_give(e->more, sizeof(*e->more));
	e->what &= ~HAS_MORE;
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

static void say_over(uint32_t number, uint32_t kind)
{
	if (kind == REQUEST_RECEIVE || kind == REQUEST_EXCHANGE || kind == REQUEST_FILE)
		record_done(number, 0, 0, MESSAGE_UNKNOWN, 0);
	else /* all is known, but that it is over */
		record_complete(number);
}

/* Takes a complete request out of the table; its number, if its end is to be recorded. */
static uint32_t take_over(uint32_t *at)
{
	struct entry *e = &entry[*at];
	uint32_t number = e->number;

	if (e->what & HAS_MORE) {
		if (e->more->comm)
			add_relaxed_u32(&e->more->comm->references, (uint32_t)-1);
		number = 0;
	}
	drop_more(e);
	take_out(at);
	return number;
}

/* more: the bytes, or the address of more. False: no room. */
static inline bool put_entry(uint64_t key, uint32_t number, uint32_t what, uint64_t more)
{
	uint32_t i, *at, over = 0, over_what = 0;
	struct entry *to;

	enter();
	i = take_unused();
	if (i) {
		at = find(key, 0);
		if (__builtin_expect(*at, 0) && *(at = find_over(key))) {
			over_what = entry[*at].what;
			over = take_over(at);
		}
		to = &entry[i];
		to->key = key;
		to->bytes = more;
		to->number = number;
		to->what = what;
		at = &bucket[bucket_of(key)];
		to->next = *at;
		*at = i;
		store_relaxed(&used, used + 1);
	}
	leave();
	if (__builtin_expect(over, 0))
		say_over(over, over_what & KIND);
	return i != 0;
}

static void put(uint64_t key, const struct request *r)
{
	const bool has_more = needs_more(r);
	struct request *more = has_more ? more_of(r) : NULL;
	const uint32_t what = r->kind | (r->cancelled ? CANCELLED : 0) | (has_more ? HAS_MORE : 0);

	if (has_more && !more)
		return;
	if (!put_entry(key, r->number, what, (uintptr_t)more))
		vftr_memory_give(more, sizeof(*more));
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
		if (e->what & HAS_MORE) {
			*r = *e->more;
		} else {
			r->persistent = r->partitioned = false;
			r->bytes = e->bytes;
		}
		r->key = key;
		r->number = e->number;
		r->kind = e->what & KIND;
		r->cancelled = e->what & CANCELLED;
		r->exact = e->what & EXACT;
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
static bool is_over_at_once(MPI_Request handle)
{
	return handle == vftr_request_at_once || handle == MPI_REQUEST_NULL;
}

void vftr_request_made(MPI_Request handle, uint32_t number, enum request_kind kind, uint64_t bytes)
{
	if (is_over_at_once(handle))
		say_over(number, kind);
	else
		put_entry(HANDLE_KEY(handle), number, kind | (bytes != UINT64_MAX ? EXACT : 0),
			bytes);
}

void vftr_request_put(MPI_Request handle, const struct request *r)
{
	if (is_over_at_once(handle) && !needs_more(r))
		say_over(r->number, r->kind);
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

/* Sends, and receives that got just what they had room for. */
static inline bool is_plain(const struct entry *e, const MPI_Status *s)
{
	return e->what == REQUEST_SEND ||
	       (e->what == (REQUEST_RECEIVE | EXACT) && status_count(s) == e->bytes);
}

/* Requests with successive numbers are mostly waited for together: one record for all. */
int vftr_requests_complete(MPI_Request *handle, int n, const MPI_Status *status)
{
	uint32_t first = 0, known = 0, number;
	int others = 0;

	for (int i = 0; i < n; i++) {
		uint32_t *at;

		if (is_over_at_once(handle[i]))
			continue;
		at = find(HANDLE_KEY(handle[i]), 0);
		if (!*at || !is_plain(&entry[*at], &status[i])) {
			others++;
			continue;
		}
		handle[i] = MPI_REQUEST_NULL;
		number = entry[*at].number;
		take_out(at);
		if (number != first + known || known == MESSAGE_RANGE_MOST) {
			record_complete_range(first, known);
			first = number;
			known = 0;
		}
		known++;
	}
	record_complete_range(first, known);
	return others;
}

void vftr_request_update(const struct request *r)
{
	uint32_t i;

	enter();
	i = bucket ? *find(r->key, 0) : 0;
	if (i) {
		entry[i].number = r->number;
		entry[i].what &= ~CANCELLED;
		entry[i].what |= r->cancelled ? CANCELLED : 0;
		if (entry[i].what & HAS_MORE) {
			entry[i].more->starts = r->starts;
			entry[i].more->uncounted = r->uncounted;
		}
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
