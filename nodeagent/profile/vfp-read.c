/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading a profile, from bytes that anyone may have written. */
#include "nodeagent/profile/vfp.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "nodeagent/profile/profile.h"
#include "nodeagent/base/util.h"
#include "nodeagent/profile/vfp-format.h"

#define GIVE_BYTES ((size_t)1 << 20)	  /* so much at once */
#define COUNT_MAX  (PROFILE_UNRANKED - 1) /* of processes and threads */

struct reader {
	const unsigned char *buf;
	size_t bytes;
	bool gives; /* buf back to the system, as far as its records were taken */
	struct {
		const unsigned char *at;
		uint64_t count, record_bytes;
	} found[PROFILE_LISTS];
	const char **text; /* by number; NULL once taken */
	uint64_t n_texts;
	const unsigned char *text_at;
	uint64_t text_bytes;
	char *error;
};

static bool fail_reading(struct reader *r, char *why)
{
	if (r->error)
		free(why);
	else
		r->error = why;
	return false;
}

static uint64_t word_at(const unsigned char *p)
{
	uint64_t word;

	memcpy(&word, p, sizeof(word));
	return word;
}

/* The name of a section, without the blanks behind it. */
static int tag_bytes(const struct profile_schema *s)
{
	const char *blank = memchr(s->tag, ' ', sizeof(s->tag));

	return blank ? (int)(blank - s->tag) : (int)sizeof(s->tag);
}

static bool is_known_version(uint64_t version)
{
	return version >= VFP_VERSION_LEAST && version <= VFP_VERSION;
}

static bool check_header(struct reader *r)
{
	struct vfp_header h;

	if (r->bytes >= sizeof(h.magic) && memcmp(r->buf, VFP_MAGIC, sizeof(h.magic)))
		return fail_reading(
			r, xstrdup("not a node profile (BASE_HOST.vfp or HOST.vfp, as runs "
				   "write them)"));
	if (r->bytes < sizeof(h))
		return fail_reading(
			r, xasprintf("cut short: %zu bytes are not even a header", r->bytes));
	memcpy(&h, r->buf, sizeof(h));
	if (h.byte_order != VFP_BYTE_ORDER)
		return fail_reading(r, xstrdup("written on a machine with another byte order"));
	if (!is_known_version(h.version))
		return fail_reading(r,
			xasprintf("format version %llu, but this program reads versions %d to %d",
				(unsigned long long)h.version, VFP_VERSION_LEAST, VFP_VERSION));
	if (h.bytes != r->bytes)
		return fail_reading(r, xasprintf("%s: %zu of %llu bytes are here",
					       h.bytes > r->bytes ? "cut short" : "too long",
					       r->bytes, (unsigned long long)h.bytes));
	if (h.checksum != vfp_checksum(r->buf, r->bytes))
		return fail_reading(r, xstrdup("damaged: the checksum does not match"));
	return true;
}

/* The least bytes of a record: files of earlier programs lack its last fields, which are 0 then. */
static size_t least_bytes(size_t list)
{
	static const struct {
		enum profile_list list;
		size_t fields; /* of 8 bytes */
	} added[] = {{PROFILE_JOB, 3}, {PROFILE_STACKS, 1}, {PROFILE_DEAD, 3},
		{PROFILE_PROCESSES, 3}, {PROFILE_EACH, 2}, {PROFILE_THREAD_PAIRS, 1},
		{PROFILE_AGENTS, 6}, {PROFILE_COMPARED, 2}, {PROFILE_WAITS, 3}, {PROFILE_OPENMP, 5},
		{PROFILE_SWITCHED, 1}, {PROFILE_RANK_RANGES, 1}, {PROFILE_ITERATIONS, 7},
		{PROFILE_STARTS, 1}, {PROFILE_RANK_TIMES, 1}, {PROFILE_MEMORY_RANKS, 1},
		{PROFILE_GPU_STREAMS, 1}, {PROFILE_GPU_DEVICES, 1}};
	size_t bytes = vfp_record_bytes(&profile_schema[list]);

	for (size_t i = 0; i < ARRAY_SIZE(added); i++)
		if (added[i].list == list)
			bytes -= 8 * added[i].fields;
	return bytes;
}

