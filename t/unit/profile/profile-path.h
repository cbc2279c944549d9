/* SPDX-License-Identifier: BSD-3-Clause */
/* The call path of a stack as one text. */
#ifndef VFTR_T_UNIT_PROFILE_PROFILE_PATH_H
#define VFTR_T_UNIT_PROFILE_PROFILE_PATH_H

#include <stdint.h>
#include <string.h>

#include "nodeagent/base/util.h"
#include "nodeagent/profile/profile.h"

/* "foo<bar<main<init"; the caller frees. */
static inline char *profile_path(const struct profile *p, uint32_t stack)
{
	size_t n = 0, cap = 256;
	char *text = xmalloc(cap);

	for (; stack != PROFILE_NONE; stack = p->stacks[stack].parent) {
		const char *name = p->names[p->stacks[stack].name];
		size_t bytes = strlen(name);

		if (n + bytes + 2 > cap) {
			cap = 2 * (n + bytes + 2);
			text = xrealloc(text, cap);
		}
		if (n)
			text[n++] = '<';
		memcpy(text + n, name, bytes);
		n += bytes;
	}
	text[n] = '\0';
	return text;
}

#endif
