/* SPDX-License-Identifier: BSD-3-Clause */
/* SipHash-2-4 (Aumasson and Bernstein, 2012), for the messages between agents. */
#include <string.h>

#include "nodeagent/sha256.h"

struct sip {
	uint64_t a, b, c, d;
};

static uint64_t left(uint64_t x, int n)
{
	return x << n | x >> (64 - n);
}

static void rounds(struct sip *s, int n)
{
	while (n--) {
		s->a += s->b;
		s->c += s->d;
		s->b = left(s->b, 13) ^ s->a;
		s->d = left(s->d, 16) ^ s->c;
		s->a = left(s->a, 32) + s->d;
		s->c += s->b;
		s->b = left(s->b, 17) ^ s->c;
		s->d = left(s->d, 21) ^ s->a;
		s->c = left(s->c, 32);
	}
}

/* Words are little-endian; of the last one, `bytes` are there. */
static uint64_t word(const unsigned char *at, size_t bytes)
{
	uint64_t w = 0;

	for (size_t i = 0; i < bytes; i++)
		w |= (uint64_t)at[i] << (8 * i);
	return w;
}

static const unsigned char *whole_words(struct sip *s, const unsigned char *at, size_t bytes)
{
	for (; bytes >= 8; bytes -= 8, at += 8) {
		uint64_t w = word(at, 8);

		s->d ^= w;
		rounds(s, 2);
		s->a ^= w;
	}
	return at;
}

uint64_t siphash(const unsigned char key[SIPHASH_KEY_BYTES], const void *a, size_t a_bytes,
	const void *b, size_t b_bytes)
{
	uint64_t k0 = word(key, 8), k1 = word(key + 8, 8), last;
	struct sip s = {k0 ^ 0x736f6d6570736575, k1 ^ 0x646f72616e646f6d, k0 ^ 0x6c7967656e657261,
		k1 ^ 0x7465646279746573};
	const unsigned char *rest;

	whole_words(&s, a, a_bytes);
	rest = whole_words(&s, b, b_bytes);
	last = word(rest, b_bytes % 8) | (uint64_t)(a_bytes + b_bytes) << 56;
	s.d ^= last;
	rounds(&s, 2);
	s.a ^= last;
	s.c ^= 0xff;
	rounds(&s, 4);
	return s.a ^ s.b ^ s.c ^ s.d;
}
