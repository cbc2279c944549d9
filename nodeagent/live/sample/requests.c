/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/live/sample/requests.h"

#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#include "mpi_id.h"
#include "nodeagent/base/util.h"
#include "nodeagent/process/process.h"
#include "shm/atomic.h"
#include "shm/look.h"

#define CALL_BYTES  1024u
#define NOTES_BYTES 4096u
#define STACK_BYTES 65536u /* between the end of a wrapper's frame and its struct mpi_call */
#define READ_MOST   (2 * REQUESTS_MOST) /* entries of the table, for one call */

/* What is looked at, in the process. */
struct eye {
	int pid;
	struct mpi_look look;
	uint64_t outer, call_at; /* addresses: of the outermost call's frame, of its mpi_call */
	unsigned char call[CALL_BYTES];
	/* the table of requests */
	uint64_t entries, buckets;
	uint32_t shift;
	uint32_t n_read; /* of its entries; more than READ_MOST: it is no table */
};

static bool read_there(const struct eye *e, uint64_t at, void *to, size_t bytes)
{
	const struct iovec here = {to, bytes}, there = {(void *)(uintptr_t)at, bytes};

	return process_vm_readv(e->pid, &here, 1, &there, 1, 0) == (ssize_t)bytes;
}

static bool is_inside(const struct mpi_look *l, uint32_t offset, size_t bytes)
{
	return offset <= l->call_bytes && l->call_bytes - offset >= bytes;
}

static bool read_look(struct eye *e, uint64_t at)
{
	struct mpi_look *l = &e->look;
	unsigned char multiple;

	return at && read_there(e, at, l, sizeof(*l)) && l->magic == LOOK_MAGIC &&
	       l->notes_bytes <= NOTES_BYTES && l->call_bytes <= CALL_BYTES &&
	       (l->handle_bytes == 4 || l->handle_bytes == 8) && l->apart_bits < 32 &&
	       is_inside(l, l->id, 4) && is_inside(l, l->language, 1) &&
	       is_inside(l, l->number, 8) && is_inside(l, l->handle, l->handle_bytes) &&
	       is_inside(l, l->own, 8) && read_there(e, l->multiple, &multiple, 1) && !multiple;
}

/* ---- the call ----------------------------------------------------------------------------- */

/* "16(%rsp)", "(%rsp)"; else false, as with a frame pointer. */
static bool parse_place(const char *text, uint64_t *offset)
{
	char *end;

	*offset = *text == '(' ? 0 : strtoul(text, &end, 10);
	if (*text == '(')
		end = (char *)text;
	return *text != '-' && *offset < STACK_BYTES && !strcmp(end, "(%rsp)");
}

/* Is the struct of a call of that function and language there? */
static bool read_call(struct eye *e, uint64_t at, uint32_t function, uint32_t language)
{
	uint32_t id;

	if (!read_there(e, at, e->call, e->look.call_bytes))
		return false;
	memcpy(&id, e->call + e->look.id, sizeof(id));
	return id == function && e->call[e->look.language] == language;
}

/* Of the wrappers of a function, one for each language, it is in one. */
static bool find_call(struct eye *e, uint32_t function)
{
	char notes[NOTES_BYTES + 1];
	size_t n = 0;
	uint64_t found = 0;

	if (!read_there(e, e->look.notes, notes, e->look.notes_bytes))
		return false;
	notes[e->look.notes_bytes] = '\0';
	while (n + sizeof(struct look_note) < e->look.notes_bytes) {
		struct look_note note;
		const char *text = notes + n + sizeof(note);
		uint64_t offset, at;

		memcpy(&note, notes + n, sizeof(note));
		n += (sizeof(note) + strlen(text) + 4) & ~(size_t)3;
		if (note.id != function || !parse_place(text, &offset))
			continue;
		at = e->outer + LOOK_FRAME + offset - e->look.id;
		if (at == found || !read_call(e, at, function, note.language))
			continue;
		if (found)
			return false;
		found = at;
	}
	e->call_at = found;
	return found && read_there(e, found, e->call, e->look.call_bytes);
}

/* ---- its requests ------------------------------------------------------------------------- */

