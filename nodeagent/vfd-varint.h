/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Varints of sampling files: 7 bits a byte, and the length stands in the first
 * byte, so that neither side loops or guesses. As many zero bits as it ends in,
 * so many bytes follow; the value is above the lowest set bit, least significant
 * byte first. Beyond 56 bits: a zero byte, then 8 bytes.
 */
#ifndef VFTR_NODEAGENT_VFD_VARINT_H
#define VFTR_NODEAGENT_VFD_VARINT_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define VARINT_MAX 9u

/* Behind the varint. Writes 8 bytes at least: so much room must be there. */
static inline unsigned char *varint_put(unsigned char *to, uint64_t value)
{
	/* (bits + 6) / 7 for up to 63 bits, without a division */
	unsigned bytes = ((63 - (unsigned)__builtin_clzll(value | 1)) * 9 + 73) >> 6;
	uint64_t word;

	if (__builtin_expect(value >> 56 != 0, 0)) {
		*to++ = 0;
		bytes = 8;
		word = htole64(value);
	} else {
		word = htole64(((value << 1) | 1) << (bytes - 1));
	}
	memcpy(to, &word, sizeof(word));
	return to + bytes;
}

static inline uint64_t zigzag(int64_t value)
{
	return (uint64_t)value << 1 ^ (uint64_t)(value >> 63);
}

static inline int64_t unzigzag(uint64_t value)
{
	return (int64_t)(value >> 1) ^ -(int64_t)(value & 1);
}

/* What is being read; beyond the end everything is 0 and `bad` is set. */
struct varint_reader {
	const unsigned char *at, *end;
	bool bad;
};

static inline uint64_t varint_get(struct varint_reader *r)
{
	const size_t left = (size_t)(r->end - r->at);
	unsigned char near[8] = {0};
	uint64_t word;
	unsigned bytes;

	if (__builtin_expect(left >= VARINT_MAX, 1)) {
		memcpy(&word, r->at, sizeof(word));
	} else {
		memcpy(near, r->at, left < 8 ? left : 8);
		memcpy(&word, near, sizeof(word));
	}
	word = le64toh(word);
	bytes = (unsigned)__builtin_ctzll((word & 0xff) | 0x100) + 1;
	if (__builtin_expect(bytes > left, 0)) {
		r->bad = true;
		r->at = r->end;
		return 0;
	}
	r->at += bytes;
	if (__builtin_expect(bytes == VARINT_MAX, 0)) {
		memcpy(&word, r->at - 8, sizeof(word));
		return le64toh(word);
	}
	/* 8 bytes: all but the lowest 8 bits; fewer: what they hold */
	return (word << (64 - 8 * bytes)) >> (64 - 7 * bytes);
}

/* Numbers of 32 bits; larger ones are bad. */
static inline uint32_t varint_get32(struct varint_reader *r)
{
	uint64_t value = varint_get(r);

	if (value > UINT32_MAX) {
		r->bad = true;
		return 0;
	}
	return (uint32_t)value;
}

/* A text of *n bytes in place, without NUL; NULL if it is too long. */
static inline const char *varint_get_text(struct varint_reader *r, size_t *n)
{
	uint64_t bytes = varint_get(r);
	const char *text = (const char *)r->at;

	if (bytes > (size_t)(r->end - r->at)) {
		r->bad = true;
		r->at = r->end;
		*n = 0;
		return NULL;
	}
	r->at += bytes;
	*n = bytes;
	return text;
}

#endif
