/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Blocks go when they came longer ago than keep_ns: what they tell of is older still. Stacks
 * are defined in the block of their first use, which may be gone, so each track's are told once
 * more in each file, and by a track that ends (recapitulate() in track.c).
 */
#include "nodeagent/trace/write/keep.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "nodeagent/base/util.h"
#include "nodeagent/trace/write/internal.h"
#include "shm/clock.h"

#define ENTRY_BYTES 32u /* beside its bytes, what malloc() takes for a block */
#define BUFFER	    (8u << 20)
#define RUNS_PART   8u /* of the memory: with runs, definitions take no more */

/* A block in memory, sealed. */
struct entry {
	unsigned char *bytes;
	uint64_t arrival; /* raw ns */
	uint64_t end;	  /* units: of the last event; SAMPLES only */
	uint32_t n;
};

/* Blocks are numbered from 0 as they come; block i is at[i & (cap - 1)]. */
struct keep {
	uint64_t keep_ns, most_bytes;
	struct entry *at;
	size_t cap; /* a power of 2 */
	uint64_t first, next;
	uint64_t blocks_bytes, most;
	uint64_t gone_until; /* units: no block that is gone has later events */
	uint64_t pushed_out;
	unsigned char *tables; /* blocks of definitions, the header first */
	size_t n_tables, cap_tables;
	/* the file that is being written, w->out */
	uint64_t next_written, end_written, not_written;
	uint64_t buffer_bytes;
	enum outfile_way way;
};

struct keep *keep_new(const struct vfd_setup *s)
{
	struct keep *k = xcalloc(1, sizeof(*k));

	k->keep_ns = s->keep_ns;
	k->most_bytes = s->keep_bytes;
	k->buffer_bytes = s->buffer_bytes ? s->buffer_bytes : BUFFER;
	k->way = s->way;
	return k;
}

static struct entry *entry_at(const struct keep *k, uint64_t number)
{
	return &k->at[number & (k->cap - 1)];
}

static uint64_t bytes_of(const struct keep *k)
{
	return k->blocks_bytes + k->cap_tables + k->cap * sizeof(*k->at);
}

static void drop_first(struct keep *k)
{
	struct entry *e = entry_at(k, k->first);

	if (e->end > k->gone_until)
		k->gone_until = e->end;
	if (k->next_written == k->first && k->first < k->end_written) {
		k->next_written++;
		k->not_written++;
	}
	k->blocks_bytes -= e->n + ENTRY_BYTES;
	free(e->bytes);
	e->bytes = NULL;
	k->first++;
}

void keep_free(struct keep *k)
{
	if (!k)
		return;
	while (k->first < k->next)
		drop_first(k);
	free(k->at);
	free(k->tables);
	free(k);
}

/* What is too old, or too much with `more` bytes. */
static void make_room(struct keep *k, uint64_t now, uint64_t more)
{
	while (k->first < k->next && now - entry_at(k, k->first)->arrival > k->keep_ns)
		drop_first(k);
	while (k->first < k->next && bytes_of(k) + more > k->most_bytes) {
		drop_first(k);
		k->pushed_out++;
	}
}

static void grow_entries(struct keep *k)
{
	const size_t cap = k->cap ? 2 * k->cap : 256;
	struct entry *to = xcalloc(cap, sizeof(*to));

	for (uint64_t i = k->first; i < k->next; i++)
		to[i & (cap - 1)] = *entry_at(k, i);
	free(k->at);
	k->at = to;
	k->cap = cap;
}

static void note_most(struct keep *k)
{
	if (bytes_of(k) > k->most)
		k->most = bytes_of(k);
}

/* False: even without any other block there is no room for it. */
static bool add_block(struct keep *k, const struct vfd_block *b, size_t n, uint64_t end)
{
	const uint64_t now = clock_raw_ns();
	uint64_t more = n + ENTRY_BYTES;

	make_room(k, now, more);
	if (k->next - k->first == k->cap) {
		make_room(k, now, more + (k->cap ? k->cap : 256) * sizeof(*k->at));
		if (k->next - k->first == k->cap)
			grow_entries(k);
	}
	if (bytes_of(k) + more > k->most_bytes)
		return false;
	*entry_at(k, k->next++) = (struct entry){
		.bytes = memcpy(xmalloc(n), b, n), .arrival = now, .end = end, .n = (uint32_t)n};
	k->blocks_bytes += more;
	note_most(k);
	return true;
}

/* False: definitions would take more than half of the memory. */
static bool add_table(struct keep *k, const struct vfd_block *b, size_t n)
{
	size_t cap = k->cap_tables;

	while (cap < k->n_tables + n)
		cap = cap ? cap + cap / 2 : 16384;
	if (cap > k->most_bytes / 2)
		return false;
	make_room(k, clock_raw_ns(), cap - k->cap_tables);
	k->tables = xrealloc(k->tables, cap);
	k->cap_tables = cap;
	memcpy(k->tables + k->n_tables, b, n);
	k->n_tables += n;
	note_most(k);
	return true;
}

static bool append_to_file(struct vfd_writer *w, const struct vfd_block *b, size_t n)
{
	const uint64_t offset = outfile_bytes(w->out);

	if (!outfile_append(w->out, b, n))
		return false;
	if (b->kind != VFD_BLOCK_INDEX && b->kind != VFD_BLOCK_END)
		vfd_index_add(&w->index, offset, b);
	return true;
}

