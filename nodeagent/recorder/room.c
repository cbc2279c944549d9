/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Room on the disk for the results, which are worth more than the end of the sampling file: kept
 * free from the beginning where the file system can, else taken from that file when they do not
 * fit. On network file systems that is the only way that does not cost each node megabytes.
 */
#include "nodeagent/recorder/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "nodeagent/base/util.h"
#include "nodeagent/process/host.h"

#define ROOM_BYTES (4 << 20)  /* has always been enough */
#define PIECE	   (64 << 10) /* zeros to try with */
#define LEAST_LEFT 4096	      /* of the file: what begins it, without which the rest says nothing */

int recorder_reserve(const char *directory)
{
	int fd = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	if (fd < 0 || !fallocate(fd, 0, 0, ROOM_BYTES))
		return fd;
	close(fd);
	return -1;
}

/* 0, or the error of writing as much there as results may need. */
static int try_room(const char *directory)
{
	static const char zeros[PIECE];
	char *suffix = write_suffix(), *path = xasprintf("%s/room%s", directory, suffix);
	const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	int error = fd < 0 ? errno : 0;
	ssize_t n = 0;

	for (size_t done = 0; !error && done < ROOM_BYTES; done += (size_t)n) {
		n = write(fd, zeros, PIECE);
		error = n > 0 ? 0 : n ? errno : ENOSPC;
	}
	if (!error && fsync(fd)) /* a server may say it only now */
		error = errno;
	if (fd >= 0) {
		unlink(path);
		close(fd);
	}
	free(path);
	free(suffix);
	return error;
}

/* More each time, as results of a large job may be larger. Our file's size then; -1: as it was. */
static off_t cut(struct recorder *s, off_t *before)
{
	const int fd = open(s->path, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	const off_t most = ROOM_BYTES + s->cut_bytes;
	off_t left = -1;
	struct stat st;

	if (fd < 0)
		return -1;
	if (!fstat(fd, &st) && st.st_dev == s->device && st.st_ino == s->inode) {
		*before = st.st_size;
		left = st.st_size / 2 > most ? st.st_size - most : st.st_size / 2;
		if (left < LEAST_LEFT || ftruncate(fd, left))
			left = -1;
	}
	close(fd);
	return left;
}

char *recorder_make_room(struct host *host)
{
	struct recorder *s = host->recorder;
	char *directory;
	off_t before, left;
	int error;

	if (!s || !s->path || s->writer)
		return NULL;
	directory = file_directory(s->path);
	error = try_room(directory);
	free(directory);
	if (error != ENOSPC && error != EDQUOT)
		return NULL;
	left = cut(s, &before);
	if (left < 0)
		return NULL;
	s->cut_bytes += before - left;
	s->written.bytes = (uint64_t)left;
	return xasprintf(
		"%s: its last %lld bytes were cut off to make room for the other results: %s",
		s->path, (long long)(before - left), strerror(error));
}
