/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A reader sorts all records of the file by the receive that they are of, the
 * first time it is asked: 24 bytes for each.
 */
#include <stdlib.h>

#include "nodeagent/base/util.h"
#include "nodeagent/trace/read/internal.h"
#include "nodeagent/trace/records.h"

ORDER_BY(by_key, struct read_pair, RISING(key))

static void add_block(struct vfd_file *f, const struct read_block *b, const unsigned char *payload)
{
	struct varint_reader r = {payload, payload + b->bytes, false};
	struct vfd_pair p;

	for (uint32_t i = 0; i < b->records && r.at < r.end && vfd_pair_get(&r, &p); i++) {
		*LIST_ADD(f, pairs) =
			(struct read_pair){reader_key(p.process, p.comm, p.ticket, p.partitioned),
				p.sender_ticket, p.sender_thread, p.match};
	}
}

static void load_pairs(struct vfd_file *f)
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

	if (m->kind != VFD_RECEIVE || m->match != VFD_MATCH_NONE || m->track >= f->n_threads)
		return;
	if (!f->pairs_loaded)
		load_pairs(f);
	wanted.key = reader_key(f->threads[m->track].process, m->comm, m->ticket,
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
