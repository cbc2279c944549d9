/* SPDX-License-Identifier: BSD-3-Clause */
/* The words of a ring against those of a sequence: for processors with AVX-512, AVX2, and others.
 */
#include <stddef.h>

#include "nodeagent/replay/sequences.h"
#include "shm/atomic.h"
#include "shm/record.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#define WORD_KNOWN (RECORD_EXIT | UINT32_MAX) /* of a word, all but its time */

static unsigned compare_words(const uint64_t *word, const uint64_t *known, uint64_t *sum,
	unsigned n, uint64_t high, uint64_t now)
{
	for (unsigned i = 0; i < n; i++) {
		const uint64_t w = load_relaxed(&word[i]), t = high | w >> RECORD_TIME_SHIFT;

		if ((w & WORD_KNOWN) != known[i] || t < now)
			return i;
		sum[i] += t;
		now = t;
	}
	return n;
}

static inline uint32_t time_in_word(const uint64_t *word)
{
	return (uint32_t)(load_relaxed(word) >> RECORD_TIME_SHIFT);
}

/* Of words with one time base, that does not matter. */
static void times_behind_first(uint32_t *to, const uint64_t *word, unsigned from, unsigned n)
{
	for (unsigned i = from; i < n; i++)
		to[i] = time_in_word(&word[i]) - time_in_word(&word[i - 1]);
}

static void times_of_words(
	uint32_t *to, const uint64_t *word, unsigned n, uint64_t high, uint64_t before)
{
	if (n)
		to[0] = (uint32_t)((high | time_in_word(word)) - before);
	times_behind_first(to, word, 1, n);
}

static unsigned shape_of_words(const uint64_t *word)
{
	unsigned shape = 0;

	for (unsigned i = 0; i < SEQUENCE_SHAPE; i++)
		shape |= (unsigned)(load_relaxed(&word[i]) / RECORD_EXIT & 1) << i;
	return shape;
}

#if defined(__x86_64__)

__attribute__((target("avx2"))) static unsigned compare_avx2(const uint64_t *word,
	const uint64_t *known, uint64_t *sum, unsigned n, uint64_t high, uint64_t now)
{
	const __m256i mask = _mm256_set1_epi64x((long long)WORD_KNOWN);
	const __m256i above = _mm256_set1_epi64x((long long)high);
	__m256i last = _mm256_set1_epi64x((long long)now); /* lane 0: the time before */
	unsigned i = 0;

	for (; i + 4 <= n; i += 4) {
		const __m256i w = _mm256_loadu_si256((const __m256i *)(word + i));
		const __m256i k = _mm256_loadu_si256((const __m256i *)(known + i));
		const __m256i t = _mm256_or_si256(_mm256_srli_epi64(w, RECORD_TIME_SHIFT), above);
		const __m256i turned = _mm256_permute4x64_epi64(t, 0x93); /* 3 0 1 2 */
		const __m256i before = _mm256_blend_epi32(turned, last, 3);
		const __m256i same = _mm256_cmpeq_epi64(_mm256_and_si256(w, mask), k);
		const __m256i good = _mm256_andnot_si256(_mm256_cmpgt_epi64(before, t), same);
		__m256i *to = (__m256i *)(sum + i);

		if (_mm256_movemask_pd(_mm256_castsi256_pd(good)) != 15)
			break;
		_mm256_storeu_si256(to, _mm256_add_epi64(_mm256_loadu_si256(to), t));
		last = turned;
	}
	return i + compare_words(word + i, known + i, sum + i, n - i, high,
			   (uint64_t)_mm256_extract_epi64(last, 0));
}

__attribute__((target("avx2"))) static unsigned shape_avx2(const uint64_t *word)
{
	unsigned shape = 0;

	for (unsigned i = 0; i < SEQUENCE_SHAPE; i += 4) {
		const __m256i w = _mm256_loadu_si256((const __m256i *)(word + i));
		const __m256i sign = _mm256_slli_epi64(w, 31);

		shape |= (unsigned)_mm256_movemask_pd(_mm256_castsi256_pd(sign)) << i;
	}
	return shape;
}