bool keep_block(struct vfd_writer *w, const struct vfd_block *b, size_t n, uint64_t end)
{
	switch (b->kind) {
	case VFD_BLOCK_CLOCK:
	case VFD_BLOCK_INDEX:
	case VFD_BLOCK_END:
		return w->out ? append_to_file(w, b, n) : true;
	case VFD_BLOCK_HEADER:
	case VFD_BLOCK_DEFINITIONS:
	case VFD_BLOCK_RUNS:
		if (add_table(w->keep, b, n))
			return true;
		w->mute = w->too_many = true;
		return false;
	default:
		return w->to_file ? append_to_file(w, b, n) : add_block(w->keep, b, n, end);
	}
}

bool keep_has_room(const struct keep *k, uint64_t bytes)
{
	return k->n_tables + bytes < k->most_bytes / RUNS_PART;
}

struct vfd_kept vfd_writer_kept(const struct vfd_writer *w)
{
	const struct keep *k = w->keep;

	if (!k)
		return (struct vfd_kept){0};
	return (struct vfd_kept){.bytes = bytes_of(k),
		.most = k->most,
		.blocks = k->next - k->first,
		.pushed_out = k->pushed_out,
		.not_written = k->not_written};
}

/* ---- a file of it ------------------------------------------------------------------- */

static bool append_tables(struct vfd_writer *w)
{
	const struct keep *k = w->keep;
	struct vfd_block b;
	size_t n;

	for (size_t at = 0; at < k->n_tables; at += n) {
		memcpy(&b, k->tables + at, sizeof(b));
		n = sizeof(b) + vfd_padded(b.bytes);
		if (!append_to_file(w, (const struct vfd_block *)(k->tables + at), n))
			return false;
	}
	return true;
}

/* Bytes of the payload that say what is open; 0: nothing, but the thread itself. */
static uint32_t path_bytes(const struct vfd_block *b)
{
	const unsigned char *payload = (const unsigned char *)(b + 1);
	struct varint_reader r = {payload, payload + b->bytes, false};
	bool open = false;

	for (uint64_t left = 2 * varint_get(&r); left && !r.bad; left--)
		open |= varint_get(&r) != 0;
	return open && !r.bad ? (uint32_t)(r.at - payload) : 0;
}

/* What was open in a track while it had no events: from the end of what is gone to this block. */
static void write_opening(struct vfd_writer *w, const struct vfd_block *of)
{
	const uint32_t bytes = path_bytes(of);
	const uint64_t gone = w->keep->gone_until;
	struct vfd_page p = {0};
	struct vfd_block *b;

	if (!bytes || !gone)
		return;
	memcpy(vfd_page_room(&p, bytes), of + 1, bytes);
	b = (struct vfd_block *)p.bytes;
	*b = (struct vfd_block){.kind = VFD_BLOCK_SAMPLES,
		.track = of->track,
		.bytes = bytes,
		.time = gone < of->time ? gone : of->time};
	vfd_write_block(w, b);
	free(p.bytes);
}

/* Of each track that has blocks; the others say it themselves. */
static void write_openings(struct vfd_writer *w)
{
	const struct keep *k = w->keep;
	bool *has = xcalloc(w->n_tracks + 1, sizeof(*has));

	for (uint64_t i = k->first; i < k->next; i++) {
		const struct vfd_block *b = (const struct vfd_block *)entry_at(k, i)->bytes;

		if (b->kind != VFD_BLOCK_SAMPLES || b->flags & VFD_RECAP ||
			b->track >= w->n_tracks || has[b->track])
			continue;
		has[b->track] = true;
		write_opening(w, b);
	}
	for (struct track *l = w->tracks; l; l = l->next) {
		if (!has[l->number])
			track_write_open(l, k->gone_until);
		track_recapitulate(l);
	}
	free(has);
}

bool vfd_freeze_begin(struct vfd_writer *w, const char *path, char **error)
{
	static const struct vfd_preamble preamble = {
		.magic = VFD_MAGIC, .version = VFD_VERSION, .byte_order = VFD_BYTE_ORDER};
	struct keep *k = w->keep;

	/* definitions and stacks go out at once */
	w->out = outfile_open(path, k->way, k->buffer_bytes + k->n_tables, error);
	if (!w->out)
		return false;
	vfd_writer_flush(w);
	make_room(k, clock_raw_ns(), 0);
	k->next_written = k->first;
	k->end_written = k->next;
	k->not_written = 0;
	w->to_file = true;
	if (outfile_append(w->out, &preamble, sizeof(preamble)) && append_tables(w))
		write_openings(w);
	w->to_file = false;
	return true;
}

bool vfd_freeze_step(struct vfd_writer *w)
{
	struct keep *k = w->keep;

	while (k->next_written < k->end_written && !outfile_error(w->out)) {
		const struct entry *e = entry_at(k, k->next_written);

		if (!outfile_ready(w->out) ||
			!append_to_file(w, (const struct vfd_block *)e->bytes, e->n))
			return outfile_error(w->out);
		k->next_written++;
	}
	return true;
}

bool vfd_freeze_is_written(struct vfd_writer *w)
{
	outfile_flush(w->out);
	return outfile_idle(w->out);
}

int vfd_freeze_end(struct vfd_writer *w, uint64_t ticks, double seconds, uint64_t *bytes)
{
	const double deadline = 1e-9 * (double)clock_raw_ns() + seconds;
	const bool whole = vfd_index_write(&w->index, w, outfile_bytes(w->out), ticks, deadline);
	int rc;

	vfd_index_free(&w->index);
	*bytes = outfile_bytes(w->out);
	rc = outfile_close(w->out, MAX(deadline - 1e-9 * (double)clock_raw_ns(), 0.0));
	w->out = NULL;
	w->keep->end_written = 0;
	return rc || whole ? rc : -ETIMEDOUT;
}
