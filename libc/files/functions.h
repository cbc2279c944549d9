/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The functions that this library stands in for: _(symbol, name of its frame). Names beginning
 * with __ are what calls become where _FORTIFY_SOURCE is set, and in older programs.
 */
#ifndef VFTR_FILES_FUNCTIONS_H
#define VFTR_FILES_FUNCTIONS_H

#define FUNCTIONS(_)                                                                               \
	FUNCTIONS_OF_OPENING(_)                                                                    \
	FUNCTIONS_OF_DATA(_)                                                                       \
	FUNCTIONS_OF_STREAMS(_)                                                                    \
	FUNCTIONS_OF_NAMES(_)

#define FUNCTIONS_OF_OPENING(_)                                                                    \
	_(open, "open")                                                                            \
	_(open64, "open")                                                                          \
	_(__open_2, "open")                                                                        \
	_(__open64_2, "open")                                                                      \
	_(openat, "openat")                                                                        \
	_(openat64, "openat")                                                                      \
	_(__openat_2, "openat")                                                                    \
	_(__openat64_2, "openat")                                                                  \
	_(creat, "creat")                                                                          \
	_(creat64, "creat")                                                                        \
	_(mkstemp, "mkstemp")                                                                      \
	_(mkstemp64, "mkstemp")                                                                    \
	_(mkostemp, "mkostemp")                                                                    \
	_(mkostemp64, "mkostemp")                                                                  \
	_(close, "close")                                                                          \
	_(close_range, "close_range")                                                              \
	_(closefrom, "closefrom")                                                                  \
	_(closedir, "closedir")                                                                    \
	_(dup, "dup")                                                                              \
	_(dup2, "dup2")                                                                            \
	_(dup3, "dup3")

#define FUNCTIONS_OF_DATA(_)                                                                       \
	_(read, "read")                                                                            \
	_(__read_chk, "read")                                                                      \
	_(write, "write")                                                                          \
	_(pread, "pread")                                                                          \
	_(pread64, "pread")                                                                        \
	_(__pread_chk, "pread")                                                                    \
	_(__pread64_chk, "pread")                                                                  \
	_(pwrite, "pwrite")                                                                        \
	_(pwrite64, "pwrite")                                                                      \
	_(readv, "readv")                                                                          \
	_(writev, "writev")                                                                        \
	_(preadv, "preadv")                                                                        \
	_(preadv64, "preadv")                                                                      \
	_(pwritev, "pwritev")                                                                      \
	_(pwritev64, "pwritev")                                                                    \
	_(preadv2, "preadv2")                                                                      \
	_(preadv64v2, "preadv2")                                                                   \
	_(pwritev2, "pwritev2")                                                                    \
	_(pwritev64v2, "pwritev2")                                                                 \
	_(sendfile, "sendfile")                                                                    \
	_(sendfile64, "sendfile")                                                                  \
	_(copy_file_range, "copy_file_range")                                                      \
	_(lseek, "lseek")                                                                          \
	_(lseek64, "lseek")                                                                        \
	_(fsync, "fsync")                                                                          \
	_(fdatasync, "fdatasync")                                                                  \
	_(sync_file_range, "sync_file_range")                                                      \
	_(ftruncate, "ftruncate")                                                                  \
	_(ftruncate64, "ftruncate")                                                                \
	_(mmap, "mmap")                                                                            \
	_(mmap64, "mmap")

#define FUNCTIONS_OF_STREAMS(_)                                                                    \
	_(fopen, "fopen")                                                                          \
	_(fopen64, "fopen")                                                                        \
	_(freopen, "freopen")                                                                      \
	_(freopen64, "freopen")                                                                    \
	_(tmpfile, "tmpfile")                                                                      \
	_(tmpfile64, "tmpfile")                                                                    \
	_(fclose, "fclose")                                                                        \
	_(pclose, "pclose")                                                                        \
	_(fread, "fread")                                                                          \
	_(fread_unlocked, "fread")                                                                 \
	_(__fread_chk, "fread")                                                                    \
	_(__fread_unlocked_chk, "fread")                                                           \
	_(fwrite, "fwrite")                                                                        \
	_(fwrite_unlocked, "fwrite")                                                               \
	_(fseek, "fseek")                                                                          \
	_(fseeko, "fseek")                                                                         \
	_(fseeko64, "fseek")                                                                       \
	_(rewind, "rewind")                                                                        \
	_(fsetpos, "fsetpos")                                                                      \
	_(fsetpos64, "fsetpos")

#define FUNCTIONS_OF_NAMES(_)                                                                      \
	_(stat, "stat")                                                                            \
	_(stat64, "stat")                                                                          \
	_(__xstat, "stat")                                                                         \
	_(__xstat64, "stat")                                                                       \
	_(lstat, "lstat")                                                                          \
	_(lstat64, "lstat")                                                                        \
	_(__lxstat, "lstat")                                                                       \
	_(__lxstat64, "lstat")                                                                     \
	_(fstatat, "fstatat")                                                                      \
	_(fstatat64, "fstatat")                                                                    \
	_(fstat, "fstat")                                                                          \
	_(fstat64, "fstat")                                                                        \
	_(__fxstat, "fstat")                                                                       \
	_(__fxstat64, "fstat")                                                                     \
	_(access, "access")                                                                        \
	_(unlink, "unlink")                                                                        \
	_(unlinkat, "unlinkat")                                                                    \
	_(rename, "rename")                                                                        \
	_(renameat, "renameat")                                                                    \
	_(mkdir, "mkdir")                                                                          \
	_(rmdir, "rmdir")                                                                          \
	_(truncate, "truncate")                                                                    \
	_(truncate64, "truncate")

#endif
