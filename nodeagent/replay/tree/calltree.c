/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/replay/tree/calltree.h"

#include <stdlib.h>
#include "nodeagent/base/util.h"
#include "nodeagent/replay/tree/iterations.h"
#include "nodeagent/replay/tree/memory.h"
#include "nodeagent/replay/tree/period.h"
#include "nodeagent/replay/tree/slices.h"
#include "nodeagent/base/wait-kinds.h"

/*
 * Nodes lie in pages, each of which has a word per node behind them: the ticks of its first call,
 * which no record asks for, and a node has no room for. Pages are aligned, so that a node finds its
 * own. They are allocated in chunks.
 */
#define PAGE_BYTES  2048u
#define PAGE_NODES  28u
#define CHUNK_PAGES 32u /* of the largest ones; the first is small, for short threads */
#define CHUNKS_LESS 6u	/* chunks before the largest: 1, 1, 2, 4, 8, 16 pages */
#define SCAN_MAX    16	/* siblings looked at before the hash table is asked */

struct page {
	struct node node[PAGE_NODES];
	uint64_t first[PAGE_NODES];
	uint64_t unused[4];
};

_Static_assert(sizeof(struct page) == PAGE_BYTES, "a power of 2");

struct node calltree_none = {.key = UINT64_MAX};

static size_t nodes_in_all;

struct calltree {
	struct page **chunks;
	size_t n_chunks, cap_chunks;
	size_t n;
	size_t n_forgotten;  /* the first ones, but the root, that may have no counterpart */
	struct node **table; /* all nodes by (parent, key); open addressing */
	size_t mask;
	calltree_new_node *told; /* or NULL */
	void *ctx;
};

static size_t slot_of(const struct calltree *t, const struct node *parent, uint64_t key)
{
	uint64_t h = ((uintptr_t)parent >> 6) * 0x9e3779b97f4a7c15u ^ key * 0xff51afd7ed558ccdu;

	return (size_t)(h ^ h >> 29) & t->mask;
}

static void insert_node(struct calltree *t, struct node *n)
{
	size_t i = slot_of(t, n->parent, n->key);

	while (t->table[i])
		i = (i + 1) & t->mask;
	t->table[i] = n;
}

static void rehash(struct calltree *t)
{
	struct node **old = t->table;
	size_t slots = t->mask + 1;

	t->mask = slots * 2 - 1;
	t->table = xcalloc(t->mask + 1, sizeof(*t->table));
	for (size_t i = 0; i < slots; i++)
		if (old[i])
			insert_node(t, old[i]);
	free(old);
}

/* The chunk of page i, its offset there, and the number of pages in the chunk. */
static size_t chunk_of(size_t i, size_t *offset, size_t *pages)
{
	unsigned log2;

	if (i >= CHUNK_PAGES) {
		*offset = i % CHUNK_PAGES;
		*pages = CHUNK_PAGES;
		return CHUNKS_LESS + i / CHUNK_PAGES - 1;
	}
	*offset = 0;
	*pages = 1;
	if (!i)
		return 0;
	log2 = 31 - (unsigned)__builtin_clz((unsigned)i);
	*pages = (size_t)1 << log2;
	*offset = i - *pages;
	return log2 + 1;
}

static uint64_t *first_of(const struct node *n)
{
	struct page *p = (struct page *)((uintptr_t)n & ~(uintptr_t)(PAGE_BYTES - 1));

	return &p->first[n - p->node];
}

static struct node *node_new(struct calltree *t, struct node *parent, uint64_t key)
{
	size_t offset, pages, at = chunk_of(t->n / PAGE_NODES, &offset, &pages);
	struct node *n;

