/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A batch is its magic number and records. Each begins with a byte of bits that say
 * what follows; numbers have seven bits a byte, the lowest first, and the high
 * bit says that more follow. Signed differences have their sign in bit 0.
 *
 *   PLACES  communicator, source, destination, 8 bytes each, lowest first
 *   TAG, THREAD, BYTES, FLAGS, HISTORY  the number, if it is another one than before
 *           after FLAGS, of what is PARTITIONED: the number of the start
 *   MODE    if it is not 0: a byte, mode | bits that say what follows, in the same way:
 *           SENT_PATH the number of the path of the call that completed it, SENT_ENTER and
 *           SENT_LEAVE begin and end of that less those of the send, if they are others
 *
 *   A receive has the same fields, with its actual source and tag and the bytes that
 *   came; then a byte of bits that say what it was posted with and what else follows:
 *   DONE_THREAD the thread that completed it, DONE_PATH the number of the path of that call
 *   if it is another one than before, DONE_PROBES that of the calls that probed for it. Last: begin
 * of that call less the end of the other, its end less its begin.
 *
 *   always, ticket less the last one less 1, enter less the last one,
 *           leave less enter
 */
#include "nodeagent/match/wire.h"

#include <stdlib.h>
#include <string.h>
#include "nodeagent/base/util.h"

static const uint8_t magic[4] = {'V', 'M', 'S', 4};

enum part {
	PLACES = 1,
	TAG = 2,
	THREAD = 4,
	BYTES = 8,
	FLAGS = 16,
	HISTORY = 32,
	MODE = 64,
	PARTS_END = 128
};

enum sent { SENT_MODES = 8, SENT_PATH = 8, SENT_ENTER = 16, SENT_LEAVE = 32, SENT_END = 64 };

enum tail {
	ANY_SOURCE = 1,
	ANY_TAG = 2,
	UNKNOWN = 4,
	DONE_THREAD = 8,
	DONE_PATH = 16,
	DONE_PROBES = 32
};

#define NUMBER_BYTES 10
#define RECORD_BYTES (1 + 3 * 8 + 14 * NUMBER_BYTES + 1)

/* ---- writing ------------------------------------------------------------------ */

static void put_number(struct match_batch *b, uint64_t n)
{
	for (; n >= 0x80; n >>= 7)
		b->bytes[b->n++] = (uint8_t)(n | 0x80);
	b->bytes[b->n++] = (uint8_t)n;
}

static void put_difference(struct match_batch *b, uint64_t d)
{
	put_number(b, d << 1 ^ (0 - (d >> 63)));
}

static void put_word(struct match_batch *b, uint64_t w)
{
	for (int i = 0; i < 8; i++)
		b->bytes[b->n++] = (uint8_t)(w >> 8 * i);
}

static void make_room(struct match_batch *b)
{
	if (b->cap - b->n < RECORD_BYTES + sizeof(magic)) {
		b->cap = b->cap ? 2 * b->cap : 512;
		b->bytes = xrealloc(b->bytes, b->cap);
	}
	if (!b->n) {
		memcpy(b->bytes, magic, sizeof(magic));
		b->n = sizeof(magic);
	}
}

static void put_sent(struct match_batch *b, const struct match_send *s)
{
	const unsigned parts = (s->path != b->last.path ? SENT_PATH : 0) |
			       (s->done_enter != s->enter ? SENT_ENTER : 0) |
			       (s->done_leave != s->leave ? SENT_LEAVE : 0);

	b->bytes[b->n++] = (uint8_t)(s->mode % SENT_MODES | parts);
	if (parts & SENT_PATH)
		put_number(b, s->path);
	if (parts & SENT_ENTER)
		put_difference(b, s->done_enter - s->enter);
	if (parts & SENT_LEAVE)
		put_difference(b, s->done_leave - s->leave);
}

