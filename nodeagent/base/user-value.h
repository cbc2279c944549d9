/* SPDX-License-Identifier: BSD-3-Clause */
/* A number of the user's: an integer or a real number, in 64 bits. */
#ifndef VFTR_NODEAGENT_BASE_USER_VALUE_H
#define VFTR_NODEAGENT_BASE_USER_VALUE_H

#include <stdbool.h>
#include <stdint.h>

union user_value {
	int64_t integer;
	double real;
	uint64_t bits; /* as they stand in records and profiles */
};

static inline double user_value_real(uint64_t bits)
{
	return (union user_value){.bits = bits}.real;
}

static inline uint64_t user_value_bits(double real)
{
	return (union user_value){.real = real}.bits;
}

/* a < b, both of which are `real` or both integers. */
bool user_value_less(bool real, union user_value a, union user_value b);
/* "-17", "2.5"; the caller frees. */
char *user_value_text(bool real, uint64_t bits);

#endif