	if (at == t->n_chunks) {
		void *chunk;

		if (posix_memalign(&chunk, PAGE_BYTES, pages * sizeof(struct page)))
			die(125, "out of memory for call paths");
		*LIST_ADD(t, chunks) = chunk;
	}
	n = &t->chunks[at][offset].node[t->n % PAGE_NODES];
	*n = (struct node){.key = key, .parent = parent, .child = &calltree_none};
	*first_of(n) = 0;
	n->expected = n;
	t->n++;
	nodes_in_all++;
	if (parent) {
		if (t->n * 2 > t->mask)
			rehash(t);
		insert_node(t, n);
		if (parent->child == &calltree_none) {
			n->sibling = n;
			parent->child = n;
		} else {
			n->sibling = parent->child->sibling;
			parent->child->sibling = n;
		}
		if (t->told)
			t->told(t->ctx, n);
	}
	return n;
}

void calltree_watch(struct calltree *t, calltree_new_node *fn, void *ctx)
{
	t->told = fn;
	t->ctx = ctx;
}

struct calltree *calltree_new(void)
{
	struct calltree *t = xcalloc(1, sizeof(*t));

	t->mask = 63;
	t->table = xcalloc(t->mask + 1, sizeof(*t->table));
	node_new(t, NULL, KEY_INIT);
	return t;
}

static void free_waits(struct node_waits *w)
{
	free(w->at);
	free(w->index);
}

static void free_extra(struct node *n)
{
	if (n->extra) {
		free(n->extra->counters);
		free_waits(&n->extra->waits);
		iterations_free(n->extra->iterations);
		period_free(n->extra->period);
		slices_free(n->extra->slices);
	}
	free(n->extra);
	n->extra = NULL;
}

void calltree_free(struct calltree *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->n; i++)
		free_extra(calltree_at(t, i));
	for (size_t i = 0; i < t->n_chunks; i++)
		free(t->chunks[i]);
	nodes_in_all -= t->n;
	free(t->chunks);
	free(t->table);
	free(t);
}

struct node *calltree_root(struct calltree *t)
{
	return t->chunks[0]->node;
}

size_t calltree_nodes(const struct calltree *t)
{
	return t->n;
}

struct node *calltree_known(struct calltree *t, struct node *parent, uint64_t key)
{
	struct node *first = parent->child, *n = first;
	size_t i;

	if (first == &calltree_none)
		return NULL;
	for (int k = 0; k < SCAN_MAX; k++) {
		if (n->key == key)
			return n;
		n = n->sibling;
		if (n == first)
			return NULL;
	}
	for (i = slot_of(t, parent, key); t->table[i]; i = (i + 1) & t->mask)
		if (t->table[i]->parent == parent && t->table[i]->key == key)
			return t->table[i];
	return NULL;
}

static int is_full(const struct calltree *t)
{
	return t->n >= NODES_MAX || (nodes_in_all >= NODES_ALL_MAX && t->n >= NODES_FAIR);
}

struct node *calltree_child(
	struct calltree *t, struct node *parent, struct node *last, uint64_t key)
{
	struct node *n;

	if (parent->key == KEY_OVERFLOW)
		return parent;
	n = calltree_known(t, parent, key);
	if (!n && is_full(t) && key != KEY_OVERFLOW)
		return calltree_child(t, parent, last, KEY_OVERFLOW);
	if (!n)
		n = node_new(t, parent, key);
	if (last && last->parent == parent)
		last->expected = n;
	return n;
}

struct node *calltree_at(struct calltree *t, size_t i)
{
	size_t offset, pages, at = chunk_of(i / PAGE_NODES, &offset, &pages);

	return &t->chunks[at][offset].node[i % PAGE_NODES];
}

unsigned calltree_depth(const struct node *n)
{
	unsigned depth = 0;

	for (; n->parent; n = n->parent)
		depth++;
	return depth;
}

const struct node *calltree_find_child(const struct node *n, uint64_t key)
{
	const struct node *c = n->child;

	if (c == &calltree_none)
		return NULL;
	while (c->key != key) {
		c = c->sibling;
		if (c == n->child)
			return NULL;
	}
	return c;
}

uint64_t calltree_first(const struct node *n)
{
	return *first_of(n);
}

void calltree_called(struct node *n, uint64_t ticks)
{
	uint64_t *first = first_of(n);

	if (ticks && (!*first || ticks < *first))
		*first = ticks;
}

/* The child in `to` of the same path as n, below `above`. */
static struct node *child_like(struct calltree *to, struct node *above, const struct node *n)
{
	struct node *same = calltree_child(to, above, NULL, n->key);

