/* SPDX-License-Identifier: BSD-3-Clause */
/* Pieces of 32 bytes to 16 KiB, in powers of two, with a list of free ones each. */
#include "mpi/memory.h"
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include "mpi/handle.h"

#define SMALLEST    32u
#define N_SIZES	    10
#define CHUNK_BYTES ((size_t)256 * 1024)

struct piece {
	struct piece *next;
};

static struct piece *unused[N_SIZES];
static char *chunk;
static size_t chunk_left;
static uint32_t lock;

static void *map(size_t bytes)
{
	int saved_errno = errno;
	void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	errno = saved_errno;
	return at == MAP_FAILED ? NULL : at;
}

static void unmap(void *at, size_t bytes)
{
	int saved_errno = errno;

	munmap(at, bytes);
	errno = saved_errno;
}

/* The list for pieces of so many bytes; N_SIZES: none. */
static int size_index(size_t bytes)
{
	int i = 0;

	while (i < N_SIZES && ((size_t)SMALLEST << i) < bytes)
		i++;
	return i;
}

static void *carve(size_t bytes)
{
	void *at;

	if (chunk_left < bytes) {
		at = map(CHUNK_BYTES);
		if (!at)
			return NULL;
		chunk = at; /* the rest of the old one is at most one piece of 16 KiB */
		chunk_left = CHUNK_BYTES;
	}
	at = chunk;
	chunk += bytes;
	chunk_left -= bytes;
	return at;
}

void *vftr_memory_take(size_t bytes)
{
	const int i = size_index(bytes);
	struct piece *piece;
	void *fresh = NULL;

	if (i == N_SIZES)
		return map(bytes);
	spin_lock(&lock);
	piece = unused[i];
	if (piece)
		unused[i] = piece->next;
	else
		fresh = carve((size_t)SMALLEST << i);
	spin_unlock(&lock);
	return piece ? memset(piece, 0, bytes) : fresh;
}

void vftr_memory_give(void *piece, size_t bytes)
{
	const int i = size_index(bytes);
	struct piece *p = piece;

	if (!p)
		return;
	if (i == N_SIZES) {
		unmap(p, bytes);
		return;
	}
	spin_lock(&lock);
	p->next = unused[i];
	unused[i] = p;
	spin_unlock(&lock);
}
