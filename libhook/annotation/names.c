/* SPDX-License-Identifier: BSD-3-Clause */
#include "libhook/annotation/names.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "shm/atomic.h"
#include "shm/fnv.h"

#define TRIES	   64u
#define NAME_BYTES 1023u
#define POOL_BYTES (16u << 20) /* of all names of all tables */

static uint64_t pool; /* its address, or 0 */
static uint32_t used;

static uint64_t place_of(uint64_t handle)
{
	return fnv_bytes(FNV_BEGIN, &handle, sizeof(handle));
}

/* Pages that nobody uses cost nothing. */
static char *pool_here(void)
{
	const int saved_errno = errno;
	long mine;

	if (load_acquire(&pool)) /* pairs with claim_u64() */
		return (char *)(uintptr_t)load_relaxed(&pool);
	/* mmap() may be that of libvftrace-memory, which counts it for the program */
	mine = syscall(SYS_mmap, NULL, POOL_BYTES, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (mine != -1 && !claim_u64(&pool, 0, (uint64_t)mine))
		syscall(SYS_munmap, mine, POOL_BYTES); /* another thread was faster */
	errno = saved_errno;
	return (char *)(uintptr_t)load_acquire(&pool);
}

/* A copy that stays, or NULL. */
static const char *copy_of(const char *name)
{
	const uint32_t bytes = (uint32_t)strnlen(name, NAME_BYTES);
	char *here = pool_here();
	uint32_t at;

	if (!here || load_relaxed(&used) > POOL_BYTES - NAME_BYTES - 1)
		return NULL;
	at = add_relaxed_u32(&used, bytes + 1);
	if (at > POOL_BYTES - NAME_BYTES - 1)
		return NULL;
	return memcpy(here + at, name, bytes); /* the pages are zero */
}

uint64_t annotation_name_keep(struct names *n, uint64_t handle, const char *name)
{
	uint64_t place;

	if (!name)
		name = "";
	if (!handle)
		handle = fnv_text(FNV_BEGIN, name) | 1;
	place = place_of(handle);
	if (annotation_name_of(n, handle))
		return handle;
	for (uint64_t i = place; i < place + TRIES; i++) {
		__typeof__(&n->at[0]) to = &n->at[i % NAMES_MOST];

		if (load_acquire(&to->handle) == handle)
			break;
		if (!claim_u32(&to->taken, 0, 1))
			continue;
		to->text = copy_of(name);
		store_release(&to->handle, handle); /* pairs with the acquire below */
		break;
	}
	return handle;
}

const char *annotation_name_of(const struct names *n, uint64_t handle)
{
	const uint64_t place = place_of(handle);

	for (uint64_t i = place; i < place + TRIES; i++) {
		const uint64_t found = load_acquire(&n->at[i % NAMES_MOST].handle);

		if (found == handle)
			return n->at[i % NAMES_MOST].text;
		if (!found)
			return NULL;
	}
	return NULL;
}
