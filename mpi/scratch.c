/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory that a recorder needs from before a call to after it, of each thread
 * its own, outside of the application's heap. Given back when the thread ends.
 */
#include <errno.h>
#include <pthread.h>
#include <sys/mman.h>
#include "mpi/call.h"
#include "mpi/scratch.h"

#define FIRST_BYTES ((size_t)16 << 10)
#define LARGE_BYTES ((size_t)1 << 20) /* mapped by themselves, and only as long as in use */

/* The head of a piece that is mapped by itself. */
struct large {
	size_t bytes;
	size_t unused; /* 16-byte alignment */
};

static __thread struct {
	char *at;
	size_t bytes;
} own __attribute__((tls_model("initial-exec")));

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t at_thread_end;
static int have_key;

static void give_back(void *unused)
{
	(void)unused;
	if (own.at)
		munmap(own.at, own.bytes);
	own.at = NULL;
	own.bytes = vftr_mpi_open.scratch = 0;
}

static void make_key(void)
{
	have_key = !pthread_key_create(&at_thread_end, give_back);
}

static void *map(size_t bytes)
{
	int saved_errno = errno;
	void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	errno = saved_errno;
	return at == MAP_FAILED ? NULL : at;
}

static bool grow(size_t bytes)
{
	size_t more = own.bytes ? own.bytes : FIRST_BYTES;
	void *at;

	while (more < bytes)
		more *= 2;
	at = map(more);
	if (!at)
		return false;
	pthread_once(&once, make_key);
	if (have_key)
		pthread_setspecific(at_thread_end, at);
	if (own.at)
		munmap(own.at, own.bytes);
	own.at = at;
	own.bytes = more;
	return true;
}

static void *take_large(size_t bytes)
{
	struct large *l = map(sizeof(*l) + bytes);

	if (!l)
		return NULL;
	l->bytes = sizeof(*l) + bytes;
	return l + 1;
}

void *vftr_scratch(size_t bytes)
{
	char *at;

	bytes = (bytes + 15) & ~(size_t)15;
	if (bytes > LARGE_BYTES)
		return take_large(bytes);
	if (own.bytes - vftr_mpi_open.scratch < bytes) {
		/* some is in use, of a call around this one, or of one that never returned */
		if (vftr_mpi_open.scratch)
			return take_large(bytes);
		if (!grow(bytes))
			return NULL;
	}
	at = own.at + vftr_mpi_open.scratch;
	vftr_mpi_open.scratch += bytes;
	return at;
}

void vftr_scratch_done(const void *at)
{
	const uintptr_t offset = (uintptr_t)at - (uintptr_t)own.at;
	struct large *l;

	if (!at)
		return;
	if (own.at && offset < own.bytes) {
		vftr_mpi_open.scratch = offset;
		return;
	}
	l = (struct large *)(uintptr_t)at - 1;
	munmap(l, l->bytes);
}
