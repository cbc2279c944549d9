/* SPDX-License-Identifier: BSD-3-Clause */
/* The writer of a sampling file: its beginning and end, and blocks in between. */
#include "nodeagent/trace/write/writer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "nodeagent/base/util.h"
#include "nodeagent/trace/write/internal.h"
#include "shm/clock.h"

#define BLOCK_LEAST  1024u
#define BUFFER_BYTES (8u << 20)
#define HELD_MOST    (128u << 10)
#define END_PART     256  /* of max_size: for the end of the file, with headers of the index ... */
#define THREAD_BYTES 288u /* ... and that of each thread, with two of: */
#define MARK_BYTES   (sizeof(struct vfd_block) + 64) /* a block with a mark of thinning only */
#define LEFT_PART    2 /* of max_size: all of that, or many threads would leave no room for calls */

_Static_assert(2 * MARK_BYTES < THREAD_BYTES, "a part of it");

/* ---- blocks ----------------------------------------------------------------------- */

/* True of a block with a mark of thinning: what is kept free of each thread is for two of them. */
static bool is_mark(const struct vfd_writer *w, enum vfd_kind kind, size_t bytes)
{
	return kind == VFD_BLOCK_SAMPLES && w->level == VFD_THINNING_ALL && bytes <= MARK_BYTES;
}

/* From now on no event is written but those in open blocks, so nothing is defined any more. */
static void set_full(struct vfd_writer *w)
{
	if (w->full)
		return;
	for (struct track *l = w->tracks; l; l = l->next)
		track_end_block(l);
	w->full = true;
	w->level = VFD_THINNING_ALL;
	w->told = (struct vfd_told){.processes = w->n_processes,
		.tracks = w->n_tracks,
		.functions = w->n_functions,
		.comms = w->n_comms};
}

/* It was never defined. */
static bool is_of_untold_track(const struct vfd_writer *w, const struct vfd_block *b)
{
	return w->full && b->track != VFD_NO_TRACK && b->track >= w->told.tracks;
}

/* Definitions are written all the same, as much depends on them. */
static bool is_beyond_limit(const struct vfd_writer *w, enum vfd_kind kind, size_t bytes)
{
	uint64_t left;

	if (!w->max_size || kind == VFD_BLOCK_HEADER || kind == VFD_BLOCK_DEFINITIONS ||
		kind == VFD_BLOCK_RUNS || kind == VFD_BLOCK_CLOCK || kind == VFD_BLOCK_INDEX ||
		kind == VFD_BLOCK_END)
		return false;
	left = w->max_size / END_PART + vfd_index_bytes(&w->index) + w->definitions.used +
	       (THREAD_BYTES - (is_mark(w, kind, bytes) ? 2 * MARK_BYTES : 0)) * w->n_live_tracks;
	if (left > w->max_size / LEFT_PART)
		left = w->max_size / LEFT_PART;
	return outfile_bytes(w->out) + bytes + left > w->max_size;
}

bool vfd_write_block(struct vfd_writer *w, struct vfd_block *b)
{
	uint64_t offset;
	size_t n;

	if (b->kind != VFD_BLOCK_DEFINITIONS)
		vfd_write_definitions(w);
	b->sequence = w->sequence++;
	n = vfd_block_seal(b);
	if (w->keep)
		return keep_block(w, b, n, w->track_end);
	if (is_of_untold_track(w, b))
		return false;
	if (is_beyond_limit(w, b->kind, n)) {
		/* for good, as later events would need what was in this block; they are counted */
		set_full(w);
		return false;
	}
	offset = outfile_bytes(w->out);
	if (!outfile_append(w->out, b, n)) {
		if (outfile_error(w->out))
			w->mute = true;
		return false;
	}
	if (b->kind == VFD_BLOCK_INDEX || b->kind == VFD_BLOCK_END)
		return true;
	vfd_index_add(&w->index, offset, b);
	if (w->max_size && outfile_bytes(w->out) >= w->max_size)
		set_full(w);
	if (!w->full)
		w->level = vfd_thinning_level(outfile_bytes(w->out), w->max_size);
	return true;
}

void vfd_write_definitions(struct vfd_writer *w)
{
	struct vfd_page *p = &w->definitions;
	const uint32_t n = p->records;
	const size_t used = p->used;

	if (!n || vfd_page_write(w, p, VFD_BLOCK_DEFINITIONS, 0) || w->mute)
		return;
	if (used > HELD_MOST) {
		w->dropped_blocks++;
		return;
	}
	/* no memory now: much depends on them, so they are kept for the next time */
	p->used = used;
	p->records = n;
	w->sequence--;
}

/* ---- the clock -------------------------------------------------------------------- */

static void clock_record(struct vfd_writer *w, enum vfd_clock_record kind, uint64_t time,
	const uint64_t *values, size_t n)
{
	struct vfd_page page = {0};
	unsigned char *at = vfd_page_room(&page, (n + 1) * VARINT_MAX);

	at = varint_put(at, kind);
	for (size_t i = 0; i < n; i++)
		at = varint_put(at, values[i]);
	vfd_page_done(&page, at);
	page.records = 1;
	vfd_page_write(w, &page, VFD_BLOCK_CLOCK, time);
	free(page.bytes);
}

