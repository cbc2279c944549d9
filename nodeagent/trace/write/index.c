/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The index at the end of a sampling file. Its blocks are made while those that
 * they tell of are written, as a file of 100 GB has millions of them and an entry
 * is some ten bytes.
 */
#include <stdlib.h>
#include <string.h>

#include "nodeagent/base/util.h"
#include "nodeagent/trace/index-entry.h"
#include "nodeagent/trace/write/internal.h"

/* The page for the next entry. What is full keeps no more than it needs. */
static struct vfd_page *page_to_fill(struct vfd_index *x)
{
	struct vfd_page *p = x->n_pages ? &x->pages[x->n_pages - 1] : NULL;

	if (p && p->used <= SHARED_BLOCK_BYTES)
		return p;
	if (p)
		vfd_page_trim(p);
	p = LIST_ADD(x, pages);
	*p = (struct vfd_page){0};
	/* each block can be read alone */
	x->offset = x->time = 0;
	return p;
}

void vfd_index_add(struct vfd_index *x, uint64_t offset, const struct vfd_block *b)
{
	struct vfd_page *p = page_to_fill(x);
	unsigned char *at = vfd_page_room(p, INDEX_ENTRY);

	at = index_entry_put(at, b, offset, x->offset, x->time);
	vfd_page_done(p, at);
	p->records++;
	x->offset = offset;
	x->time = b->time;
	x->blocks++;
}

static bool write_end_block(
	struct vfd_writer *w, const struct vfd_end *end, uint64_t units, double deadline)
{
	struct vfd_page p = {0};
	bool ok;

	memcpy(vfd_page_room(&p, sizeof(*end)), end, sizeof(*end));
	p.used = sizeof(*end);
	p.records = 1;
	vfd_wait_until(w, deadline);
	ok = vfd_page_write(w, &p, VFD_BLOCK_END, units);
	free(p.bytes);
	return ok;
}

bool vfd_index_write(
	struct vfd_index *x, struct vfd_writer *w, uint64_t place, uint64_t units, double deadline)
{
	const struct vfd_end end = {.index = place, .blocks = x->blocks, .time = units};

	for (size_t i = 0; i < x->n_pages; i++) {
		vfd_wait_until(w, deadline);
		if (!vfd_page_write(w, &x->pages[i], VFD_BLOCK_INDEX, 0))
			return false;
	}
	return write_end_block(w, &end, units, deadline);
}

uint64_t vfd_index_bytes(const struct vfd_index *x)
{
	const size_t n = x->n_pages;

	/* what is full goes little beyond that */
	return n ? (n - 1) * (SHARED_BLOCK_BYTES + INDEX_ENTRY) + x->pages[n - 1].used : 0;
}

void vfd_index_free(struct vfd_index *x)
{
	for (size_t i = 0; i < x->n_pages; i++)
		free(x->pages[i].bytes);
	free(x->pages);
	*x = (struct vfd_index){0};
}
