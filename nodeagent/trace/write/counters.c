/* SPDX-License-Identifier: BSD-3-Clause */
/* Values of counters on their way into a file: a page for each track that has any. */
#include "nodeagent/trace/counters.h"

#include <stdlib.h>

#include "nodeagent/base/util.h"
#include "nodeagent/trace/write/internal.h"

struct track_counters {
	struct vfd_page page;
	struct counts_codec codec;
	uint64_t begin, latest; /* units: of the page, of the track */
	bool goes_back;
};

void track_push_counters(struct track *l)
{
	struct track_counters *c = l->counters;
	struct vfd_block *b;

	if (!c || !c->page.records)
		return;
	b = (struct vfd_block *)c->page.bytes;
	*b = (struct vfd_block){.kind = VFD_BLOCK_COUNTERS,
		.flags = c->goes_back ? VFD_GOES_BACK : 0,
		.track = l->number,
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

void track_free_counters(struct track *l)
{
	struct track_counters *c = l->counters;

	if (!c)
		return;
	counts_free(&c->codec);
	free(c->page.bytes);
	free(c);
	l->counters = NULL;
}

static void begin_page(struct track_counters *c, uint64_t units)
{
	counts_begin(&c->codec, units);
	c->begin = units;
	c->goes_back = false;
}

void vfd_counts(
	struct vfd_track *fast, const struct vfd_counts *counts, const bool *real, uint64_t ticks)
{
	struct track *l = track_of(fast);
	struct track_counters *c = l->counters;
	unsigned char *at;

	if (l->writer->mute || l->writer->level == VFD_THINNING_ALL || !counts->n ||
		counts->n > VFD_COUNTS_MOST)
		return;
	if (!c)
		l->counters = c = xcalloc(1, sizeof(*c));
	if (!c->page.records)
		begin_page(c, ticks);
	c->goes_back |= ticks < c->latest;
	c->latest = ticks > c->latest ? ticks : c->latest;
	at = vfd_page_room(&c->page, VFD_COUNTS_ROOM);
	vfd_page_done(&c->page, counts_put(&c->codec, at, ticks, counts, real));
	c->page.records++;
	if (c->page.used >= TRACK_BLOCK_BYTES)
		track_push_counters(l);
}
