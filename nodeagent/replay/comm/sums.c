/* SPDX-License-Identifier: BSD-3-Clause */
/* Counting: by call path, peer, size, communicator and file. */
#include <stdlib.h>
#include <string.h>
#include "conf/conf.h"
#include "nodeagent/replay/comm/internal.h"
#include "shm/fnv.h"

#define FILE_NAME_MAX 4096
#define OTHERS	      "others"

/* Bytes per tick times 2^32. */
static unsigned __int128 bandwidth_of(uint64_t bytes, uint64_t ticks)
{
	if (!ticks)
		ticks = 1;
	if (bytes >> 32)
		return ((unsigned __int128)bytes << 32) / ticks;
	return (bytes << 32) / ticks;
}

static unsigned size_class(uint64_t bytes)
{
	return bytes ? 64 - (unsigned)__builtin_clzll(bytes) : 0;
}

/* ---- peers ------------------------------------------------------------------------ */

bool sums_is_listed(const struct traffic *t, uint32_t peer)
{
	return t->all_ranks || (t->listed && peer < PROFILE_UNRANKED &&
				       rank_list_has(t->conf->mpi_only_for_ranks, peer));
}

void sums_rank_changed(struct traffic *t)
{
	t->listed = t->all_ranks ||
		    (t->rank >= 0 && rank_list_has(t->conf->mpi_only_for_ranks, (unsigned)t->rank));
	for (size_t i = 0; i < t->sums.n_peers; i++)
		t->sums.peers[i].listed = sums_is_listed(t, t->sums.peers[i].peer);
}

static struct traffic_peer *peer_of(struct traffic *t, uint32_t peer)
{
	struct traffic_sums *s = &t->sums;
	const uint32_t *i;

	if (t->last_peer < s->n_peers && s->peers[t->last_peer].peer == peer)
		return &s->peers[t->last_peer];
	i = map64_find(&t->peer_at, peer);
	if (!i && s->n_peers >= TRAFFIC_PEERS_MAX && peer != PROFILE_ELSEWHERE) {
		t->limits |= 1u << LIMIT_PEERS;
		return peer_of(t, PROFILE_ELSEWHERE);
	}
	if (i) {
		t->last_peer = *i;
		return &s->peers[*i];
	}
	map64_add(&t->peer_at, peer, (uint32_t)s->n_peers);
	*LIST_ADD(s, peers) =
		(struct traffic_peer){.peer = peer, .listed = sums_is_listed(t, peer)};
	return &s->peers[s->n_peers - 1];
}

/* ---- communicators and files --------------------------------------------------------- */

static struct traffic_comm new_comm(const struct comm *c)
{
	if (!c)
		return (struct traffic_comm){.kind = WIRE_COMM_UNKNOWN, .name = xstrdup(OTHERS)};
	return (struct traffic_comm){.id = c->id,
		.kind = c->kind,
		.name = c->name ? xstrdup(c->name) : NULL,
		.size = c->size,
		.remote_size = c->remote_size};
}

static struct traffic_comm *find_comm_sums(struct traffic *t, struct comm *c)
{
	struct traffic_sums *s = &t->sums;
	uint64_t id = c ? c->id : 0;
	uint32_t at;

	if (id && s->n_comms >= TRAFFIC_SUMS_MAX && !map64_find(&t->comm_at, id)) {
		t->limits |= 1u << LIMIT_COMM_SUMS;
		id = 0;
	}
	at = *map64_at(&t->comm_at, id, (uint32_t)s->n_comms);
	if (at == s->n_comms)
		*LIST_ADD(s, comms) = new_comm(id ? c : NULL);
	if (c)
		c->sums = at;
	return &s->comms[at];
}

static struct traffic_comm *comm_sums(struct traffic *t, struct comm *c)
{
	if (c && c->sums != NO_SUMS)
		return &t->sums.comms[c->sums];
	return find_comm_sums(t, c);
}

uint32_t sums_of_comm(struct traffic *t, struct comm *c)
{
	return (uint32_t)(comm_sums(t, c) - t->sums.comms);
}

