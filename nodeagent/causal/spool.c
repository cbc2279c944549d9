/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/causal/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "nodeagent/base/util.h"

struct spool {
	int fd, error;
	uint32_t n; /* blocks */
	unsigned char *map;
};

struct spool *spool_new(const char *folder)
{
	char *name = xasprintf("%s/vftr-exact.XXXXXX", folder);
	int fd = mkostemp(name, O_CLOEXEC), error = errno;
	struct spool *s = NULL;

	if (fd >= 0) {
		unlink(name);
		s = xcalloc(1, sizeof(*s));
		s->fd = fd;
	}
	free(name);
	errno = error;
	return s;
}

void spool_free(struct spool *s)
{
	if (!s)
		return;
	if (s->map)
		munmap(s->map, (size_t)s->n * SPOOL_BLOCK);
	close(s->fd);
	free(s);
}

static void write_block(struct spool *s, const unsigned char *from)
{
	size_t left = SPOOL_BLOCK;

	while (left && !s->error) {
		ssize_t n = write(s->fd, from, left);

		if (n > 0) {
			from += n;
			left -= (size_t)n;
		} else if (n == 0 || errno != EINTR) {
			s->error = n ? errno : ENOSPC;
		}
	}
	if (++s->n == UINT32_MAX && !s->error)
		s->error = EFBIG;
}

bool spool_map(struct spool *s)
{
	if (!s->error && s->n) {
		s->map = mmap(NULL, (size_t)s->n * SPOOL_BLOCK, PROT_READ | PROT_WRITE, MAP_SHARED,
			s->fd, 0);
		if (s->map == MAP_FAILED) {
			s->map = NULL;
			s->error = errno;
		}
	}
	errno = s->error;
	return !s->error;
}

void spool_list_begin(struct spool_list *l, struct spool *s, uint32_t size)
{
	*l = (struct spool_list){.spool = s, .size = size};
}

uint64_t spool_list_add(struct spool_list *l, const void *record)
{
	const uint32_t most = SPOOL_BLOCK / l->size, at = (uint32_t)(l->n % most);

	if (!l->tail)
		l->tail = xcalloc(1, SPOOL_BLOCK);
	memcpy(l->tail + (size_t)at * l->size, record, l->size);
	if (at + 1 == most) {
		*APPEND(l->blocks, l->n_blocks, l->cap_blocks) = l->spool->n;
		write_block(l->spool, l->tail);
	}
	return l->n++;
}

void spool_list_free(struct spool_list *l)
{
	free(l->tail);
	free(l->blocks);
}

void *spool_list_at(const struct spool_list *l, uint64_t i)
{
	const uint32_t most = SPOOL_BLOCK / l->size;
	const size_t block = (size_t)(i / most), offset = (size_t)(i % most) * l->size;

	if (block == l->n_blocks)
		return l->tail + offset;
	return l->spool->map + (size_t)l->blocks[block] * SPOOL_BLOCK + offset;
}
