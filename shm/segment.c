/* SPDX-License-Identifier: BSD-3-Clause */
/* Creating and mapping segments. Used by both sides, on slow paths only. */
#include "shm/segment.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shm/atomic.h"
#include "shm/system.h"

/* A memfd of exactly `bytes`, of which the first `now` exist, and whose size cannot change. */
static int sealed_memfd(const char *name, size_t bytes, size_t now)
{
	int error;
	int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd < 0)
		return -errno;
	error = ftruncate(fd, (off_t)bytes) ? -errno : -posix_fallocate(fd, 0, (off_t)now);
	if (!error && sys_fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL))
		error = -errno;
	if (error) {
		sys_close(fd);
		return error == -ENOSPC ? -ENOMEM : error;
	}
	return fd;
}

/* Maps all of fd read-only or read-write, then flips one page to the other. */
static int map_flipped(
	int fd, size_t bytes, int prot, size_t flip_offset, int flip_prot, void **out)
{
	void *base = mmap(NULL, bytes, prot, MAP_SHARED, fd, 0);

	if (base == MAP_FAILED)
		return -errno;
	if (mmap((char *)base + flip_offset, SEGMENT_PAGE, flip_prot, MAP_SHARED | MAP_FIXED, fd,
		    (off_t)flip_offset) == MAP_FAILED) {
		int error = -errno;

		munmap(base, bytes);
		return error;
	}
	*out = base;
	return 0;
}

static void ring_point(struct ring *r, void *base, uint64_t size)
{
	r->base = base;
	r->bytes = RING_SEGMENT_BYTES(size);
	r->size = size;
	r->magic = ring_magic(0);
	r->producer = base;
	r->consumer = (void *)((char *)base + SEGMENT_PAGE);
	r->stage[0] = (void *)((char *)base + RING_STAGE_OFFSET);
	r->stage[1] = (void *)((char *)base + RING_STAGE_OFFSET + RING_STAGE_APART);
	r->data = (void *)((char *)base + RING_DATA_OFFSET);
}

int vftr_segment_create_control(
	int *fd, struct control_agent_shm **agent, struct control_app_shm **app)
{
	void *base;
	int error;

	*fd = sealed_memfd("vftr-control", CONTROL_BYTES, CONTROL_BYTES);
	if (*fd < 0)
		return *fd;
	error = map_flipped(*fd, CONTROL_BYTES, PROT_READ, 0, PROT_READ | PROT_WRITE, &base);
	if (error) {
		sys_close(*fd);
		return error;
	}
	*agent = base;
	*app = (void *)((char *)base + SEGMENT_PAGE);
	(*agent)->magic = SEGMENT_MAGIC;
	(*agent)->record_format = RECORD_FORMAT;
	return 0;
}

int vftr_segment_create_ring(uint64_t size, uint64_t now, int *fd, struct ring *ring)
{
	void *base;
	int error;

	if (size < RING_SIZE_MIN || size > RING_SIZE_MAX || (size & (size - 1)))
		return -EINVAL;
	*fd = sealed_memfd(
		"vftr-ring", RING_SEGMENT_BYTES(size), RING_SEGMENT_BYTES(now < size ? now : size));
	if (*fd < 0)
		return *fd;
	error = map_flipped(*fd, RING_SEGMENT_BYTES(size), PROT_READ, SEGMENT_PAGE,
		PROT_READ | PROT_WRITE, &base);
	if (error) {
		sys_close(*fd);
		return error;
	}
	ring_point(ring, base, size);
	return 0;
}

static int has_size(int fd, size_t bytes)
{
	struct stat st;

	if (sys_fstat(fd, &st))
		return -errno;
	return st.st_size == (off_t)bytes ? 0 : -EPROTO;
}

int vftr_segment_map_control(int fd, struct control_agent_shm **agent, struct control_app_shm **app)
{
	void *base;
	int error = has_size(fd, CONTROL_BYTES);

	if (!error)
		error = map_flipped(fd, CONTROL_BYTES, PROT_READ | PROT_WRITE, 0, PROT_READ, &base);
	if (error)
		return error;
	*agent = base;
	*app = (void *)((char *)base + SEGMENT_PAGE);
	if ((*agent)->magic == SEGMENT_MAGIC && (*agent)->record_format == RECORD_FORMAT)
		return 0;
	munmap(base, CONTROL_BYTES);
	return -EPROTO;
}

static int replace(int fd, void *base, size_t bytes, size_t flip_offset)
{
	if (mmap(base, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) ==
			MAP_FAILED ||
		mmap((char *)base + flip_offset, SEGMENT_PAGE, PROT_READ, MAP_SHARED | MAP_FIXED,
			fd, (off_t)flip_offset) == MAP_FAILED)
		return -errno;
	return 0;
}

int vftr_segment_replace_control(int fd, struct control_agent_shm *agent)
{
	struct control_agent_shm *seen;
	struct control_app_shm *app;
	int error = vftr_segment_map_control(fd, &seen, &app);

	if (error)
		return error;
	munmap(seen, CONTROL_BYTES);
	return replace(fd, agent, CONTROL_BYTES, 0);
}

int vftr_segment_replace_ring(int fd, const struct ring *ring)
{
	int error = has_size(fd, ring->bytes);

	return error ? error : replace(fd, ring->base, ring->bytes, SEGMENT_PAGE);
}

static int move(void *from, void *to, size_t bytes)
{
	return mremap(from, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, to) == MAP_FAILED ? -errno
											   : 0;
}

int vftr_segment_move_ring(struct ring *ring, void *base)
{
	/* as map_flipped() has made them: mremap() moves one mapping at a time */
	const size_t part[] = {0, SEGMENT_PAGE, 2 * SEGMENT_PAGE, ring->bytes};
	int error = 0;

	for (unsigned i = 0; !error && i < 3; i++)
		error = move((char *)ring->base + part[i], (char *)base + part[i],
			part[i + 1] - part[i]);
	if (!error)
		ring_point(ring, base, ring->size);
	return error;
}

int vftr_segment_map_ring(int fd, uint64_t size, struct ring *ring)
{
	void *base;
	int error = has_size(fd, RING_SEGMENT_BYTES(size));

	if (!error)
		error = map_flipped(fd, RING_SEGMENT_BYTES(size), PROT_READ | PROT_WRITE,
			SEGMENT_PAGE, PROT_READ, &base);
	if (error)
		return error;
	ring_point(ring, base, size);
	return 0;
}

void vftr_segment_unmap_control(struct control_agent_shm *agent)
{
	if (agent)
		munmap(agent, CONTROL_BYTES);
}

void vftr_segment_unmap_ring(struct ring *ring)
{
	if (ring->base)
		munmap(ring->base, ring->bytes);
	memset(ring, 0, sizeof(*ring));
}

void vftr_segment_blank(void *base, size_t bytes)
{
	if (base && mmap(base, bytes, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
		return; /* no memory at all: it stays */
}
