/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Numbers of names. A name claims a free entry by its hash, and then nobody else writes there;
 * who comes while its text is not there yet uses the number all the same, as the agent takes
 * numbers before their names. Names of equal hash are one.
 */
#include "libc/files/files.h"

#include <string.h>
#include "shm/atomic.h"
#include "shm/fnv.h"

#define TEXT_BYTES ((size_t)1 << 20) /* of all names */

struct name {
	uint64_t hash;	  /* 0: free */
	const char *text; /* NULL: not there yet */
	uint32_t told;	  /* 1 + generation whose agent has it */
};

static struct name names[FILE_NUMBERS]; /* by number - 1 */
static uint32_t used;
static char texts[TEXT_BYTES];
static uint64_t texts_used;

static const char no_room[] = "";

static const char *keep(const char *text, size_t bytes)
{
	uint64_t at = add_relaxed_u64(&texts_used, bytes);

	if (at + bytes > TEXT_BYTES)
		return NULL;
	memcpy(texts + at, text, bytes);
	return texts + at;
}

void files_tell(uint32_t number)
{
	struct name *n = number ? &names[number - 1] : NULL;
	uint32_t told = n ? load_relaxed(&n->told) : 0, now = files_host->generation() + 1;
	const char *text;

	if (!n || likely(told == now))
		return;
	text = load_acquire(&n->text); /* pairs with the release in add() */
	if (text && claim_u32(&n->told, told, now))
		files_host->name(number, text);
}

static uint32_t known(uint32_t at)
{
	if (load_relaxed(&names[at].text) == no_room)
		return 0;
	files_tell(at + 1);
	return at + 1;
}

static uint32_t add(uint32_t at, const char *name)
{
	const char *text = keep(name, strlen(name) + 1);

	store_release(&names[at].text, text ? text : no_room);
	return known(at);
}

uint32_t files_number(const char *name)
{
	uint64_t hash = FNV_BEGIN;

	for (const char *c = name; *c; c++)
		hash = fnv_word(hash, (unsigned char)*c);
	hash |= 1;
	for (uint32_t i = 0; i < FILE_NUMBERS; i++) {
		uint32_t at = (uint32_t)(hash + i) & (FILE_NUMBERS - 1);
		uint64_t is = load_relaxed(&names[at].hash);

		if (!is) {
			if (load_relaxed(&used) >= FILE_NAMES_MOST)
				return 0;
			if (claim_u64(&names[at].hash, 0, hash)) {
				add_relaxed_u32(&used, 1);
				return add(at, name);
			}
			is = load_relaxed(&names[at].hash);
		}
		if (is == hash)
			return known(at);
	}
	return 0;
}
