/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/base/user-value.h"

#include <inttypes.h>

#include "nodeagent/base/util.h"

bool user_value_less(bool real, union user_value a, union user_value b)
{
	return real ? a.real < b.real : a.integer < b.integer;
}

char *user_value_text(bool real, uint64_t bits)
{
	union user_value v = {.bits = bits};

	return real ? xasprintf("%.10g", v.real) : xasprintf("%" PRId64, v.integer);
}
