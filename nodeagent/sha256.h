/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * SHA-256 (FIPS 180-4) and HMAC-SHA256 (RFC 2104), with which agents prove that they
 * know the same secret; SipHash-2-4, a fast keyed checksum, for what they send then.
 */
#ifndef VFTR_NODEAGENT_SHA256_H
#define VFTR_NODEAGENT_SHA256_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SHA256_BYTES	  32
#define SIPHASH_KEY_BYTES 16

struct sha256 {
	uint32_t state[8];
	uint64_t bytes;
	unsigned char block[64];
};

void sha256_begin(struct sha256 *s);
void sha256_add(struct sha256 *s, const void *data, size_t bytes);
void sha256_end(struct sha256 *s, unsigned char digest[SHA256_BYTES]);

/* A piece of what is signed. */
struct hmac_part {
	const void *data;
	size_t bytes;
};

/* Of the n parts one after the other. */
void hmac_sha256(const void *key, size_t key_bytes, const struct hmac_part *parts, size_t n,
	unsigned char mac[SHA256_BYTES]);

/* In a time that does not tell where they differ. */
bool hmac_equal(const unsigned char a[SHA256_BYTES], const unsigned char b[SHA256_BYTES]);

/* Of two pieces of memory as if they were one; a_bytes is a multiple of 8. */
uint64_t siphash(const unsigned char key[SIPHASH_KEY_BYTES], const void *a, size_t a_bytes,
	const void *b, size_t b_bytes);

#endif