void match_batch_send(struct match_batch *b, const struct match_send *s)
{
	const struct match_send *l = &b->last;
	const uint32_t path = l->path;
	bool proc_ids =
		s->comm != l->comm || s->source != l->source || s->destination != l->destination;
	unsigned parts = (proc_ids ? PLACES : 0) | (s->tag != l->tag ? TAG : 0) |
			 (s->thread != l->thread ? THREAD : 0) |
			 (s->bytes != l->bytes ? BYTES : 0) | (s->flags != l->flags ? FLAGS : 0) |
			 (s->history != l->history ? HISTORY : 0) | (s->mode ? MODE : 0);

	make_room(b);
	b->bytes[b->n++] = (uint8_t)parts;
	if (parts & PLACES) {
		put_word(b, s->comm);
		put_word(b, s->source);
		put_word(b, s->destination);
	}
	if (parts & TAG)
		put_number(b, s->tag);
	if (parts & THREAD)
		put_number(b, s->thread);
	if (parts & BYTES)
		put_number(b, s->bytes);
	if (parts & FLAGS)
		put_number(b, s->flags);
	if (s->flags & MATCH_PARTITIONED)
		put_number(b, s->start);
	if (parts & HISTORY)
		put_number(b, s->history);
	put_difference(b, (uint64_t)(int64_t)(int32_t)(s->ticket - l->ticket - 1));
	put_difference(b, s->enter - l->enter);
	put_difference(b, s->leave - s->enter);
	if (parts & MODE)
		put_sent(b, s);
	b->last = *s;
	if (!(parts & MODE))
		b->last.path = path;
}

void match_batch_receive(struct match_batch *b, const struct match_receive *r)
{
	const struct match_send head = {.comm = r->comm,
		.source = r->done.source,
		.destination = r->destination,
		.enter = r->enter,
		.leave = r->leave,
		.bytes = r->done.bytes,
		.tag = r->done.tag,
		.ticket = r->ticket,
		.thread = r->thread,
		.flags = r->flags,
		.history = r->history,
		.start = r->start};

	match_batch_send(b, &head);
	make_room(b);
	b->bytes[b->n++] = (uint8_t)((r->source == MATCH_ANYWHERE ? ANY_SOURCE : 0) |
				     (r->tag == MATCH_ANY_TAG ? ANY_TAG : 0) |
				     (r->done.unknown ? UNKNOWN : 0) |
				     (r->done.thread != r->thread ? DONE_THREAD : 0) |
				     (r->done.path != b->last_path ? DONE_PATH : 0) |
				     (r->done.probes ? DONE_PROBES : 0));
	if (r->done.thread != r->thread)
		put_number(b, r->done.thread);
	if (r->done.path != b->last_path)
		put_number(b, r->done.path);
	b->last_path = r->done.path;
	if (r->done.probes)
		put_number(b, r->done.probes);
	put_difference(b, r->done.enter - r->leave);
	put_difference(b, r->done.leave - r->done.enter);
}

void match_batch_clear(struct match_batch *b)
{
	b->n = 0;
	b->last = (struct match_send){0};
	b->last_path = 0;
}

void match_batch_free(struct match_batch *b)
{
	free(b->bytes);
	*b = (struct match_batch){0};
}

/* ---- reading -------------------------------------------------------------------- */

struct reader {
	const uint8_t *at, *end;
	bool bad;
	uint32_t last_path, sent_path;
};

static uint64_t get_number(struct reader *r)
{
	uint64_t n = 0;

	for (unsigned shift = 0; shift < 64 && r->at < r->end; shift += 7) {
		uint8_t byte = *r->at++;

		n |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return n;
	}
	r->bad = true;
	return 0;
}

static uint32_t get_small(struct reader *r)
{
	uint64_t n = get_number(r);

	r->bad |= n > UINT32_MAX;
	return (uint32_t)n;
}

static uint64_t get_difference(struct reader *r)
{
	uint64_t n = get_number(r);

	return n >> 1 ^ (0 - (n & 1));
}

static uint64_t get_word(struct reader *r)
{
	uint64_t w = 0;

	if (r->end - r->at < 8) {
		r->bad = true;
		return 0;
	}
	for (int i = 0; i < 8; i++)
		w |= (uint64_t)*r->at++ << 8 * i;
	return w;
}

