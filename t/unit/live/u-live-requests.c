/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The requests that a thread waits for, read from the memory of a process, which is this one: as
 * the wrappers of MPI keep them, and with all that no wrapper would write.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mpi_id.h"
#include "nodeagent/live/sample/requests.h"
#include "nodeagent/process/process.h"
#include "shm/look.h"
#include "t/lib/suite.h"

#define ADDRESS(x) ((uint64_t)(uintptr_t)(x))
#define OFFSET	   32u /* of the call on the wrapper's stack */
#define ENTRIES	   8u
#define LINES	   4u

struct call {
	uint32_t id;
	uint8_t language, unused[3];
	uint64_t number, handle, own;
};

/* A process with one thread, as who looks finds it. */
static struct {
	struct control_app_shm app;
	struct ring_producer_shm producer;
	struct process process;
	struct thread_ring thread;
	struct mpi_look look;
	char notes[256];
	uint64_t outer;
	unsigned char stack[256];
	struct call *call;
	struct look_entry entry[ENTRIES], *entries;
	uint32_t bucket[LINES * LOOK_LINE_BUCKETS], *buckets;
	uint32_t shift;
	unsigned char multiple;
	struct look_before before;
	uint64_t handles[3];
} is;

static void put_request(uint32_t i, uint64_t handle, uint32_t number)
{
	uint32_t *bucket = &is.bucket[look_bucket(handle, is.shift, 0)];

	is.entry[i] = (struct look_entry){handle, 0, number, *bucket, 1};
	*bucket = i;
}

/* As the assembler does. */
static void add_note(uint32_t id, uint32_t language, const char *text)
{
	char *to = is.notes + is.look.notes_bytes;
	const struct look_note note = {id, language};

	memcpy(to, &note, sizeof(note));
	strcpy(to + sizeof(note), text);
	is.look.notes_bytes += (sizeof(note) + strlen(text) + 1 + 3) & ~(size_t)3;
}

static void add_notes(uint32_t function, const char *text)
{
	is.look.notes_bytes = 0;
	add_note(VFTR_MPI_WAITANY, 0, "64(%rsp)");
	add_note(function, 1, "(%rsp)");
	add_note(function, 0, text);
	add_note(function, 2, "-48(%rbp)");
}

static void waits_in(uint32_t function)
{
	memset(&is, 0, sizeof(is));
	is.app.look = ADDRESS(&is.look);
	is.producer.pointer = ADDRESS(&is.outer) - 8;
	is.process.pid = getpid();
	is.process.control_app = &is.app;
	is.thread.process = &is.process;
	is.thread.ring.producer = &is.producer;
	is.look = (struct mpi_look){LOOK_MAGIC, ADDRESS(is.notes), 0, 8, sizeof(struct call),
		offsetof(struct call, id), offsetof(struct call, language),
		offsetof(struct call, number), offsetof(struct call, handle),
		offsetof(struct call, own), 8, 0, ADDRESS(&is.entries), ADDRESS(&is.buckets),
		ADDRESS(&is.shift), ADDRESS(&is.multiple)};
	add_notes(function, "32(%rsp)");
	is.outer = ADDRESS(is.stack);
	is.call = (struct call *)(void *)(is.stack + LOOK_FRAME + OFFSET);
	*is.call = (struct call){function, 0, {0}, 1, 0x1000, ADDRESS(&is.before)};
	is.entries = is.entry;
	is.buckets = is.bucket;
	is.shift = 62;
	is.before = (struct look_before){3, 0, ADDRESS(is.handles)};
	is.handles[0] = 0x3000;
	is.handles[1] = 0x7777; /* not recorded */
	is.handles[2] = 0x1000;
	put_request(1, 0x1000, 9);
	put_request(2, 0x2000, 20);
	put_request(3, 0x3000, 30);
	put_request(4, 0x1000, 10); /* the newest */
}

static size_t seen(uint32_t function, uint32_t *first, uint32_t *last)
{
	struct requests r;
	const bool known = requests_read(&r, &is.thread, function);
	const size_t n = r.n;

	ck_assert_int_eq(known, n > 0);
	*first = n ? r.number[0] : 0;
	*last = n ? r.number[n - 1] : 0;
	for (size_t i = 0; i < n; i++)
		ck_assert(requests_have(&r, r.number[i]));
	ck_assert(!requests_have(&r, 20));
	free(r.number);
	return n;
}

static size_t seen_in(uint32_t function)
{
	uint32_t first, last;

	return seen(function, &first, &last);
}

START_TEST(one_request)
{
	uint32_t first, last;

	waits_in(VFTR_MPI_WAIT);
	ck_assert_uint_eq(seen(VFTR_MPI_WAIT, &first, &last), 1);
	ck_assert_uint_eq(first, 10);
	is.call->number = 0;
	ck_assert_uint_eq(seen_in(VFTR_MPI_WAIT), 0);
}
END_TEST

