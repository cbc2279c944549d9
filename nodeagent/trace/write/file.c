/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Slabs are filled one after the other, each at its place in the file, so they
 * may arrive in any order. A short write is continued; other failures are final:
 * what follows would stand behind a hole.
 */
#include "nodeagent/trace/write/file.h"

#include <errno.h>
#include <fcntl.h>
#include <liburing.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "nodeagent/base/util.h"

/* Smaller in tests. */
#ifndef SLAB_BYTES
#define SLAB_BYTES (512u << 10)
#endif
#define WRITE_MOST  (1u << 30)
#define SYNC_BYTES  (8u << 20) /* what is that long goes to the disk while we go on */
#define REGISTERED  8u	       /* slabs, at most */
#define READY_MOST  64u	       /* a larger buffer has larger slabs */
#define EXTRA_MOST  48u /* more are made when the caller goes on although we are not ready, ... */
#define EXTRA_BYTES (24u << 20) /* ... or one that is larger than this */
#define SLABS_MOST  (READY_MOST + EXTRA_MOST)

struct slab {
	struct slab *next; /* in the list of free ones */
	unsigned char *bytes;
	size_t filled, written;
	uint64_t offset; /* in the file */
	unsigned index;	 /* in slabs[] */
};

struct outfile {
	int fd;
	enum outfile_way way;
	struct io_uring ring;
	bool has_ring;
	struct slab slabs[SLABS_MOST];
	size_t slab_bytes;
	unsigned n_slabs, in_flight;
	unsigned n_ready, n_most; /* slabs, while we are ready, and in any case */
	unsigned n_registered;
	struct slab *filling, *free;
	uint64_t bytes;
	uint64_t gap;		 /* where the first byte lies that will never be written */
	uint64_t arrived, asked; /* bytes the kernel has, and those it shall bring to the disk */
	bool syncing;
	int error;
	char *note;
};

static void give_back(struct outfile *o, struct slab *s)
{
	if (s->written < s->filled)
		o->gap = MIN(o->gap, s->offset + s->written);
	s->next = o->free;
	o->free = s;
}

static void failed(struct outfile *o, int error)
{
	if (!o->error)
		o->error = error;
}

static void write_here(struct outfile *o, struct slab *s)
{
	while (s->written < s->filled && !o->error) {
		ssize_t n = pwrite(o->fd, s->bytes + s->written, s->filled - s->written,
			(off_t)(s->offset + s->written));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			failed(o, n ? errno : ENOSPC);
		else
			s->written += (size_t)n;
	}
	give_back(o, s);
}

static void no_uring(struct outfile *o, const char *what, int error)
{
	o->way = OUTFILE_PWRITE;
	if (!o->note)
		o->note = xasprintf("%s: %s", what, strerror(error));
}

static void hand_over(struct outfile *o, struct slab *s);

static void submit(struct outfile *o)
{
	int rc;

	do {
		rc = io_uring_submit(&o->ring);
	} while (rc == -EINTR);
	/* -EBUSY, -EAGAIN: the next time */
	if (rc < 0 && rc != -EBUSY && rc != -EAGAIN)
		failed(o, -rc);
}

/*
 * Left alone, the kernel would begin to bring the file to the disk when it is 30 s old or
 * fills a tenth of the memory: then all of it at once, while others wait. What it answers
 * does not matter, and slabs that overtook others are asked for the next time or by it.
 */
static void begin_to_disk(struct outfile *o)
{
	const uint64_t n = o->arrived - o->asked;
	struct io_uring_sqe *q;

	if (o->syncing || n < SYNC_BYTES || n > UINT32_MAX || !o->has_ring)
		return;
	q = io_uring_get_sqe(&o->ring);
	if (!q)
		return;
	io_uring_prep_sync_file_range(q, o->fd, (unsigned)n, o->asked, SYNC_FILE_RANGE_WRITE);
	io_uring_sqe_set_data(q, NULL);
	o->asked = o->arrived;
	o->syncing = true;
	submit(o);
}

/* A write has ended with this result. */
static void arrived(struct outfile *o, struct slab *s, int result)
{
	o->in_flight--;
	if (result > 0) {
		s->written += (size_t)result;
		o->arrived += (size_t)result;
	} else if (result == -EAGAIN || result == -ECANCELED) /* no thread for it, or no memory */
		no_uring(o, "io_uring", -result);
	else if (result != -EINTR)
		failed(o, result ? -result : ENOSPC);
	if (s->written < s->filled && !o->error)
		hand_over(o, s);
	else
		give_back(o, s);
}