	calltree_called(same, *first_of(n));
	return same;
}

struct node_extra *calltree_new_extra(struct node *n)
{
	return n->extra = xcalloc(1, sizeof(*n->extra));
}

struct node_counters *calltree_counters(struct node *n, uint32_t n_counters)
{
	struct node_extra *e = calltree_extra(n);

	if (!e->counters) {
		e->counters = xcalloc(1, sizeof(*e->counters) + n_counters * sizeof(uint64_t));
		e->counters->n = n_counters;
	}
	return e->counters;
}

static void add_counters(struct node *node, const struct node_counters *from)
{
	struct node_counters *to;

	if (!from)
		return;
	to = calltree_counters(node, from->n);
	for (uint32_t i = 0; i < from->n && i < to->n; i++)
		to->of[i] += from->of[i];
}

static bool same_late(const struct node_wait *a, const struct node_wait *b)
{
	return a->kind == b->kind && a->late == b->late && a->thread == b->thread &&
	       (a->path == b->path || !wait_is_of_threads(a->kind));
}

/*
 * With many ranks a call has waited for more than are told apart: so of many rows a byte each is
 * compared first, in words of eight, if there is any like it, and of each kind it is known how many
 * rows there are.
 */
#define INDEXED_FROM 8u
#define INDEXED	     32u /* the first ones */

struct wait_index {
	uint64_t bytes[INDEXED / 8];
	uint64_t some; /* a bit for each row: bit_of() its byte */
	struct {
		uint32_t rows, all_others; /* all_others: 1 + its row; 0: there is none */
	} of_kind[WAIT_KINDS_END + 1];	   /* at last those of kinds that are none */
};

#define EACH_BYTE(b) ((uint64_t)(b)*0x0101010101010101u)

static uint8_t byte_of(const struct node_wait *w)
{
	const uint64_t who = (uint64_t)w->thread << 32 | w->late;

	return (uint8_t)((who ^ (uint64_t)w->kind << 59) * 0x9e3779b97f4a7c15u >> 56);
}

static inline uint64_t bit_of(uint8_t byte)
{
	return (uint64_t)1 << byte % 64;
}

static void index_row(struct node_waits *w, size_t row)
{
	const struct node_wait *at = &w->at[row];

	const uint32_t kind = at->kind < WAIT_KINDS_END ? at->kind : WAIT_KINDS_END;

	w->index->of_kind[kind].rows++;
	w->index->some |= bit_of(byte_of(at));
	if (at->late == UINT32_MAX && !at->thread && !at->path && kind < WAIT_KINDS_END)
		w->index->of_kind[kind].all_others = (uint32_t)row + 1;
	if (row < INDEXED)
		w->index->bytes[row / 8] |= (uint64_t)byte_of(at) << row % 8 * 8;
}

static void index_new_row(struct node_waits *w)
{
	if (w->index) {
		index_row(w, w->n - 1);
	} else if (w->n == INDEXED_FROM) {
		w->index = xcalloc(1, sizeof(*w->index));
		for (size_t i = 0; i < w->n; i++)
			index_row(w, i);
	}
}

/* NULL: there is none. */
static struct node_wait *find_indexed(const struct node_waits *w, const struct node_wait *like)
{
	const uint8_t byte = byte_of(like);
	const uint64_t all = EACH_BYTE(byte);

	if (!(w->index->some & bit_of(byte)))
		return NULL;
	for (size_t k = 0; k < INDEXED / 8 && 8 * k < w->n; k++) {
		const uint64_t other = w->index->bytes[k] ^ all;
		/* set for each byte that is the same, and for some behind such a one */
		uint64_t same = (other - EACH_BYTE(1)) & ~other & EACH_BYTE(0x80);

		for (; same; same &= same - 1) {
			const size_t i = 8 * k + (unsigned)__builtin_ctzll(same) / 8;

			if (i < w->n && same_late(&w->at[i], like))
				return &w->at[i];
		}
	}
	for (size_t i = INDEXED; i < w->n; i++)
		if (same_late(&w->at[i], like))
			return &w->at[i];
	return NULL;
}