void vfd_clock_pair(struct vfd_writer *w, uint64_t ticks, uint64_t raw_ns)
{
	clock_record(w, VFD_CLOCK_PAIR, ticks, (const uint64_t[]){ticks, raw_ns}, 2);
}

void vfd_clock_sync_point(
	struct vfd_writer *w, uint64_t raw_ns, int64_t offset_ns, uint64_t half_width_ns)
{
	clock_record(w, VFD_CLOCK_SYNC_POINT, 0,
		(const uint64_t[]){raw_ns, zigzag(offset_ns), half_width_ns}, 3);
}

void vfd_clock_zero(struct vfd_writer *w, uint64_t global_ns)
{
	clock_record(w, VFD_CLOCK_ZERO, 0, &global_ns, 1);
}

/* ---- beginning -------------------------------------------------------------------- */

static void header_text(struct vfd_page *p, enum vfd_header_field field, const char *text)
{
	const size_t n = text ? strnlen(text, 4096) : 0;
	unsigned char *at = vfd_page_room(p, n + 2 * VARINT_MAX);

	at = varint_put(varint_put(at, field), n);
	memcpy(at, text ? text : "", n);
	vfd_page_done(p, at + n);
	p->records++;
}

static void header_number(struct vfd_page *p, enum vfd_header_field field, uint64_t value)
{
	unsigned char *at = vfd_page_room(p, 2 * VARINT_MAX);

	vfd_page_done(p, varint_put(varint_put(at, field), value));
	p->records++;
}

static bool write_header(struct vfd_writer *w, const struct vfd_setup *s, double ns_per_unit)
{
	const struct vfd_preamble preamble = {
		.magic = VFD_MAGIC, .version = VFD_VERSION, .byte_order = VFD_BYTE_ORDER};
	struct vfd_page p = {0};
	uint64_t rate;
	bool ok;

	memcpy(&rate, &ns_per_unit, sizeof(rate));
	header_text(&p, VFD_FIELD_HOST, s->host);
	header_text(&p, VFD_FIELD_APPLICATION, s->application);
	header_text(&p, VFD_FIELD_WRITER, "vftr " VFTR_VERSION);
	header_number(&p, VFD_FIELD_START_UNIX, (uint64_t)s->start_unix_ns);
	header_number(&p, VFD_FIELD_START_UNITS, s->start_ticks);
	header_number(&p, VFD_FIELD_START_RAW, s->start_raw_ns);
	header_number(&p, VFD_FIELD_JOB_UNIX,
		(uint64_t)(s->job_unix_ns ? s->job_unix_ns : s->start_unix_ns));
	header_number(&p, VFD_FIELD_SHIFT, 0);
	header_number(&p, VFD_FIELD_RATE, rate);
	header_number(&p, VFD_FIELD_INTERVAL, s->interval_ns);
	header_number(&p, VFD_FIELD_MAX_SIZE, s->max_size);
	if (s->run)
		header_number(&p, VFD_FIELD_RUN, s->run);
	header_number(&p, VFD_FIELD_END, 0);
	ok = (w->keep || outfile_append(w->out, &preamble, sizeof(preamble))) &&
	     vfd_page_write(w, &p, VFD_BLOCK_HEADER, s->start_ticks);
	free(p.bytes);
	return ok;
}

struct vfd_writer *vfd_writer_new(const struct vfd_setup *s, char **error)
{
	const double ns_per_tick = s->ns_per_tick > 0 ? s->ns_per_tick : 1;
	const uint64_t buffer = s->buffer_bytes ? s->buffer_bytes : BUFFER_BYTES;
	struct outfile *out = s->keep_bytes ? NULL : outfile_open(s->path, s->way, buffer, error);
	struct vfd_writer *w;

	if (!out && !s->keep_bytes)
		return NULL;
	w = xcalloc(1, sizeof(*w));
	w->out = out;
	if (s->keep_bytes)
		w->keep = keep_new(s);
	w->units_per_ns = 1 / ns_per_tick;
	w->interval_units = (uint64_t)((double)s->interval_ns * w->units_per_ns);
	if (!s->interval_ns)
		w->least_units = (uint64_t)((double)s->least_ns * w->units_per_ns);
	if (s->interval_ns && !w->interval_units)
		w->interval_units = 1;
	w->max_size = s->max_size;
	w->block_bytes = s->block_bytes ? s->block_bytes : TRACK_BLOCK_BYTES;
	if (w->block_bytes < BLOCK_LEAST)
		w->block_bytes = BLOCK_LEAST;
	if (w->block_bytes > VFD_BLOCK_MAX / 4)
		w->block_bytes = VFD_BLOCK_MAX / 4;
	w->n_comms = w->n_objects[0] = w->n_objects[1] = 1;
	w->n_counters = w->n_observables = 1;
	write_header(w, s, 1 / w->units_per_ns);
	if (out)
		outfile_flush(out);
	return w;
}

