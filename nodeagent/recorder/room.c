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

#define ROOM_BYTES (4 << 20)   /* has nearly always been enough */
#define CUT_MOST   (256 << 20) /* others on that disk may take what is cut off: not all for them */
#define LEAST_LEFT 4096 /* of the file: what begins it, without which the rest says nothing */

int recorder_reserve(const char *directory)
{
	int fd = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	if (fd < 0 || !fallocate(fd, 0, 0, ROOM_BYTES))
		return fd;
	close(fd);
	return -1;
}

/* A full disk may lack files, too, which a shorter one of ours gives nobody. */
static bool has_files_left(const char *directory)
{
	char *suffix = write_suffix(), *path = xasprintf("%s/room%s", directory, suffix);
	const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (fd >= 0) {
		unlink(path);
		close(fd);
	}
	free(path);
	free(suffix);
	return fd >= 0;
}

/* More each time, as results of a large job may be larger. Our file's size then; -1: as it was. */
static off_t cut(struct recorder *s, off_t *before)
{
	const int fd = open(s->path, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	const off_t most = MIN(ROOM_BYTES + s->cut_bytes, CUT_MOST - s->cut_bytes);
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
	off_t before, left = -1;

	if (!s || !s->path || s->writer || s->cut_bytes >= CUT_MOST)
		return NULL;
	directory = file_directory(s->path);
	if (has_files_left(directory))
		left = cut(s, &before);
	free(directory);
	if (left < 0)
		return NULL;
	s->cut_bytes += before - left;
	s->written.bytes = (uint64_t)left;
	return xasprintf(
		"%s: its last %lld bytes were cut off to make room for the other results: %s",
		s->path, (long long)(before - left), strerror(ENOSPC));
}