__attribute__((target("avx2"))) static void times_avx2(
	uint32_t *to, const uint64_t *word, unsigned n, uint64_t high, uint64_t before)
{
	const __m256i halves = _mm256_setr_epi32(0, 2, 4, 6, 0, 2, 4, 6);
	unsigned i = 1;

	if (n)
		to[0] = (uint32_t)((high | time_in_word(word)) - before);
	for (; i + 4 <= n; i += 4) {
		const __m256i w = _mm256_loadu_si256((const __m256i *)(word + i));
		const __m256i last = _mm256_loadu_si256((const __m256i *)(word + i - 1));
		const __m256i d = _mm256_sub_epi64(_mm256_srli_epi64(w, RECORD_TIME_SHIFT),
			_mm256_srli_epi64(last, RECORD_TIME_SHIFT));

		_mm_storeu_si128((__m128i *)(to + i),
			_mm256_castsi256_si128(_mm256_permutevar8x32_epi32(d, halves)));
	}
	times_behind_first(to, word, i, n);
}

__attribute__((target("avx512f"))) static unsigned compare_avx512(const uint64_t *word,
	const uint64_t *known, uint64_t *sum, unsigned n, uint64_t high, uint64_t now)
{
	const __m512i mask = _mm512_set1_epi64((long long)WORD_KNOWN);
	const __m512i above = _mm512_set1_epi64((long long)high);
	__m512i last = _mm512_set1_epi64((long long)now); /* its lane 7: the time before */

	for (unsigned i = 0; i < n; i += 8) {
		const __mmask8 all = (__mmask8)(n - i >= 8 ? 255 : (1u << (n - i)) - 1);
		const __m512i w = _mm512_maskz_loadu_epi64(all, word + i);
		const __m512i k = _mm512_maskz_loadu_epi64(all, known + i);
		const __m512i t = _mm512_or_si512(_mm512_srli_epi64(w, RECORD_TIME_SHIFT), above);
		const __m512i before = _mm512_alignr_epi64(t, last, 7);
		const unsigned bad =
			_mm512_mask_cmpneq_epi64_mask(all, _mm512_and_si512(w, mask), k) |
			_mm512_mask_cmplt_epu64_mask(all, t, before);
		const unsigned more = bad ? (unsigned)__builtin_ctz(bad) : 8;
		const __mmask8 taken = (__mmask8)(all & ((1u << more) - 1));

		_mm512_mask_storeu_epi64(sum + i, taken,
			_mm512_add_epi64(_mm512_maskz_loadu_epi64(taken, sum + i), t));
		if (bad)
			return i + more;
		last = t;
	}
	return n;
}

__attribute__((target("avx512f"))) static void times_avx512(
	uint32_t *to, const uint64_t *word, unsigned n, uint64_t high, uint64_t before)
{
	const __m512i above = _mm512_set1_epi64((long long)high);
	__m512i last = _mm512_set1_epi64((long long)before);

	for (unsigned i = 0; i < n; i += 8) {
		const __mmask8 all = (__mmask8)(n - i >= 8 ? 255 : (1u << (n - i)) - 1);
		const __m512i w = _mm512_maskz_loadu_epi64(all, word + i);
		const __m512i t = _mm512_or_si512(_mm512_srli_epi64(w, RECORD_TIME_SHIFT), above);

		_mm512_mask_cvtepi64_storeu_epi32(
			to + i, all, _mm512_sub_epi64(t, _mm512_alignr_epi64(t, last, 7)));
		last = t;
	}
}

__attribute__((target("avx512f"))) static unsigned shape_avx512(const uint64_t *word)
{
	const __m512i is_exit = _mm512_set1_epi64((long long)RECORD_EXIT);
	const unsigned low = _mm512_test_epi64_mask(_mm512_loadu_si512(word), is_exit);

	return low | (unsigned)_mm512_test_epi64_mask(_mm512_loadu_si512(word + 8), is_exit) << 8;
}

static const struct sequence_code avx512 = {"AVX-512", compare_avx512, shape_avx512, times_avx512};
static const struct sequence_code avx2 = {"AVX2", compare_avx2, shape_avx2, times_avx2};

#endif

static const struct sequence_code plain = {"C", compare_words, shape_of_words, times_of_words};

const struct sequence_code *sequence_code(unsigned i)
{
#if defined(__x86_64__)
	__builtin_cpu_init();
	if (__builtin_cpu_supports("avx512f") && !i--)
		return &avx512;
	if (__builtin_cpu_supports("avx2") && !i--)
		return &avx2;
#endif
	return i ? NULL : &plain;
}
