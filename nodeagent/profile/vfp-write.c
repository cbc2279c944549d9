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

/* Behind the last byte that was written of each. */
struct writer {
	unsigned char *out, *text;
	uint64_t n_texts;
};

static void put_word(struct writer *w, uint64_t word)
{
	memcpy(w->out, &word, sizeof(word));
	w->out += sizeof(word);
}

static uint64_t put_text(struct writer *w, const char *s)
{
	size_t n;

	if (!s)
		return VFP_NO_TEXT;
	n = strlen(s) + 1;
	memcpy(w->text, s, n);
	w->text += n;
	return w->n_texts++;
}

static void put_wide(struct writer *w, const void *from)
{
	memcpy(w->out, from, 16);
	w->out += 16;
}

/* Of all kinds but U128. */
static uint64_t word_of(struct writer *w, enum profile_kind kind, const void *from)
{
	uint64_t word;
	double real;

	switch (kind) {
	case U64:
	case I64:
		return *(const uint64_t *)from;
	case REAL:
		/* a clock that went wrong must not make the file unreadable */
		memcpy(&real, from, sizeof(real));
		real = isfinite(real) && real > 0 ? real : 0;
		memcpy(&word, &real, sizeof(word));
		return word;
	case U32:
	case COUNT:
		return *(const uint32_t *)from;
	case I32:
		return (uint64_t)(int64_t) * (const int32_t *)from;
	case FLAG:
		return *(const bool *)from;
	case END:
		return *(const enum process_end *)from;
	default:
		return put_text(w, *(char *const *)from);
	}
}

static void put_section_header(struct writer *w, const char *tag, uint64_t count, uint64_t bytes)
{
	struct vfp_section_header h = {.count = count, .record_bytes = bytes};

	memcpy(h.tag, tag, sizeof(h.tag));
	memcpy(w->out, &h, sizeof(h));
	w->out += sizeof(h);
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

	put_section_header(w, s->tag, n, vfp_record_bytes(s));
	for (; n; n--, base += s->bytes) {
		for (const struct profile_field *f = s->fields; f < s->fields + s->n_fields; f++) {
			if (f->kind == U128)
				put_wide(w, base + f->offset);
			else
				put_word(w, word_of(w, f->kind, base + f->offset));
		}
	}
}

/* What a file needs, known before it is written: large ones are not moved while they grow. */
struct sizes {
	uint64_t sections; /* with texts */
	size_t records;	   /* bytes of all that is before the texts */
	size_t texts;	   /* bytes */
};

static size_t text_bytes(const struct profile_schema *s, const struct profile *p)
{
	size_t n, bytes = 0;
	const char *base = profile_records(p, s, &n);

	for (const struct profile_field *f = s->fields; f < s->fields + s->n_fields; f++)
		for (size_t i = 0; profile_is_text(f) && i < n; i++) {
			const char *text = *(char *const *)(base + i * s->bytes + f->offset);

			bytes += text ? strlen(text) + 1 : 0;
		}
	return bytes;
}

static struct sizes sizes_of(const struct profile *p)
{
	struct sizes z = {.sections = 1,
		.records = sizeof(struct vfp_header) + sizeof(struct vfp_section_header)};

	for (const struct profile_schema *s = profile_schema; s < profile_schema + PROFILE_LISTS;
		s++) {
		size_t n;

		if (!has_section(s, p))
			continue;
		profile_records(p, s, &n);
		z.sections++;
		z.records += sizeof(struct vfp_section_header) + n * vfp_record_bytes(s);
		z.texts += text_bytes(s, p);
	}
	return z;
}

int vfp_encode_behind(const struct profile *p, size_t room, unsigned char **buf, size_t *bytes)
{
	const struct sizes z = sizes_of(p);
	struct vfp_header h = {.magic = VFP_MAGIC,
		.version = VFP_VERSION,
		.byte_order = VFP_BYTE_ORDER,
		.bytes = vfp_padded(z.records + z.texts),
		.n_sections = z.sections,
		.run = p->run};
	unsigned char *all = malloc(room + h.bytes), *at = all + room;
	struct writer w = {.out = at + sizeof(h), .text = at + z.records};

	if (!all)
		return -ENOMEM;
	for (size_t i = 0; i < PROFILE_LISTS; i++)
		if (has_section(&profile_schema[i], p))
			put_section(&w, &profile_schema[i], p);
	put_section_header(&w, VFP_TEXT_TAG, z.texts, 1);
	memset(w.text, 0, h.bytes - z.records - z.texts);
	memcpy(at, &h, sizeof(h));
	h.checksum = vfp_checksum(at, h.bytes);
	memcpy(at, &h, sizeof(h));
	*buf = all;
	*bytes = room + h.bytes;
	return 0;
}

int vfp_encode(const struct profile *p, unsigned char **buf, size_t *bytes)
{
	return vfp_encode_behind(p, 0, buf, bytes);
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
