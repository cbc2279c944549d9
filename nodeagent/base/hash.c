/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/base/hash.h"

#define MURMUR_SEED 0x5c0940e9u

static uint32_t rotate(uint32_t x, int by)
{
	return x << by | x >> (32 - by);
}

static uint32_t jenkins(const unsigned char *p, size_t n)
{
	uint32_t h = 0;

	for (size_t i = 0; i < n; i++) {
		h += p[i];
		h += h << 10;
		h ^= h >> 6;
	}
	h += h << 3;
	h ^= h >> 11;
	h += h << 15;
	return h;
}

static uint32_t murmur_block(uint32_t k)
{
	return rotate(k * 0xcc9e2d51u, 15) * 0x1b873593u;
}

static uint32_t murmur3(const unsigned char *p, size_t n)
{
	uint32_t h = MURMUR_SEED, tail = 0;
	size_t i = 0;

	for (; i + 4 <= n; i += 4) {
		/* little endian on every machine, so that mixed jobs agree */
		uint32_t k = p[i] | p[i + 1] << 8 | p[i + 2] << 16 | (uint32_t)p[i + 3] << 24;

		h = rotate(h ^ murmur_block(k), 13) * 5 + 0xe6546b64u;
	}
	for (int shift = 0; i < n; i++, shift += 8)
		tail |= (uint32_t)p[i] << shift;
	h ^= murmur_block(tail);
	h ^= (uint32_t)n;
	h = (h ^ h >> 16) * 0x85ebca6bu;
	h = (h ^ h >> 13) * 0xc2b2ae35u;
	return h ^ h >> 16;
}

uint64_t stack_hash(const void *text, size_t bytes)
{
	return (uint64_t)jenkins(text, bytes) << 32 | murmur3(text, bytes);
}