static void collect_writes(struct outfile *o)
{
	struct io_uring_cqe *c;

	if (o->has_ring && io_uring_sq_ready(&o->ring))
		submit(o);
	while ((o->in_flight || o->syncing) && !io_uring_peek_cqe(&o->ring, &c)) {
		struct slab *s = io_uring_cqe_get_data(c);
		int result = c->res;

		io_uring_cqe_seen(&o->ring, c);
		if (s)
			arrived(o, s, result);
		else
			o->syncing = false;
	}
	begin_to_disk(o);
}

static void hand_over(struct outfile *o, struct slab *s)
{
	struct io_uring_sqe *q = NULL; /* one that was taken would be submitted in any case */
	const unsigned left = (unsigned)(s->filled - s->written);

	if (o->way != OUTFILE_PWRITE && !o->error)
		q = io_uring_get_sqe(&o->ring);
	if (!q) {
		write_here(o, s);
		return;
	}
	if (o->way == OUTFILE_REGISTERED && s->index < o->n_registered)
		io_uring_prep_write_fixed(
			q, o->fd, s->bytes + s->written, left, s->offset + s->written, s->index);
	else
		io_uring_prep_write(q, o->fd, s->bytes + s->written, left, s->offset + s->written);
	io_uring_sqe_set_data(q, s);
	o->in_flight++;
	submit(o);
}

