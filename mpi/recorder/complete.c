/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Completion is learnt where the user learns it, in Wait, Test and their kin,
 * and nowhere else. What the calls return is read, never changed; where the
 * user ignores a status one of our own takes its place.
 */
#include "mpi/handle.h"
#include "mpi/recorder/record.h"
#include "mpi/recorder/recorders.h"
#include "mpi/scratch.h"
#include "mpi/recorder/status.h"

/* The handles before the call: afterwards they are MPI_REQUEST_NULL. */
struct before {
	int n;
	MPI_Request *handle;
	uint32_t *number; /* number_now() */
};

_Static_assert(offsetof(struct before, n) == offsetof(struct look_before, n) &&
		       offsetof(struct before, handle) == offsetof(struct look_before, handles),
	"what is kept is not what who looks takes it for");

#define NOTHING UINT32_MAX /* no number of a request */

/*
 * The number of the handle's request, for complete(). Without threads it is the same
 * after the call (0: not needed); with threads, another request may have this handle then.
 */
static inline uint32_t number_now(MPI_Request handle)
{
	struct request r;

	if (!vftr_mpi_multiple)
		return 0;
	if (!vftr_request_get(handle, &r))
		return NOTHING;
	return r.number || r.kind == REQUEST_IDUP ? r.number : NOTHING;
}

/* MPICH 4.0 leaves the status of MPI_Isendrecv unset. */
#if defined(MPICH_NUMVERSION) && MPICH_NUMVERSION < 40100000
#define EXCHANGE_HAS_STATUS false
#else
#define EXCHANGE_HAS_STATUS true
#endif

/*
 * Records the receive's completion. A status that was left unset has implausible
 * values; then the receive counts as it was posted.
 */
static void received(const struct request *r, const MPI_Status *s)
{
	uint64_t bytes = r->partitioned ? r->bytes : status_count(s);
	bool plausible = (EXCHANGE_HAS_STATUS || r->kind != REQUEST_EXCHANGE) &&
			 s->MPI_SOURCE >= 0 && s->MPI_TAG >= 0 && (!r->exact || bytes <= r->bytes);

	if (r->exact && (bytes == r->bytes || !plausible))
		record_complete(r->number);
	else if (plausible)
		record_done(r->number, (uint32_t)s->MPI_SOURCE, (uint32_t)s->MPI_TAG, 0, bytes);
	else
		record_done(r->number, 0, 0, MESSAGE_UNKNOWN, 0);
}

static void done(struct request *r, const MPI_Status *s, bool failed)
{
	uint32_t cancelled = r->cancelled && !failed && status_cancelled(s) ? MESSAGE_CANCELLED : 0;

	if (failed) {
		record_done(r->number, 0, 0,
			MESSAGE_UNKNOWN | (r->cancelled ? MESSAGE_CANCELLED : 0), 0);
		return;
	}
	switch (r->kind) {
	case REQUEST_RECEIVE:
	case REQUEST_EXCHANGE:
		if (cancelled)
			record_done(r->number, 0, 0, cancelled, 0);
		else
			received(r, s);
		break;
	case REQUEST_FILE:
		record_done(r->number, 0, 0, 0, status_count(s));
		break;
	default:
		if (cancelled)
			record_done(r->number, 0, 0, cancelled, 0);
		else
			record_complete(r->number);
	}
}

/* By values: so others pay nothing for it. */
static __attribute__((noinline)) void complete_idup(
	const void *made, int language, struct mpi_comm *of, uint64_t id)
{
	if (made)
		vftr_comm_made_as(language == LANGUAGE_C ? *(const MPI_Comm *)made
							 : PMPI_Comm_f2c(*(const MPI_Fint *)made),
			WIRE_COMM_DUP, of, id);
	add_relaxed_u32(&of->references, (uint32_t)-1);
}

/* The request with this handle has completed. */
static void complete(MPI_Request handle, uint32_t number, const MPI_Status *s, bool failed)
{
	struct request r;

	if (number == NOTHING || !vftr_request_complete(handle, number, &r))
		return;
	if (r.kind == REQUEST_IDUP)
		complete_idup(failed ? NULL : r.newcomm, r.language, r.comm, r.bytes);
	if (r.number)
		done(&r, s, failed);
}

