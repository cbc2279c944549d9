/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions that make descriptors, and close them. */
#include "libc/files/files.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

int __open_2(const char *path, int flags);
int __open64_2(const char *path, int flags);
int __openat_2(int dir, const char *path, int flags);
int __openat64_2(int dir, const char *path, int flags);

/* As in dirent.h, which says that d is never NULL: then our test of it would be left out. */
struct __dirstream;
int closedir(struct __dirstream *d);
int dirfd(struct __dirstream *d);

/* A descriptor is made. What is not recorded is looked up when it is used. */
#define OPENS(symbol, with)                                                                        \
	struct call c;                                                                             \
	enum files_state state = files_begin(&c, CALL_##symbol, SITE);                             \
	int fd = REAL(symbol) with;                                                                \
                                                                                                   \
	if (state == FILES_ON)                                                                     \
		files_opened(&c, fd);                                                              \
	else if (state == FILES_UNKNOWN)                                                           \
		files_forget(fd);                                                                  \
	return fd

#define OPENING(symbol, params, args)                                                              \
	EXPORT int symbol params                                                                   \
	{                                                                                          \
		OPENS(symbol, args);                                                               \
	}

static bool has_mode(int flags)
{
	return flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE;
}

#define OPENING_MODE(symbol, params, ...)                                                          \
	EXPORT int symbol params                                                                   \
	{                                                                                          \
		mode_t mode = 0;                                                                   \
		va_list more;                                                                      \
                                                                                                   \
		va_start(more, flags);                                                             \
		if (has_mode(flags))                                                               \
			mode = va_arg(more, mode_t);                                               \
		va_end(more);                                                                      \
		OPENS(symbol, (__VA_ARGS__, mode));                                                \
	}

OPENING_MODE(open, (const char *path, int flags, ...), path, flags)
OPENING_MODE(open64, (const char *path, int flags, ...), path, flags)
OPENING_MODE(openat, (int dir, const char *path, int flags, ...), dir, path, flags)
OPENING_MODE(openat64, (int dir, const char *path, int flags, ...), dir, path, flags)
OPENING(__open_2, (const char *path, int flags), (path, flags))
OPENING(__open64_2, (const char *path, int flags), (path, flags))
OPENING(__openat_2, (int dir, const char *path, int flags), (dir, path, flags))
OPENING(__openat64_2, (int dir, const char *path, int flags), (dir, path, flags))
OPENING(creat, (const char *path, mode_t mode), (path, mode))
OPENING(creat64, (const char *path, mode_t mode), (path, mode))
OPENING(mkstemp, (char *path), (path))
OPENING(mkstemp64, (char *path), (path))
OPENING(mkostemp, (char *path, int flags), (path, flags))
OPENING(mkostemp64, (char *path, int flags), (path, flags))

/* ---- the same descriptor by another number ---- */

static enum files_state state_now(void)
{
	return files_host ? files_host->state() : FILES_OFF;
}

static int doubled(enum files_state state, int from, int to)
{
	if (to >= 0 && state == FILES_ON)
		files_same(from, to);
	else if (to >= 0 && state == FILES_UNKNOWN)
		files_forget(to);
	return to;
}

EXPORT int dup(int fd)
{
	return doubled(state_now(), fd, REAL(dup)(fd));
}

EXPORT int dup2(int fd, int to)
{
	return doubled(state_now(), fd, REAL(dup2)(fd, to));
}

EXPORT int dup3(int fd, int to, int flags)
{
	return doubled(state_now(), fd, REAL(dup3)(fd, to, flags));
}

/* ---- closing ---- */

/* Forgotten first: another thread may have the number at once. One of which nothing is known has
 * no record: programs close all that there may be. */
EXPORT int close(int fd)
{
	enum files_state state = state_now();
	uint32_t file;
	struct call c;
	int result;

	if (state == FILES_OFF || state == FILES_FOREIGN || !files_knows(fd))
		return REAL(close)(fd);
	file = state == FILES_ON ? files_descriptor(fd)->known - 1 : 0;
	files_forget(fd);
	if (state != FILES_ON || files_begin(&c, CALL_close, SITE) != FILES_ON)
		return REAL(close)(fd);
	result = REAL(close)(fd);
	files_end(&c, FILE_CLOSE, file, result);
	return result;
}

EXPORT int close_range(unsigned first, unsigned last, int flags)
{
	enum files_state state = state_now();

	if (!(flags & (int)CLOSE_RANGE_CLOEXEC) && (state == FILES_ON || state == FILES_UNKNOWN))
		files_forget_range(first, last);
	return REAL(close_range)(first, last, flags);
}

EXPORT void closefrom(int first)
{
	enum files_state state = state_now();

	if (state == FILES_ON || state == FILES_UNKNOWN)
		files_forget_range(first < 0 ? 0 : (unsigned)first, ~0u);
	REAL(closefrom)(first);
}

/* The C library closes the descriptor by itself. */
EXPORT int closedir(struct __dirstream *d)
{
	enum files_state state = state_now();

	if (d && (state == FILES_ON || state == FILES_UNKNOWN))
		files_forget(dirfd(d));
	return REAL(closedir)(d);
}
