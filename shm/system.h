/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * System calls by number. A program may have a function of its own named connect, open or close:
 * these names are not the C library's alone (only POSIX's), and in a library that is linked with
 * the program they would mean that function. Names of ISO C do not need it. Each returns as the
 * function of POSIX without the prefix, is no cancellation point, and sets errno.
 */
#ifndef VFTR_SHM_SYSTEM_H
#define VFTR_SHM_SYSTEM_H

#include <fcntl.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

static inline int sys_open(const char *path, int flags)
{
	return (int)syscall(SYS_openat, AT_FDCWD, path, flags, 0);
}

static inline int sys_close(int fd)
{
	return (int)syscall(SYS_close, fd);
}

static inline ssize_t sys_read(int fd, void *to, size_t bytes)
{
	return syscall(SYS_read, fd, to, bytes);
}

static inline ssize_t sys_pread(int fd, void *to, size_t bytes, off_t at)
{
	return syscall(SYS_pread64, fd, to, bytes, at);
}

static inline int sys_fcntl(int fd, int command, long value)
{
	return (int)syscall(SYS_fcntl, fd, command, value);
}

static inline int sys_ioctl(int fd, unsigned long request, void *value)
{
	return (int)syscall(SYS_ioctl, fd, request, value);
}

static inline int sys_fstat(int fd, struct stat *out)
{
	return (int)syscall(SYS_fstat, fd, out);
}

static inline int sys_lstat(const char *path, struct stat *out)
{
	return (int)syscall(SYS_newfstatat, AT_FDCWD, path, out, AT_SYMLINK_NOFOLLOW);
}

static inline int sys_access(const char *path, int mode)
{
	return (int)syscall(SYS_faccessat, AT_FDCWD, path, mode);
}

static inline ssize_t sys_readlink(const char *path, char *to, size_t bytes)
{
	return syscall(SYS_readlinkat, AT_FDCWD, path, to, bytes);
}

static inline int sys_symlink(const char *to, const char *path)
{
	return (int)syscall(SYS_symlinkat, to, AT_FDCWD, path);
}

static inline int sys_unlink(const char *path)
{
	return (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0);
}

/* NULL where it does not fit, or cannot be reached from the root. */
static inline char *sys_getcwd(char *to, size_t bytes)
{
	return syscall(SYS_getcwd, to, bytes) > 0 && to[0] == '/' ? to : NULL;
}

static inline int sys_socket(int domain, int type, int protocol)
{
	return (int)syscall(SYS_socket, domain, type, protocol);
}

static inline int sys_connect(int fd, const struct sockaddr *to, socklen_t bytes)
{
	return (int)syscall(SYS_connect, fd, to, bytes);
}

static inline int sys_setsockopt(int fd, int level, int name, const void *value, socklen_t bytes)
{
	return (int)syscall(SYS_setsockopt, fd, level, name, value, bytes);
}

static inline int sys_getsockopt(int fd, int level, int name, void *value, socklen_t *bytes)
{
	return (int)syscall(SYS_getsockopt, fd, level, name, value, bytes);
}

static inline int sys_execve(const char *path, char *const argv[], char *const envp[])
{
	return (int)syscall(SYS_execve, path, argv, envp);
}

static inline pid_t sys_waitpid(pid_t pid, int *status, int options)
{
	return (pid_t)syscall(SYS_wait4, pid, status, options, NULL);
}

static inline pid_t sys_setsid(void)
{
	return (pid_t)syscall(SYS_setsid);
}

#endif
