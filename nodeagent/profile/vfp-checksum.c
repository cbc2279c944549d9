/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "nodeagent/profile/vfp-format.h"
#include "nodeagent/profile/vfp.h"
#include "shm/fnv.h"

#define VERSION_OF_BYTES 7 /* such files, and earlier ones, have FNV-1a, byte by byte */
#define FACTOR		 UINT64_C(0x9e3779b97f4a7c15)

/* A one-to-one function of both h and the word, so that no single word can change unseen. */
static inline uint64_t add_word(uint64_t h, uint64_t word)
{
	h = (h ^ word) * FACTOR;
	return h ^ h >> 32;
}

static uint64_t add_words(uint64_t h, const unsigned char *at, size_t bytes)
{
	const size_t whole = bytes / 8 * 8;
	uint64_t word;

	for (size_t i = 0; i < whole; i += 8) {
		memcpy(&word, at + i, sizeof(word));
		h = add_word(h, word);
	}
	if (whole == bytes)
		return h;
	word = 0;
	memcpy(&word, at + whole, bytes - whole);
	return add_word(h, word);
}

uint64_t vfp_checksum(const unsigned char *buf, size_t bytes)
{
	const size_t before = offsetof(struct vfp_header, checksum);
	const size_t head = sizeof(struct vfp_header);
	struct vfp_header h;

	memcpy(&h, buf, head);
	if (h.version <= VERSION_OF_BYTES)
		return fnv_bytes(fnv_bytes(FNV_BEGIN, buf, before), buf + head, bytes - head);
	return add_words(add_words(FNV_BEGIN, buf, before), buf + head, bytes - head);
}