/* ---- the end ---------------------------------------------------------------------- */

static double seconds_left(double deadline)
{
	const double left = deadline - 1e-9 * (double)clock_raw_ns();

	return left > 0 ? left : 0;
}

void vfd_wait_until(struct vfd_writer *w, double deadline)
{
	const double seconds = seconds_left(deadline);

	if (w->out && seconds > 0 && !outfile_ready(w->out))
		outfile_wait(w->out, seconds);
}

static void free_writer(struct vfd_writer *w)
{
	for (size_t i = 0; i < w->n_texts; i++)
		free(w->texts[i]);
	free(w->texts);
	map64_free(&w->text_numbers);
	free(w->definitions.bytes);
	for (size_t i = 0; i < ARRAY_SIZE(w->records); i++)
		free(w->records[i].page.bytes);
	free(w->precise);
	vfd_index_free(&w->index);
	keep_free(w->keep);
	free(w->trouble);
	free(w);
}

int vfd_writer_end(struct vfd_writer *w, uint64_t ticks, double seconds, struct vfd_written *done,
	char **trouble)
{
	const double deadline = 1e-9 * (double)clock_raw_ns() + seconds;
	const unsigned level = w->level; /* later no call is left out */
	const char *why;
	bool whole = true;
	int rc = 0;

	/* now we may wait, so that nothing is left out for want of memory */
	while (w->tracks) {
		vfd_wait_until(w, deadline);
		vfd_track_end(&w->tracks->fast, ticks);
	}
	vfd_wait_until(w, deadline);
	vfd_write_records(w);
	if (w->out) {
		whole = vfd_index_write(&w->index, w, outfile_bytes(w->out), ticks, deadline);
		outfile_flush(w->out);
		outfile_wait(w->out, seconds_left(deadline)); /* what fails here is told, too */
	}
	*done = vfd_writer_written(w);
	done->level = level;
	why = vfd_writer_trouble(w);
	*trouble = why ? xstrdup(why) : NULL;
	if (w->out)
		rc = outfile_close(w->out, seconds_left(deadline));
	free_writer(w);
	return rc || whole ? rc : -ETIMEDOUT;
}

int vfd_writer_close(struct vfd_writer *w, uint64_t ticks, double seconds)
{
	struct vfd_written done;
	char *trouble;
	const int rc = vfd_writer_end(w, ticks, seconds, &done, &trouble);

	free(trouble);
	return rc;
}

/* ---- while it runs ---------------------------------------------------------------- */

bool vfd_writer_ready(struct vfd_writer *w)
{
	return w->keep || outfile_ready(w->out);
}

void vfd_writer_wait(struct vfd_writer *w, double seconds)
{
	if (w->out)
		outfile_wait_ready(w->out, seconds);
}

bool vfd_writer_flush(struct vfd_writer *w)
{
	bool all = true;

	/* thousands of tracks would be more than may wait for the disk */
	for (struct track *l = w->tracks; l && all; l = l->next) {
		track_push(l);
		track_push_counters(l);
		all = vfd_writer_ready(w);
	}
	vfd_write_records(w);
	if (w->out)
		outfile_flush(w->out);
	return all;
}

const char *vfd_writer_trouble(struct vfd_writer *w)
{
	const int error = w->out ? outfile_error(w->out) : 0;
	char *now = NULL;

	if (w->too_many)
		now = xstrdup("definitions alone fill the memory for what is kept: no more is");
	else if (error)
		now = xasprintf("the sampling file ends after %llu bytes: %s",
			(unsigned long long)outfile_written(w->out), strerror(error));
	else if (w->full)
		now = xstrdup("the sampling file is as large as sampling.max_size allows: its last "
			      "parts are missing");
	else if (w->dropped_blocks)
		now = xstrdup("the disk is too slow for the sampling file: parts are missing");
	else if (w->out && outfile_note(w->out))
		now = xasprintf("the sampling file is written without io_uring, and may slow the "
				"agent: %s",
			outfile_note(w->out));
	free(w->trouble);
	w->trouble = now;
	return now;
}

struct vfd_written vfd_writer_written(const struct vfd_writer *w)
{
	struct vfd_written done = {.bytes = w->out ? outfile_written(w->out) : 0,
		.blocks = w->index.blocks,
		.events = w->events,
		.messages = w->records[VFD_BLOCK_MESSAGES].written,
		.matches = w->records[VFD_BLOCK_MATCHES].written,
		.counts = w->n_counts,
		.launches = w->records[VFD_BLOCK_LAUNCHES].written,
		.thinned = w->thinned,
		.dropped_blocks = w->dropped_blocks,
		.level = w->level,
		.way = w->out ? outfile_way(w->out) : OUTFILE_PWRITE};

	return done;
}
