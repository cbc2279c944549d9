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

#endif
