/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/base/hash.h"

#include <endian.h>
#include <string.h>

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

void crc_table_make(struct crc_table *t, uint32_t polynomial)
{
	for (uint32_t i = 0; i < 256; i++) {
		uint32_t crc = i;

		for (int bit = 0; bit < 8; bit++)
			crc = crc & 1 ? crc >> 1 ^ polynomial : crc >> 1;
		t->of[0][i] = crc;
	}
	for (uint32_t i = 0; i < 256; i++)
		for (int k = 1; k < 8; k++)
			t->of[k][i] = t->of[k - 1][i] >> 8 ^ t->of[0][t->of[k - 1][i] & 0xff];
}

uint32_t crc_add(const struct crc_table *t, uint32_t crc, const void *bytes, size_t n)
{
	const unsigned char *at = bytes;

	crc = ~crc;
	for (; n >= 8; n -= 8, at += 8) {
		uint64_t word;

		memcpy(&word, at, sizeof(word));
		word = le64toh(word) ^ crc;
		crc = 0;
		for (int k = 0; k < 8; k++)
			crc ^= t->of[7 - k][word >> (8 * k) & 0xff];
	}
	for (; n; n--)
		crc = crc >> 8 ^ t->of[0][(crc ^ *at++) & 0xff];
	return ~crc;
}
