/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Opening a sampling file: one pass over its blocks. The definitions are read,
 * of samples and messages only where they are is noted. What is no block with a
 * right checksum is damage; the next block is looked for behind it.
 */
#include "nodeagent/trace/read/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "nodeagent/base/util.h"
#include "nodeagent/trace/block.h"
#include "nodeagent/trace/packed.h"
#include "nodeagent/trace/read/internal.h"

#define WINDOW_BYTES (4u << 20)
/* Checksums that may be wrong, in file lengths: hostile files can't keep us for hours. */
#define PATIENCE 64u

_Static_assert(VFD_BLOCK_KINDS <= 16, "vfd_facts.block_bytes");

/* A part of the file in memory. */
struct window {
	struct vfd_file *f;
	unsigned char *buf;
	uint64_t offset;
	size_t bytes, room;
	unsigned char *unpacked; /* VFD_BLOCK_MAX, or NULL: nothing was packed yet */
	char *error;		 /* or NULL; the caller's */
};

/* Bytes read, less at the end of the file or an error. */
static size_t bytes_at(const struct vfd_file *f, uint64_t offset, unsigned char *buf, size_t n)
{
	if (offset >= f->facts.bytes)
		return 0;
	n = MIN(n, f->facts.bytes - offset);
	if (f->fd < 0) {
		memcpy(buf, f->memory + offset, n);
		return n;
	}
	return read_at(f->fd, buf, n, offset);
}

static bool load_packed(const struct vfd_file *f, const struct read_block *b, unsigned char *buf)
{
	unsigned char *packed = xmalloc(b->packed);
	const bool there =
		bytes_at(f, b->offset + sizeof(struct vfd_block), packed, b->packed) == b->packed;
	const bool right = there && packer_length(packed, b->packed) == (long)b->bytes &&
			   packer_unpack(f->packer, packed, b->packed, buf) == (long)b->bytes;

	free(packed);
	return right;
}

bool reader_load(const struct vfd_file *f, const struct read_block *b, unsigned char *buf)
{
	/* it was right when the file was opened; another may have been written over it */
	if (b->packed)
		return load_packed(f, b, buf);
	return bytes_at(f, b->offset + sizeof(struct vfd_block), buf, b->bytes) == b->bytes;
}

bool reader_load_grown(
	const struct vfd_file *f, const struct read_block *b, unsigned char **buf, size_t *room)
{
	if (b->bytes > *room || !*buf) {
		*room = b->bytes;
		free(*buf);
		*buf = xmalloc(b->bytes + 1);
	}
	return reader_load(f, b, *buf);
}

static void add_damage(struct vfd_file *f, uint64_t from, uint64_t to, const char *why)
{
	*LIST_ADD(f, damage) = (struct vfd_damage){from, to, why};
}

/* The window begins at offset and holds what of n bytes the file has. */
static size_t bytes_there(struct window *w, uint64_t offset, size_t n)
{
	const uint64_t end = w->offset + w->bytes;

	if (offset < w->offset || (offset + n > end && end < w->f->facts.bytes)) {
		w->offset = offset;
		w->bytes = bytes_at(w->f, offset, w->buf, w->room);
		/* cut off meanwhile, or an error of the disk */
		if (w->bytes < w->room)
			w->f->facts.bytes = offset + w->bytes;
	}
	return (size_t)(w->offset + w->bytes - offset);
}

/* packed: its bytes in the file, if it is packed there. */
static void add_block(
	struct vfd_file *f, const struct vfd_block *b, uint64_t offset, uint32_t packed)
{
	struct read_track *l;

	f->blocks = grow(f->blocks, f->n_blocks, &f->cap_blocks, sizeof(*f->blocks));
	f->blocks[f->n_blocks] = (struct read_block){.offset = offset,
		.time = b->time,
		.track = b->track,
		.records = b->records,
		.bytes = b->bytes,
		.packed = packed,
		.kind = b->kind,
		.flags = b->flags};
	if (b->kind == VFD_BLOCK_SAMPLES && !(b->flags & VFD_RECAP)) {
		l = reader_track(f, b->track);
		if (l) {
			*LIST_ADD(l, blocks) = (uint32_t)f->n_blocks;
		}
	}
	if (b->kind == VFD_BLOCK_COUNTERS && (l = reader_track(f, b->track))) {
		*LIST_ADD(l, value_blocks) = (uint32_t)f->n_blocks;
	}
	f->n_blocks++;
}

