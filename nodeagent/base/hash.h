/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Identity of a call path across processes and nodes: a 64-bit hash of the
 * text "foo<bar<main<init", terminating NUL included. High word: Jenkins'
 * one-at-a-time; low word: MurmurHash3 x86_32 with seed 0x5c0940e9.
 */
#ifndef VFTR_NODEAGENT_BASE_HASH_H
#define VFTR_NODEAGENT_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

uint64_t stack_hash(const void *text, size_t bytes);

/* The same hash of a text that comes in pieces; begins as STACK_HASH_BEGIN. */
struct stack_hash {
	uint32_t jenkins, murmur;
	uint32_t tail;	/* bytes that do not fill a word yet */
	uint32_t bytes; /* modulo 2^32, as MurmurHash3 has it */
};

#define STACK_HASH_BEGIN ((struct stack_hash){0, 0x5c0940e9u, 0, 0})

void stack_hash_add(struct stack_hash *h, const void *text, size_t bytes);
uint64_t stack_hash_end(const struct stack_hash *h);

/* CRC-32, eight bytes at a time. The table is made once for a polynomial, whose bits are given in
 * reversed order. */
struct crc_table {
	uint32_t of[8][256];
};

void crc_table_make(struct crc_table *t, uint32_t polynomial);
/* The sum of all bytes so far, of which `crc` is that of those before; 0 of none. */
uint32_t crc_add(const struct crc_table *t, uint32_t crc, const void *bytes, size_t n);

#endif
