/* SPDX-License-Identifier: BSD-3-Clause */
/* Values of counters on their way into a file: a page for each lane that has any. */
#include "nodeagent/vfd-counters.h"

#include <endian.h>
#include <stdlib.h>

#include "nodeagent/util.h"
#include "nodeagent/vfd-internal.h"

/* ---- records ---------------------------------------------------------------------- */

void counts_begin(struct counts_codec *c, uint64_t units)
{
	c->units = units;
	c->n = 0;
	if (c->n_last)
		memset(c->last, 0, c->n_last * sizeof(*c->last));
}

void counts_free(struct counts_codec *c)
{
	free(c->last);
	*c = (struct counts_codec){0};
}

static uint64_t *last_of(struct counts_codec *c, uint32_t counter)
{
	while (c->n_last <= counter) {
		const size_t more = counter < 32 ? 64 : 2 * (size_t)counter;

		c->last = xrealloc(c->last, more * sizeof(*c->last));
		memset(c->last + c->n_last, 0, (more - c->n_last) * sizeof(*c->last));
		c->n_last = more;
	}
	return &c->last[counter];
}

/* Round numbers have their bits on the left, where they would make varints long. */
static uint64_t reversed(uint64_t bits)
{
	return __builtin_bswap64(bits);
}

static bool same_counters(
	const struct counts_codec *c, const struct vfd_counts *counts, const bool *real)
{
	return c->n == counts->n &&
	       !memcmp(c->counters, counts->counters, c->n * sizeof(*c->counters)) &&
	       !memcmp(c->real, real, c->n * sizeof(*real));
}

unsigned char *counts_put(struct counts_codec *c, unsigned char *to, uint64_t units,
	const struct vfd_counts *counts, const bool *real)
{
	const bool other = !same_counters(c, counts, real);

	to = varint_put(to, zigzag((int64_t)(units - c->units)) << 1 | other);
	c->units = units;
	if (other) {
		c->n = counts->n;
		to = varint_put(to, c->n);
		for (uint32_t i = 0; i < c->n; i++) {
			c->counters[i] = counts->counters[i];
			c->real[i] = real[i];
			to = varint_put(to, (uint64_t)c->counters[i] << 1 | real[i]);
		}
	}
	for (uint32_t i = 0; i < c->n; i++) {
		uint64_t *last = last_of(c, c->counters[i]);
		const uint64_t value = counts->values[i];

		to = varint_put(
			to, real[i] ? reversed(value ^ *last) : zigzag((int64_t)(value - *last)));
		*last = value;
	}
	return to;
}

static bool get_counters(struct counts_codec *c, struct varint_reader *r, size_t most)
{
	const uint64_t n = varint_get(r);

	c->n = 0;
	if (!n || n > VFD_COUNTS_MOST)
		return false;
	for (uint32_t i = 0; i < n; i++) {
		const uint64_t what = varint_get(r);

		if (what >> 1 >= most || what >> 1 >= VFD_NONE)
			return false;
		c->counters[i] = (uint32_t)(what >> 1);
		c->real[i] = what & 1;
	}
	c->n = (uint32_t)n;
	return !r->bad;
}

bool counts_get(struct counts_codec *c, struct varint_reader *r, uint64_t *values, size_t most)
{
	const uint64_t word = varint_get(r);

	c->units += (uint64_t)unzigzag(word >> 1);
	if (c->units > INT64_MAX || (word & 1 && !get_counters(c, r, most)) || !c->n)
		return false;
	for (uint32_t i = 0; i < c->n; i++) {
		uint64_t *last = last_of(c, c->counters[i]);
		const uint64_t value = varint_get(r);

		values[i] =
			c->real[i] ? *last ^ reversed(value) : *last + (uint64_t)unzigzag(value);
		*last = values[i];
	}
	return !r->bad;
}

/* ---- a lane's page ---------------------------------------------------------------- */

struct lane_counters {
	struct vfd_page page;
	struct counts_codec codec;
	uint64_t begin, latest; /* units: of the page, of the lane */
	bool goes_back;
};

void lane_push_counters(struct lane *l)
{
	struct lane_counters *c = l->counters;
	struct vfd_block *b;

	if (!c || !c->page.records)
		return;
	b = (struct vfd_block *)c->page.bytes;
	*b = (struct vfd_block){.kind = VFD_BLOCK_COUNTERS,
		.flags = c->goes_back ? VFD_GOES_BACK : 0,
		.lane = l->number,
		.bytes = (uint32_t)c->page.used,
		.records = c->page.records,
		.time = c->begin};
	if (vfd_write_block(l->writer, b))
		l->writer->n_counts += c->page.records;
	else
		l->writer->dropped_blocks++;
	c->page.used = 0;
	c->page.records = 0;
}

void lane_free_counters(struct lane *l)
{
	struct lane_counters *c = l->counters;

	if (!c)
		return;
	counts_free(&c->codec);
	free(c->page.bytes);
	free(c);
	l->counters = NULL;
}

static void begin_page(struct lane_counters *c, uint64_t units)
{
	counts_begin(&c->codec, units);
	c->begin = units;
	c->goes_back = false;
}

void vfd_counts(
	struct vfd_lane *fast, const struct vfd_counts *counts, const bool *real, uint64_t ticks)
{
	struct lane *l = lane_of(fast);
	const uint64_t units = ticks >> fast->shift;
	struct lane_counters *c = l->counters;
	unsigned char *at;

	if (l->writer->mute || l->writer->level == VFD_THINNING_ALL || !counts->n ||
		counts->n > VFD_COUNTS_MOST)
		return;
	if (!c)
		l->counters = c = xcalloc(1, sizeof(*c));
	if (!c->page.records)
		begin_page(c, units);
	c->goes_back |= units < c->latest;
	c->latest = units > c->latest ? units : c->latest;
	at = vfd_page_room(&c->page, VFD_COUNTS_ROOM);
	vfd_page_done(&c->page, counts_put(&c->codec, at, units, counts, real));
	c->page.records++;
	if (c->page.used >= LANE_BLOCK_BYTES)
		lane_push_counters(l);
}
