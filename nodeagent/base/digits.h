/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Decimal digits as printf() writes them, some ten times faster: a million call paths have ten
 * million numbers. Each function writes at `to`, without a NUL, and returns the end.
 */
#ifndef VFTR_NODEAGENT_BASE_DIGITS_H
#define VFTR_NODEAGENT_BASE_DIGITS_H

#include <endian.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define DIGITS_MOST	40 /* bytes that any of these may write */
#define DIGITS_DECIMALS 9  /* most of digits_fixed() */

/* The eight digits of a number below 10^8: halves, pairs and then digits, all of them at once. */
static inline void digits_eight(char *to, uint32_t value)
{
	const uint64_t halves = value / 10000 | (uint64_t)(value % 10000) << 32;
	const uint64_t hundreds = halves * 5243 >> 19 & UINT64_C(0x7f0000007f);
	const uint64_t pairs = hundreds | (halves - 100 * hundreds) << 16;
	const uint64_t tens = pairs * 103 >> 10 & UINT64_C(0x000f000f000f000f);
	const uint64_t digits =
		htole64((tens | (pairs - 10 * tens) << 8) + UINT64_C(0x3030303030303030));

	memcpy(to, &digits, sizeof(digits));
}

/* Two digits of a number below 100. */
static inline void digits_two(char *to, unsigned value)
{
	static const char pairs[] = "00010203040506070809101112131415161718192021222324"
				    "25262728293031323334353637383940414243444546474849"
				    "50515253545556575859606162636465666768697071727374"
				    "75767778798081828384858687888990919293949596979899";

	memcpy(to, pairs + 2 * value, 2);
}

/* Exactly n digits, with leading zeros; what is beyond is left out. */
static inline char *digits_padded(char *to, uint64_t value, unsigned n)
{
	char *const end = to + n, *at = end;

	for (; n >= 8; n -= 8, value /= 100000000)
		digits_eight(at -= 8, (uint32_t)(value % 100000000));
	for (; n >= 2; n -= 2, value /= 100)
		digits_two(at -= 2, (unsigned)(value % 100));
	if (n)
		*to = (char)('0' + value % 10);
	return end;
}

static inline unsigned digits_number(uint64_t value)
{
	static const uint64_t least[] = {0, 10, 100, 1000, 10000, 100000, 1000000, 10000000,
		100000000, 1000000000, 10000000000, 100000000000, 1000000000000, 10000000000000,
		100000000000000, 1000000000000000, 10000000000000000, 100000000000000000,
		1000000000000000000, 10000000000000000000u};
	const unsigned bits = 64 - (unsigned)__builtin_clzll(value | 1);
	const unsigned n = bits * 1233 >> 12; /* bits * log10(2): of digits, or one less */

	return n + (value >= least[n]);
}

/* As %llu. */
static inline char *digits_uint(char *to, uint64_t value)
{
	if (value < 10) { /* many are */
		*to = (char)('0' + value);
		return to + 1;
	}
	return digits_padded(to, value, digits_number(value));
}

/* As %lld. */
static inline char *digits_int(char *to, int64_t value)
{
	if (value < 0)
		*to++ = '-';
	return digits_uint(to, value < 0 ? -(uint64_t)value : (uint64_t)value);
}

/* Nanoseconds as seconds, with nine decimals. */
static inline char *digits_seconds(char *to, uint64_t ns)
{
	to = digits_uint(to, ns / 1000000000);
	*to++ = '.';
	return digits_padded(to, ns % 1000000000, 9);
}

/* The eight digits of half of one: nibbles in bytes of their own, all of them at once. */
static inline void digits_hex_eight(char *to, uint32_t value)
{
	uint64_t x = __builtin_bswap32(value), above_nine;

	x = (x | x << 16) & UINT64_C(0x0000ffff0000ffff);
	x = (x | x << 8) & UINT64_C(0x00ff00ff00ff00ff);
	x = (x >> 4 | x << 8) & UINT64_C(0x0f0f0f0f0f0f0f0f);
	above_nine = (x + UINT64_C(0x0606060606060606)) >> 4 & UINT64_C(0x0101010101010101);
	x = htole64(x + UINT64_C(0x3030303030303030) + above_nine * ('a' - '0' - 10));
	memcpy(to, &x, sizeof(x));
}

/* As %016llx. */
static inline char *digits_hex(char *to, uint64_t value)
{
	digits_hex_eight(to, (uint32_t)(value >> 32));
	digits_hex_eight(to + 8, (uint32_t)value);
	return to + 16;
}

/*
 * As %.*f with decimals <= DIGITS_DECIMALS, to the last digit. The value is an integer of 53 bits
 * times 2^-down; that integer times 10^decimals fits in 128 bits, and is rounded as printf() does,
 * a half to the even digit. NULL: the number is left to printf(), as it is not finite or from 1e9
 * on, or has more decimals.
 */
static inline char *digits_fixed(char *to, double value, unsigned decimals)
{
	static const uint64_t tens[DIGITS_DECIMALS + 1] = {
		1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000, 1000000000};
	unsigned __int128 scaled, half, rest;
	uint64_t bits, mantissa;
	unsigned exponent, down;

	if (!(fabs(value) < 1e9) || decimals > DIGITS_DECIMALS)
		return NULL;
	if (signbit(value))
		*to++ = '-';
	memcpy(&bits, &value, sizeof(bits));
	exponent = bits >> 52 & 0x7ff;
	mantissa = (bits & ((UINT64_C(1) << 52) - 1)) | (uint64_t)(exponent != 0) << 52;
	down = 1075 - exponent - !exponent; /* 23 or more, as value < 2^30 */
	scaled = (unsigned __int128)mantissa * tens[decimals];
	if (down < 84) {
		half = (unsigned __int128)1 << (down - 1);
		rest = scaled & (2 * half - 1);
		scaled >>= down;
		scaled += rest > half || (rest == half && (scaled & 1));
	} else {
		scaled = 0; /* below a half of the last digit: 2^53 * 10^9 < 2^83 */
	}
	to = digits_uint(to, (uint64_t)scaled / tens[decimals]);
	if (!decimals)
		return to;
	*to++ = '.';
	return digits_padded(to, (uint64_t)scaled % tens[decimals], decimals);
}

#endif