/* Reads the facts in a block of samples beside its events. */
static bool scan_samples(struct vfd_file *f, const unsigned char *payload)
{
	const struct read_block *b = &f->blocks[f->n_blocks - 1];
	struct samples s;
	struct sample e;
	int rc;

	if (!reader_track(f, b->track))
		return false;
	if (!(b->flags & VFD_RECAP))
		f->facts.samples += b->records;
	f->end_units = MAX(f->end_units, b->time);
	if (!(b->flags & (VFD_HAS_STACKS | VFD_HAS_MARKS)))
		return true;
	if (!samples_begin(&s, NULL, b, payload))
		return false;
	while ((rc = samples_next(&s, &e)) > 0) {
		/* samples are enters and exits */
		if (!(b->flags & VFD_RECAP) && (e.stack_defined || e.kind > VFD_EXIT))
			f->facts.samples--;
		if (e.stack_defined) {
			if (!reader_stack(f, b->track, e.stack, e.caller, e.function))
				return false;
		} else if (e.kind == VFD_THINNED) { /* it may be without the other one */
			f->facts.thinned = true;
			f->facts.thinned_calls += e.count;
		} else if (e.kind == VFD_THINNING) {
			f->facts.thinned = true;
		} else if (e.kind == VFD_LOST) {
			f->facts.lost_calls += e.count;
		}
	}
	f->end_units = MAX(f->end_units, s.units);
	return rc == 0;
}

static void count_records(struct vfd_file *f, const struct vfd_block *b)
{
	if (b->kind == VFD_BLOCK_MESSAGES)
		f->facts.messages += b->records;
	else if (b->kind == VFD_BLOCK_MATCHES)
		f->facts.matches += b->records;
	else if (b->kind == VFD_BLOCK_LAUNCHES)
		f->facts.launches += b->records;
}

static const char *take_dictionary(struct vfd_file *f, const unsigned char *bytes, uint32_t n)
{
	if (f->dictionary_seen)
		return "a file has one dictionary";
	f->dictionary_seen = true;
	return packer_set_dictionary(f->packer, bytes, n, 0) ? NULL
							     : "its dictionary is none of zstd";
}

static const char *scan_block(struct vfd_file *f, const struct vfd_block *b,
	const unsigned char *payload, uint64_t offset, uint32_t packed)
{
	struct varint_reader r = {payload, payload + b->bytes, false};
	struct vfd_end end;

	if (b->kind < VFD_BLOCK_KINDS)
		f->facts.block_bytes[b->kind] += sizeof(*b) + vfd_padded(packed ?: b->bytes);
	f->facts.closed = false;
	switch (b->kind) {
	case VFD_BLOCK_HEADER:
		f->header_seen = true;
		return reader_header(f, &r) ? NULL : "the header is not as the format says";
	case VFD_BLOCK_DEFINITIONS:
		return reader_definitions(f, &r, b->records)
			       ? NULL
			       : "a block of definitions is not as the format says";
	case VFD_BLOCK_SAMPLES:
		add_block(f, b, offset, packed);
		return scan_samples(f, payload) ? NULL
						: "a block of samples is not as the format says";
	case VFD_BLOCK_RUNS:
		return reader_runs(f, b->track, &r, b->records)
			       ? NULL
			       : "a block of runs is not as the format says";
	case VFD_BLOCK_MESSAGES:
	case VFD_BLOCK_MATCHES:
	case VFD_BLOCK_LAUNCHES:
	case VFD_BLOCK_WAITS:
	case VFD_BLOCK_LOCKS:
	case VFD_BLOCK_LENGTHS:
		add_block(f, b, offset, packed);
		count_records(f, b);
		return NULL;
	case VFD_BLOCK_COUNTERS:
		add_block(f, b, offset, packed);
		f->facts.counts += b->records;
		f->end_units = MAX(f->end_units, b->time);
		return b->track < f->n_threads ? NULL : "a block of counters is of no thread";
	case VFD_BLOCK_CLOCK:
		return reader_clock(f, &r, b->records)
			       ? NULL
			       : "a block of the clock is not as the format says";
	case VFD_BLOCK_END:
		if (b->bytes != sizeof(end))
			return "the last block is not as the format says";
		memcpy(&end, payload, sizeof(end));
		f->end_units = end.time;
		f->facts.closed = true;
		return NULL;
	case VFD_BLOCK_INDEX:
		return NULL;
	case VFD_BLOCK_DICTIONARY:
		return take_dictionary(f, payload, b->bytes);
	default:
		f->facts.unknown_blocks++;
		return NULL;
	}
	return NULL;
}