static bool new_slab(struct outfile *o)
{
	struct slab *s = &o->slabs[o->n_slabs];
	void *bytes;

	if (o->n_slabs == o->n_most)
		return false;
	bytes = mmap(
		NULL, o->slab_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (bytes == MAP_FAILED) {
		if (o->n_ready > o->n_slabs)
			o->n_ready = o->n_slabs;
		return false;
	}
	*s = (struct slab){.bytes = bytes, .index = o->n_slabs++};
	give_back(o, s);
	return true;
}

/* Sets number and size of slabs; at least two: one is filled while the other is written. */
static void divide_buffers(struct outfile *o, uint64_t buffer_bytes)
{
	uint64_t n = buffer_bytes / SLAB_BYTES;

	o->slab_bytes = SLAB_BYTES;
	if (n > READY_MOST) {
		n = READY_MOST;
		o->slab_bytes = (size_t)(buffer_bytes / n) & ~(size_t)4095;
		if (o->slab_bytes > WRITE_MOST)
			o->slab_bytes = WRITE_MOST;
	}
	o->n_ready = n < 2 ? 2 : (unsigned)n;
	n = EXTRA_BYTES / o->slab_bytes;
	o->n_most = o->n_ready + (n > EXTRA_MOST ? EXTRA_MOST : n ? (unsigned)n : 1);
}

static void open_ring(struct outfile *o, enum outfile_way way)
{
	struct iovec vectors[REGISTERED];
	unsigned n = 0;
	int rc;

	o->way = way;
	if (way == OUTFILE_PWRITE)
		return;
	rc = io_uring_queue_init(SLABS_MOST, &o->ring, 0);
	if (rc) {
		no_uring(o, "io_uring_setup", -rc);
		return;
	}
	o->has_ring = true;
	o->way = OUTFILE_URING;
	/* the kernel pins them: not so if they are large */
	if (way == OUTFILE_URING || o->slab_bytes > SLAB_BYTES)
		return;
	for (; n < REGISTERED && n < o->n_slabs; n++)
		vectors[n] = (struct iovec){o->slabs[n].bytes, o->slab_bytes};
	/* RLIMIT_MEMLOCK may be small */
	if (io_uring_register_buffers(&o->ring, vectors, n))
		return;
	o->n_registered = n;
	o->way = OUTFILE_REGISTERED;
}

struct outfile *outfile_open(
	const char *path, enum outfile_way way, uint64_t buffer_bytes, char **error)
{
	struct outfile *o = xcalloc(1, sizeof(*o));
	struct stat st;

	*error = NULL;
	o->gap = UINT64_MAX;
	divide_buffers(o, buffer_bytes);
	/* not through a FIFO or device: those have no places */
	o->fd = open_replaced(path, O_WRONLY | O_NONBLOCK | O_NOCTTY);
	if (o->fd < 0 && errno == EEXIST)
		*error = xasprintf("%s: not a regular file", path);
	else if (o->fd < 0 || fstat(o->fd, &st))
		*error = xasprintf("%s: %s", path, strerror(errno));
	while (!*error && o->n_slabs < REGISTERED && o->n_slabs < o->n_ready)
		if (!new_slab(o))
			*error = xasprintf("%s: %s", path, strerror(ENOMEM));
	if (*error) {
		outfile_close(o, 0);
		return NULL;
	}
	/* io-wq and not we shall wait when it must be waited */
	fcntl(o->fd, F_SETFL, fcntl(o->fd, F_GETFL) & ~O_NONBLOCK);
	open_ring(o, way);
	return o;
}

static struct slab *take_slab(struct outfile *o)
{
	struct slab *s;

	if (!o->free)
		collect_writes(o);
	if (!o->free && !new_slab(o))
		return NULL;
	s = o->free;
	o->free = s->next;
	s->filled = s->written = 0;
	s->offset = o->bytes;
	return s;
}

void outfile_flush(struct outfile *o)
{
	struct slab *s = o->filling;

	o->filling = NULL;
	if (s)
		hand_over(o, s);
	if (o->in_flight)
		collect_writes(o);
}

bool outfile_append(struct outfile *o, const void *bytes, size_t n)
{
	const unsigned char *from = bytes;

	/* all or nothing: is there room for the rest? */
	if (o->error || n > o->slab_bytes)
		return false;
	if (o->filling && o->slab_bytes - o->filling->filled < n && !o->free) {
		collect_writes(o);
		if (!o->free && !new_slab(o))
			return false;
	}
	while (n) {
		size_t part;

		if (!o->filling)
			o->filling = take_slab(o);
		if (!o->filling)
			return false;
		part = o->slab_bytes - o->filling->filled;
		if (part > n)
			part = n;
		memcpy(o->filling->bytes + o->filling->filled, from, part);
		o->filling->filled += part;
		o->bytes += part;
		from += part;
		n -= part;
		if (o->filling->filled == o->slab_bytes)
			outfile_flush(o);
	}
	return !o->error;
}

bool outfile_ready(struct outfile *o)
{
	if (o->in_flight)
		collect_writes(o);
	return o->free || o->n_slabs < o->n_ready || o->error || o->way == OUTFILE_PWRITE;
}

void outfile_wait_ready(struct outfile *o, double seconds)
{
	struct __kernel_timespec most = {.tv_nsec = (long long)(seconds * 1e9)};
	struct io_uring_cqe *c;

	if (!outfile_ready(o) && o->has_ring)
		io_uring_wait_cqe_timeout(&o->ring, &c, &most);
}

bool outfile_idle(struct outfile *o)
{
	if (o->in_flight)
		collect_writes(o);
	return !o->in_flight;
}

void outfile_wait(struct outfile *o, double seconds)
{
	struct timespec start, now;

	clock_gettime(CLOCK_MONOTONIC, &start);
	while (o->in_flight) {
		struct __kernel_timespec slice = {.tv_nsec = 50000000};
		struct io_uring_cqe *c;

		collect_writes(o);
		if (o->in_flight)
			io_uring_wait_cqe_timeout(&o->ring, &c, &slice);
		collect_writes(o);
		clock_gettime(CLOCK_MONOTONIC, &now);
		if ((double)(now.tv_sec - start.tv_sec) +
				(double)(now.tv_nsec - start.tv_nsec) / 1e9 >
			seconds)
			break;
	}
}

int outfile_close(struct outfile *o, double seconds)
{
	int error;

	if (o->filling)
		outfile_flush(o);
	if (o->in_flight)
		outfile_wait(o, seconds);
	error = o->error;
	if (o->in_flight) {
		/* the kernel still reads the slabs: they and the ring's memory stay */
		free(o->note);
		free(o);
		return error ? -error : -ETIMEDOUT;
	}
	if (o->has_ring)
		io_uring_queue_exit(&o->ring);
	for (unsigned i = 0; i < o->n_slabs; i++)
		munmap(o->slabs[i].bytes, o->slab_bytes);
	if (o->fd >= 0 && close(o->fd) && !error)
		error = errno;
	free(o->note);
	free(o);
	return -error;
}

uint64_t outfile_bytes(const struct outfile *o)
{
	return o->bytes;
}

uint64_t outfile_written(const struct outfile *o)
{
	return MIN(o->bytes, o->gap);
}

int outfile_error(const struct outfile *o)
{
	return o->error;
}

enum outfile_way outfile_way(const struct outfile *o)
{
	return o->way;
}

const char *outfile_note(const struct outfile *o)
{
	return o->note;
}
