/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions of names and states of files: they are counted, all under one name. */
#include "libc/files/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

int __xstat(int version, const char *path, struct stat *to);
int __xstat64(int version, const char *path, struct stat64 *to);
int __lxstat(int version, const char *path, struct stat *to);
int __lxstat64(int version, const char *path, struct stat64 *to);
int __fxstat(int version, int fd, struct stat *to);
int __fxstat64(int version, int fd, struct stat64 *to);

#define CALLING(symbol, params, args)                                                              \
	EXPORT int symbol params                                                                   \
	{                                                                                          \
		struct call c;                                                                     \
		int result;                                                                        \
                                                                                                   \
		if (!files_on(&c, CALL_##symbol, SITE))                                            \
			return REAL(symbol) args;                                                  \
		result = REAL(symbol) args;                                                        \
		files_named(&c, result);                                                           \
		return result;                                                                     \
	}

CALLING(stat, (const char *path, struct stat *to), (path, to))
CALLING(stat64, (const char *path, struct stat64 *to), (path, to))
CALLING(__xstat, (int version, const char *path, struct stat *to), (version, path, to))
CALLING(__xstat64, (int version, const char *path, struct stat64 *to), (version, path, to))
CALLING(lstat, (const char *path, struct stat *to), (path, to))
CALLING(lstat64, (const char *path, struct stat64 *to), (path, to))
CALLING(__lxstat, (int version, const char *path, struct stat *to), (version, path, to))
CALLING(__lxstat64, (int version, const char *path, struct stat64 *to), (version, path, to))
CALLING(fstatat, (int dir, const char *path, struct stat *to, int flags), (dir, path, to, flags))
CALLING(fstatat64, (int dir, const char *path, struct stat64 *to, int flags),
	(dir, path, to, flags))
CALLING(fstat, (int fd, struct stat *to), (fd, to))
CALLING(fstat64, (int fd, struct stat64 *to), (fd, to))
CALLING(__fxstat, (int version, int fd, struct stat *to), (version, fd, to))
CALLING(__fxstat64, (int version, int fd, struct stat64 *to), (version, fd, to))
CALLING(access, (const char *path, int how), (path, how))
CALLING(unlink, (const char *path), (path))
CALLING(unlinkat, (int dir, const char *path, int flags), (dir, path, flags))
CALLING(rename, (const char *from, const char *to), (from, to))
CALLING(renameat, (int dir, const char *from, int to_dir, const char *to), (dir, from, to_dir, to))
CALLING(mkdir, (const char *path, mode_t mode), (path, mode))
CALLING(rmdir, (const char *path), (path))
CALLING(truncate, (const char *path, off_t n), (path, n))
CALLING(truncate64, (const char *path, off64_t n), (path, n))