static struct node_wait *find_row(const struct node_waits *w, const struct node_wait *like)
{
	if (w->index)
		return find_indexed(w, like);
	return FIND(x, w->at, w->n, same_late(x, like));
}

static size_t rows_of_kind(const struct node_waits *w, uint32_t kind)
{
	size_t rows = 0;

	if (w->index && kind < WAIT_KINDS_END)
		return w->index->of_kind[kind].rows;
	for (size_t i = 0; i < w->n; i++)
		rows += w->at[i].kind == kind;
	return rows;
}

/* That of the same kind and for the same one. If there are too many, threads at one path are not
 * told apart any more, and at last neither are others. */
static __attribute__((noinline)) struct node_wait *make_wait(
	struct node_waits *w, const struct node_wait *like)
{
	const size_t rows = rows_of_kind(w, like->kind);
	struct node_wait more = {.kind = like->kind, .late = UINT32_MAX}, *known;

	if (rows >= NODE_LATE_MAX && like->thread) {
		more.late = like->late;
		more.path = like->path;
		known = find_row(w, &more);
		return known ? known : make_wait(w, &more);
	}
	if (rows >= NODE_LATE_MAX * (wait_is_of_threads(like->kind) && like->path ? 2 : 1) &&
		like->late != UINT32_MAX) {
		known = find_row(w, &more);
		return known ? known : make_wait(w, &more);
	}
	w->at = grow(w->at, w->n, &w->cap, sizeof(*w->at));
	w->at[w->n] = *like;
	w->at[w->n].calls = w->at[w->n].ticks = w->at[w->n].error = 0;
	w->at[w->n].variance = 0.0;
	w->n++;
	index_new_row(w);
	return &w->at[w->n - 1];
}

/* All others of a kind of which there are as many as are told apart; or NULL. */
static inline struct node_wait *others_of(const struct node_waits *w, const struct node_wait *like)
{
	const struct wait_index *index = w->index;

	if (!index || like->thread || like->kind >= WAIT_KINDS_END ||
		wait_is_of_threads(like->kind) || index->of_kind[like->kind].rows < NODE_LATE_MAX ||
		!index->of_kind[like->kind].all_others)
		return NULL;
	return &w->at[index->of_kind[like->kind].all_others - 1];
}

static struct node_wait *find_wait(struct node_waits *w, const struct node_wait *like)
{
	struct node_wait *row = find_row(w, like);

	if (!row)
		row = others_of(w, like);
	return row ? row : make_wait(w, like);
}

/* Whether this was counted in w, so that it can be taken back there. */
static bool has_wait(const struct node_wait *w, const struct node_wait *less)
{
	return w->calls >= -less->calls && w->ticks >= -less->ticks;
}

void calltree_wait(struct node *n, const struct node_wait *more)
{
	struct node_waits *all = &calltree_extra(n)->waits;
	struct node_wait *w = find_wait(all, more);

	if ((int64_t)more->ticks < 0) {
		/* counted among the others, and later added to where this rank is told apart */
		if (!has_wait(w, more))
			w = find_wait(
				all, &(struct node_wait){.kind = more->kind, .late = UINT32_MAX});
		if (!has_wait(w, more))
			return;
	}
	w->calls += more->calls;
	w->ticks += more->ticks;
	w->error += more->error;
	w->variance += more->variance;
}

static void add_wait_slices(struct slices *s, uint64_t at, uint64_t ticks, uint64_t times)
{
	const bool less = (int64_t)ticks < 0;

	slices_add(s, SLICE_WAIT, at, less ? -ticks : ticks, less ? -times : times);
}

void calltree_wait_at(struct node *n, uint64_t at, uint64_t ticks, uint64_t times)
{
	for (; n; n = n->parent) {
		if (n->extra && n->extra->iterations)
			iterations_add_wait(n->extra->iterations, at, times * ticks);
		if (n->extra && n->extra->period)
			period_add_wait(n->extra->period, at, times * ticks);
		if (n->extra && n->extra->slices)
			add_wait_slices(n->extra->slices, at, ticks, times);
	}
}

