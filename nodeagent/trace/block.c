/* SPDX-License-Identifier: BSD-3-Clause */
/* Checksums of blocks. With SSE 4.2 a block of 16 KiB takes about 0.6 us. */
#include "nodeagent/trace/block.h"

#include <pthread.h>
#include <string.h>

#include "nodeagent/base/hash.h"

#define POLYNOMIAL 0x82f63b78u /* bits reversed */

static struct crc_table table;

static void make_table(void)
{
	crc_table_make(&table, POLYNOMIAL);
}

uint32_t vfd_crc_portable(uint32_t crc, const void *bytes, size_t n)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, make_table);
	return crc_add(&table, crc, bytes, n);
}

#ifdef __x86_64__
/* The instruction takes one word a cycle, but three cycles: three stripes at a time. */
#define STRIPE 512u

static uint32_t behind[4][256]; /* a sum, by its bytes: STRIPE zeros later */

__attribute__((target("sse4.2"))) static void make_behind(void)
{
	for (int byte = 0; byte < 4; byte++)
		for (uint32_t i = 0; i < 256; i++) {
			uint64_t sum = i << 8 * byte;

			for (unsigned n = 0; n < STRIPE; n += 8)
				sum = __builtin_ia32_crc32di(sum, 0);
			behind[byte][i] = (uint32_t)sum;
		}
}

static inline uint64_t move_on(uint64_t sum)
{
	return behind[0][sum & 0xff] ^ behind[1][sum >> 8 & 0xff] ^ behind[2][sum >> 16 & 0xff] ^
	       behind[3][sum >> 24 & 0xff];
}

static inline uint64_t word_at(const unsigned char *at)
{
	uint64_t word;

	memcpy(&word, at, sizeof(word));
	return word;
}

__attribute__((target("sse4.2"))) static uint32_t crc_sse(uint32_t crc, const void *bytes, size_t n)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	const unsigned char *at = bytes;
	uint64_t sum = ~crc;

	if (n >= 3 * STRIPE)
		pthread_once(&once, make_behind);
	for (; n >= 3 * STRIPE; n -= 3 * STRIPE, at += 2 * STRIPE) {
		const unsigned char *end = at + STRIPE;
		uint64_t second = 0, third = 0;

		for (; at < end; at += 8) {
			sum = __builtin_ia32_crc32di(sum, word_at(at));
			second = __builtin_ia32_crc32di(second, word_at(at + STRIPE));
			third = __builtin_ia32_crc32di(third, word_at(at + 2 * STRIPE));
		}
		sum = move_on(move_on(sum) ^ second) ^ third;
	}
	for (; n >= 8; n -= 8, at += 8)
		sum = __builtin_ia32_crc32di(sum, word_at(at));
	for (; n; n--)
		sum = __builtin_ia32_crc32qi((uint32_t)sum, *at++);
	return ~(uint32_t)sum;
}

uint32_t vfd_crc(uint32_t crc, const void *bytes, size_t n)
{
	if (__builtin_cpu_supports("sse4.2"))
		return crc_sse(crc, bytes, n);
	return vfd_crc_portable(crc, bytes, n);
}
#else
uint32_t vfd_crc(uint32_t crc, const void *bytes, size_t n)
{
	return vfd_crc_portable(crc, bytes, n);
}
#endif

size_t vfd_block_seal(struct vfd_block *b)
{
	unsigned char *payload = (unsigned char *)(b + 1);
	const size_t padded = vfd_padded(b->bytes);

	memset(payload + b->bytes, 0, padded - b->bytes);
	b->magic = VFD_BLOCK_MAGIC;
	b->crc = 0;
	b->crc = vfd_crc(0, b, sizeof(*b) + padded);
	return sizeof(*b) + padded;
}

size_t vfd_block_check(const unsigned char *at, size_t bytes, const char **why, bool *more)
{
	static const unsigned char zeros[4];
	struct vfd_block b;
	size_t whole;
	uint32_t crc;

	*why = "a block is cut short";
	*more = true;
	if (bytes < sizeof(b))
		return 0;
	memcpy(&b, at, sizeof(b));
	*more = false;
	*why = "no block begins here";
	if (b.magic != VFD_BLOCK_MAGIC)
		return 0;
	*why = "a block has an impossible header";
	if (b.bytes > VFD_BLOCK_MAX - sizeof(b) || !b.kind)
		return 0;
	whole = sizeof(b) + vfd_padded(b.bytes);
	if (bytes < whole) {
		*more = true;
		*why = "a block is cut short";
		return 0;
	}
	crc = vfd_crc(0, at, offsetof(struct vfd_block, crc));
	crc = vfd_crc(crc, zeros, sizeof(zeros));
	crc = vfd_crc(crc, at + offsetof(struct vfd_block, kind),
		whole - offsetof(struct vfd_block, kind));
	*why = "a block's checksum is wrong";
	return crc == b.crc ? whole : 0;
}
