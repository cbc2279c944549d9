/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * FNV-1a, 64 bits: a hash for tables and identities, not against forgers. h is FNV_BEGIN
 * or the result of the addition before.
 */
#ifndef VFTR_SHM_FNV_H
#define VFTR_SHM_FNV_H

#include <stddef.h>
#include <stdint.h>

#define FNV_BEGIN 0xcbf29ce484222325u

/* Adds a byte; or a longer word in one step, which is no FNV: for values that stay here. */
static inline uint64_t fnv_word(uint64_t h, uint64_t word)
{
	return (h ^ word) * 0x100000001b3u;
}

static inline uint64_t fnv_bytes(uint64_t h, const void *data, size_t bytes)
{
	const unsigned char *c = data;

	while (bytes--)
		h = fnv_word(h, *c++);
	return h;
}

/* Adds a text without its NUL. */
static inline uint64_t fnv_text(uint64_t h, const char *text)
{
	for (; *text; text++)
		h = fnv_word(h, (unsigned char)*text);
	return h;
}

#endif
