/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Output files. Somebody else may write in the directory, too: names are drawn by
 * chance and made with O_EXCL, so that nothing planted there leads us elsewhere, and the
 * directory is held open, so that it is the same one when the file gets its name.
 *
 * What a killed agent has left is removed by the next one that writes there: it has a
 * name of ours, belongs to our user, was not written for a while, and nobody has it locked.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "nodeagent/base/util.h"

#define MARK	".tmp.vftr-"
#define DIGITS	16u
#define STALE_S 600
#define TRIES	100

/* A power of 2: the kernel takes pieces that begin at a multiple of their size as one. */
#define PIECE (32u << 10)

struct writing {
	int dir; /* or -1: a device, written as it is */
	bool durable;
	char *tmp, *name; /* in dir */
	char *piece;	  /* of the stream */
};

char *write_suffix(void)
{
	uint64_t random;

	if (getrandom(&random, sizeof(random), GRND_NONBLOCK) != sizeof(random)) {
		struct timespec now; /* O_EXCL guards the rest */

		clock_gettime(CLOCK_REALTIME, &now);
		random = (uint64_t)now.tv_nsec << 32 ^ (uint64_t)now.tv_sec ^
			 (uint64_t)getpid() << 40;
	}
	return xasprintf(MARK "%016llx", (unsigned long long)random);
}

static bool is_ours(const char *name)
{
	const char *mark = strstr(name, MARK);

	return mark && mark > name && strspn(mark + strlen(MARK), "0123456789abcdef") == DIGITS &&
	       !mark[strlen(MARK) + DIGITS];
}

static bool is_stale(int dir, const char *name)
{
	const int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat st;
	bool stale;

	if (fd < 0)
		return false;
	stale = !fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
		time(NULL) - st.st_mtime > STALE_S && !flock(fd, LOCK_EX | LOCK_NB);
	close(fd);
	return stale;
}

/* Once for each program is enough, and cheap. */
static void remove_stale(int dir)
{
	static bool done;
	struct dirent *e;
	DIR *d;
	int fd;

	if (done)
		return;
	done = true;
	fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	d = fd < 0 ? NULL : fdopendir(fd);
	if (!d) {
		if (fd >= 0)
			close(fd);
		return;
	}
	while ((e = readdir(d)))
		if (is_ours(e->d_name) && is_stale(dir, e->d_name))
			unlinkat(dir, e->d_name, 0);
	closedir(d);
}

/* A device by its own name; what a link in a directory of others leads to is none. */
static bool is_device(const char *path)
{
	struct stat st;

	return !strncmp(path, "/dev/fd/", 8) || !strncmp(path, "/dev/std", 8) ||
	       !strncmp(path, "/proc/", 6) || (!lstat(path, &st) && S_ISCHR(st.st_mode));
}

static int open_directory(const char *path)
{
	char *dir = file_directory(path);
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0 && errno == EACCES) /* it may be that only its names are secret */
		fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	free(dir);
	return fd;
}

static void free_writing(struct writing *w)
{
	if (w->dir >= 0)
		close(w->dir);
	free(w->tmp);
	free(w->name);
	free(w->piece);
	free(w);
}

static int open_new(struct writing *w)
{
	int fd = -1;

	for (int i = 0; i < TRIES && fd < 0; i++) {
		char *suffix = write_suffix();

		free(w->tmp);
		w->tmp = xasprintf("%.200s%s", w->name, suffix);
		free(suffix);
		fd = openat(
			w->dir, w->tmp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
		if (fd < 0 && errno != EEXIST)
			break;
	}
	if (fd >= 0)
		flock(fd, LOCK_EX | LOCK_NB); /* see is_stale() */
	return fd;
}

int write_begin(FILE **f, struct writing **writing, const char *path)
{
	struct writing *w = xcalloc(1, sizeof(*w));
	int fd, error;

	*f = NULL;
	*writing = NULL;
	w->dir = -1;
	if (is_device(path)) {
		fd = open(path, O_WRONLY | O_NOCTTY | O_TRUNC | O_CLOEXEC);
	} else {
		w->name = xstrdup(basename(path));
		w->dir = open_directory(path);
		fd = w->dir < 0 ? -1 : open_new(w);
		if (fd >= 0)
			remove_stale(w->dir);
	}
	*f = fd < 0 ? NULL : fdopen(fd, "w");
	if (!*f) {
		error = -errno;
		if (fd >= 0)
			close(fd);
		free_writing(w);
		return error;
	}
	w->piece = xmalloc(PIECE);
	setvbuf(*f, w->piece, _IOFBF, PIECE);
	*writing = w;
	return 0;
}

void write_durable(struct writing *w)
{
	w->durable = true;
}

int write_end(FILE *f, struct writing *w)
{
	struct stat st;
	int error = 0;

	errno = 0;
	if (ferror(f)) { /* earlier; once more, to learn the cause */
		clearerr(f);
		error = (fputc('\n', f) == EOF || fflush(f)) && errno ? -errno : -EIO;
	} else if (fflush(f)) {
		error = errno ? -errno : -EIO;
	}
	/* what has no disk cannot wait for it */
	if (!error && w->durable && w->dir >= 0 && fsync(fileno(f)) && errno != EINVAL &&
		errno != ENOSYS)
		error = -errno;
	if (fclose(f) && !error)
		error = errno ? -errno : -EIO;
	/* a directory there is no file to replace */
	if (!error && w->dir >= 0 && !fstatat(w->dir, w->name, &st, AT_SYMLINK_NOFOLLOW) &&
		S_ISDIR(st.st_mode))
		error = -EISDIR;
	if (!error && w->dir >= 0 && renameat(w->dir, w->tmp, w->dir, w->name))
		error = -errno;
	if (error && w->dir >= 0)
		unlinkat(w->dir, w->tmp, 0);
	free_writing(w);
	return error;
}

void write_abort(FILE *f, struct writing *w)
{
	fclose(f);
	if (w->dir >= 0)
		unlinkat(w->dir, w->tmp, 0);
	free_writing(w);
}

int open_replaced(const char *path, int flags)
{
	struct stat st;
	int fd = -1;

	for (int i = 0; i < TRIES; i++) {
		if (!lstat(path, &st)) {
			if (!S_ISREG(st.st_mode) && !S_ISLNK(st.st_mode)) {
				errno = S_ISDIR(st.st_mode) ? EISDIR : EEXIST;
				return -1;
			}
			if (unlink(path) && errno != ENOENT)
				return -1;
		}
		fd = open(path, flags | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
		if (fd >= 0 || errno != EEXIST)
			break;
	}
	return fd;
}
