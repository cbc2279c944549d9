/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Streams of stdio. Calls that move characters or lines (getc, printf, fgets ...) are too small to
 * be recorded one by one: what they have moved is known from where the stream stands, when it is
 * moved elsewhere or closed. The reads and writes of the stream itself are inside of the C
 * library, where nobody sees them.
 */
#include "libc/files/files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio_ext.h>
#include <string.h>
#include "shm/atomic.h"

#undef fread_unlocked /* macros, where the compiler optimizes */
#undef fwrite_unlocked

size_t __fread_chk(void *to, size_t room, size_t size, size_t n, FILE *f);
size_t __fread_unlocked_chk(void *to, size_t room, size_t size, size_t n, FILE *f);

/* -1: a stream without a descriptor. Keeps errno. */
static int number_of(FILE *f)
{
	int saved_errno = errno, fd = fileno(f);

	errno = saved_errno;
	return fd;
}

static int64_t place_of(FILE *f)
{
	int saved_errno = errno;
	int64_t at = ftello(f);

	errno = saved_errno;
	return at;
}

/* The bytes that went without a record. at: where the stream is; one that appends has gone there
 * over what was in the file before, and over what others have appended. */
static void settle(FILE *f, int fd, int64_t at)
{
	struct descriptor *d = files_descriptor(fd);
	const bool writes = __fwriting(f) != 0;

	if (at > d->position && !(writes && d->appends))
		files_rest(writes ? FILE_WRITE : FILE_READ, d->known - 1, at - d->position);
	if (at >= 0) {
		d->next += at - d->position;
		d->position = at;
	}
}

/* ---- opening and closing ---- */

static FILE *opened(const struct call *c, enum files_state state, FILE *f)
{
	int fd = f ? number_of(f) : -1;

	if (state == FILES_ON) {
		files_opened(c, fd);
		if (fd >= 0) {
			struct descriptor *d = files_descriptor(fd);
			int64_t at = place_of(f);

			d->position = d->next = at < 0 ? 0 : at;
		}
	} else if (state == FILES_UNKNOWN && fd >= 0) {
		files_forget(fd);
	}
	return f;
}