uint32_t sums_of_file(struct traffic *t, const char *name)
{
	struct traffic_sums *s = &t->sums;
	char *copy = xasprintf("%.*s", FILE_NAME_MAX, name);
	const uint32_t *known;
	uint64_t hash;

	if (s->n_files >= TRAFFIC_SUMS_MAX && !map64_find(&t->file_at, fnv_text(FNV_BEGIN, copy))) {
		t->limits |= 1u << LIMIT_FILE_SUMS;
		free(copy);
		copy = xstrdup(OTHERS);
	}
	for (hash = fnv_text(FNV_BEGIN, copy); (known = map64_find(&t->file_at, hash)); hash++)
		if (!strcmp(s->files[*known].name, copy)) {
			free(copy);
			return *known;
		}
	map64_add(&t->file_at, hash, (uint32_t)s->n_files);
	*LIST_ADD(s, files) = (struct traffic_file){.name = copy};
	return (uint32_t)s->n_files - 1;
}

void sums_free(struct traffic *t)
{
	for (size_t i = 0; i < t->sums.n_comms; i++)
		free(t->sums.comms[i].name);
	for (size_t i = 0; i < t->sums.n_files; i++)
		free(t->sums.files[i].name);
	free(t->sums.peers);
	free(t->sums.comms);
	free(t->sums.files);
	map64_free(&t->peer_at);
	map64_free(&t->comm_at);
	map64_free(&t->file_at);
}

/* ---- messages ----------------------------------------------------------------------- */

/* n: 1, or -1 to take it back. Its call path's sums; NULL: it does not count. */
static inline struct node_messages *count_send(
	struct traffic *t, const struct pending *p, uint32_t peer, uint64_t bytes, uint64_t n)
{
	struct traffic_peer *to = peer_of(t, peer);
	struct traffic_size *size = &t->sums.sizes[size_class(bytes)];
	struct traffic_comm *c;
	struct node_messages *m;

	if (!to->listed)
		return NULL;
	c = comm_sums(t, p->comm);
	m = &calltree_extra(p->node)->messages;
	bytes *= n;
	to->sends += n;
	to->bytes_sent += bytes;
	size->sends += n;
	size->bytes_sent += bytes;
	c->sends += n;
	c->bytes_sent += bytes;
	m->sends += n;
	m->bytes_sent += bytes;
	return m;
}

void sums_send(struct traffic *t, const struct pending *p, uint32_t peer, uint64_t bytes)
{
	count_send(t, p, peer, bytes, 1);
}

void sums_send_cancelled(struct traffic *t, const struct pending *p, uint32_t peer, uint64_t bytes)
{
	count_send(t, p, peer, bytes, (uint64_t)-1);
}

static inline struct node_messages *count_receive(
	struct traffic *t, const struct pending *p, uint32_t peer, uint64_t bytes)
{
	struct traffic_peer *from = peer_of(t, peer);
	struct traffic_size *size = &t->sums.sizes[size_class(bytes)];
	struct traffic_comm *c;
	struct node_messages *m;

	if (!from->listed)
		return NULL;
	c = comm_sums(t, p->comm);
	m = &calltree_extra(p->node)->messages;
	from->receives++;
	from->bytes_received += bytes;
	size->receives++;
	size->bytes_received += bytes;
	c->receives++;
	c->bytes_received += bytes;
	m->receives++;
	m->bytes_received += bytes;
	return m;
}

void sums_receive(struct traffic *t, const struct pending *p, uint32_t peer, uint64_t bytes)
{
	count_receive(t, p, peer, bytes);
}

void sums_neighbour(struct traffic *t, uint32_t peer, bool received, uint32_t n, uint64_t bytes)
{
	struct traffic_peer *with = peer_of(t, peer);

	if (!with->listed)
		return;
	*(received ? &with->receives : &with->sends) += n;
	*(received ? &with->bytes_received : &with->bytes_sent) += bytes;
}

static inline void count_send_time(struct node_messages *m, uint64_t bytes, uint64_t ticks)
{
	m->send_ticks += ticks;
	m->send_bandwidth += bandwidth_of(bytes, ticks);
}

void sums_send_time(
	struct traffic *t, const struct pending *p, uint32_t peer, uint64_t bytes, uint64_t ticks)
{
	if (peer_of(t, peer)->listed)
		count_send_time(&calltree_extra(p->node)->messages, bytes, ticks);
}

