/* SPDX-License-Identifier: BSD-3-Clause */
/* What unit tests say of whole profiles: equal in every byte that is stored, and valid. */
#ifndef VFTR_T_SAME_PROFILE_H
#define VFTR_T_SAME_PROFILE_H

#include <check.h>
#include <stdlib.h>

#include "nodeagent/profile/profile.h"
#include "nodeagent/profile/vfp.h"

static inline void assert_same(const struct profile *a, const struct profile *b)
{
	unsigned char *x, *y;
	size_t m, n;

	ck_assert_int_eq(vfp_encode(a, &x, &m), 0);
	ck_assert_int_eq(vfp_encode(b, &y, &n), 0);
	ck_assert_uint_eq(m, n);
	ck_assert_mem_eq(x, y, n);
	free(x);
	free(y);
}

static inline void assert_valid(const struct profile *p)
{
	const char *why = profile_valid(p);

	ck_assert_msg(!why, "%s", why);
}

#endif