#define OPENING(symbol, params, args)                                                              \
	EXPORT FILE *symbol params                                                                 \
	{                                                                                          \
		struct call c;                                                                     \
		enum files_state state = files_begin(&c, CALL_##symbol, SITE);                     \
                                                                                                   \
		return opened(&c, state, REAL(symbol) args);                                       \
	}

OPENING(fopen, (const char *path, const char *mode), (path, mode))
OPENING(fopen64, (const char *path, const char *mode), (path, mode))
OPENING(tmpfile, (void), ())
OPENING(tmpfile64, (void), ())

/* Inside of the frame of a call that closes the stream. */
static uint32_t closing(FILE *f, int fd)
{
	uint32_t file;

	settle(f, fd, place_of(f));
	file = files_descriptor(fd)->known - 1;
	files_forget(fd);
	return file;
}

#define REOPENING(symbol)                                                                          \
	EXPORT FILE *symbol(const char *path, const char *mode, FILE *f)                           \
	{                                                                                          \
		int fd = number_of(f);                                                             \
		struct call c;                                                                     \
		enum files_state state = files_begin(&c, CALL_##symbol, SITE);                     \
                                                                                                   \
		if (state == FILES_ON && fd >= 0)                                                  \
			closing(f, fd);                                                            \
		return opened(&c, state, REAL(symbol)(path, mode, f));                             \
	}

REOPENING(freopen)
REOPENING(freopen64)

#define CLOSING(symbol)                                                                            \
	EXPORT int symbol(FILE *f)                                                                 \
	{                                                                                          \
		int result, fd;                                                                    \
		uint32_t file;                                                                     \
		struct call c;                                                                     \
		enum files_state state = files_begin(&c, CALL_##symbol, SITE);                     \
                                                                                                   \
		if (state == FILES_OFF || state == FILES_FOREIGN)                                  \
			return REAL(symbol)(f);                                                    \
		fd = number_of(f);                                                                 \
		if (state == FILES_UNKNOWN) {                                                      \
			files_forget(fd);                                                          \
			return REAL(symbol)(f);                                                    \
		}                                                                                  \
		file = fd < 0 ? files_number(FILE_NAME_OTHERS) : closing(f, fd);                   \
		result = REAL(symbol)(f);                                                          \
		files_end(&c, FILE_CLOSE, file, result);                                           \
		return result;                                                                     \
	}

CLOSING(fclose)
CLOSING(pclose)

/* ---- blocks of data ---- */

/* The descriptor was there before us: it stands where the stream has read ahead to, or before what
 * the stream has yet to write. */
static void meet(FILE *f, int fd, int64_t bytes)
{
	struct descriptor *d = files_descriptor(fd);
	const int64_t began = bytes < 0 ? -1 : place_of(f) - bytes;

	if (began >= 0 && began < d->position)
		d->position = d->next = began;
}

static void moved(const struct call *c, FILE *f, enum file_call kind, size_t items, size_t size)
{
	int fd = number_of(f);
	int64_t bytes = items || !ferror(f) ? (int64_t)(items * size) : -1;

	if (fd >= 0 && !files_knows(fd))
		meet(f, fd, bytes);
	if (fd < 0)
		files_end(c, kind, files_number(FILE_NAME_OTHERS), bytes);
	else
		files_moved(c, fd, kind, bytes, FILES_HERE);
}

#define MOVING(symbol, kind, params, args)                                                         \
	EXPORT size_t symbol params                                                                \
	{                                                                                          \
		struct call c;                                                                     \
		size_t items;                                                                      \
                                                                                                   \
		if (!files_on(&c, CALL_##symbol, SITE))                                            \
			return REAL(symbol) args;                                                  \
		items = REAL(symbol) args;                                                         \
		moved(&c, f, kind, items, size);                                                   \
		return items;                                                                      \
	}

MOVING(fread, FILE_READ, (void *to, size_t size, size_t n, FILE *f), (to, size, n, f))
MOVING(fread_unlocked, FILE_READ, (void *to, size_t size, size_t n, FILE *f), (to, size, n, f))
MOVING(__fread_chk, FILE_READ, (void *to, size_t room, size_t size, size_t n, FILE *f),
	(to, room, size, n, f))
MOVING(__fread_unlocked_chk, FILE_READ, (void *to, size_t room, size_t size, size_t n, FILE *f),
	(to, room, size, n, f))
MOVING(fwrite, FILE_WRITE, (const void *from, size_t size, size_t n, FILE *f), (from, size, n, f))
MOVING(fwrite_unlocked, FILE_WRITE, (const void *from, size_t size, size_t n, FILE *f),
	(from, size, n, f))

/* ---- places ---- */

static void before_seek(FILE *f, int fd)
{
	if (fd >= 0)
		settle(f, fd, place_of(f));
}

static void after_seek(const struct call *c, FILE *f, int fd, int result)
{
	int64_t at = fd < 0 ? -1 : place_of(f);

	if (at >= 0)
		files_descriptor(fd)->position = at;
	if (fd < 0)
		files_end(c, FILE_SEEK, files_number(FILE_NAME_OTHERS), result);
	else
		files_called(c, fd, FILE_SEEK, result);
}

#define SEEKING(symbol, params, args)                                                              \
	EXPORT int symbol params                                                                   \
	{                                                                                          \
		struct call c;                                                                     \
		int result, fd;                                                                    \
                                                                                                   \
		if (!files_on(&c, CALL_##symbol, SITE))                                            \
			return REAL(symbol) args;                                                  \
		fd = number_of(f);                                                                 \
		before_seek(f, fd);                                                                \
		result = REAL(symbol) args;                                                        \
		after_seek(&c, f, fd, result);                                                     \
		return result;                                                                     \
	}

SEEKING(fseek, (FILE * f, long offset, int whence), (f, offset, whence))
SEEKING(fseeko, (FILE * f, off_t offset, int whence), (f, offset, whence))
SEEKING(fseeko64, (FILE * f, off64_t offset, int whence), (f, offset, whence))
SEEKING(fsetpos, (FILE * f, const fpos_t *place), (f, place))
SEEKING(fsetpos64, (FILE * f, const fpos64_t *place), (f, place))

EXPORT void rewind(FILE *f)
{
	struct call c;
	int fd;

	if (!files_on(&c, CALL_rewind, SITE)) {
		REAL(rewind)(f);
		return;
	}
	fd = number_of(f);
	before_seek(f, fd);
	REAL(rewind)(f);
	after_seek(&c, f, fd, 0);
}