/* The same of one that may be packed. The only error of the window: there is no library. */
static const char *scan_packed(struct window *w, const unsigned char *p, uint64_t offset)
{
	struct vfd_file *f = w->f;
	struct vfd_block b;
	uint32_t packed;
	long bytes;

	memcpy(&b, p, sizeof(b));
	if (!(b.flags & VFD_PACKED) && b.kind != VFD_BLOCK_DICTIONARY)
		return scan_block(f, &b, p + sizeof(b), offset, 0);
	if (!f->packer)
		f->packer = packer_new(&w->error);
	if (!f->packer)
		return "it is packed";
	if (!(b.flags & VFD_PACKED))
		return scan_block(f, &b, p + sizeof(b), offset, 0);
	if (!w->unpacked)
		w->unpacked = xmalloc(VFD_BLOCK_MAX);
	/* of most samples only their number is wanted */
	if (b.kind != VFD_BLOCK_SAMPLES || (b.flags & (VFD_HAS_STACKS | VFD_HAS_MARKS)))
		bytes = packer_unpack(f->packer, p + sizeof(b), b.bytes, w->unpacked);
	else
		bytes = packer_length(p + sizeof(b), b.bytes);
	if (bytes < 0)
		return "what is packed in a block can't be unpacked";
	packed = b.bytes;
	b.bytes = (uint32_t)bytes;
	b.flags &= (uint16_t)~VFD_PACKED;
	return scan_block(f, &b, w->unpacked, offset, packed);
}

/* Bytes of the block that seems to begin at p but has damage; 0: none does. */
static uint64_t damaged_block(const unsigned char *p, size_t bytes)
{
	struct vfd_block b;

	if (bytes < sizeof(b))
		return 0;
	memcpy(&b, p, sizeof(b));
	return b.magic == VFD_BLOCK_MAGIC && b.bytes <= VFD_BLOCK_MAX ? b.bytes : 0;
}

static void scan(struct vfd_file *f, struct window *w)
{
	uint64_t at = sizeof(struct vfd_preamble), bad = 0, wrong = 0;
	const char *bad_why = NULL;

	while (at < f->facts.bytes && !w->error) {
		const size_t there = bytes_there(w, at, VFD_BLOCK_MAX);
		const unsigned char *p = w->buf + (at - w->offset);
		const char *why;
		bool more;
		size_t n = vfd_block_check(p, there, &why, &more);

		if (n) {
			if (bad_why)
				add_damage(f, bad, at, bad_why);
			bad_why = NULL;
			why = scan_packed(w, p, at);
			f->facts.blocks++;
			if (why)
				add_damage(f, at, at + n, why);
			at += n;
			continue;
		}
		if (!bad_why) {
			bad = at;
			bad_why = there ? why : "it can't be read";
		}
		wrong += damaged_block(p, there);
		if (wrong / PATIENCE > f->facts.bytes + VFD_BLOCK_MAX || !there) {
			at = f->facts.bytes;
			break;
		}
		at += VFD_ALIGN;
	}
	if (bad_why)
		add_damage(f, bad, f->facts.bytes, bad_why);
}

/* The time of the last event of a file that has no end. */
static void find_end(struct vfd_file *f)
{
	unsigned char *buf = NULL;
	size_t room = 0;

	for (size_t i = 0; i < f->n_threads && !f->facts.closed; i++) {
		const struct read_track *l = &f->tracks[i];
		const struct read_block *b;
		struct samples s;
		struct sample e;

		if (!l->n_blocks)
			continue;
		b = &f->blocks[l->blocks[l->n_blocks - 1]];
		if (!reader_load_grown(f, b, &buf, &room) || !samples_begin(&s, NULL, b, buf))
			continue;
		while (samples_next(&s, &e) > 0)
			;
		f->end_units = MAX(f->end_units, s.units);
	}
	free(buf);
}

