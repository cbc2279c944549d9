/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/match/outbox.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "nodeagent/base/map.h"
#include "nodeagent/match/wire.h"

struct extent {
	uint64_t at, records;
	size_t bytes;
};

/* The records for one process: extents in the file, the oldest first, then the batch. */
struct shelf {
	uint64_t proc_id, dropped;
	struct match_batch batch;
	uint64_t in_batch; /* records */
	struct extent *extents;
	size_t first, n, cap;
};

struct match_outbox {
	char *directory;
	struct map64 index; /* process -> index */
	struct shelf *at;
	size_t n, cap;
	size_t memory; /* of all batches */
	uint64_t file_bytes;
	int fd;	   /* -1: none yet, -2: none can be had */
	bool full; /* the file takes no more */
	/* in a copy (match_outbox_copied()): the first bytes are in the original's file, or -1 */
	int original;
	uint64_t original_bytes;
};

struct match_outbox *match_outbox_new(const char *directory)
{
	struct match_outbox *o = xcalloc(1, sizeof(*o));

	o->directory = xstrdup(directory);
	o->fd = o->original = -1;
	return o;
}

void match_outbox_copied(struct match_outbox *o)
{
	if (o->fd < 0)
		return;
	o->original = o->fd;
	o->original_bytes = o->file_bytes;
	o->fd = -1;
}

void match_outbox_free(struct match_outbox *o)
{
	if (!o)
		return;
	for (size_t i = 0; i < o->n; i++) {
		match_batch_free(&o->at[i].batch);
		free(o->at[i].extents);
	}
	if (o->fd >= 0)
		close(o->fd);
	if (o->original >= 0)
		close(o->original);
	map64_free(&o->index);
	free(o->at);
	free(o->directory);
	free(o);
}

static uint64_t records_of(const struct shelf *f)
{
	uint64_t n = f->in_batch + f->dropped;

	for (size_t i = f->first; i < f->n; i++)
		n += f->extents[i].records;
	return n;
}

uint64_t *match_outbox_proc_ids(const struct match_outbox *o, size_t *n)
{
	uint64_t *proc_ids = xcalloc(o->n + 1, sizeof(*proc_ids));

	*n = 0;
	for (size_t i = 0; i < o->n; i++)
		if (records_of(&o->at[i]))
			proc_ids[(*n)++] = o->at[i].proc_id;
	return proc_ids;
}

uint64_t match_outbox_left(const struct match_outbox *o)
{
	uint64_t n = 0;

	for (size_t i = 0; i < o->n; i++)
		n += records_of(&o->at[i]);
	return n;
}

/* ---- the file ------------------------------------------------------------------- */

static int open_file(const struct match_outbox *o)
{
	int fd = open(o->directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	char *name;

	if (fd >= 0)
		return fd;
	name = xasprintf("%s/vftr-sends.XXXXXX", o->directory);
	fd = mkostemp(name, O_CLOEXEC);
	if (fd >= 0)
		unlink(name);
	free(name);
	return fd >= 0 ? fd : -2;
}

static bool write_at(int fd, const uint8_t *bytes, size_t n, uint64_t at)
{
	while (n) {
		ssize_t done = pwrite(fd, bytes, n, (off_t)at);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return false;
		bytes += done;
		at += (size_t)done;
		n -= (size_t)done;
	}
	return true;
}

/* False: the file is full, and is not tried again. */
static bool to_file(struct match_outbox *o, struct shelf *f)
{
	const struct extent e = {o->file_bytes, f->in_batch, f->batch.n};

	if (o->full || e.bytes > MATCH_OUTBOX_FILE - o->file_bytes ||
		!write_at(o->fd, f->batch.bytes, e.bytes, e.at)) {
		o->full = true;
		return false;
	}
	*APPEND(f->extents, f->n, f->cap) = e;
	o->file_bytes += e.bytes;
	return true;
}

static void empty_batch(struct match_outbox *o, struct shelf *f)
{
	o->memory -= f->batch.cap;
	match_batch_free(&f->batch);
	f->in_batch = 0;
}

static void open_if_needed(struct match_outbox *o)
{
	if (o->fd == -1)
		o->fd = open_file(o);
	o->full |= o->fd < 0;
}

/* Writes all batches to the file, as far as it takes them. */
static void spill(struct match_outbox *o)
{
	open_if_needed(o);
	for (size_t i = 0; i < o->n; i++) {
		struct shelf *f = &o->at[i];

		if (f->in_batch && to_file(o, f))
			empty_batch(o, f);
	}
}

/* ---- in --------------------------------------------------------------------------- */

static struct shelf *shelf_of(struct match_outbox *o, uint64_t proc_id)
{
	const uint32_t at = *map64_at(&o->index, proc_id, (uint32_t)o->n);

	if (at == o->n)
		*APPEND(o->at, o->n, o->cap) = (struct shelf){.proc_id = proc_id};
	return &o->at[at];
}

/* Pieces are small, so that whoever takes one has little at once. */
static bool has_room(struct match_outbox *o, struct shelf *f)
{
	if (f->batch.n > MATCH_OUTBOX_PIECE && !o->full) {
		open_if_needed(o);
		if (to_file(o, f))
			empty_batch(o, f);
	}
	if (o->memory > MATCH_OUTBOX_MEMORY && !o->full)
		spill(o);
	return o->memory <= MATCH_OUTBOX_MEMORY;
}

void match_outbox_send(struct match_outbox *o, const struct match_send *s)
{
	struct shelf *f = shelf_of(o, s->destination);
	size_t before;

	if (!has_room(o, f)) {
		f->dropped++;
		return;
	}
	before = f->batch.cap;
	match_batch_send(&f->batch, s);
	f->in_batch++;
	o->memory += f->batch.cap - before;
}

bool match_outbox_receive(struct match_outbox *o, const struct match_receive *r)
{
	struct shelf *f = shelf_of(o, r->done.source);
	size_t before;

	if (!has_room(o, f))
		return false;
	before = f->batch.cap;
	match_batch_receive(&f->batch, r);
	f->in_batch++;
	o->memory += f->batch.cap - before;
	return true;
}

/* ---- out ---------------------------------------------------------------------------- */

static void take_extent(struct match_outbox *o, struct shelf *f, struct match_piece *p)
{
	const struct extent e = f->extents[f->first++];
	const int fd = e.at < o->original_bytes ? o->original : o->fd;

	*p = (struct match_piece){.bytes = xmalloc(e.bytes), .n = e.bytes, .records = e.records};
	if (read_at(fd, p->bytes, e.bytes, e.at) < e.bytes) {
		free(p->bytes);
		p->bytes = NULL;
	}
	if (f->first < f->n)
		return;
	free(f->extents);
	f->extents = NULL;
	f->first = f->n = f->cap = 0;
}

bool match_outbox_piece(struct match_outbox *o, uint64_t proc_id, struct match_piece *p)
{
	const uint32_t *at = map64_find(&o->index, proc_id);
	struct shelf *f = at ? &o->at[*at] : NULL;

	if (!f)
		return false;
	if (f->first < f->n) {
		take_extent(o, f, p);
	} else if (f->in_batch) {
		*p = (struct match_piece){f->batch.bytes, f->batch.n, f->in_batch};
		o->memory -= f->batch.cap;
		f->batch = (struct match_batch){0};
		f->in_batch = 0;
	} else if (f->dropped) {
		*p = (struct match_piece){.records = f->dropped};
		f->dropped = 0;
	} else {
		return false;
	}
	return true;
}
