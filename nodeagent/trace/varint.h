/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Varints of sampling files: 7 bits in each byte, with the length in the first byte,
 * so that neither side loops or guesses. As many bytes follow as its low end has zero
 * bits; the value is above the lowest set bit, least significant
 * byte first. Beyond 56 bits: a zero byte, then 8 bytes.
 */
#ifndef VFTR_NODEAGENT_TRACE_VARINT_H
#define VFTR_NODEAGENT_TRACE_VARINT_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define VARINT_MAX 9u

#define VARINT_SHORT_BITS 56

/* varint_put() of a value below 2^VARINT_SHORT_BITS. Needs room for 8 bytes. */
static inline unsigned char *varint_put_short(unsigned char *to, uint64_t value)
{
	const unsigned highest = 63 ^ (unsigned)__builtin_clzll(value | 1);
	const unsigned more = (highest * 9 + 9) >> 6; /* highest / 7 for these */
	const uint64_t word = htole64((value << 1 | 1) << more);

	memcpy(to, &word, sizeof(word));
	return to + more + 1;
}

/* A value below 128, in one byte. */
static inline void varint_put_byte(unsigned char *to, uint32_t value)
{
	*to = (unsigned char)(value << 1 | 1);
}

/* A value below 2^21 in three bytes, however small it is. Needs room for 4 bytes. */
#define VARINT_FIXED 3u
static inline void varint_put_fixed(unsigned char *to, uint32_t value)
{
	const uint32_t word = htole32((value << 1 | 1) << (VARINT_FIXED - 1));

	memcpy(to, &word, VARINT_FIXED);
}

/* Writes a varint and returns its end. Needs room for VARINT_MAX bytes. */
static inline unsigned char *varint_put(unsigned char *to, uint64_t value)
{
	uint64_t word;

	if (__builtin_expect(value >> VARINT_SHORT_BITS == 0, 1))
		return varint_put_short(to, value);
	*to++ = 0;
	word = htole64(value);
	memcpy(to, &word, sizeof(word));
	return to + sizeof(word);
}

/* A varint of a number below 2^28, for varint_copy(). */
static inline uint32_t varint_code(uint32_t value)
{
	unsigned char bytes[8];
	uint32_t code;

	varint_put_short(bytes, value);
	memcpy(&code, bytes, sizeof(code));
	return le32toh(code);
}

/* Writes a code of varint_code() and returns its end. Needs room for 4 bytes. */
static inline unsigned char *varint_copy(unsigned char *to, uint32_t code)
{
	const uint32_t word = htole32(code);

	memcpy(to, &word, sizeof(word));
	return to + (unsigned)__builtin_ctz(code) + 1;
}

static inline uint64_t zigzag(int64_t value)
{
	return (uint64_t)value << 1 ^ (uint64_t)(value >> 63);
}

static inline int64_t unzigzag(uint64_t value)
{
	return (int64_t)(value >> 1) ^ -(int64_t)(value & 1);
}

/* The bytes to read; beyond the end every value is 0 and `bad` is set. */
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