static bool note_section(
	struct reader *r, const struct vfp_section_header *h, const unsigned char *at)
{
	if (!memcmp(h->tag, VFP_TEXT_TAG, sizeof(h->tag))) {
		if (r->text_at || h->record_bytes != 1)
			return fail_reading(r, xstrdup("damaged: the head of section texts"));
		r->text_at = at;
		r->text_bytes = h->count;
	}
	for (size_t i = 0; i < PROFILE_LISTS; i++) {
		const struct profile_schema *s = &profile_schema[i];

		if (memcmp(h->tag, s->tag, sizeof(h->tag)))
			continue;
		/* a later writer may have added fields at the end of a record */
		if (r->found[i].at || h->record_bytes < least_bytes(i) || h->record_bytes % 8 ||
			(!s->bytes && h->count != 1))
			return fail_reading(r, xasprintf("damaged: the head of section %.*s",
						       tag_bytes(s), s->tag));
		r->found[i].at = at;
		r->found[i].count = h->count;
		r->found[i].record_bytes = h->record_bytes;
	}
	return true;
}

static bool find_sections(struct reader *r)
{
	uint64_t n = word_at(r->buf + offsetof(struct vfp_header, n_sections));
	size_t at = sizeof(struct vfp_header);

	for (; n; n--) {
		struct vfp_section_header h;
		size_t left;

		if (r->bytes - at < sizeof(h))
			return fail_reading(r, xstrdup("damaged: a section is missing"));
		memcpy(&h, r->buf + at, sizeof(h));
		at += sizeof(h);
		left = r->bytes - at;
		if (!h.record_bytes || h.count > left / h.record_bytes ||
			vfp_padded(h.count * h.record_bytes) > left)
			return fail_reading(
				r, xstrdup("damaged: a section is longer than the file"));
		if (!note_section(r, &h, r->buf + at))
			return false;
		at += vfp_padded(h.count * h.record_bytes);
	}
	for (size_t i = 0; i < PROFILE_LISTS; i++) {
		if (!r->found[i].at && profile_schema[i].presence == ALWAYS)
			return fail_reading(
				r, xasprintf("damaged: no section %.*s",
					   tag_bytes(&profile_schema[i]), profile_schema[i].tag));
	}
	return r->text_at ? true : fail_reading(r, xstrdup("damaged: no section texts"));
}

static bool number_texts(struct reader *r)
{
	const char *s = (const char *)r->text_at;
	const char *end = s + r->text_bytes;

	if (r->text_bytes && end[-1])
		return fail_reading(r, xstrdup("damaged: the last text has no end"));
	for (const char *c = s; c < end; c++)
		r->n_texts += !*c;
	r->text = xcalloc(r->n_texts, sizeof(*r->text));
	for (uint64_t i = 0; i < r->n_texts; i++) {
		r->text[i] = s;
		s += strlen(s) + 1;
	}
	return true;
}

static bool get_text(struct reader *r, char **to, uint64_t number)
{
	if (number >= r->n_texts || !r->text[number])
		return fail_reading(r, xstrdup("damaged: a text is missing or used twice"));
	*to = xstrdup(r->text[number]);
	r->text[number] = NULL;
	return true;
}

static bool get_field(struct reader *r, enum profile_kind kind, void *to, const unsigned char *from)
{
	uint64_t word = word_at(from);
	double real;

	switch (kind) {
	case U64:
	case I64:
		memcpy(to, &word, sizeof(word));
		return true;
	case REAL:
		memcpy(&real, &word, sizeof(real));
		memcpy(to, &word, sizeof(word));
		return isfinite(real) && real >= 0;
	case U128: {
		unsigned __int128 x = (unsigned __int128)word_at(from + 8) << 64 | word;

		memcpy(to, &x, sizeof(x));
		return true;
	}
	case U32:
		*(uint32_t *)to = (uint32_t)word;
		return word <= UINT32_MAX;
	case COUNT:
		*(uint32_t *)to = (uint32_t)word;
		return word <= COUNT_MAX;
	case I32:
		*(int32_t *)to = (int32_t)word;
		return (int64_t)word == (int32_t)word;
	case FLAG:
		*(bool *)to = word == 1;
		return word <= 1;
	case END:
		*(enum process_end *)to = word <= PROCESS_EXECED ? word : 0;
		return word <= PROCESS_EXECED;
	case TEXT:
		return get_text(r, to, word);
	case TEXT_OR_NULL:
		return word == VFP_NO_TEXT || get_text(r, to, word);
	}
	return false;
}

/* Gives back the pages from *given to `to`, if they are worth it: nobody reads them again. A large
 * profile would be in memory twice. */
static void give_back(const struct reader *r, const unsigned char **given, const unsigned char *to)
{
	const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	const uintptr_t first = ((uintptr_t)*given + page - 1) / page * page;
	const uintptr_t last = (uintptr_t)to / page * page;

	*given = to;
	if (r->gives && last > first)
		madvise((void *)first, last - first, MADV_DONTNEED);
}

