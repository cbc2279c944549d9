/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Decimal digits as printf() writes them, some ten times faster: a million call paths have ten
 * million numbers. Each function writes at `to`, without a NUL, and returns the end.
 */
#ifndef VFTR_NODEAGENT_BASE_DIGITS_H
#define VFTR_NODEAGENT_BASE_DIGITS_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define DIGITS_MOST	40 /* bytes that any of these may write */
#define DIGITS_DECIMALS 9  /* most of digits_fixed() */

/* Exactly n digits, with leading zeros; what is beyond is left out. */
static inline char *digits_padded(char *to, uint64_t value, unsigned n)
{
	for (unsigned i = n; i--; value /= 10)
		to[i] = (char)('0' + value % 10);
	return to + n;
}

static inline unsigned digits_number(uint64_t value)
{
	unsigned n = 1;

	for (; value >= 10; value /= 10)
		n++;
	return n;
}

/* As %llu. */
static inline char *digits_uint(char *to, uint64_t value)
{
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

/* As %016llx. */
static inline char *digits_hex(char *to, uint64_t value)
{
	for (unsigned i = 16; i--; value >>= 4)
		to[i] = "0123456789abcdef"[value & 0xf];
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
	int exponent, down;
	double part;

	if (!(fabs(value) < 1e9) || decimals > DIGITS_DECIMALS)
		return NULL;
	if (signbit(value))
		*to++ = '-';
	part = frexp(fabs(value), &exponent); /* value = part * 2^exponent, part < 1 of 53 bits */
	down = 53 - exponent;		      /* 23 or more, as value < 2^30 */
	scaled = (unsigned __int128)(uint64_t)ldexp(part, 53) * tens[decimals];
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
