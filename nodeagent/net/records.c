/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/net/records.h"

#include <stdlib.h>
#include <string.h>

#include "nodeagent/base/util.h"
#include "nodeagent/net/transport.h"

struct record *record_new(int agent, uint64_t number, int tag, const void *buf, size_t bytes)
{
	struct record *e = xcalloc(1, sizeof(*e) + bytes + 1);

	e->agent = agent;
	e->number = number;
	e->tag = tag;
	e->bytes = bytes;
	if (bytes)
		memcpy(e->content, buf, bytes);
	return e;
}

void records_add(struct records *to, struct record *e)
{
	if (!to->first)
		to->end = &to->first;
	e->next = NULL;
	e->at = to->end;
	*to->end = e;
	to->end = &e->next;
}

struct record *records_take_at(struct records *from, struct record **at)
{
	struct record *e = *at;

	*at = e->next;
	if (e->next)
		e->next->at = at;
	else
		from->end = at;
	return e;
}

void records_take_out(struct records *from, struct record *e)
{
	records_take_at(from, e->at);
}

struct record *records_take(struct records *from)
{
	return from->first ? records_take_at(from, &from->first) : NULL;
}

void records_move(struct records *to, struct records *from)
{
	*to = *from;
	if (to->first)
		to->first->at = &to->first;
	*from = (struct records){0};
}

void records_clear(struct records *list)
{
	for (struct record *e; (e = records_take(list));)
		free(e);
}

struct record *record_copy(const struct record *e)
{
	struct record *c = record_new(e->agent, e->number, e->tag, e->content, e->bytes);

	c->final = e->final;
	c->all = e->all;
	return c;
}

/* ---- as messages: five words, and the content ------------------------------------------ */

struct head {
	uint64_t agent, number, tag, marks, bytes; /* marks: microseconds to wait, final, all */
};

#define MARK_FINAL 1u
#define MARK_ALL   2u
#define MARKS	   4u /* bits above them: microseconds */

static size_t padded_bytes(size_t bytes)
{
	return (bytes + 7) & ~(size_t)7;
}

size_t record_put(char *at, const struct record *e, double now)
{
	/* 0 is what waits for nothing */
	const double wait_us = (e->due - now) * 1e6;
	const uint64_t wait = e->urgent ? 0 : wait_us > 1 ? (uint64_t)wait_us : 1;
	const struct head h = {.agent = (uint64_t)e->agent,
		.number = e->number,
		.tag = (uint64_t)e->tag,
		.marks = wait * MARKS + (e->final ? MARK_FINAL : 0) + (e->all ? MARK_ALL : 0),
		.bytes = e->bytes};

	memcpy(at, &h, sizeof(h));
	memset(at + sizeof(h) + e->bytes, 0, padded_bytes(e->bytes) - e->bytes);
	memcpy(at + sizeof(h), e->content, e->bytes);
	return sizeof(h) + padded_bytes(e->bytes);
}

struct record *record_get(const char **at, const char *end, int agents, double now)
{
	struct record *e;
	struct head h;

	if ((size_t)(end - *at) < sizeof(h))
		return NULL;
	memcpy(&h, *at, sizeof(h));
	*at += sizeof(h);
	if (h.agent >= (uint64_t)agents || h.tag > TRANSPORT_TAG_MAX ||
		h.bytes > (size_t)(end - *at) || padded_bytes(h.bytes) > (size_t)(end - *at))
		return NULL;
	e = record_new((int)h.agent, h.number, (int)h.tag, *at, h.bytes);
	*at += padded_bytes(h.bytes);
	e->final = h.marks & MARK_FINAL;
	e->all = h.marks & MARK_ALL;
	e->urgent = h.marks < MARKS;
	e->due = now + 1e-6 * (double)(h.marks / MARKS);
	return e;
}

size_t record_bytes(const struct record *e)
{
	return sizeof(struct head) + padded_bytes(e->bytes);
}