/* waits: those who look at the thread meanwhile are told for which request, where its number is
 * known before the call. Inline: without threads that costs nothing. */
static inline __attribute__((always_inline)) void begin_one(struct mpi_call *k, bool waits)
{
	k->number = 0;
	k->handle = MPI_REQUEST_NULL;
	if (!vftr_requests_open() || !k->request)
		return;
	k->handle = call_request(k, k->request, 0);
	if (k->handle == MPI_REQUEST_NULL || k->handle == vftr_request_at_once)
		return;
	k->request_number = number_now(k->handle);
	if (k->request_number == NOTHING)
		return;
	if (waits && k->request_number)
		vftr_receive_begin(message_receive(0, MESSAGE_COMM_NONE), k->request_number);
	k->number = 1;
	want_status(k);
}

static void end_one(struct mpi_call *k)
{
	MPI_Status room;

	if (!k->number)
		return;
	if (k->rc == MPI_SUCCESS)
		complete(k->handle, k->request_number, status_at(k, 0, &room), false);
	else if (call_request(k, k->request, 0) == MPI_REQUEST_NULL)
		complete(k->handle, k->request_number, NULL, true);
}

void vftr_begin_wait(struct mpi_call *k)
{
	begin_one(k, true);
}

void vftr_end_wait(struct mpi_call *k)
{
	end_one(k);
}

void vftr_begin_test(struct mpi_call *k)
{
	begin_one(k, false);
}

void vftr_end_test(struct mpi_call *k)
{
	if (k->rc != MPI_SUCCESS || call_int(k->flag))
		end_one(k);
}

/* statuses: how many the call may write. */
static void begin_many(struct mpi_call *k, int statuses)
{
	struct before *b;
	size_t n = k->n > 0 ? (size_t)k->n : 0, bytes;

	k->own = NULL;
	if (!n || !k->requests || !vftr_requests_open())
		return;
	if (k->language == LANGUAGE_C ? k->status != (void *)MPI_STATUSES_IGNORE
				      : !vftr_call_status_ignored(k))
		statuses = 0;
	bytes = sizeof(*b) + n * (sizeof(*b->handle) + sizeof(*b->number)) + 16;
	b = vftr_scratch(bytes + (size_t)statuses * status_bytes(k));
	if (!b)
		return;
	b->n = k->n;
	b->handle = (MPI_Request *)(b + 1);
	b->number = (uint32_t *)(b->handle + n);
	if (k->language == LANGUAGE_C)
		memcpy(b->handle, k->requests, n * sizeof(*b->handle));
	for (int i = 0; k->language != LANGUAGE_C && i < k->n; i++)
		b->handle[i] = call_request(k, k->requests, i);
	for (int i = 0; vftr_mpi_multiple && i < k->n; i++)
		b->number[i] = number_now(b->handle[i]);
	if (statuses)
		k->status = (char *)b + ((bytes + 15) & ~(size_t)15) - 16;
	k->own = b;
}

static void end_many(struct mpi_call *k)
{
	vftr_scratch_done(k->own);
}

/* i: which request; at: its status. */
static void end_element(const struct mpi_call *k, int i, int at)
{
	const struct before *b = k->own;
	MPI_Status room;
	const MPI_Status *s = status_at(k, at, &room);
	int class = MPI_SUCCESS;

	if (i < 0 || i >= b->n || b->handle[i] == MPI_REQUEST_NULL ||
		b->handle[i] == vftr_request_at_once)
		return;
	if (k->rc != MPI_SUCCESS && s->MPI_ERROR != MPI_SUCCESS)
		PMPI_Error_class(s->MPI_ERROR, &class);
	if (class != MPI_ERR_PENDING)
		complete(b->handle[i], vftr_mpi_multiple ? b->number[i] : 0, s,
			class != MPI_SUCCESS);
}

/* True if the call has returned the state of each of its requests. */
static bool is_answered(const struct mpi_call *k)
{
	int class = MPI_SUCCESS;

	if (k->rc != MPI_SUCCESS)
		PMPI_Error_class(k->rc, &class);
	return class == MPI_SUCCESS || class == MPI_ERR_IN_STATUS;
}

