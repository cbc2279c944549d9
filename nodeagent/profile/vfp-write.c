/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writing a profile. Text stands in one section and is referred to by its number, each
 * text by one record only, so that a small file can't ask for much memory.
 */
#include "nodeagent/profile/vfp.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nodeagent/profile/profile.h"
#include "nodeagent/base/util.h"
#include "nodeagent/profile/vfp-format.h"

size_t vfp_record_bytes(const struct profile_schema *s)
{
	size_t words = s->n_fields;

	for (size_t i = 0; i < s->n_fields; i++)
		words += s->fields[i].kind == U128;
	return words * 8;
}

struct bytes {
	unsigned char *at;
	size_t n, cap;
	bool failed;
};

static void put_bytes(struct bytes *b, const void *from, size_t n)
{
	if (b->n + n > b->cap && !b->failed) {
		size_t cap = 2 * b->cap + n + 4096;
		unsigned char *at = realloc(b->at, cap);

		b->failed = !at;
		if (at) {
			b->at = at;
			b->cap = cap;
		}
	}
	if (b->failed)
		return;
	if (n)
		memcpy(b->at + b->n, from, n);
	b->n += n;
}

static void put_word(struct bytes *b, uint64_t word)
{
	put_bytes(b, &word, sizeof(word));
}

struct writer {
	struct bytes out, text;
	uint64_t n_texts;
};

static uint64_t put_text(struct writer *w, const char *s)
{
	if (!s)
		return VFP_NO_TEXT;
	put_bytes(&w->text, s, strlen(s) + 1);
	return w->n_texts++;
}

static void put_field(struct writer *w, enum profile_kind kind, const void *from)
{
	uint64_t word;
	double real;

	switch (kind) {
	case U64:
	case I64:
		put_bytes(&w->out, from, 8);
		return;
	case REAL:
		/* a clock that went wrong must not make the file unreadable */
		memcpy(&real, from, sizeof(real));
		real = isfinite(real) && real > 0 ? real : 0;
		put_bytes(&w->out, &real, sizeof(real));
		return;
	case U128: {
		unsigned __int128 x;

		memcpy(&x, from, sizeof(x));
		put_word(&w->out, (uint64_t)x);
		put_word(&w->out, (uint64_t)(x >> 64));
		return;
	}
	case U32:
	case COUNT:
		word = *(const uint32_t *)from;
		break;
	case I32:
		word = (uint64_t)(int64_t) * (const int32_t *)from;
		break;
	case FLAG:
		word = *(const bool *)from;
		break;
	case END:
		word = *(const enum process_end *)from;
		break;
	default:
		word = put_text(w, *(char *const *)from);
		break;
	}
	put_word(&w->out, word);
}

static void put_section_header(struct bytes *b, const char *tag, uint64_t count, uint64_t bytes)
{
	struct vfp_section_header h = {.count = count, .record_bytes = bytes};

	memcpy(h.tag, tag, sizeof(h.tag));
	put_bytes(b, &h, sizeof(h));
}

static bool has_section(const struct profile_schema *s, const struct profile *p)
{
	size_t n;

	profile_records(p, s, &n);
	return n || s->presence != FILLED;
}

static void put_section(struct writer *w, const struct profile_schema *s, const struct profile *p)
{
	size_t n;
	const char *base = profile_records(p, s, &n);

	put_section_header(&w->out, s->tag, n, vfp_record_bytes(s));
	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; k < s->n_fields; k++)
			put_field(w, s->fields[k].kind, base + i * s->bytes + s->fields[k].offset);
	}
}

int vfp_encode(const struct profile *p, unsigned char **buf, size_t *bytes)
{
	static const unsigned char zeros[8];
	struct vfp_header h = {.magic = VFP_MAGIC,
		.version = VFP_VERSION,
		.byte_order = VFP_BYTE_ORDER,
		.run = p->run,
		.n_sections = 1};
	struct writer w = {0};

	put_bytes(&w.out, &h, sizeof(h));
	for (size_t i = 0; i < PROFILE_LISTS; i++) {
		if (!has_section(&profile_schema[i], p))
			continue;
		put_section(&w, &profile_schema[i], p);
		h.n_sections++;
	}
	put_section_header(&w.out, VFP_TEXT_TAG, w.text.n, 1);
	put_bytes(&w.out, w.text.at, w.text.n);
	put_bytes(&w.out, zeros, vfp_padded(w.out.n) - w.out.n);
	free(w.text.at);
	if (w.out.failed || w.text.failed) {
		free(w.out.at);
		return -ENOMEM;
	}
	h.bytes = w.out.n;
	memcpy(w.out.at, &h, sizeof(h));
	h.checksum = vfp_checksum(w.out.at, w.out.n);
	memcpy(w.out.at, &h, sizeof(h));
	*buf = w.out.at;
	*bytes = w.out.n;
	return 0;
}

int vfp_write(const struct profile *p, const char *path)
{
	unsigned char *buf;
	size_t bytes;
	struct writing *tmp;
	FILE *f;
	int error = vfp_encode(p, &buf, &bytes);

	if (error)
		return error;
	error = write_begin(&f, &tmp, path);
	if (!error) {
		/* a short write shows in write_end() */
		(void)!fwrite(buf, 1, bytes, f);
		write_durable(tmp);
		error = write_end(f, tmp);
	}
	free(buf);
	return error;
}