static bool get_section(struct reader *r, size_t which, struct profile *p)
{
	const struct profile_schema *s = &profile_schema[which];
	size_t n = r->found[which].count, have;
	const unsigned char *given;
	char *base;

	if (s->bytes) {
		/* all of it zero at first, so that a half-read profile can be freed */
		*profile_n(p, s) = n;
		*profile_array(p, s) = xcalloc(n, s->bytes);
	}
	base = profile_records(p, s, &have);
	given = r->found[which].at;
	for (size_t i = 0; i < n; i++) {
		const unsigned char *from = r->found[which].at + i * r->found[which].record_bytes;
		const unsigned char *end = from + r->found[which].record_bytes;

		if ((size_t)(from - given) >= GIVE_BYTES)
			give_back(r, &given, from);
		for (size_t k = 0; k < s->n_fields && from < end; k++) {
			const struct profile_field *f = &s->fields[k];
			char *to = base + i * s->bytes + f->offset;

			if (f->kind == U64) { /* most are */
				memcpy(to, from, 8);
				from += 8;
				continue;
			}
			if (!get_field(r, f->kind, to, from))
				return fail_reading(r,
					xasprintf("damaged: record %zu, field %zu of section %.*s",
						i, k, tag_bytes(s), s->tag));
			from += f->kind == U128 ? 16 : 8;
		}
	}
	return true;
}

static struct profile *decode_profile(
	const unsigned char *buf, size_t bytes, bool gives, char **error)
{
	struct reader r = {.buf = buf, .bytes = bytes, .gives = gives};
	struct profile *p = profile_new();
	const char *invalid;
	bool ok = check_header(&r) && find_sections(&r) && number_texts(&r);

	for (size_t i = 0; ok && i < PROFILE_LISTS; i++)
		ok = get_section(&r, i, p);
	if (ok) {
		memcpy(&p->run, buf + offsetof(struct vfp_header, run), sizeof(p->run));
		invalid = profile_valid(p);
		if (invalid)
			ok = fail_reading(&r, xasprintf("damaged: %s", invalid));
	}
	free(r.text);
	if (!ok) {
		profile_free(p);
		p = NULL;
	}
	*error = r.error;
	return p;
}

struct profile *vfp_decode(const unsigned char *buf, size_t bytes, char **error)
{
	return decode_profile(buf, bytes, false, error);
}

static ssize_t read_all(int fd, unsigned char *buf, size_t bytes)
{
	size_t n = 0;

	while (n < bytes) {
		ssize_t got = read(fd, buf + n, bytes - n);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (!got)
			break;
		n += got;
	}
	return n;
}

/* A FIFO of that name must not stop us. */
static int open_it(const char *path, bool own)
{
	return open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | (own ? O_NOFOLLOW : 0));
}

uint64_t vfp_run(const char *path)
{
	struct vfp_header h;
	const int fd = open_it(path, false);
	const bool ours = fd >= 0 && read_all(fd, (unsigned char *)&h, sizeof(h)) == sizeof(h) &&
			  !memcmp(h.magic, VFP_MAGIC, sizeof(h.magic)) &&
			  is_known_version(h.version) && h.byte_order == VFP_BYTE_ORDER;

	if (fd >= 0)
		close(fd);
	return ours ? h.run : 0;
}

static struct profile *read_it(const char *path, bool own, char **error)
{
	int fd = open_it(path, own);
	unsigned char *buf = NULL;
	struct profile *p = NULL;
	struct stat st;
	char *why = NULL;
	ssize_t got;

	*error = NULL;
	if (fd < 0 || fstat(fd, &st)) {
		why = xstrdup(strerror(errno));
		goto out;
	}
	if (!S_ISREG(st.st_mode)) {
		why = xstrdup("not a regular file");
		goto out;
	}
	if (own && not_own_file(path, &st)) {
		why = xstrdup(not_own_file(path, &st));
		goto out;
	}
	buf = (uint64_t)st.st_size <= plausible_bytes(&st) ? malloc(st.st_size + 1) : NULL;
	if (!buf) {
		why = xasprintf("too large (%lld bytes)", (long long)st.st_size);
		goto out;
	}
	got = read_all(fd, buf, st.st_size);
	if (got < 0)
		why = xstrdup(strerror((int)-got));
	else
		p = decode_profile(buf, got, true, &why);
out:
	if (why)
		*error = xasprintf("%s: %s", path, why);
	free(why);
	free(buf);
	if (fd >= 0)
		close(fd);
	return p;
}

struct profile *vfp_read(const char *path, char **error)
{
	return read_it(path, false, error);
}

struct profile *vfp_read_own(const char *path, char **error)
{
	return read_it(path, true, error);
}
