/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/recorder/lengths.h"
#include "mpi/recorder/record.h"

#define WORDS 4u /* of bytes, in a record */

/* The contents of the next record. */
struct row {
	const struct mpi_call *k;
	const struct mpi_comm *c;
	uint32_t flags, first, n;
	bool same, wide;
	uint64_t bytes[LENGTHS_MOST]; /* same: bytes[0] of each */
};

static void flush(struct row *r)
{
	uint64_t w[EMIT_WORDS] = {message_head(RECORD_LENGTHS, r->first)};
	uint32_t flags = r->flags;

	if (!r->n)
		return;
	if (r->same) {
		flags |= LENGTHS_SAME;
		w[2] = r->n;
		w[5] = r->bytes[0];
	} else {
		flags |= (r->n - 1) << LENGTHS_N_AT | (r->wide ? LENGTHS_WIDE : 0);
		for (uint32_t i = 0; i < r->n; i++)
			w[2 + (r->wide ? i : i / 2)] |= r->bytes[i] << (r->wide ? 0 : i % 2 * 32);
	}
	w[1] = message_pair(r->k->ticket, r->c->number << 8 | flags);
	w[5] |= MESSAGE_MARK;
	vftr_emit(w);
	r->first += r->n;
	r->n = 0;
	r->wide = false;
}

static void add(struct row *r, uint64_t bytes)
{
	const bool wide = bytes > LENGTHS_NARROW;

	if (r->n && r->same && bytes == r->bytes[0]) {
		if (r->n < LENGTHS_MOST)
			r->bytes[r->n] = bytes;
		r->n++;
		return;
	}
	if (r->n >= (wide || r->wide ? WORDS : LENGTHS_MOST))
		flush(r);
	r->same = !r->n;
	r->wide |= wide;
	r->bytes[r->n++] = bytes;
}

void vftr_lengths(const struct mpi_call *k, const struct mpi_comm *c, enum amount a,
	const struct whom *w, uint32_t flags)
{
	struct row r = {.k = k, .c = c, .flags = flags};

	for (uint32_t i = 0; i < w->n; i++)
		if (whom_has(w, i))
			add(&r, vftr_amount_of(k, a, i));
	flush(&r);
}
