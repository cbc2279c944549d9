/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table of open requests (mpi/recorder/request.c) against a list: random puts, looks
 * and completions of handles that lie as those of MPI's pools do, and as none do.
 * MPI itself is not started. Prints what differs, and ends with 1 then.
 */
#include "mpi/recorder/request.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "libhook/emit.h"
#include "shm/message.h"

enum { HANDLES = 3000, MANY = 200 };

struct open {
	uint32_t number[MANY]; /* oldest first */
	uint64_t bytes[MANY];
	enum request_kind kind;
	int n;
};

bool vftr_mpi_multiple;

static struct open model[HANDLES];
static uint32_t said; /* the number of the last record */
static int n_said, n_wrong;
static uint64_t state = 88172645463325252u;

void vftr_emit_1(uint64_t a)
{
	said = (uint32_t)(a >> 33);
	n_said++;
}

void vftr_emit_3(uint64_t a, uint64_t b, uint64_t c)
{
	(void)a, (void)c;
	said = (uint32_t)(b >> 32);
	n_said++;
}

void vftr_emit(const uint64_t *word)
{
	(void)word;
}

void vftr_emit_4(uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
	(void)a, (void)b, (void)c, (void)d;
}

void vftr_emit_6(uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e, uint64_t f)
{
	(void)a, (void)b, (void)c, (void)d, (void)e, (void)f;
}

void vftr_receive_begin(uint64_t receive, uint64_t from)
{
	(void)receive, (void)from;
}

void vftr_receive_end(void)
{
}

void vftr_look_at(const struct mpi_look *look)
{
	(void)look;
}

static unsigned any(unsigned below)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (unsigned)(state >> 33) % below;
}

/* Blocks of 1024 that count up, far apart; objects of many sizes. */
static MPI_Request handle(int pattern, unsigned i)
{
	static const uint64_t strides[] = {1, 64, 704, 1024, 4096};
	uint64_t bits = pattern == 0 ? (uint64_t)(i / 1024) << 12 | i % 1024 | 0xac000000u
				     : 0x55550000u + i * strides[pattern - 1];
	MPI_Request h;

	memset(&h, 0, sizeof(h));
	memcpy(&h, &bits, sizeof(h));
	return h;
}

static void want(bool ok, const char *what, unsigned i)
{
	if (!ok && n_wrong++ < 10)
		printf("FAIL: %s, handle %u\n", what, i);
}

static void forget(struct open *o, int at)
{
	o->n--;
	memmove(o->number + at, o->number + at + 1, (size_t)(o->n - at) * sizeof(o->number[0]));
	memmove(o->bytes + at, o->bytes + at + 1, (size_t)(o->n - at) * sizeof(o->bytes[0]));
}

static void put(int pattern, unsigned i)
{
	struct open *o = &model[i];
	const uint32_t number = vftr_request_number();
	const uint64_t bytes = any(2) ? UINT64_MAX : any(1000);
	enum request_kind kind = any(2) ? REQUEST_SEND : REQUEST_RECEIVE;
	const bool replaces = o->n && (!vftr_mpi_multiple || o->kind == REQUEST_SEND);
	const int before = n_said;

	if (o->n > 60)
		return;
	if (o->n && !replaces)
		kind = o->kind; /* the last one of a list decides */
	vftr_request_made(handle(pattern, i), number, kind, bytes);
	if (replaces) {
		want(n_said == before + 1 && said == o->number[o->n - 1], "the older is over", i);
		forget(o, o->n - 1);
	} else {
		want(n_said == before, "nothing is over", i);
	}
	o->kind = kind;
	o->number[o->n] = number;
	o->bytes[o->n++] = bytes;
}

static void complete(int pattern, unsigned i)
{
	struct open *o = &model[i];
	const int at = o->n ? vftr_mpi_multiple ? (int)any((unsigned)o->n) : o->n - 1 : 0;
	const uint32_t number = o->n && vftr_mpi_multiple ? o->number[at] : 0;
	struct request r;
	const bool there = vftr_request_get(handle(pattern, i), &r);

	want(there == (o->n > 0), "known", i);
	want(!there || r.number == o->number[o->n - 1], "the newest is what it stands for", i);
	if (!there)
		return;
	want(vftr_request_complete(handle(pattern, i), number, &r), "completed", i);
	want(r.number == o->number[at] && r.kind == o->kind, "the same number and kind", i);
	want(r.exact == (o->bytes[at] != UINT64_MAX) && r.bytes == o->bytes[at], "its bytes", i);
	forget(o, at);
}

static void run(int pattern, bool multiple)
{
	struct request r;

	vftr_mpi_multiple = multiple;
	for (unsigned round = 0; round < 20; round++) {
		unsigned puts = any(100);

		for (unsigned n = 0; n < 3000; n++) {
			if (any(100) < puts)
				put(pattern, any(HANDLES));
			else
				complete(pattern, any(HANDLES));
		}
	}
	for (unsigned i = 0; i < HANDLES; i++) {
		while (model[i].n)
			complete(pattern, i);
		want(!vftr_request_get(handle(pattern, i), &r), "gone at the end", i);
	}
	want(!vftr_requests_open(), "empty", 0);
}

/* Those that nobody completes do not pile up, and the persistent one keeps its place. */
static void unseen(void)
{
	struct mpi_comm c = {.references = 1};
	struct request r = {.kind = REQUEST_SEND, .persistent = true, .comm = &c};
	const int before = n_said;

	vftr_mpi_multiple = true;
	for (int i = 0; i < 1000; i++)
		vftr_request_made(handle(1, 7), vftr_request_number(), REQUEST_RECEIVE, UINT64_MAX);
	want(n_said - before >= 1000 - MANY, "old ones are over", 7);
	vftr_request_put(handle(1, 8), &r);
	want(vftr_request_get(handle(1, 8), &r) && r.persistent && !r.number, "persistent", 8);
	r.number = 99;
	vftr_request_update(&r);
	want(vftr_request_complete(handle(1, 8), 99, &r) && r.number == 99, "its start", 8);
	want(vftr_request_get(handle(1, 8), &r) && !r.number, "idle again", 8);
	vftr_request_made(handle(1, 8), 100, REQUEST_SEND, UINT64_MAX);
	want(c.references == 0, "the persistent one is over, and its reference", 8);
}

/* A communicator that is to be made, whose handle another thread's request gets meanwhile. */
static void idup(void)
{
	struct mpi_comm c = {.references = 1};
	struct request r = {.number = 201, .kind = REQUEST_IDUP, .comm = &c};

	vftr_mpi_multiple = true;
	vftr_request_put(handle(1, 9), &r);
	vftr_request_made(handle(1, 9), 202, REQUEST_RECEIVE, UINT64_MAX);
	want(c.references == 1, "the older one is not over", 9);
	want(vftr_request_complete(handle(1, 9), 201, &r) && r.kind == REQUEST_IDUP && r.comm == &c,
		"the communicator", 9);
	want(vftr_request_complete(handle(1, 9), 202, &r) && r.kind == REQUEST_RECEIVE,
		"the other one", 9);
}

int main(void)
{
	for (int pattern = 0; pattern < 6; pattern++) {
		run(pattern, false);
		run(pattern, true);
	}
	unseen();
	idup();
	printf("%d wrong\n", n_wrong);
	return n_wrong > 0;
}
