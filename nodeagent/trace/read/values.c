/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The values of a track's counters, read: block by block; but where times go back, as
 * those that a program gives itself may do, all of the track are sorted at first.
 * What is not defined, as its definition is lost, is left out.
 */
#include <stdlib.h>

#include "nodeagent/base/util.h"
#include "nodeagent/trace/counters.h"
#include "nodeagent/trace/read/internal.h"

/* One record of those that are sorted; its counters and values begin at `first`. */
struct kept {
	uint64_t units;
	size_t first;
	uint32_t n;
};

struct values {
	struct vfd_file *f;
	const struct read_track *l;
	const struct vfd_filter *filter;
	uint32_t file, track;
	size_t next_block;
	unsigned char *payload;
	size_t payload_room;
	struct varint_reader r;
	uint32_t left; /* records of the block */
	struct counts_codec codec;
	uint64_t units; /* of the record that is given */
	uint32_t counters[VFD_COUNTS_MOST];
	uint64_t values[VFD_COUNTS_MOST];
	struct vfd_counts counts;
	int64_t latest;
	bool any;
	/* sorted only */
	struct kept *kept;
	size_t n_kept, cap_kept, next_kept;
	uint32_t *kept_counters;
	uint64_t *kept_values;
	size_t n_pool, cap_pool, cap_pool_values;
	bool is_sorted;
};

/* ---- as they stand ------------------------------------------------------------------ */

static bool load_block(struct values *v)
{
	const struct read_block *b = &v->f->blocks[v->l->value_blocks[v->next_block++]];

	if (!reader_load_grown(v->f, b, &v->payload, &v->payload_room))
		return false;
	v->r = (struct varint_reader){v->payload, v->payload + b->bytes, false};
	v->left = b->records;
	counts_begin(&v->codec, b->time);
	return true;
}

/* Those that are defined stay. */
static bool take_values(struct values *v, const uint64_t *values)
{
	const struct counts_codec *c = &v->codec;
	uint32_t n = 0;

	for (uint32_t i = 0; i < c->n; i++) {
		if (!v->f->counters[c->counters[i]].number)
			continue;
		v->counters[n] = c->counters[i];
		v->values[n++] = values[i];
	}
	v->units = c->units;
	v->counts = (struct vfd_counts){n, v->counters, v->values};
	return n > 0;
}

static bool next_record(struct values *v)
{
	uint64_t values[VFD_COUNTS_MOST];

	for (;;) {
		while (v->left && v->r.at < v->r.end) {
			v->left--;
			if (!counts_get(&v->codec, &v->r, values, v->f->n_counters))
				break;
			if (take_values(v, values))
				return true;
		}
		v->left = 0;
		if (v->next_block == v->l->n_value_blocks)
			return false;
		load_block(v);
	}
}

/* ---- sorted --------------------------------------------------------------------------- */

static void keep_values(struct values *v)
{
	*LIST_ADD(v, kept) = (struct kept){v->units, v->n_pool, v->counts.n};
	for (uint32_t i = 0; i < v->counts.n; i++) {
		v->kept_counters =
			grow(v->kept_counters, v->n_pool, &v->cap_pool, sizeof(*v->kept_counters));
		v->kept_values = grow(
			v->kept_values, v->n_pool, &v->cap_pool_values, sizeof(*v->kept_values));
		v->kept_counters[v->n_pool] = v->counters[i];
		v->kept_values[v->n_pool++] = v->values[i];
	}
}

ORDER_BY(by_time, struct kept, RISING(units) ?: RISING(first))

static bool next_kept(struct values *v)
{
	const struct kept *k;

	if (v->next_kept == v->n_kept)
		return false;
	k = &v->kept[v->next_kept++];
	v->units = k->units;
	v->counts =
		(struct vfd_counts){k->n, v->kept_counters + k->first, v->kept_values + k->first};
	return true;
}

static void sort(struct values *v)
{
	while (next_record(v))
		keep_values(v);
	if (v->n_kept)
		qsort(v->kept, v->n_kept, sizeof(*v->kept), by_time);
	v->is_sorted = true;
}

/* ---- a stream of events ----------------------------------------------------------------- */

struct values *values_new(
	struct vfd_file *f, uint32_t file, uint32_t track, const struct vfd_filter *filter)
{
	const struct read_track *l = &f->tracks[track];
	struct values *v;
	bool back = false;

	if (!l->n_value_blocks)
		return NULL;
	v = xcalloc(1, sizeof(*v));
	v->f = f;
	v->l = l;
	v->file = file;
	v->track = track;
	v->filter = filter;
	for (size_t i = 0; i < l->n_value_blocks; i++)
		back |= f->blocks[l->value_blocks[i]].flags & VFD_GOES_BACK;
	if (back) {
		sort(v);
		return v;
	}
	while (filter->from_set && v->next_block + 1 < l->n_value_blocks &&
		reader_time(f, f->blocks[l->value_blocks[v->next_block + 1]].time) < filter->from)
		v->next_block++;
	return v;
}

void values_free(struct values *v)
{
	if (!v)
		return;
	counts_free(&v->codec);
	free(v->payload);
	free(v->kept);
	free(v->kept_counters);
	free(v->kept_values);
	free(v);
}

bool values_next(struct values *v, struct vfd_event *e)
{
	const struct vfd_filter *f = v->filter;

	while (v->is_sorted ? next_kept(v) : next_record(v)) {
		int64_t time = reader_time(v->f, v->units);

		if (f->from_set && time < f->from)
			continue;
		if (f->to_set && time >= f->to)
			return false;
		/* only a hostile file goes back */
		if (v->any && time < v->latest)
			time = v->latest;
		v->any = true;
		v->latest = time;
		*e = (struct vfd_event){.kind = VFD_COUNTERS,
			.file = v->file,
			.track = v->track,
			.time = time,
			.counts = &v->counts};
		return true;
	}
	return false;
}

bool values_are_sums(const struct values *v)
{
	return v->f->counters[v->counts.counters[0]].kind == VFD_COUNTER_SUM;
}

void values_progress(const struct values *v, uint64_t *done, uint64_t *all)
{
	*done += v->next_block;
	*all += v->l->n_value_blocks;
}
