/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/export/protobuf.h"

#include <stdlib.h>
#include <string.h>

#include "conf/utf8.h"
#include "nodeagent/base/util.h"

#define VARINT_MAX 10

enum wire_type { VARINT = 0, FIXED64 = 1, BYTES = 2 };

static unsigned char *make_room(struct protobuf *p, size_t n)
{
	if (p->cap - p->n < n) {
		p->cap = (p->n + n) * 2;
		p->bytes = xrealloc(p->bytes, p->cap);
	}
	return p->bytes + p->n;
}

/* 7 bits a byte, least significant first, the top bit: more follow. */
static size_t varint(unsigned char *to, uint64_t value)
{
	size_t n = 0;

	for (; value > 0x7f; value >>= 7)
		to[n++] = (unsigned char)(value | 0x80);
	to[n++] = (unsigned char)value;
	return n;
}

static void put_varint(struct protobuf *p, uint64_t value)
{
	p->n += varint(make_room(p, VARINT_MAX), value);
}

static void put_tag(struct protobuf *p, uint32_t field, enum wire_type type)
{
	put_varint(p, (uint64_t)field << 3 | type);
}

void protobuf_free(struct protobuf *p)
{
	free(p->bytes);
	*p = (struct protobuf){0};
}

void protobuf_clear(struct protobuf *p)
{
	p->n = 0;
	p->depth = 0;
}

void protobuf_uint(struct protobuf *p, uint32_t field, uint64_t value)
{
	put_tag(p, field, VARINT);
	put_varint(p, value);
}

void protobuf_int(struct protobuf *p, uint32_t field, int64_t value)
{
	protobuf_uint(p, field, (uint64_t)value);
}

void protobuf_fixed64(struct protobuf *p, uint32_t field, uint64_t value)
{
	unsigned char *to;

	put_tag(p, field, FIXED64);
	to = make_room(p, 8);
	for (unsigned i = 0; i < 8; i++)
		to[i] = (unsigned char)(value >> 8 * i);
	p->n += 8;
}

void protobuf_text(struct protobuf *p, uint32_t field, const char *text)
{
	const size_t n = strlen(text);
	unsigned char *to;

	put_tag(p, field, BYTES);
	put_varint(p, n);
	to = make_room(p, n);
	memcpy(to, text, n);
	p->n += n;
	/* readers refuse the whole message if a text is not UTF-8 */
	for (size_t i = 0; i < n;) {
		uint32_t code;
		const size_t length = utf8_length(text + i, &code);

		if (!length)
			to[i] = '?';
		i += length ? length : 1;
	}
}

void protobuf_open(struct protobuf *p, uint32_t field)
{
	put_tag(p, field, BYTES);
	put_varint(p, 0);
	p->open[p->depth++] = p->n;
}

/* One byte is reserved for the length; the bytes of a longer message move on. */
void protobuf_close(struct protobuf *p)
{
	const size_t start = p->open[--p->depth], n = p->n - start;
	unsigned char length[VARINT_MAX];
	const size_t bytes = varint(length, n);

	make_room(p, bytes);
	memmove(p->bytes + start - 1 + bytes, p->bytes + start, n);
	memcpy(p->bytes + start - 1, length, bytes);
	p->n += bytes - 1;
}
