/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A reader sorts all records of the file by the receive that they are of, the
 * first time it is asked: 24 bytes for each.
 */
#include "nodeagent/vfd-match.h"

#include <stdlib.h>

#include "nodeagent/util.h"
#include "nodeagent/vfd-reader.h"

#define PARTITIONED 1u

unsigned char *vfd_pair_put(unsigned char *to, const struct vfd_pair *p)
{
	to = varint_put(to, p->process);
	to = varint_put(to, p->comm);
	to = varint_put(to, p->ticket);
	to = varint_put(to, (uint64_t)p->match << 1 | p->partitioned);
	to = varint_put(to, p->sender_ticket);
	return varint_put(to, (uint64_t)(p->sender_thread + 1));
}

/* False: there is none that makes sense. */
static bool get(struct varint_reader *r, struct vfd_pair *p)
{
	uint64_t process = varint_get(r), comm = varint_get(r), ticket = varint_get(r),
		 what = varint_get(r), sender_ticket = varint_get(r), thread = varint_get(r);

	*p = (struct vfd_pair){.process = (uint32_t)process,
		.comm = (uint32_t)comm,
		.ticket = ticket,
		.partitioned = what & PARTITIONED,
		.sender_ticket = sender_ticket,
		.sender_thread = (uint32_t)thread - 1};
	if (r->bad || process > UINT32_MAX || comm > UINT32_MAX || thread > UINT32_MAX ||
		what >> 1 >= VFD_MATCHES)
		return false;
	p->match = (enum vfd_match)(what >> 1);
	return true;
}

/* ---- in a file that is read ------------------------------------------------------ */

static uint64_t key_of(uint32_t process, uint32_t comm, uint64_t ticket, bool partitioned)
{
	uint64_t h = (uint64_t)process << 32 | comm;

	/* 64 bits: of a file's receives hardly two will be alike */
	h = (h ^ h >> 29) * 0xbf58476d1ce4e5b9u;
	h ^= ticket << 1 | partitioned;
	h = (h ^ h >> 32) * 0x9e3779b97f4a7c15u;
	return h ^ h >> 29;
}

static int by_key(const void *a, const void *b)
{
	const struct read_pair *p = a, *q = b;

	return (p->key > q->key) - (p->key < q->key);
}

static void add_block(struct vfd_file *f, const struct read_block *b, const unsigned char *payload)
{
	struct varint_reader r = {payload, payload + b->bytes, false};
	struct vfd_pair p;

	for (uint32_t i = 0; i < b->records && r.at < r.end && get(&r, &p); i++) {
		f->pairs = grow(f->pairs, f->n_pairs, &f->cap_pairs, sizeof(*f->pairs));
		f->pairs[f->n_pairs++] =
			(struct read_pair){key_of(p.process, p.comm, p.ticket, p.partitioned),
				p.sender_ticket, p.sender_thread, p.match};
	}
}

static void load(struct vfd_file *f)
{
	unsigned char *buf = xmalloc(VFD_BLOCK_MAX);

	for (size_t i = 0; i < f->n_blocks; i++)
		if (f->blocks[i].kind == VFD_BLOCK_MATCHES && reader_load(f, &f->blocks[i], buf))
			add_block(f, &f->blocks[i], buf);
	free(buf);
	if (f->n_pairs)
		qsort(f->pairs, f->n_pairs, sizeof(*f->pairs), by_key);
	f->pairs_loaded = true;
}

void reader_match(struct vfd_file *f, struct vfd_message *m)
{
	const struct read_pair *found;
	struct read_pair wanted = {0};

	if (m->kind != VFD_RECEIVE || m->match != VFD_MATCH_NONE || m->lane >= f->n_threads)
		return;
	if (!f->pairs_loaded)
		load(f);
	wanted.key = key_of(f->threads[m->lane].process, m->comm, m->ticket,
		m->flags & VFD_MESSAGE_PARTITIONED);
	if (!f->n_pairs)
		return;
	found = bsearch(&wanted, f->pairs, f->n_pairs, sizeof(*f->pairs), by_key);
	if (!found)
		return;
	m->match = found->match;
	m->sender_ticket = found->sender_ticket;
	m->sender_thread = found->sender_thread;
}
