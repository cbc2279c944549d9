/* SPDX-License-Identifier: BSD-3-Clause */
/* Who had what a thread waited for is written when all threads were read up to then. */
#include <stdlib.h>

#include "nodeagent/base/util.h"
#include "nodeagent/trace/read/internal.h"
#include "nodeagent/trace/records.h"

struct lock_list {
	struct vfd_lock_wait *all;
	size_t n, cap;
};

static bool makes_sense(const struct vfd_file *f, const struct vfd_lock_wait *wait)
{
	return wait->track < f->n_threads && wait->holder < f->n_threads &&
	       wait->track != wait->holder && wait->end > wait->start &&
	       f->threads[wait->track].process == f->threads[wait->holder].process;
}

static void add_block(struct lock_list *l, const struct vfd_file *f, const struct read_block *b,
	const unsigned char *payload)
{
	struct varint_reader r = {payload, payload + b->bytes, false};
	int64_t last = (int64_t)b->time;
	struct vfd_lock_wait wait;

	for (uint32_t i = 0; i < b->records && r.at < r.end && vfd_lock_get(&r, &wait, &last);
		i++) {
		if (!makes_sense(f, &wait))
			continue;
		wait.start = reader_time(f, (uint64_t)wait.start);
		wait.end = reader_time(f, (uint64_t)wait.end);
		*APPEND(l->all, l->n, l->cap) = wait;
	}
}

ORDER_BY(by_start, struct vfd_lock_wait, RISING(start) ?: RISING(track) ?: RISING(end))

struct vfd_lock_wait *vfd_lock_waits(struct vfd_file *f, size_t *n)
{
	struct lock_list l = {0};
	unsigned char *buf = NULL;
	size_t room = 0;

	for (size_t i = 0; i < f->n_blocks; i++)
		if (f->blocks[i].kind == VFD_BLOCK_LOCKS &&
			reader_load_grown(f, &f->blocks[i], &buf, &room))
			add_block(&l, f, &f->blocks[i], buf);
	free(buf);
	if (l.n)
		qsort(l.all, l.n, sizeof(*l.all), by_start);
	*n = l.n;
	return l.all;
}
