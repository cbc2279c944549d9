/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What views have in common as bytes: varints (trace/varint.h), and texts with their length. One
 * function packs and unpacks, so that both are the same.
 */
#ifndef VFTR_NODEAGENT_LIVE_CODER_H
#define VFTR_NODEAGENT_LIVE_CODER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "nodeagent/trace/varint.h"

struct live_names;

struct coder {
	unsigned char *to; /* NULL: unpack */
	struct varint_reader from;
	struct live_names *names; /* or NULL */
};

static inline void code_u64(struct coder *c, uint64_t *x)
{
	if (c->to)
		c->to = varint_put(c->to, *x);
	else
		*x = varint_get(&c->from);
}

static inline void code_u32(struct coder *c, uint32_t *x)
{
	if (c->to)
		c->to = varint_put(c->to, *x);
	else
		*x = varint_get32(&c->from);
}

/* A number of rows. */
static inline void code_count(struct coder *c, size_t *n, size_t most)
{
	uint64_t x = *n;

	code_u64(c, &x);
	if (x > most)
		c->from.bad = true;
	*n = c->from.bad ? 0 : x;
}

/* Of others' texts, only what can be printed, and the control character `kept', or 0. */
static inline void code_text_keeping(struct coder *c, char *text, size_t room, char kept)
{
	size_t n = strnlen(text, room - 1);
	const char *from;

	if (c->to) {
		c->to = varint_put(c->to, n);
		c->to = mempcpy(c->to, text, n);
		return;
	}
	from = varint_get_text(&c->from, &n);
	if (n >= room)
		c->from.bad = true;
	if (!from || c->from.bad)
		n = 0;
	memset(text, 0, room);
	for (size_t i = 0; i < n; i++)
		text[i] = ((unsigned char)from[i] < ' ' && (!kept || from[i] != kept)) ||
					  from[i] == 0x7f
				  ? '?'
				  : from[i];
}

static inline void code_text(struct coder *c, char *text, size_t room)
{
	code_text_keeping(c, text, room, 0);
}

#endif
