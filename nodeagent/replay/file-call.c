/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls for files, for the process and for the frame on top. None took longer than from the
 * thread's start to the latest time that is believed. */
#include "nodeagent/replay/files.h"
#include "nodeagent/replay/internal.h"
#include "shm/atomic.h"

void replay_set_files(struct replay *r, struct files *f)
{
	r->files = f;
}

static void add_data(struct file_calls *c, uint64_t bytes, bool sequential)
{
	c->sequential += sequential;
	c->small += bytes < FILE_SMALL_BYTES;
	if (c->calls == c->failed + 1 || bytes < c->least)
		c->least = bytes;
	if (bytes > c->most)
		c->most = bytes;
}

/* Also at the call path: what replay/io.c makes of the program's own words. */
static void add_to_path(struct replay *r, uint32_t kind, int64_t bytes, uint64_t ticks)
{
	if (kind == FILE_READ || kind == FILE_WRITE)
		replay_add_io(
			r, kind == FILE_READ ? RECORD_IO_READ : RECORD_IO_WRITE, bytes, ticks);
}

/* What was moved, in the time since the frame of the function began. What streams have moved is
 * told of at the end. */
static void add_to_slices(
	struct replay *r, const struct ring_record *rec, int64_t bytes, uint64_t ticks)
{
	const uint32_t kind = FILE_CALL_KIND(rec->head);

	if (bytes > 0 && (kind == FILE_READ || kind == FILE_WRITE))
		files_moved(r->files, kind == FILE_WRITE, r->top->since,
			FILE_CALL_HAS(rec->head, FILE_CALL_REST) ? 0 : ticks, (uint64_t)bytes);
}

static bool add_call(
	struct file_use *u, const struct ring_record *rec, int64_t bytes, uint64_t ticks)
{
	struct file_calls *c = &u->of[FILE_CALL_KIND(rec->head)];

	u->used = true;
	if (FILE_CALL_HAS(rec->head, FILE_CALL_REST)) {
		c->bytes += bytes < 0 ? 0 : (uint64_t)bytes;
		c->rest += bytes < 0 ? 0 : (uint64_t)bytes;
		return false;
	}
	c->calls++;
	c->ticks += ticks;
	if (bytes < 0) {
		c->failed++;
		return true;
	}
	c->bytes += (uint64_t)bytes;
	add_data(c, (uint64_t)bytes, FILE_CALL_HAS(rec->head, FILE_CALL_SEQUENTIAL));
	return true;
}

bool replay_take_file_call(struct replay *r, const struct ring_record *rec)
{
	const uint32_t kind = FILE_CALL_KIND(rec->head);
	const int64_t bytes = (int64_t)load_relaxed(&rec->word[1]);
	const uint64_t told = rec->last & ~FILE_CALL_MARK, most = elapsed(r->start, r->not_after),
		       ticks = MIN(told, most);
	struct file_use *u = r->files ? files_use(r->files, FILE_CALL_FILE(rec->head)) : NULL;

	if (kind >= FILE_CALLS || rec->head & RECORD_EXIT || (r->files && !u)) {
		r->error = "a call for a file that cannot be";
		return false;
	}
	if (u)
		files_found_in(r->files, replay_node(r->top)->key);
	if (!u || u->left_out)
		return true;
	add_to_slices(r, rec, bytes, ticks);
	if (add_call(u, rec, bytes, ticks))
		add_to_path(r, kind, bytes, ticks);
	return true;
}