void sums_send_call(
	struct traffic *t, const struct pending *p, uint32_t peer, uint64_t bytes, uint64_t ticks)
{
	struct node_messages *m = count_send(t, p, peer, bytes, 1);

	if (m)
		count_send_time(m, bytes, ticks);
}

static inline void count_receive_time(struct node_messages *m, uint64_t bytes, uint64_t ticks)
{
	m->receive_ticks += ticks;
	m->receive_bandwidth += bandwidth_of(bytes, ticks);
}

void sums_receive_time(
	struct traffic *t, const struct pending *p, uint32_t peer, uint64_t bytes, uint64_t ticks)
{
	if (peer_of(t, peer)->listed)
		count_receive_time(&calltree_extra(p->node)->messages, bytes, ticks);
}

void sums_receive_call(
	struct traffic *t, const struct pending *p, uint32_t peer, uint64_t bytes, uint64_t ticks)
{
	struct node_messages *m = count_receive(t, p, peer, bytes);

	if (m)
		count_receive_time(m, bytes, ticks);
}

/* ---- collective calls ------------------------------------------------------------------ */

static struct node_messages *messages_if(const struct pending *p, uint64_t some)
{
	return some ? &calltree_extra(p->node)->messages : NULL;
}

/* m: of its call path; NULL: it has no messages of the kind. */
static inline void count_sent(
	struct traffic_comm *c, struct node_messages *m, const struct share *s)
{
	c->collectives++;
	c->collective_bytes_sent += s->bytes;
	if (!m)
		return;
	m->sends += s->sends;
	m->bytes_sent += s->bytes;
}

static inline void count_received(
	struct traffic_comm *c, struct node_messages *m, const struct share *s)
{
	c->collective_bytes_received += s->bytes_received;
	if (!m)
		return;
	m->receives += s->receives;
	m->bytes_received += s->bytes_received;
}

/* Each of its messages takes as long as the call, at an equal share of the bytes. */
static inline void count_time(
	struct traffic_comm *c, struct node_messages *m, const struct share *s, uint64_t ticks)
{
	c->collective_ticks += ticks;
	if (!m)
		return;
	m->send_ticks += s->sends * ticks;
	m->receive_ticks += s->receives * ticks;
	m->send_bandwidth += s->sends ? bandwidth_of(s->bytes, ticks) : 0;
	m->receive_bandwidth += s->receives ? bandwidth_of(s->bytes_received, ticks) : 0;
}

void sums_collective(struct traffic *t, const struct pending *p)
{
	const struct share *s = &p->share;

	if (t->listed)
		count_sent(comm_sums(t, p->comm), messages_if(p, s->sends | s->bytes), s);
}

void sums_collective_over(struct traffic *t, const struct pending *p)
{
	const struct share *s = &p->share;

	if (t->listed)
		count_received(
			comm_sums(t, p->comm), messages_if(p, s->receives | s->bytes_received), s);
}

void sums_collective_time(struct traffic *t, const struct pending *p, uint64_t ticks)
{
	const struct share *s = &p->share;

	if (t->listed)
		count_time(comm_sums(t, p->comm), messages_if(p, s->sends | s->receives), s, ticks);
}

void sums_collective_call(struct traffic *t, const struct pending *p, uint64_t ticks)
{
	const struct share *s = &p->share;
	struct traffic_comm *c;
	struct node_messages *m;

	if (!t->listed)
		return;
	c = comm_sums(t, p->comm);
	m = messages_if(p, s->sends | s->receives | s->bytes | s->bytes_received);
	count_sent(c, m, s);
	count_received(c, m, s);
	count_time(c, m, s, ticks);
}

/* ---- files -------------------------------------------------------------------------------- */

void sums_file(struct traffic *t, const struct pending *p, uint64_t bytes, uint64_t ticks)
{
	struct traffic_file *f;

	if (p->m.comm == NO_SUMS) /* an index by now */
		return;
	f = &t->sums.files[p->m.comm];
	if (p->m.flags & MESSAGE_READ) {
		f->reads++;
		f->bytes_read += bytes;
		f->read_ticks += ticks;
	}
	if (p->m.flags & MESSAGE_WRITE) {
		f->writes++;
		f->bytes_written += bytes;
		f->write_ticks += ticks;
	}
}
