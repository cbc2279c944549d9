/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/base/hash.h"

static uint32_t rotate(uint32_t x, int by)
{
	return x << by | x >> (32 - by);
}

static uint32_t murmur_block(uint32_t k)
{
	return rotate(k * 0xcc9e2d51u, 15) * 0x1b873593u;
}

void stack_hash_add(struct stack_hash *h, const void *text, size_t bytes)
{
	const unsigned char *p = text;
	struct stack_hash now = *h;

	for (size_t i = 0; i < bytes; i++) {
		now.jenkins += p[i];
		now.jenkins += now.jenkins << 10;
		now.jenkins ^= now.jenkins >> 6;
		/* little endian on every machine, so that mixed jobs agree */
		now.tail |= (uint32_t)p[i] << 8 * (now.bytes++ & 3);
		if (now.bytes & 3)
			continue;
		now.murmur = rotate(now.murmur ^ murmur_block(now.tail), 13) * 5 + 0xe6546b64u;
		now.tail = 0;
	}
	*h = now;
}

uint64_t stack_hash_end(const struct stack_hash *h)
{
	uint32_t high = h->jenkins, low = h->murmur ^ murmur_block(h->tail) ^ h->bytes;

	high += high << 3;
	high ^= high >> 11;
	high += high << 15;
	low = (low ^ low >> 16) * 0x85ebca6bu;
	low = (low ^ low >> 13) * 0xc2b2ae35u;
	return (uint64_t)high << 32 | (low ^ low >> 16);
}

uint64_t stack_hash(const void *text, size_t bytes)
{
	struct stack_hash h = STACK_HASH_BEGIN;

	stack_hash_add(&h, text, bytes);
	return stack_hash_end(&h);
}
