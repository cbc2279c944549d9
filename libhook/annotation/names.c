/* SPDX-License-Identifier: BSD-3-Clause */
#include "libhook/annotation/names.h"

#include <stddef.h>
#include <string.h>
#include "shm/atomic.h"
#include "shm/fnv.h"

#define TRIES 64u

static uint64_t place_of(uint64_t handle)
{
	return fnv_bytes(FNV_BEGIN, &handle, sizeof(handle));
}

uint64_t annotation_name_keep(struct names *n, uint64_t handle, const char *name)
{
	uint64_t place;

	if (!name)
		name = "";
	if (!handle)
		handle = fnv_text(FNV_BEGIN, name) | 1;
	place = place_of(handle);
	for (uint64_t i = place; i < place + TRIES && !annotation_name_of(n, handle); i++) {
		__typeof__(&n->at[0]) to = &n->at[i % NAMES_MOST];

		if (!claim_u32(&to->taken, 0, 1))
			continue;
		strncpy(to->text, name, sizeof(to->text) - 1);
		store_release(&to->handle, handle); /* pairs with the acquire below */
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
