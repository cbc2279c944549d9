/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Identities of communicators. The application makes them; the agent makes them again, to find out
 * which of several duplicates one is.
 */
#ifndef VFTR_SHM_IDENTITY_H
#define VFTR_SHM_IDENTITY_H

#include <stdint.h>

/* The hash of all that was mixed so far and of one number more; never 0. */
static inline uint64_t identity_mix(uint64_t hash, uint64_t more)
{
	hash = (hash << 23 | hash >> 41) * 0x9e3779b97f4a7c15u ^ more;
	hash = (hash ^ hash >> 32) * 0xd6e8feb86659fd93u;
	hash = (hash ^ hash >> 32) * 0xd6e8feb86659fd93u;
	hash ^= hash >> 32;
	return hash ? hash : 1;
}

/*
 * The identity of a communicator that all members of the one with identity `parent` have made,
 * after `before` others; kind: enum wire_comm_kind; more: what else tells it apart, of a duplicate
 * 0.
 */
static inline uint64_t identity_made(uint64_t parent, uint32_t before, uint32_t kind, uint64_t more)
{
	return identity_mix(identity_mix(identity_mix(parent, before), kind), more);
}

/* The hash of a group's runs (wire_comm): of all before, and of one more; of none: their number. */
static inline uint64_t identity_run(uint64_t hash, int32_t first, int32_t stride, uint32_t count)
{
	hash = identity_mix(hash, (uint64_t)(uint32_t)first << 32 | (uint32_t)stride);
	return identity_mix(hash, count);
}

/* Of the hashes of two groups, which of them is the local one does not matter. */
static inline uint64_t identity_of_both(uint64_t a, uint64_t b)
{
	return a < b ? identity_mix(a, b) : identity_mix(b, a);
}

#endif