/* Of the sum of such waits: which of them are looked at is up to a hash, with the same chance for
 * each. */
static double variance_of(const struct waited *w)
{
	return (double)w->times * (double)(w->times - 1) * (double)w->ticks * (double)w->ticks;
}

/* With many ranks mostly all others of its kind, which are looked for once, or the same one as
 * before. others: where they are, as long as no row is made, or NULL. */
static void add_rows(struct node_waits *all, const struct waited *w, size_t n)
{
	struct node_wait like = {.kind = UINT32_MAX}, *others = NULL, *row = NULL;

	for (size_t i = 0; i < n; i++) {
		const bool same_kind = like.kind == w[i].kind;

		if (!same_kind || like.late != w[i].late) {
			like.kind = w[i].kind;
			like.late = w[i].late;
			if (!same_kind || !others)
				others = others_of(all, &like);
			row = others && !(all->index->some & bit_of(byte_of(&like)))
				      ? others
				      : find_wait(all, &like);
		}
		row->calls += w[i].times;
		row->ticks += w[i].times * w[i].ticks;
		if (w[i].times != 1)
			row->variance += variance_of(&w[i]);
	}
}

void calltree_waits(struct node *n, const struct waited *w, size_t n_waits)
{
	add_rows(&calltree_extra(n)->waits, w, n_waits);
	for (; n; n = n->parent) {
		struct node_extra *e = n->extra;

		if (e && e->iterations)
			iterations_add_waits(e->iterations, w, n_waits);
		if (e && e->period)
			period_add_waits(e->period, w, n_waits);
		for (size_t i = 0; e && e->slices && i < n_waits; i++)
			slices_add(e->slices, SLICE_WAIT, w[i].at, w[i].ticks, w[i].times);
	}
}

static void add_waits(struct node *node, const struct node_waits *from)
{
	for (size_t i = 0; i < from->n; i++)
		calltree_wait(node, &from->at[i]);
}

#define COUNT_IS_SOME(member) || e->member
#define COUNT_IS_NOTHING(member)
#define COUNT_ADD(member) to->member += from->member;
#define COUNT_ADD_LEAST(member)                                                                    \
	if (from->member && (!to->member || from->member < to->member))                            \
		to->member = from->member;
#define COUNT_ADD_MOST(member)                                                                     \
	if (from->member > to->member)                                                             \
		to->member = from->member;

/* True if the node has counts of its own, not looking at counters and waits. */
static int has_counts(const struct node_extra *e)
{
	return 0 NODE_COUNTS(COUNT_IS_SOME, COUNT_IS_NOTHING, COUNT_IS_NOTHING);
}

static void move_iterations(struct node *node, struct node_extra *from)
{
	const bool some = from->iterations || from->period || from->slices;
	struct node_extra *to = some ? calltree_extra(node) : NULL;

	if (to && !to->iterations) {
		to->iterations = from->iterations;
		from->iterations = NULL;
	}
	if (to && !to->period) {
		to->period = from->period;
		from->period = NULL;
	}
	if (to && !to->slices) {
		to->slices = from->slices;
		from->slices = NULL;
	}
}

static void move_memory(struct node *node, struct node_extra *from)
{
	struct node_extra *to = from->memory ? calltree_extra(node) : NULL;

	if (to)
		to->memory = node_memory_join(to->memory, from->memory);
	from->memory = NULL;
}

static void add_extra(struct node *node, struct node_extra *from)
{
	struct node_extra *to;

	add_counters(node, from->counters);
	add_waits(node, &from->waits);
	move_iterations(node, from);
	move_memory(node, from);
	if (!has_counts(from))
		return;
	to = calltree_extra(node);
	NODE_COUNTS(COUNT_ADD, COUNT_ADD_LEAST, COUNT_ADD_MOST)
}

/* ---- forgetting what was counted --------------------------------------------- */

