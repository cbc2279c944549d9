/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/export/pairs.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "nodeagent/base/map.h"
#include "nodeagent/base/util.h"

#define ROW_PAIRS 262144u
#define READ_ROOM 512u /* pairs of a row in memory while rows are merged */

struct halves_slot {
	uint64_t key; /* flow; 0: free */
	struct pair_end end;
	uint64_t bytes;
	int32_t tag;
	bool send;
};

MAP_STRUCT(halves);

static size_t halves_home(const struct halves *h, uint64_t flow)
{
	return (size_t)((flow + h->seed) * 0x9e3779b97f4a7c15u >> 20);
}

static bool halves_same(uint64_t a, uint64_t b)
{
	return a == b;
}

MAP_FUNCTIONS(halves, uint64_t, key)

struct row {
	uint64_t next, left; /* in the file: index of the next pair, how many */
	struct pair *pairs;  /* read already; the next one is pairs[at] */
	uint32_t at, n;
};

struct pairs {
	char *near;
	struct halves halves; /* wait for the other one */
	struct pair *pairs;   /* complete, not in the file */
	uint32_t n, row_most;
	int fd, error;
	uint64_t in_file;
	struct row *rows; /* a heap when they are read */
	size_t n_rows, cap_rows;
};

struct pairs *pairs_new(const char *near, uint32_t row)
{
	struct pairs *p = xcalloc(1, sizeof(*p));

	p->near = xstrdup(near);
	p->row_most = row ? row : ROW_PAIRS;
	p->pairs = xmalloc(p->row_most * sizeof(*p->pairs));
	p->fd = -1;
	return p;
}

void pairs_free(struct pairs *p)
{
	if (p->fd >= 0)
		close(p->fd);
	for (size_t i = 0; i < p->n_rows; i++)
		free(p->rows[i].pairs);
	free(p->rows);
	free(p->pairs);
	halves_free(&p->halves);
	free(p->near);
	free(p);
}

int pairs_error(const struct pairs *p)
{
	return p->error;
}

/* ---- pairs ---------------------------------------------------------------------------- */

ORDER_BY(by_send, struct pair, RISING(send.start) ?: RISING(send.thread))

static void open_file(struct pairs *p)
{
	char *name = xasprintf("%s.sort.XXXXXX", p->near);

	p->fd = mkstemp(name);
	if (p->fd < 0)
		p->error = errno;
	else
		unlink(name);
	free(name);
}

static void write_row(struct pairs *p)
{
	const char *from = (const char *)p->pairs;
	size_t left = p->n * sizeof(*p->pairs);

	if (p->fd < 0 && !p->error)
		open_file(p);
	qsort(p->pairs, p->n, sizeof(*p->pairs), by_send);
	while (left && !p->error) {
		ssize_t n = write(p->fd, from, left);

		if (n > 0) {
			from += n;
			left -= (size_t)n;
		} else if (errno != EINTR) {
			p->error = n ? errno : ENOSPC;
		}
	}
	if (!p->error) {
		*LIST_ADD(p, rows) = (struct row){.next = p->in_file, .left = p->n};
		p->in_file += p->n;
	}
	p->n = 0;
}

void pairs_add(struct pairs *p, uint64_t flow, bool send, const struct pair_end *end,
	uint64_t bytes, int32_t tag)
{
	const struct halves_slot one = {flow, *end, bytes, tag, send};
	const struct halves_slot *other = p->halves.n ? halves_slot(&p->halves, flow) : NULL;
	const struct halves_slot *s = send ? &one : other, *r = send ? other : &one;

	if (!other || !other->key) {
		halves_put(&p->halves, one);
		return;
	}
	if (other->send == send) /* a second one: of two messages with one hash */
		return;
	p->pairs[p->n++] = (struct pair){s->end, r->end, r->bytes, r->tag};
	halves_take_out(&p->halves, flow);
	if (p->n == p->row_most)
		write_row(p);
}

/* ---- reading -------------------------------------------------------------------------- */

static bool fill_row(struct pairs *p, struct row *r)
{
	const size_t size = sizeof(*r->pairs);

	r->at = 0;
	r->n = r->left < READ_ROOM ? (uint32_t)r->left : READ_ROOM;
	if (read_at(p->fd, r->pairs, r->n * size, r->next * size) < r->n * size) {
		p->error = errno ? errno : EIO;
		r->n = 0;
		return false;
	}
	r->next += r->n;
	r->left -= r->n;
	return r->n > 0;
}

static bool earlier(const struct row *a, const struct row *b)
{
	return by_send(&a->pairs[a->at], &b->pairs[b->at]) < 0;
}

static void sink_row(struct pairs *p, size_t i)
{
	for (;;) {
		struct row r = p->rows[i];
		size_t least = i;

		for (size_t k = 2 * i + 1; k <= 2 * i + 2 && k < p->n_rows; k++)
			if (earlier(&p->rows[k], &p->rows[least]))
				least = k;
		if (least == i)
			return;
		p->rows[i] = p->rows[least];
		p->rows[least] = r;
		i = least;
	}
}

static void drop_row(struct pairs *p, size_t i)
{
	free(p->rows[i].pairs);
	p->rows[i] = p->rows[--p->n_rows];
}

void pairs_sort(struct pairs *p)
{
	if (!p->n_rows) { /* all of them are in memory: one row, already read */
		qsort(p->pairs, p->n, sizeof(*p->pairs), by_send);
		if (!p->n)
			return;
		p->rows = grow(p->rows, 0, &p->cap_rows, sizeof(*p->rows));
		p->rows[p->n_rows++] = (struct row){.pairs = p->pairs, .n = p->n};
		p->pairs = NULL;
		return;
	}
	if (p->n)
		write_row(p);
	for (size_t i = p->n_rows; i-- > 0;) {
		p->rows[i].pairs = xmalloc(READ_ROOM * sizeof(struct pair));
		if (!fill_row(p, &p->rows[i]))
			drop_row(p, i);
	}
	for (size_t i = p->n_rows; i-- > 0;)
		sink_row(p, i);
}

const struct pair *pairs_first(struct pairs *p)
{
	return p->n_rows ? &p->rows[0].pairs[p->rows[0].at] : NULL;
}

void pairs_take(struct pairs *p)
{
	struct row *r = &p->rows[0];

	if (++r->at == r->n && (!r->left || !fill_row(p, r)))
		drop_row(p, 0);
	sink_row(p, 0);
}
