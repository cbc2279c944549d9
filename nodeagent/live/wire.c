/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Views as bytes: the version, a flag, then all members as varints (trace/varint.h), and texts
 * with their length. Packing and unpacking are one function for each kind of row.
 */
#include <stdlib.h>
#include <string.h>
#include "nodeagent/base/map.h"
#include "nodeagent/base/util.h"
#include "nodeagent/live/coder.h"
#include "nodeagent/live/view.h"

#define NAMES_MAX 1024u /* texts that a sender takes for known; then it begins anew */

/* ---- texts that are known ---------------------------------------------------------------- */

struct live_names {
	struct map64 of; /* hash -> place */
	size_t n;
	char texts[NAMES_MAX + LIVE_PATHS_MAX][LIVE_PATH_BYTES];
};

struct live_names *live_names_new(void)
{
	return xcalloc(1, sizeof(struct live_names));
}

void live_names_free(struct live_names *n)
{
	if (n)
		map64_free(&n->of);
	free(n);
}

static void forget_names(struct live_names *n)
{
	map64_free(&n->of);
	n->n = 0;
}

static const char *name_of(const struct live_names *n, uint64_t hash)
{
	const uint32_t *place = n ? map64_find(&n->of, hash) : NULL;

	return place ? n->texts[*place] : NULL;
}

static void add_name(struct live_names *n, uint64_t hash, const char *text)
{
	if (!n || n->n == ARRAY_SIZE(n->texts) || name_of(n, hash))
		return;
	memcpy(n->texts[n->n], text, LIVE_PATH_BYTES);
	map64_add(&n->of, hash, (uint32_t)n->n++);
}

/* ---- rows ---------------------------------------------------------------------------------- */

static void code_classes(struct coder *c, uint64_t *classes)
{
	for (int i = 0; i < LIVE_CLASSES_END; i++)
		code_u64(c, &classes[i]);
}

static void code_node(struct coder *c, struct live_node *n)
{
	code_u32(c, &n->agent);
	code_text(c, n->host, sizeof(n->host));
	code_u32(c, &n->processes);
	code_u32(c, &n->threads);
	code_u64(c, &n->interval);
	code_u64(c, &n->age);
	code_u64(c, &n->records);
	code_u64(c, &n->calls);
	code_u64(c, &n->lost_calls);
	code_classes(c, n->classes);
	code_u64(c, &n->look);
	code_u64(c, &n->sent);
	code_u64(c, &n->sent_bytes);
}

static void code_rank(struct coder *c, struct live_rank *r)
{
	code_u32(c, &r->rank);
	code_u32(c, &r->agent);
	code_u32(c, &r->pid);
	code_u32(c, &r->threads);
	code_u64(c, &r->interval);
	code_u64(c, &r->first_useful);
	code_classes(c, r->classes);
}

/* The text only if the other side does not have it. */
static void code_path_text(struct coder *c, struct live_path *p)
{
	char none[LIVE_PATH_BYTES] = "";
	const char *known = name_of(c->names, p->hash);

	code_text(c, c->to && known ? none : p->text, sizeof(p->text));
	if (!c->to && !p->text[0] && known)
		memcpy(p->text, known, sizeof(p->text));
	if (p->text[0])
		add_name(c->names, p->hash, p->text);
}

static void code_path(struct coder *c, struct live_path *p)
{
	code_u64(c, &p->hash);
	code_u64(c, &p->calls);
	code_u64(c, &p->calls_now);
	code_u64(c, &p->ns);
	code_u64(c, &p->ns_now);
	code_u32(c, &p->processes);
	code_u32(c, &p->most_rank);
	code_u64(c, &p->most_now);
	code_u64(c, &p->least_now);
	code_u32(c, &p->without);
	code_path_text(c, p);
}

static void code_missing(struct coder *c, struct live_missing *m)
{
	code_u32(c, &m->agent);
	code_u32(c, &m->why);
	code_text(c, m->host, sizeof(m->host));
}

static void code_head(struct coder *c, struct live_view *v)
{
	struct live_loop *l = &v->loop;

	code_text(c, v->program, sizeof(v->program));
	code_text(c, v->job, sizeof(v->job));
	code_u64(c, &l->n);
	if (!l->n)
		return;
	code_u32(c, &l->rank);
	code_u32(c, &l->agent);
	code_count(c, &l->n_took, LIVE_STEPS_MAX);
	for (size_t i = 0; i < l->n_took; i++)
		code_u64(c, &l->took[i]);
	code_text(c, l->text, sizeof(l->text));
	code_u32(c, &l->between);
}

static void code_sums(struct coder *c, struct live_view *v)
{
	code_u32(c, &v->n_all);
	code_u32(c, &v->processes);
	code_u32(c, &v->threads);
	code_u32(c, &v->ranked);
	code_u32(c, &v->ended);
	code_u64(c, &v->elapsed);
	code_u64(c, &v->interval);
	code_u64(c, &v->age);
	code_u64(c, &v->records);
	code_u64(c, &v->calls_now);
	code_u64(c, &v->calls);
	code_u64(c, &v->lost_calls);
	code_u64(c, &v->hooks);
	code_u64(c, &v->messages);
	code_u64(c, &v->messages_now);
	code_u64(c, &v->bytes);
	code_u64(c, &v->bytes_now);
	code_u64(c, &v->share);
	code_u64(c, &v->share_most);
	code_classes(c, v->classes);
	for (int i = 0; i < WAIT_KINDS_END; i++) {
		code_u64(c, &v->waits[i].calls);
		code_u64(c, &v->waits[i].ns);
		code_u64(c, &v->waits[i].calls_now);
		code_u64(c, &v->waits[i].ns_now);
	}
	code_u32(c, &v->n_absent);
	code_u32(c, &v->n_cut);
	code_u64(c, &v->cut_ns);
	code_u64(c, &v->cut_now);
}