START_TEST(many_requests)
{
	uint32_t first, last;

	waits_in(VFTR_MPI_WAITALL);
	ck_assert_uint_eq(seen(VFTR_MPI_WAITALL, &first, &last), 2);
	ck_assert_uint_eq(first, 10);
	ck_assert_uint_eq(last, 30);
}
END_TEST

/* Each alone makes that nothing is known. */
static void no_look(void)
{
	is.app.look = 0;
}
static void look_nowhere(void)
{
	is.app.look = 64;
}
static void other_magic(void)
{
	is.look.magic++;
}
static void large_notes(void)
{
	is.look.notes_bytes = UINT64_MAX;
}
static void notes_nowhere(void)
{
	is.look.notes = 64;
}
static void no_text(void)
{
	memset(is.notes, 0xff, sizeof(is.notes));
}
static void far_away(void)
{
	add_notes(is.call->id, "99999999999(%rsp)");
}
static void large_call(void)
{
	is.look.call_bytes = UINT32_MAX;
}
static void member_behind(void)
{
	is.look.handle = sizeof(struct call) - 4;
}
static void member_far_behind(void)
{
	is.look.own = UINT32_MAX - 4;
}
static void odd_handles(void)
{
	is.look.handle_bytes = 3;
}
static void many_threads(void)
{
	is.multiple = 1;
}
static void no_call(void)
{
	is.outer = 0;
}
static void other_function(void)
{
	is.call->id++;
}
static void other_language(void)
{
	is.call->language = 2;
}
static void two_calls(void)
{
	struct call *other = (struct call *)(void *)(is.stack + LOOK_FRAME);

	*other = (struct call){is.call->id, 1, {0}, 1, 0x1000, 0};
}
static void large_shift(void)
{
	is.shift = 64;
}
static void no_table(void)
{
	is.entries = NULL;
}
static void endless_chain(void)
{
	for (uint32_t i = 0; i < ENTRIES; i++)
		is.entry[i] = (struct look_entry){0x5555, 0, 1, 1, 1};
}
static void entry_far_behind(void)
{
	for (uint32_t i = 0; i < LINES * LOOK_LINE_BUCKETS; i++)
		is.bucket[i] = UINT32_MAX;
}
static void idle_request(void)
{
	for (uint32_t i = 0; i < ENTRIES; i++)
		is.entry[i].number = 0;
}
static void ended(void)
{
	is.process.ended = true;
}
static void (*const wrong[])(void) = {no_look, look_nowhere, other_magic, large_notes,
	notes_nowhere, no_text, far_away, large_call, member_behind, member_far_behind, odd_handles,
	many_threads, no_call, other_function, other_language, two_calls, large_shift, no_table,
	endless_chain, entry_far_behind, idle_request, ended};

START_TEST(not_known)
{
	static const uint32_t functions[] = {VFTR_MPI_WAIT, VFTR_MPI_WAITALL, VFTR_MPI_WAITSOME};

	for (size_t k = 0; k < 3; k++) {
		waits_in(functions[k]);
		ck_assert_uint_ge(seen_in(functions[k]), 1);
		wrong[_i]();
		ck_assert_uint_eq(seen_in(functions[k]), 0);
	}
}
END_TEST

START_TEST(wrong_lists)
{
	static const int32_t lengths[] = {0, -1, INT32_MIN, INT32_MAX, REQUESTS_MOST + 1};

	for (size_t i = 0; i < sizeof(lengths) / sizeof(*lengths); i++) {
		waits_in(VFTR_MPI_WAITALL);
		is.before.n = lengths[i];
		ck_assert_uint_eq(seen_in(VFTR_MPI_WAITALL), 0);
	}
	waits_in(VFTR_MPI_WAITALL);
	is.before.handles = 64;
	ck_assert_uint_eq(seen_in(VFTR_MPI_WAITALL), 0);
	is.call->own = 0;
	ck_assert_uint_eq(seen_in(VFTR_MPI_WAITALL), 0);
}
END_TEST

/* A chain without an end costs as much for all requests of a call as a table of them may. */
START_TEST(long_chains)
{
	static uint64_t handles[REQUESTS_MOST];

	waits_in(VFTR_MPI_WAITALL);
	handles[0] = 0x3000;
	for (size_t i = 1; i < REQUESTS_MOST; i++)
		handles[i] = 0x7777;
	is.before = (struct look_before){REQUESTS_MOST, 0, ADDRESS(handles)};
	ck_assert_uint_eq(seen_in(VFTR_MPI_WAITALL), 1);
	is.bucket[look_bucket(0x7777, is.shift, 0)] = 5;
	is.entry[5] = (struct look_entry){0x5555, 0, 1, 5, 1};
	ck_assert_uint_eq(seen_in(VFTR_MPI_WAITALL), 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("requests");
	TCase *c = tcase_create("requests");

	tcase_add_test(c, one_request);
	tcase_add_test(c, many_requests);
	tcase_add_loop_test(c, not_known, 0, sizeof(wrong) / sizeof(*wrong));
	tcase_add_test(c, wrong_lists);
	tcase_add_test(c, long_chains);
	suite_add_tcase(s, c);
	return run_suite(s);
}