static struct vfd_file *open_file(struct vfd_file *f, const char *name, char **why)
{
	struct vfd_preamble p;
	struct window w = {.f = f};

	f->path = xstrdup(name);
	f->facts.ns_per_unit = 1;
	if (bytes_at(f, 0, (unsigned char *)&p, sizeof(p)) < sizeof(p))
		*why = xstrdup("cut short: not even a header is there");
	else if (memcmp(p.magic, VFD_MAGIC, sizeof(p.magic)))
		*why = xstrdup("not a sampling file of vftr");
	else if (p.byte_order != VFD_BYTE_ORDER)
		*why = xstrdup("written on a machine with another byte order");
	else if (p.version < VFD_VERSION_LEAST || p.version > VFD_VERSION)
		*why = xasprintf("format version %u, but this program reads versions %u to %u",
			p.version, VFD_VERSION_LEAST, VFD_VERSION);
	if (*why)
		return NULL;
	w.room = f->facts.bytes < WINDOW_BYTES ? f->facts.bytes : WINDOW_BYTES;
	w.buf = xmalloc(w.room);
	scan(f, &w);
	free(w.unpacked);
	find_end(f);
	free(w.buf);
	if (w.error) {
		*why = xasprintf("it is packed, and %s", w.error);
		free(w.error);
		return NULL;
	}
	if (!f->facts.blocks) {
		*why = xstrdup("nothing in it can be read");
		return NULL;
	}
	reader_finish_clock(f);
	reader_waits(f);
	f->facts.path = f->path;
	f->facts.host = f->host;
	f->facts.application = f->application;
	f->facts.writer = f->writer;
	f->facts.start = reader_time(f, f->start_units);
	f->facts.end =
		reader_time(f, f->end_units > f->start_units ? f->end_units : f->start_units);
	reader_finish_tables(f);
	return f;
}

struct vfd_file *vfd_open(const char *path, char **error)
{
	struct vfd_file *f = xcalloc(1, sizeof(*f));
	char *why = NULL;
	struct stat st;

	*error = NULL;
	/* O_NONBLOCK: a FIFO of that name must not stop us */
	f->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (f->fd < 0 || fstat(f->fd, &st)) {
		why = xstrdup(strerror(errno));
	} else if (!S_ISREG(st.st_mode)) {
		why = xstrdup("not a regular file");
	} else {
		f->facts.bytes = (uint64_t)st.st_size;
		open_file(f, path, &why);
	}
	if (!why)
		return f;
	*error = xasprintf("%s: %s", path, why);
	free(why);
	vfd_close(f);
	return NULL;
}

struct vfd_file *vfd_open_bytes(const void *bytes, size_t n, const char *name, char **error)
{
	struct vfd_file *f = xcalloc(1, sizeof(*f));
	char *why = NULL;

	*error = NULL;
	f->fd = -1;
	f->memory = bytes;
	f->facts.bytes = n;
	if (open_file(f, name, &why))
		return f;
	*error = xasprintf("%s: %s", name, why);
	free(why);
	vfd_close(f);
	return NULL;
}

void vfd_close(struct vfd_file *f)
{
	if (!f)
		return;
	reader_free_tables(f);
	packer_free(f->packer);
	if (f->fd >= 0)
		close(f->fd);
	free(f->blocks);
	free(f->pairs);
	free(f->damage);
	free(f->numbers);
	free(f->path);
	free(f->host);
	free(f->application);
	free(f->writer);
	free(f);
}

/* ---- what it holds ------------------------------------------------------------------ */

const struct vfd_facts *vfd_facts(const struct vfd_file *f)
{
	return &f->facts;
}

LIST_GETTER(vfd_damage, struct vfd_file, struct vfd_damage, damage)
LIST_GETTER(vfd_processes, struct vfd_file, struct vfd_process, processes)
LIST_GETTER(vfd_threads, struct vfd_file, struct vfd_thread, threads)
LIST_GETTER(vfd_functions, struct vfd_file, struct vfd_function, functions)

