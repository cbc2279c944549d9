/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/replay/files.h"

#include <regex.h>
#include <stdlib.h>
#include <string.h>
#include "nodeagent/base/util.h"
#include "nodeagent/replay/internal.h"
#include "shm/atomic.h"

struct files {
	uint16_t place[FILE_NUMBERS + 1]; /* by number: 1 + its place in at[], or 0 */
	struct file_use *at;
	size_t n, cap;
	bool leaves_out;
	regex_t exclude;
};

struct files *files_new(const char *exclude)
{
	struct files *f = xcalloc(1, sizeof(*f));

	f->leaves_out = exclude && !regcomp(&f->exclude, exclude, REG_EXTENDED | REG_NOSUB);
	return f;
}

void files_free(struct files *f)
{
	if (!f)
		return;
	for (size_t i = 0; i < f->n; i++)
		free(f->at[i].name);
	free(f->at);
	if (f->leaves_out)
		regfree(&f->exclude);
	free(f);
}

/* Numbers come before their names. */
static struct file_use *use_of(struct files *f, uint32_t number)
{
	if (number > FILE_NUMBERS)
		return NULL;
	if (!f->place[number]) {
		*APPEND(f->at, f->n, f->cap) = (struct file_use){.number = number};
		f->place[number] = (uint16_t)f->n;
	}
	return &f->at[f->place[number] - 1];
}

static void name_use(struct files *f, struct file_use *u, const char *name)
{
	u->name = xasprintf("%.*s", (int)FILE_NAME_BYTES - 1, name);
	u->left_out = f->leaves_out && !regexec(&f->exclude, u->name, 0, NULL, 0);
}

bool files_define(struct files *f, const struct wire_file_name *m, const char *name)
{
	struct file_use *u = m->number ? use_of(f, m->number) : NULL;

	if (!u || !name[0])
		return false;
	if (!u->name)
		name_use(f, u, name);
	return true;
}

const struct file_use *files_all(const struct files *f, size_t *n)
{
	*n = f ? f->n : 0;
	return f ? f->at : NULL;
}

/* ---- records ------------------------------------------------------------------------------- */

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
	const uint64_t ticks = rec->last & ~FILE_CALL_MARK, most = elapsed(r->start, r->not_after);
	struct file_use *u = r->files ? use_of(r->files, FILE_CALL_FILE(rec->head)) : NULL;

	if (kind >= FILE_CALLS || rec->head & RECORD_EXIT || (r->files && !u)) {
		r->error = "a call for a file that cannot be";
		return false;
	}
	if (u && !u->left_out && add_call(u, rec, bytes, ticks < most ? ticks : most))
		add_to_path(r, kind, bytes, ticks);
	return true;
}