static void code_off(struct coder *c, struct live_off *o)
{
	code_text(c, o->name, sizeof(o->name));
	code_u32(c, &o->nodes);
	code_u32(c, &o->functions);
	code_u64(c, &o->stamp);
}

static void code_request(struct coder *c, struct live_request *q)
{
	code_u64(c, &q->stamp);
	if (!q->stamp)
		return;
	for (int i = 0; i < REQUEST_STATES_END; i++)
		code_u32(c, &q->nodes[i]);
	code_text(c, q->file, sizeof(q->file));
}

static void code_lists(struct coder *c, struct live_view *v)
{
	code_request(c, &v->request);
	code_count(c, &v->n_off, LIVE_OFF_MAX);
	for (size_t i = 0; i < v->n_off; i++)
		code_off(c, &v->off[i]);
	code_count(c, &v->n_nodes, LIVE_NODES_MAX);
	for (size_t i = 0; i < v->n_nodes; i++)
		code_node(c, &v->nodes[i]);
	code_count(c, &v->n_ranks, LIVE_RANKS_MAX);
	for (size_t i = 0; i < v->n_ranks; i++)
		code_rank(c, &v->ranks[i]);
	code_count(c, &v->n_paths, LIVE_PATHS_MAX);
	for (size_t i = 0; i < v->n_paths; i++)
		code_path(c, &v->paths[i]);
	code_count(c, &v->n_missing, LIVE_MISSING_MAX);
	for (size_t i = 0; i < v->n_missing; i++)
		code_missing(c, &v->missing[i]);
}

/* ---- packets -------------------------------------------------------------------------------- */

#define ROW_MOST(texts, numbers) ((texts) + ((numbers) + 2) * VARINT_MAX)
_Static_assert(ROW_MOST(0, 27 + LIVE_CLASSES_END + 4 * WAIT_KINDS_END) +
			       ROW_MOST(2 * LIVE_HOST_BYTES + LIVE_PATH_BYTES, 7 + LIVE_STEPS_MAX) +
			       ROW_MOST(LIVE_PATH_BYTES, 1 + REQUEST_STATES_END) +
			       LIVE_OFF_MAX * ROW_MOST(LIVE_PATH_BYTES, 3) +
			       LIVE_NODES_MAX * ROW_MOST(LIVE_HOST_BYTES, 12 + LIVE_CLASSES_END) +
			       LIVE_RANKS_MAX * ROW_MOST(0, 6 + LIVE_CLASSES_END) +
			       LIVE_PATHS_MAX * ROW_MOST(LIVE_PATH_BYTES, 10) +
			       LIVE_MISSING_MAX * ROW_MOST(LIVE_HOST_BYTES, 2) <
		       LIVE_PACKED_MOST,
	"the largest view has room");

size_t live_pack(const struct live_view *v, struct live_names *told, unsigned char *to)
{
	struct coder c = {.to = to, .names = told};

	if (told && told->n >= NAMES_MAX)
		forget_names(told);
	c.to = varint_put(c.to, LIVE_VERSION);
	c.to = varint_put(c.to, WAIT_KINDS_END);
	c.to = varint_put(c.to, !told || !told->n); /* what came before is forgotten */
	/* nothing is changed: this direction only reads */
	code_head(&c, (struct live_view *)v);
	code_sums(&c, (struct live_view *)v);
	code_lists(&c, (struct live_view *)v);
	return (size_t)(c.to - to);
}

static uint64_t nodes_answering(const struct live_request *q)
{
	uint64_t n = 0;

	for (int i = 0; i < REQUEST_STATES_END; i++)
		n += q->nodes[i];
	return n;
}

static const char *what_is_wrong(const struct live_view *v)
{
	if (nodes_answering(&v->request) > v->n_all)
		return "more answers than there are nodes";
	if (v->n_nodes > v->n_all || v->n_missing > v->n_absent || v->n_cut > v->n_all)
		return "more rows than there are nodes";
	if (v->loop.n_took > v->loop.n)
		return "more iterations than there were";
	for (size_t i = 0; i < v->n_missing; i++)
		if (v->missing[i].why > LIVE_GONE)
			return "an unknown reason of an absence";
	for (size_t i = 0; i < v->n_paths; i++)
		if (v->paths[i].without > v->n_all)
			return "a path that more nodes left out than there are";
	return NULL;
}

const char *live_unpack(
	struct live_view *v, struct live_names *known, const void *packed, size_t bytes)
{
	struct coder c = {
		.from = {packed, (const unsigned char *)packed + bytes, false}, .names = known};
	const char *why = NULL;

	memset(v, 0, sizeof(*v));
	if (bytes > LIVE_PACKED_MOST)
		return "it is longer than any";
	if (varint_get(&c.from) != LIVE_VERSION || varint_get(&c.from) != WAIT_KINDS_END)
		return "it is of another version";
	if (varint_get(&c.from) && known)
		forget_names(known);
	code_head(&c, v);
	code_sums(&c, v);
	code_lists(&c, v);
	if (c.from.bad)
		why = "its lengths do not fit";
	else if (c.from.at != c.from.end)
		why = "there is more than it says";
	else
		why = what_is_wrong(v);
	if (why)
		memset(v, 0, sizeof(*v));
	return why;
}