const struct vfd_stack *vfd_stacks(const struct vfd_file *f, uint32_t track, size_t *n)
{
	if (track >= f->n_threads) {
		*n = 0;
		return NULL;
	}
	*n = f->tracks[track].n_stacks + 1;
	return f->tracks[track].stacks;
}

LIST_GETTER(vfd_counters, struct vfd_file, struct vfd_counter, counters)
LIST_GETTER(vfd_observables, struct vfd_file, struct vfd_observable, observables)
LIST_GETTER(vfd_comms, struct vfd_file, struct vfd_comm, comms)

const struct vfd_comm *vfd_comm(const struct vfd_file *f, uint32_t number)
{
	if (number >= f->n_comms || f->comms[number].number == VFD_NONE)
		return NULL;
	return &f->comms[number];
}

uint32_t vfd_comm_rank(const struct vfd_comm *c, uint32_t rank, bool remote)
{
	uint64_t at = rank + (remote ? (uint64_t)c->size : 0);

	if (rank >= (remote ? c->remote_size : c->size))
		return VFD_NONE;
	EACH(const struct wire_run, run, c->runs, c->n_runs) {
		if (run->count <= 0)
			continue;
		if (at < (uint64_t)run->count)
			return run->first < 0 ? VFD_NONE
					      : (uint32_t)(run->first + (int64_t)at * run->stride);
		at -= (uint64_t)run->count;
	}
	return VFD_NONE;
}

uint32_t vfd_run_other(const struct wire_run *run, uint64_t at, uint64_t others)
{
	const int64_t member = run->first + (int64_t)at * run->stride;

	if (run->first >= 0 || member < INT32_MIN || member > WIRE_UNKNOWN)
		return VFD_NONE;
	return member == WIRE_UNKNOWN ? (uint32_t)(others + at)
				      : (uint32_t)wire_other((int32_t)member);
}

/* Of a member whose rank is not known, its number on the other side; VFD_NONE: it is known. from:
 * where the ranks of the own group, or of the remote one, begin. */
static uint32_t place_among_others(const struct vfd_comm *c, uint64_t from, uint32_t rank)
{
	uint64_t before = 0, others = 0;

	for (size_t i = 0; i < c->n_runs && before <= from + rank; i++) {
		const struct wire_run *run = &c->runs[i];
		const uint64_t n = run->count > 0 ? (uint64_t)run->count : 0;

		if (from + rank < before + n)
			return vfd_run_other(run, from + rank - before, others);
		before += n;
		others += run->first == WIRE_UNKNOWN ? n : 0;
	}
	return VFD_NONE;
}

bool vfd_comm_other_at(const struct vfd_file *f, const struct vfd_comm *c, uint32_t place,
	uint64_t *job, uint32_t *world)
{
	const uint32_t *parents;

	if (!c->link || place == VFD_NONE)
		return false;
	*job = c->link_job;
	*world = place;
	if (!c->is_child)
		return true;
	parents = map64_find(&f->spawns, c->spawn); /* these know their ranks */
	*world = parents ? vfd_comm_rank(&f->comms[*parents], place, false) : VFD_NONE;
	return *world != VFD_NONE;
}

bool vfd_comm_other(const struct vfd_file *f, const struct vfd_comm *c, uint32_t rank,
	uint64_t *job, uint32_t *world)
{
	if (rank >= (c->remote_size ?: c->size))
		return false;
	return vfd_comm_other_at(
		f, c, place_among_others(c, c->remote_size ? c->size : 0, rank), job, world);
}

const struct vfd_object *vfd_object(
	const struct vfd_file *f, enum wire_object_kind kind, uint32_t number)
{
	for (size_t i = f->n_objects; i-- > 0;)
		if (f->objects[i].kind == kind && f->objects[i].number == number)
			return &f->objects[i];
	return NULL;
}

int vfd_rank(const struct vfd_file *f, uint32_t track)
{
	const uint32_t process = track < f->n_threads ? f->threads[track].process : VFD_NONE;

	return process < f->n_processes ? f->processes[process].rank : -1;
}
