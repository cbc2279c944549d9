/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A call's lengths are in as many records as the program needed. A reader sorts all
 * records of the file by call, direction and first message, once it is asked for them,
 * and decodes each when its turn comes.
 */
#include <stdlib.h>

#include "nodeagent/base/util.h"
#include "nodeagent/trace/read/collectives.h"
#include "nodeagent/trace/read/internal.h"
#include "nodeagent/trace/records.h"

static uint64_t key_of(const struct vfd_lengths *l)
{
	return reader_key(l->process, l->comm, l->ticket, l->received);
}

ORDER_BY(by_key, struct read_lengths, RISING(key) ?: RISING(first))

/* The block's payload is in memory. */
static bool load_block(struct vfd_file *f, uint32_t block)
{
	if (f->lengths_block == block + 1)
		return true;
	f->lengths_block = 0;
	if (!reader_load_grown(f, &f->blocks[block], &f->lengths_payload, &f->lengths_room))
		return false;
	f->lengths_block = block + 1;
	return true;
}

static void add_block(struct vfd_file *f, uint32_t block)
{
	const struct read_block *b = &f->blocks[block];
	struct varint_reader r = {f->lengths_payload, f->lengths_payload + b->bytes, false};
	uint64_t bytes[LENGTHS_MOST];
	struct vfd_lengths l;

	for (uint32_t i = 0; i < b->records && r.at < r.end; i++) {
		const uint32_t offset = (uint32_t)(r.at - f->lengths_payload);

		if (!vfd_lengths_get(&r, &l, bytes))
			return;
		*LIST_ADD(f, lengths) = (struct read_lengths){key_of(&l), l.first, block, offset};
	}
}

static void load_lengths(struct vfd_file *f)
{
	f->lengths_loaded = true;
	for (size_t i = 0; i < f->n_blocks; i++)
		if (f->blocks[i].kind == VFD_BLOCK_LENGTHS && load_block(f, (uint32_t)i))
			add_block(f, (uint32_t)i);
	if (f->n_lengths)
		qsort(f->lengths, f->n_lengths, sizeof(*f->lengths), by_key);
}

/* The next record of the same call into now. */
static bool next_record(struct vfd_file *f, struct lengths *l)
{
	const struct read_lengths *x;
	struct varint_reader r;

	if (l->at >= f->n_lengths)
		return false;
	x = &f->lengths[l->at];
	if (x->key != l->key || !load_block(f, x->block))
		return false;
	r = (struct varint_reader){f->lengths_payload + x->offset,
		f->lengths_payload + f->blocks[x->block].bytes, false};
	l->at++;
	l->given = 0;
	return vfd_lengths_get(&r, &l->now, l->bytes);
}

static size_t first_of(const struct vfd_file *f, uint64_t key)
{
	return LOWER_BOUND(i, 0, f->n_lengths, f->lengths[i].key < key);
}

bool reader_lengths(
	struct vfd_file *f, struct lengths *l, const struct vfd_lengths *which, uint64_t bytes)
{
	uint64_t sum = 0, n = 0;
	size_t first;

	if (!f->lengths_loaded)
		load_lengths(f);
	*l = (struct lengths){.key = key_of(which)};
	first = l->at = first_of(f, l->key);
	while (n < which->n && next_record(f, l)) {
		if (l->now.first != n)
			return false;
		n += l->now.n;
		for (uint32_t i = 0; i < (l->now.same ? 1 : l->now.n); i++)
			sum += l->bytes[i] * (l->now.same ? l->now.n : 1);
	}
	l->at = first;
	l->now.n = l->given = 0;
	return n == which->n && sum == bytes;
}

uint64_t lengths_next(struct vfd_file *f, struct lengths *l)
{
	if (l->given == l->now.n && !next_record(f, l))
		return 0;
	return l->bytes[l->now.same ? (l->given++, 0) : l->given++];
}

/* ---- neighbours ------------------------------------------------------------------------ */

static uint64_t place_of(uint64_t process, uint64_t comm, bool received)
{
	return process << 33 | comm << 1 | received;
}

bool reader_get_neighbours(struct vfd_file *f, struct varint_reader *r)
{
	const uint64_t process = varint_get32(r), comm = varint_get32(r), received = varint_get(r);
	const uint64_t key = place_of(process, comm, received);
	struct read_neighbours *n;
	uint32_t at;

	if (r->bad || received > 1 || process >> 31)
		return false;
	at = *map64_at(&f->neighbours_at, key, (uint32_t)f->n_neighbours);
	if (at == f->n_neighbours)
		*LIST_ADD(f, neighbours) = (struct read_neighbours){0};
	n = &f->neighbours[at];
	while (r->at < r->end && !r->bad) {
		struct wire_run run = {.first = (int32_t)unzigzag(varint_get(r))};

		run.stride = (int32_t)unzigzag(varint_get(r));
		run.count = (int32_t)unzigzag(varint_get(r));
		if (run.count < 1)
			return false;
		*LIST_ADD(n, runs) = run;
		n->ranks += (uint64_t)run.count;
	}
	return true;
}

const struct read_neighbours *reader_neighbours(
	const struct vfd_file *f, uint32_t process, uint32_t comm, bool received, uint32_t n)
{
	const uint32_t *at = map64_find(&f->neighbours_at, place_of(process, comm, received));

	return at && f->neighbours[*at].ranks == n ? &f->neighbours[*at] : NULL;
}

void reader_free_lengths(struct vfd_file *f)
{
	for (size_t i = 0; i < f->n_neighbours; i++)
		free(f->neighbours[i].runs);
	free(f->neighbours);
	map64_free(&f->neighbours_at);
	free(f->lengths);
	free(f->lengths_payload);
}
