/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/base/util.h"
#include "nodeagent/trace/write/internal.h"

/* A block is filled up to VFD_ALIGN, and a varint writes too far. */
#define SLACK (sizeof(struct vfd_block) + VFD_ALIGN + VARINT_MAX)

unsigned char *vfd_page_room(struct vfd_page *p, size_t n)
{
	if (p->used + n > p->room || !p->bytes) {
		p->room = 2 * (p->used + n);
		if (p->room < 4096)
			p->room = 4096;
		p->bytes = xrealloc(p->bytes, p->room + SLACK);
	}
	return p->bytes + sizeof(struct vfd_block) + p->used;
}

void vfd_page_trim(struct vfd_page *p)
{
	p->room = p->used;
	p->bytes = xrealloc(p->bytes, p->room + SLACK);
}

void vfd_page_done(struct vfd_page *p, const unsigned char *end)
{
	p->used = (size_t)(end - p->bytes) - sizeof(struct vfd_block);
}

bool vfd_page_write(struct vfd_writer *w, struct vfd_page *p, enum vfd_kind kind, uint64_t time)
{
	struct vfd_block *b = (struct vfd_block *)p->bytes;
	bool ok;

	*b = (struct vfd_block){.kind = (uint16_t)kind,
		.track = VFD_NO_TRACK,
		.bytes = (uint32_t)p->used,
		.records = p->records,
		.time = time};
	ok = vfd_write_block(w, b);
	p->used = 0;
	p->records = 0;
	return ok;
}