uint64_t calltree_forget(struct calltree *t)
{
	uint64_t calls = 0;

	for (size_t i = 1; i < t->n; i++) {
		struct node *n = calltree_at(t, i);

		calls += n->calls;
		n->calls = n->ticks = 0;
		if (n->extra) { /* what it is to others stays what it is */
			free(n->extra->counters);
			free_waits(&n->extra->waits);
			iterations_free(n->extra->iterations);
			period_free(n->extra->period);
			node_memory_forget(n->extra->memory);
			*n->extra = (struct node_extra){.stack = n->extra->stack,
				.path = n->extra->path,
				.memory = n->extra->memory};
		}
	}
	t->n_forgotten = t->n;
	return calls;
}

/* Neither it nor what it has called has counted anything. */
static int counts_nothing(const struct node *n)
{
	const struct node *first = n->child, *c = first;

	if (n->calls || n->ticks)
		return 0;
	if (n->extra && (has_counts(n->extra) || n->extra->memory))
		return 0;
	if (first == &calltree_none)
		return 1;
	do {
		if (!counts_nothing(c))
			return 0;
		c = c->sibling;
	} while (c != first);
	return 1;
}

void calltree_add(struct calltree *to, struct calltree *from)
{
	for (size_t i = 0; i < from->n; i++) {
		struct node *n = calltree_at(from, i);
		struct node *above = i ? n->parent->counterpart : NULL, *same;

		if (i && (!above || key_is_orphan(n->key) ||
				 (i < from->n_forgotten && counts_nothing(n)))) {
			n->counterpart = NULL;
			continue;
		}
		same = i ? child_like(to, above, n) : calltree_root(to);
		same->calls += n->calls;
		same->ticks += n->ticks;
		if (n->extra)
			add_extra(same, n->extra);
		n->counterpart = same;
	}
}

/* ---- moving what was counted ------------------------------------------------ */

static int is_empty(const struct node *n)
{
	const struct node *first = n->child, *c = first;

	if (n->calls || n->ticks || n->extra)
		return 0;
	if (first == &calltree_none)
		return 1;
	do {
		if (!is_empty(c))
			return 0;
		c = c->sibling;
	} while (c != first);
	return 1;
}

struct move {
	struct calltree *tree;
	calltree_leaves_out *leaves_out; /* or NULL */
	void *ctx;
};

/* above: the counterpart of the caller; an overflow node's time is in there already, and that of
 * what is left out. */
static void move_node(
	const struct move *m, struct node *n, struct node *to, const struct node *above)
{
	struct node *first = n->child, *c = first;

	to->calls += n->calls;
	if (to != above)
		to->ticks += n->ticks;
	if (n->extra)
		add_extra(to, n->extra);
	free_extra(n);
	n->calls = n->ticks = 0;
	n->counterpart = to;
	if (first == &calltree_none)
		return;
	do {
		if (!is_empty(c)) {
			const bool out = m->leaves_out && m->leaves_out(m->ctx, c, to);

			c->calls = out ? 0 : c->calls;
			move_node(m, c, out ? to : child_like(m->tree, to, c), to);
		}
		c = c->sibling;
	} while (c != first);
}

void calltree_move(struct calltree *t, struct node *from, struct node *to,
	calltree_leaves_out *leaves_out, void *ctx)
{
	struct node *root = calltree_root(t);
	uint64_t ticks = from->ticks, calls = root->calls;

	move_node(&(struct move){t, leaves_out, ctx}, from, to, root);
	if (to == root) {
		root->calls = calls; /* those of a frame that is not there */
		return;
	}
	for (struct node *n = to->parent; n != root; n = n->parent)
		n->ticks += ticks;
}

void calltree_move_down(struct calltree *t, struct node *from, struct node *to)
{
	move_node(&(struct move){.tree = t}, from, child_like(t, to, from), to);
	t->n_forgotten = t->n;
}

void calltree_moved(struct node *from)
{
	struct node *first = from->child, *c = first;

	from->expected = from;
	if (first == &calltree_none)
		return;
	do {
		calltree_moved(c);
		c = c->sibling;
	} while (c != first);
}

int calltree_is_below(const struct node *n, const struct node *from)
{
	while (n && n != from)
		n = n->parent;
	return n != NULL;
}