static void end_all(struct mpi_call *k)
{
	const struct before *b = k->own;

	if (k->rc == MPI_SUCCESS && k->language == LANGUAGE_C && !vftr_mpi_multiple &&
		!vftr_requests_complete(b->handle, b->n, k->status))
		return;
	for (int i = 0; is_answered(k) && i < b->n; i++)
		end_element(k, i, i);
}

static void end_some(struct mpi_call *k)
{
	const int n = is_answered(k) ? call_int(k->outcount) : 0;

	for (int j = 0; n != MPI_UNDEFINED && j < n; j++)
		end_element(k, call_position(k, k->indices, j), j);
}

/* The error, if there is one, is that of the request. */
static void end_any(struct mpi_call *k)
{
	const struct before *b = k->own;
	int i = k->index ? call_position(k, k->index, 0) : MPI_UNDEFINED;
	MPI_Status room;

	if (i == MPI_UNDEFINED || i < 0 || i >= b->n)
		return;
	if (k->rc == MPI_SUCCESS)
		complete(b->handle[i], vftr_mpi_multiple ? b->number[i] : 0, status_at(k, 0, &room),
			false);
	else if (call_request(k, k->requests, i) == MPI_REQUEST_NULL)
		complete(b->handle[i], vftr_mpi_multiple ? b->number[i] : 0, NULL, true);
}

void vftr_begin_waitall(struct mpi_call *k)
{
	begin_many(k, k->n);
}

void vftr_end_waitall(struct mpi_call *k)
{
	if (!k->own)
		return;
	end_all(k);
	end_many(k);
}

void vftr_begin_testall(struct mpi_call *k)
{
	begin_many(k, k->n);
}

void vftr_end_testall(struct mpi_call *k)
{
	if (!k->own)
		return;
	if (k->rc != MPI_SUCCESS || call_int(k->flag))
		end_all(k);
	end_many(k);
}

void vftr_begin_waitsome(struct mpi_call *k)
{
	begin_many(k, k->n);
}

void vftr_end_waitsome(struct mpi_call *k)
{
	if (!k->own)
		return;
	end_some(k);
	end_many(k);
}

void vftr_begin_testsome(struct mpi_call *k)
{
	begin_many(k, k->n);
}

void vftr_end_testsome(struct mpi_call *k)
{
	vftr_end_waitsome(k);
}

void vftr_begin_waitany(struct mpi_call *k)
{
	begin_many(k, 0);
	if (k->own)
		want_status(k);
}

void vftr_end_waitany(struct mpi_call *k)
{
	if (!k->own)
		return;
	end_any(k);
	end_many(k);
}

void vftr_begin_testany(struct mpi_call *k)
{
	vftr_begin_waitany(k);
}

void vftr_end_testany(struct mpi_call *k)
{
	if (!k->own)
		return;
	if (k->rc != MPI_SUCCESS || call_int(k->flag))
		end_any(k);
	end_many(k);
}

void vftr_begin_cancel(struct mpi_call *k)
{
	struct request r;

	if (!vftr_requests_open() || !k->request ||
		!vftr_request_get(call_request(k, k->request, 0), &r))
		return;
	r.cancelled = true;
	vftr_request_update(&r);
}

void vftr_end_cancel(struct mpi_call *k)
{
	(void)k;
}

/* Before the call: another thread may get the same handle right after it. */
void vftr_begin_request_free(struct mpi_call *k)
{
	struct request r;

	if (!vftr_requests_open() || !k->request ||
		!vftr_request_take(call_request(k, k->request, 0), 0, &r))
		return;
	if ((r.persistent || r.kind == REQUEST_IDUP) && r.comm)
		add_relaxed_u32(&r.comm->references, (uint32_t)-1);
	if (r.number)
		record_done(
			r.number, 0, 0, MESSAGE_UNKNOWN | (r.cancelled ? MESSAGE_CANCELLED : 0), 0);
}

void vftr_end_request_free(struct mpi_call *k)
{
	(void)k;
}