static bool read_table(struct eye *e)
{
	return read_there(e, e->look.shift, &e->shift, sizeof(e->shift)) && e->shift < 64 &&
	       read_there(e, e->look.buckets, &e->buckets, sizeof(e->buckets)) && e->buckets &&
	       read_there(e, e->look.entries, &e->entries, sizeof(e->entries)) && e->entries;
}

/* The newest one of this handle; 0: none. */
static uint32_t number_of(struct eye *e, uint64_t handle)
{
	const uint64_t bucket = look_bucket(handle, e->shift, e->look.apart_bits);
	struct look_entry entry;
	uint32_t i;

	if (!read_there(e, e->buckets + bucket * sizeof(i), &i, sizeof(i)))
		return 0;
	for (; i && e->n_read <= READ_MOST; i = entry.next) {
		e->n_read++;
		if (!read_there(e, e->entries + (uint64_t)i * sizeof(entry), &entry, sizeof(entry)))
			return 0;
		if (entry.key == handle)
			return entry.number;
	}
	return 0;
}

static uint64_t call_member(const struct eye *e, uint32_t offset, size_t bytes)
{
	uint64_t value = 0;

	memcpy(&value, e->call + offset, bytes);
	return value;
}

static void add_handle(struct requests *r, struct eye *e, uint64_t handle)
{
	const uint32_t number = number_of(e, handle);

	if (number)
		r->number[r->n++] = number;
}

static void read_one(struct requests *r, struct eye *e)
{
	if (!call_member(e, e->look.number, 8)) /* it has found no request that was recorded */
		return;
	r->number = xcalloc(1, sizeof(*r->number));
	add_handle(r, e, call_member(e, e->look.handle, e->look.handle_bytes));
}

static void read_many(struct requests *r, struct eye *e)
{
	const size_t bytes = e->look.handle_bytes;
	struct look_before before;
	unsigned char *handles;

	if (!read_there(e, call_member(e, e->look.own, 8), &before, sizeof(before)) ||
		before.n <= 0 || (uint32_t)before.n > REQUESTS_MOST)
		return;
	handles = xcalloc((size_t)before.n, bytes);
	r->number = xcalloc((size_t)before.n, sizeof(*r->number));
	if (read_there(e, before.handles, handles, (size_t)before.n * bytes))
		for (size_t i = 0; i < (size_t)before.n; i++) {
			uint64_t handle = 0;

			memcpy(&handle, handles + i * bytes, bytes);
			add_handle(r, e, handle);
		}
	free(handles);
}

/* The thread is in the same call of the same struct. */
static bool is_same(const struct eye *e, uint64_t outer_at)
{
	unsigned char call[CALL_BYTES];
	uint64_t outer;

	return read_there(e, outer_at, &outer, sizeof(outer)) && outer == e->outer &&
	       read_there(e, e->call_at, call, e->look.call_bytes) &&
	       !memcmp(call, e->call, e->look.call_bytes);
}

ORDER_BY(by_number, uint32_t, ORDER(*x, *y))

bool requests_read(struct requests *r, const struct thread_ring *t, uint32_t function)
{
	const struct process *p = t->process;
	struct eye *e = xcalloc(1, sizeof(*e));
	uint64_t outer_at;

	*r = (struct requests){0};
	e->pid = p->pid;
	if (!p->ended && p->control_app && read_look(e, load_acquire(&p->control_app->look))) {
		outer_at = load_relaxed(&t->ring.producer->pointer) + (uint64_t)e->look.outer;
		if (read_there(e, outer_at, &e->outer, sizeof(e->outer)) && e->outer &&
			find_call(e, function) && read_table(e)) {
			if (function == VFTR_MPI_WAIT)
				read_one(r, e);
			else
				read_many(r, e);
			if (e->n_read > READ_MOST || !is_same(e, outer_at))
				r->n = 0;
		}
	}
	free(e);
	if (r->n)
		qsort(r->number, r->n, sizeof(*r->number), by_number);
	return r->n > 0;
}

bool requests_have(const struct requests *r, uint32_t number)
{
	return r->n && bsearch(&number, r->number, r->n, sizeof(number), by_number);
}
