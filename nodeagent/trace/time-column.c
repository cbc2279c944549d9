/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/trace/time-column.h"

#include <string.h>

#include "nodeagent/base/util.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#define SAMPLES	     256u
#define SEEN_BELOW   512u /* granules: longer differences are not worth a code */
#define GRANULE_MOST 65536u

/* ---- choosing ------------------------------------------------------------------------------ */

/* Places that have no rhythm in common with a loop. */
static size_t place_of(uint32_t i, size_t n)
{
	return n <= SAMPLES ? i : (size_t)((uint64_t)(i * 0x9e3779b1u) * n >> 32);
}

static uint32_t divisor(uint32_t a, uint32_t b)
{
	while (b) {
		const uint32_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

static uint32_t granule_of(const uint32_t *difference, size_t n, size_t seen)
{
	uint32_t granule = 0;

	for (uint32_t i = 0; i < seen && granule != 1; i++)
		granule = divisor(difference[place_of(i, n)], granule);
	return granule && granule <= GRANULE_MOST ? granule : 1;
}

/* Bytes of a difference without a code: put_other(). */
static uint32_t bytes_of_other(uint32_t granules)
{
	return granules < 64 ? 1 : 2;
}

struct time_coding time_coding_choose(const uint32_t *difference, size_t n)
{
	const size_t seen = n < SAMPLES ? n : SAMPLES;
	uint16_t bytes[SEEN_BELOW + 1 + (1 << TIME_BITS_MOST)] = {0}; /* of all before, in others */
	struct time_coding best = {.granule = granule_of(difference, n, seen), .bits = 1};
	uint64_t least = UINT64_MAX;
	uint32_t all = 0;

	for (uint32_t i = 0; i < seen; i++) {
		const uint32_t granules = difference[place_of(i, n)] / best.granule;

		if (granules < SEEN_BELOW)
			bytes[granules + 1] += (uint16_t)bytes_of_other(granules);
	}
	for (uint32_t i = 0; i < SEEN_BELOW; i++)
		all = bytes[i + 1] = (uint16_t)(bytes[i + 1] + all);
	for (uint32_t i = SEEN_BELOW + 1; i < ARRAY_SIZE(bytes); i++)
		bytes[i] = (uint16_t)all;
	for (uint32_t bits = 1; bits <= TIME_BITS_MOST; bits++) {
		const uint32_t codes = (1u << bits) - 1;

		for (uint32_t from = 0; from < SEEN_BELOW; from++) {
			const uint64_t others = all - (bytes[from + codes] - (uint32_t)bytes[from]);
			const uint64_t cost = 8 * others + bits * seen;

			if (cost >= least)
				continue;
			least = cost;
			best.lowest = from * best.granule;
			best.bits = bits;
		}
	}
	return best;
}

/* ---- writing ------------------------------------------------------------------------------- */

/* a * inverse == 1 modulo 2^32, a odd: each step doubles the bits that are right. */
static uint32_t inverse_of(uint32_t a)
{
	uint32_t inverse = a;

	for (int i = 0; i < 4; i++)
		inverse *= 2 - a * inverse;
	return inverse;
}

/*
 * The number of granules that a difference is above the lowest one. If it is no multiple, or
 * below it, that is a large number, as multiplying by an inverse gives each number another one.
 */
static inline uint32_t granules_above(
	uint32_t difference, uint32_t lowest, uint32_t inverse, unsigned shift)
{
	const uint32_t product = (difference - lowest) * inverse;

	return product >> shift | product << (31 - shift) << 1;
}

/* Eight codes of `bits' bits, each in a byte, the first one lowest, without what is between. */
static inline uint64_t join_codes(uint64_t codes, unsigned bits)
{
	const unsigned gap = 8 - bits;

	codes = (codes & 0x00ff00ff00ff00ffu) | (codes & 0xff00ff00ff00ff00u) >> gap;
	codes = (codes & 0x0000ffff0000ffffu) | (codes & 0xffff0000ffff0000u) >> 2 * gap;
	return (codes & 0x00000000ffffffffu) | (codes & 0xffffffff00000000u) >> 4 * gap;
}

static inline void put_codes(unsigned char *to, uint64_t codes)
{
	const uint64_t word = htole64(codes);

	memcpy(to, &word, sizeof(word));
}

static size_t code_plain(unsigned char *to, const uint32_t *difference, size_t n,
	const struct time_coding *c, uint32_t inverse, unsigned shift, uint16_t *without)
{
	const uint32_t none = (1u << c->bits) - 1;
	size_t n_without = 0;

	for (size_t i = 0; i < n; i += 8, to += c->bits) {
		uint64_t codes = 0;

		for (size_t k = 0; k < 8; k++) {
			const uint32_t above =
				granules_above(difference[i + k], c->lowest, inverse, shift);

			codes |= (uint64_t)MIN(above, none) << 8 * k;
			without[n_without] = (uint16_t)(i + k);
			n_without += above >= none;
		}
		put_codes(to, join_codes(codes, c->bits));
	}
	return n_without;
}

#if defined(__x86_64__)

static inline size_t note_without(uint16_t *without, size_t n_without, unsigned which, size_t at)
{
	for (; which; which &= which - 1)
		without[n_without++] = (uint16_t)(at + (unsigned)__builtin_ctz(which));
	return n_without;
}

__attribute__((target("avx2"))) static size_t code_avx2(unsigned char *to,
	const uint32_t *difference, size_t n, const struct time_coding *c, uint32_t inverse,
	unsigned shift, uint16_t *without)
{
	const __m256i none = _mm256_set1_epi32((1 << c->bits) - 1);
	const __m256i lowest = _mm256_set1_epi32((int)c->lowest);
	const __m256i by = _mm256_set1_epi32((int)inverse);
	const __m128i right = _mm_cvtsi32_si128((int)shift),
		      left = _mm_cvtsi32_si128(32 - (int)shift);
	size_t n_without = 0;

	for (size_t i = 0; i < n; i += 8, to += c->bits) {
		const __m256i d = _mm256_loadu_si256((const __m256i *)(difference + i));
		const __m256i p = _mm256_mullo_epi32(_mm256_sub_epi32(d, lowest), by);
		const __m256i above =
			_mm256_or_si256(_mm256_srl_epi32(p, right), _mm256_sll_epi32(p, left));
		const __m256i code = _mm256_min_epu32(above, none);
		const __m256i has_none = _mm256_cmpeq_epi32(code, none);
		/* bytes 0 to 3 of both halves, behind each other */
		const __m256i words = _mm256_packus_epi32(code, code);
		const __m256i bytes = _mm256_packus_epi16(words, words);
		const uint64_t codes = (uint32_t)_mm256_extract_epi32(bytes, 0) |
				       (uint64_t)(uint32_t)_mm256_extract_epi32(bytes, 4) << 32;
		const unsigned which = (unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(has_none));

		put_codes(to, join_codes(codes, c->bits));
		if (__builtin_expect(which, 0))
			n_without = note_without(without, n_without, which, i);
	}
	return n_without;
}

__attribute__((target("avx512f,bmi2"))) static size_t code_avx512(unsigned char *to,
	const uint32_t *difference, size_t n, const struct time_coding *c, uint32_t inverse,
	unsigned shift, uint16_t *without)
{
	const __m512i none = _mm512_set1_epi32((1 << c->bits) - 1);
	const __m512i lowest = _mm512_set1_epi32((int)c->lowest);
	const __m512i by = _mm512_set1_epi32((int)inverse);
	const __m512i right = _mm512_set1_epi32((int)shift);
	const uint64_t used = ((1u << c->bits) - 1) * 0x0101010101010101u;
	size_t n_without = 0;

	for (size_t i = 0; i < n; i += 16) {
		const __mmask16 there = n - i >= 16 ? 0xffff : 0xff;
		const __m512i d = _mm512_maskz_loadu_epi32(there, difference + i);
		const __m512i p = _mm512_mullo_epi32(_mm512_sub_epi32(d, lowest), by);
		const __m512i above = _mm512_rorv_epi32(p, right);
		const unsigned which = _mm512_mask_cmpge_epu32_mask(there, above, none);
		const __m128i codes = _mm512_cvtepi32_epi8(_mm512_min_epu32(above, none));

		put_codes(to, _pext_u64((uint64_t)_mm_cvtsi128_si64(codes), used));
		to += c->bits;
		if (there != 0xff) {
			put_codes(to, _pext_u64((uint64_t)_mm_extract_epi64(codes, 1), used));
			to += c->bits;
		}
		if (__builtin_expect(which, 0))
			n_without = note_without(without, n_without, which, i);
	}
	return n_without;
}

#endif

time_coder *time_coder_at(unsigned i)
{
#if defined(__x86_64__)
	__builtin_cpu_init();
	if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("bmi2") && !i--)
		return code_avx512;
	if (__builtin_cpu_supports("avx2") && !i--)
		return code_avx2;
#endif
	return i ? NULL : code_plain;
}

static inline unsigned char *put_other(
	unsigned char *to, uint32_t difference, const struct time_coding *c)
{
	const uint32_t granules = difference / c->granule;

	if (granules * c->granule == difference)
		return varint_put_short(to, (uint64_t)granules << 1);
	return varint_put_short(to, (uint64_t)difference << 1 | 1);
}

unsigned char *time_column_put_by(time_coder *coder, unsigned char *to, const uint32_t *difference,
	size_t n, const struct time_coding *c)
{
	const unsigned shift = (unsigned)__builtin_ctz(c->granule);
	const uint32_t inverse = inverse_of(c->granule >> shift);
	uint16_t without[TIMES_MOST];
	size_t n_without;

	to = varint_put(varint_put(varint_put(to, c->granule), c->lowest), c->bits);
	n_without = coder(to, difference, (n + 7) & ~(size_t)7, c, inverse, shift, without);
	to += (n + 7) / 8 * c->bits;
	for (size_t i = 0; i < n_without && without[i] < n; i++)
		to = put_other(to, difference[without[i]], c);
	return to;
}

unsigned char *time_column_put(
	unsigned char *to, const uint32_t *difference, size_t n, const struct time_coding *c)
{
	return time_column_put_by(time_coder_at(0), to, difference, n, c);
}

/* ---- reading ------------------------------------------------------------------------------- */

bool time_column_begin(struct time_column *t, struct varint_reader *r, size_t n)
{
	size_t bytes;

	t->next = 0;
	t->coding.granule = varint_get32(r);
	t->coding.lowest = varint_get32(r);
	t->coding.bits = varint_get32(r);
	if (r->bad || !t->coding.bits || t->coding.bits > TIME_BITS_MOST)
		return false;
	bytes = (n + 7) / 8 * t->coding.bits;
	if (bytes > (size_t)(r->end - r->at))
		return false;
	t->codes = r->at;
	t->others = (struct varint_reader){r->at + bytes, r->end, false};
	return true;
}

static void load_codes(struct time_column *t)
{
	const unsigned char *at = t->codes + t->next / 8 * t->coding.bits;

	t->word = 0;
	for (uint32_t i = 0; i < t->coding.bits; i++)
		t->word |= (uint64_t)at[i] << 8 * i;
}

uint64_t time_column_next(struct time_column *t)
{
	const uint32_t bits = t->coding.bits, none = (1u << bits) - 1;
	uint32_t code;
	uint64_t other;

	if (t->next % 8 == 0)
		load_codes(t);
	code = (uint32_t)(t->word >> t->next++ % 8 * bits) & none;
	if (code != none)
		return t->coding.lowest + (uint64_t)code * t->coding.granule;
	other = varint_get(&t->others);
	return other & 1 ? other >> 1 : (other >> 1) * t->coding.granule;
}
