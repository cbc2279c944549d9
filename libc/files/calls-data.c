/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions that move data, or the place where a descriptor stands. */
#include "libc/files/files.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/uio.h>
#include <unistd.h>

ssize_t __read_chk(int fd, void *to, size_t n, size_t room);
ssize_t __pread_chk(int fd, void *to, size_t n, off_t at, size_t room);
ssize_t __pread64_chk(int fd, void *to, size_t n, off64_t at, size_t room);

#define MOVING(symbol, kind, at, params, args)                                                     \
	EXPORT ssize_t symbol params                                                               \
	{                                                                                          \
		struct call c;                                                                     \
		ssize_t bytes;                                                                     \
                                                                                                   \
		if (!files_on(&c, CALL_##symbol, SITE))                                            \
			return REAL(symbol) args;                                                  \
		bytes = REAL(symbol) args;                                                         \
		files_moved(&c, fd, kind, bytes, at);                                              \
		return bytes;                                                                      \
	}

#define V_PARAMS    (int fd, const struct iovec *v, int n, off_t at)
#define V64_PARAMS  (int fd, const struct iovec *v, int n, off64_t at)
#define V2_PARAMS   (int fd, const struct iovec *v, int n, off_t at, int flags)
#define V264_PARAMS (int fd, const struct iovec *v, int n, off64_t at, int flags)
#define V2_AT	    (at == -1 ? FILES_HERE : at)

MOVING(read, FILE_READ, FILES_HERE, (int fd, void *to, size_t n), (fd, to, n))
MOVING(__read_chk, FILE_READ, FILES_HERE, (int fd, void *to, size_t n, size_t room),
	(fd, to, n, room))
MOVING(write, FILE_WRITE, FILES_HERE, (int fd, const void *from, size_t n), (fd, from, n))
MOVING(pread, FILE_READ, at, (int fd, void *to, size_t n, off_t at), (fd, to, n, at))
MOVING(pread64, FILE_READ, at, (int fd, void *to, size_t n, off64_t at), (fd, to, n, at))
MOVING(__pread_chk, FILE_READ, at, (int fd, void *to, size_t n, off_t at, size_t room),
	(fd, to, n, at, room))
MOVING(__pread64_chk, FILE_READ, at, (int fd, void *to, size_t n, off64_t at, size_t room),
	(fd, to, n, at, room))
MOVING(pwrite, FILE_WRITE, at, (int fd, const void *from, size_t n, off_t at), (fd, from, n, at))
MOVING(pwrite64, FILE_WRITE, at, (int fd, const void *from, size_t n, off64_t at),
	(fd, from, n, at))
MOVING(readv, FILE_READ, FILES_HERE, (int fd, const struct iovec *v, int n), (fd, v, n))
MOVING(writev, FILE_WRITE, FILES_HERE, (int fd, const struct iovec *v, int n), (fd, v, n))
MOVING(preadv, FILE_READ, at, V_PARAMS, (fd, v, n, at))
MOVING(preadv64, FILE_READ, at, V64_PARAMS, (fd, v, n, at))
MOVING(pwritev, FILE_WRITE, at, V_PARAMS, (fd, v, n, at))
MOVING(pwritev64, FILE_WRITE, at, V64_PARAMS, (fd, v, n, at))
MOVING(preadv2, FILE_READ, V2_AT, V2_PARAMS, (fd, v, n, at, flags))
MOVING(preadv64v2, FILE_READ, V2_AT, V264_PARAMS, (fd, v, n, at, flags))
MOVING(pwritev2, FILE_WRITE, V2_AT, V2_PARAMS, (fd, v, n, at, flags))
MOVING(pwritev64v2, FILE_WRITE, V2_AT, V264_PARAMS, (fd, v, n, at, flags))

/* ---- from file to file ---- */

/* Where it began; at: where it has ended, or NULL for the place of the descriptor. */
static int64_t began(const off64_t *at, ssize_t bytes)
{
	return at && bytes >= 0 ? *at - bytes : FILES_HERE;
}

/* The source first; then, in the frame that goes on, the destination. */
static void copied(const struct call *c, int from, const off64_t *from_at, int to,
	const off64_t *to_at, ssize_t bytes)
{
	files_inside(c, from, FILE_READ, bytes, began(from_at, bytes));
	files_moved(c, to, FILE_WRITE, bytes, began(to_at, bytes));
}

#define COPYING(symbol, from_at, to_at, params, args)                                              \
	EXPORT ssize_t symbol params                                                               \
	{                                                                                          \
		struct call c;                                                                     \
		ssize_t bytes;                                                                     \
                                                                                                   \
		if (!files_on(&c, CALL_##symbol, SITE))                                            \
			return REAL(symbol) args;                                                  \
		bytes = REAL(symbol) args;                                                         \
		copied(&c, from, from_at, to, to_at, bytes);                                       \
		return bytes;                                                                      \
	}

COPYING(sendfile, at, NULL, (int to, int from, off_t *at, size_t n), (to, from, at, n))
COPYING(sendfile64, at, NULL, (int to, int from, off64_t *at, size_t n), (to, from, at, n))
COPYING(copy_file_range, from_at, to_at,
	(int from, off64_t *from_at, int to, off64_t *to_at, size_t n, unsigned flags),
	(from, from_at, to, to_at, n, flags))

/* ---- nothing is moved ---- */

#define SEEKING(symbol, type)                                                                      \
	EXPORT type symbol(int fd, type offset, int whence)                                        \
	{                                                                                          \
		struct call c;                                                                     \
		type at;                                                                           \
                                                                                                   \
		if (!files_on(&c, CALL_##symbol, SITE))                                            \
			return REAL(symbol)(fd, offset, whence);                                   \
		at = REAL(symbol)(fd, offset, whence);                                             \
		if (at >= 0)                                                                       \
			files_descriptor(fd)->position = at;                                       \
		files_called(&c, fd, FILE_SEEK, at < 0 ? -1 : 0);                                  \
		return at;                                                                         \
	}

SEEKING(lseek, off_t)
SEEKING(lseek64, off64_t)

#define CALLING(symbol, kind, params, args)                                                        \
	EXPORT int symbol params                                                                   \
	{                                                                                          \
		struct call c;                                                                     \
		int result;                                                                        \
                                                                                                   \
		if (!files_on(&c, CALL_##symbol, SITE))                                            \
			return REAL(symbol) args;                                                  \
		result = REAL(symbol) args;                                                        \
		files_called(&c, fd, kind, result);                                                \
		return result;                                                                     \
	}

CALLING(fsync, FILE_SYNC, (int fd), (fd))
CALLING(fdatasync, FILE_SYNC, (int fd), (fd))
CALLING(sync_file_range, FILE_SYNC, (int fd, off64_t at, off64_t n, unsigned flags),
	(fd, at, n, flags))
CALLING(ftruncate, FILE_OTHER, (int fd, off_t n), (fd, n))
CALLING(ftruncate64, FILE_OTHER, (int fd, off64_t n), (fd, n))

#define MAPPING(symbol, type)                                                                      \
	EXPORT void *symbol(void *place, size_t n, int access, int flags, int fd, type at)         \
	{                                                                                          \
		struct call c;                                                                     \
		void *result;                                                                      \
                                                                                                   \
		if (flags & MAP_ANONYMOUS || fd < 0 || !files_on(&c, CALL_##symbol, SITE))         \
			return REAL(symbol)(place, n, access, flags, fd, at);                      \
		result = REAL(symbol)(place, n, access, flags, fd, at);                            \
		files_called(&c, fd, FILE_MAP, result == MAP_FAILED ? -1 : (int64_t)n);            \
		return result;                                                                     \
	}

MAPPING(mmap, off_t)
MAPPING(mmap64, off64_t)
