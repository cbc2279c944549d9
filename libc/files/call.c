/* SPDX-License-Identifier: BSD-3-Clause */
/* A call: its frame, and the record inside of it. */
#include "libc/files/files.h"

#include <errno.h>
#include <fcntl.h>

/* Found when the program is loaded: nobody has to be asked for it later. */
extern const struct files_host *vftrace_files_host(void) __attribute__((weak));

const struct files_host *files_host;

static __attribute__((constructor(101))) void find_host(void)
{
	const struct files_host *h = vftrace_files_host ? vftrace_files_host() : NULL;

	if (h && h->version == FILES_SEAM_VERSION)
		files_host = h;
}

static const char *const names[CALLS] = {
#define NAME(symbol, name) name,
	FUNCTIONS(NAME)
#undef NAME
};

/* What the host knows a name by; 0: nothing yet. */
static uint32_t cache[CALLS];

enum files_state files_begin(struct call *c, enum function f, const void *site)
{
	enum files_state state = files_host ? files_host->state() : FILES_OFF;

	if (state != FILES_ON)
		return state;
	c->function = f;
	c->site = site;
	files_host->call(false, names[f], &cache[f], site);
	c->begin = files_host->ticks();
	return FILES_ON;
}

static void record(
	const struct call *c, enum file_call kind, uint32_t file, int64_t bytes, uint64_t flags)
{
	uint64_t end = files_host->ticks();

	files_host->record(
		file_call_word(kind, file, flags), bytes, end > c->begin ? end - c->begin : 0);
}

static void leave(const struct call *c)
{
	files_host->call(true, names[c->function], &cache[c->function], c->site);
}

void files_end(const struct call *c, enum file_call kind, uint32_t file, int64_t bytes)
{
	record(c, kind, file, bytes, 0);
	leave(c);
}

void files_inside(const struct call *c, int fd, enum file_call kind, ssize_t bytes, int64_t at)
{
	const bool is_new = !files_knows(fd), here = at == FILES_HERE;
	struct descriptor *d = files_descriptor(fd);
	uint64_t flags = 0;

	if (bytes >= 0) {
		if (is_new && here && d->position >= bytes) /* where it stands now, afterwards */
			d->position = d->next = d->position - bytes;
		if (here)
			at = d->position;
		if (at == d->next || (d->appends && kind == FILE_WRITE))
			flags = FILE_CALL_SEQUENTIAL;
		d->next = at + bytes;
		if (here)
			d->position = d->next;
	}
	record(c, kind, d->known - 1, bytes, flags);
}

void files_moved(const struct call *c, int fd, enum file_call kind, ssize_t bytes, int64_t at)
{
	files_inside(c, fd, kind, bytes, at);
	leave(c);
}

void files_called(const struct call *c, int fd, enum file_call kind, int64_t result)
{
	files_end(c, kind, files_descriptor(fd)->known - 1, result);
}

void files_named(const struct call *c, int64_t result)
{
	files_end(c, FILE_OTHER, files_number(FILE_NAME_BY_NAME), result < 0 ? -1 : 0);
}

void files_opened(const struct call *c, int fd)
{
	struct descriptor *d;

	if (fd < 0) {
		files_end(c, FILE_OPEN, files_number(FILE_NAME_FAILED), -1);
		return;
	}
	files_forget(fd);
	d = files_descriptor(fd);
	files_end(c, FILE_OPEN, d->known - 1, 0);
}

void files_rest(enum file_call kind, uint32_t file, int64_t bytes)
{
	files_host->record(file_call_word(kind, file, FILE_CALL_REST), bytes, 0);
}