static void get_sent(struct reader *r, struct match_send *s)
{
	const unsigned parts = r->at < r->end ? *r->at++ : SENT_END;

	r->bad |= parts >= SENT_END;
	s->mode = parts % SENT_MODES;
	if (parts & SENT_PATH)
		r->sent_path = get_small(r);
	s->path = r->sent_path;
	s->done_enter = s->enter + (parts & SENT_ENTER ? get_difference(r) : 0);
	s->done_leave = s->leave + (parts & SENT_LEAVE ? get_difference(r) : 0);
}

static void get_send(struct reader *r, unsigned parts, struct match_send *s)
{
	if (parts & PLACES) {
		s->comm = get_word(r);
		s->source = get_word(r);
		s->destination = get_word(r);
	}
	if (parts & TAG)
		s->tag = get_small(r);
	if (parts & THREAD)
		s->thread = get_small(r);
	if (parts & BYTES)
		s->bytes = get_number(r);
	if (parts & FLAGS)
		s->flags = get_small(r);
	s->start = s->flags & MATCH_PARTITIONED ? get_small(r) : 0;
	if (parts & HISTORY)
		s->history = get_small(r);
	s->ticket += 1 + (uint32_t)get_difference(r);
	s->enter += get_difference(r);
	s->leave = s->enter + get_difference(r);
	s->mode = MATCH_SEND_OTHER;
	s->path = 0;
	s->done_enter = s->done_leave = 0;
	if (parts & MODE)
		get_sent(r, s);
}

const char *match_batch_each(
	const void *bytes, size_t n, void (*send)(void *arg, const struct match_send *s), void *arg)
{
	struct reader r = {.at = bytes, .end = (const uint8_t *)bytes + n};
	struct match_send s = {0};

	if (!n)
		return NULL;
	if (n < sizeof(magic) || memcmp(bytes, magic, sizeof(magic)) != 0)
		return "a batch of sends of another kind or version";
	r.at += sizeof(magic);
	while (r.at < r.end) {
		unsigned parts = *r.at++;

		if (parts >= PARTS_END)
			return "a batch of sends with an unknown record";
		get_send(&r, parts, &s);
		if (r.bad)
			return "a batch of sends that is cut off";
		send(arg, &s);
	}
	return NULL;
}

static struct match_receive get_receive(struct reader *r, const struct match_send *head)
{
	unsigned parts = r->at < r->end ? *r->at++ : 0;
	struct match_receive q = {.comm = head->comm,
		.source = parts & ANY_SOURCE ? MATCH_ANYWHERE : head->source,
		.destination = head->destination,
		.enter = head->enter,
		.leave = head->leave,
		.tag = parts & ANY_TAG ? MATCH_ANY_TAG : head->tag,
		.ticket = head->ticket,
		.thread = head->thread,
		.flags = head->flags,
		.history = head->history,
		.start = head->start,
		.done = {.source = head->source,
			.tag = head->tag,
			.thread = head->thread,
			.bytes = head->bytes,
			.unknown = parts & UNKNOWN}};

	if (parts & DONE_THREAD)
		q.done.thread = get_small(r);
	if (parts & DONE_PATH)
		r->last_path = get_small(r);
	q.done.path = r->last_path;
	if (parts & DONE_PROBES)
		q.done.probes = get_small(r);
	q.done.enter = q.leave + get_difference(r);
	q.done.leave = q.done.enter + get_difference(r);
	return q;
}

bool match_batch_receives(const void *bytes, size_t n,
	void (*receive)(void *arg, const struct match_receive *r), void *arg)
{
	struct reader r = {.at = bytes, .end = (const uint8_t *)bytes + n};
	struct match_send head = {0};

	if (!n)
		return true;
	if (n < sizeof(magic) || memcmp(bytes, magic, sizeof(magic)) != 0)
		return false;
	r.at += sizeof(magic);
	while (r.at < r.end) {
		unsigned parts = *r.at++;
		struct match_receive q;

		if (parts >= PARTS_END)
			return false;
		get_send(&r, parts, &head);
		q = get_receive(&r, &head);
		if (r.bad)
			return false;
		receive(arg, &q);
	}
	return true;
}

static void give_send(void *arg, const struct match_send *s)
{
	match_send(arg, s);
}

const char *match_batch_give(const void *bytes, size_t n, struct match *m)
{
	return match_batch_each(bytes, n, give_send, m);
}
