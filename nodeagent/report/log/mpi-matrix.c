/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who has sent to whom: rank by rank as long as they are few, else node by
 * node or by groups of these, so that a log stays readable. A rank log has one
 * line per peer. Both ends of a message may have recorded it, and one of them
 * only where the other has died, is elsewhere, or where a get has fetched it:
 * the greater number stands here.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "conf/conf.h"
#include "nodeagent/profile/places.h"
#include "nodeagent/report/log/internal.h"

#define GROUPS_MAX   32
#define GROUP_WIDTH  8	/* columns of one, with five characters and its frame */
#define LABEL_WIDTH  10 /* of the ranks in front of them */
#define PEERS_MAX    100
#define HOST_COLUMNS 40
/* Besides the groups: ranks of which no host is known, and of other jobs. */
#define NOWHERE	  GROUPS_MAX
#define FAR	  (GROUPS_MAX + 1) /* of the same job on another node */
#define ELSEWHERE (GROUPS_MAX + 2)
#define N_GROUPS  (GROUPS_MAX + 3)

enum unit { BY_RANK, BY_RANKS, BY_NODE };

struct matrix {
	const struct profile *p;
	enum unit unit;
	uint64_t n;	 /* ranks or nodes */
	uint64_t most;	 /* groups for which there is room */
	uint64_t per;	 /* of them in a group */
	uint32_t *extra; /* ranks beyond the MPI job, sorted */
	size_t n_extra;
	uint32_t *host; /* of each place, numbered by its first rank */
	bool used[N_GROUPS];
	uint64_t messages[N_GROUPS][N_GROUPS], bytes[N_GROUPS][N_GROUPS];
};

ORDER_BY(by_number, uint32_t, ORDER(*x, *y))

static void find_extra_ranks(struct matrix *m)
{
	const struct profile *p = m->p;
	size_t n = 0;

	m->extra = xcalloc(2 * p->n_pairs, sizeof(*m->extra));
	for (size_t i = 0; i < p->n_pairs; i++) {
		const uint32_t ends[] = {p->pairs[i].from, p->pairs[i].to};

		for (size_t k = 0; k < 2; k++)
			if (ends[k] >= p->world_size && ends[k] < PROFILE_FAR)
				m->extra[n++] = ends[k];
	}
	if (n)
		qsort(m->extra, n, sizeof(*m->extra), by_number);
	for (size_t i = 0; i < n; i++)
		if (!i || m->extra[i] != m->extra[i - 1])
			m->extra[m->n_extra++] = m->extra[i];
}

struct spot {
	const char *host;
	uint32_t place;
};

ORDER_BY(by_host, struct spot, ALPHABETIC(host) ?: RISING(place))

/* The number of hosts. */
static uint32_t number_hosts(struct matrix *m)
{
	const struct profile *p = m->p;
	struct spot *spots = xcalloc(p->n_rank_ranges, sizeof(*spots));
	uint32_t n = 0, first = 0;

	m->host = xcalloc(p->n_rank_ranges, sizeof(*m->host));
	for (uint32_t i = 0; i < p->n_rank_ranges; i++)
		spots[i] = (struct spot){p->rank_ranges[i].host, i};
	if (p->n_rank_ranges)
		qsort(spots, p->n_rank_ranges, sizeof(*spots), by_host);
	/* at first, each place is given the first place of its host */
	for (uint32_t i = 0; i < p->n_rank_ranges; i++) {
		if (i && strcmp(spots[i].host, spots[first].host))
			first = i;
		m->host[spots[i].place] = spots[first].place;
	}
	for (uint32_t i = 0; i < p->n_rank_ranges; i++)
		m->host[i] = m->host[i] == i ? n++ : m->host[m->host[i]];
	free(spots);
	return n;
}

static uint64_t group_of(const struct matrix *m, uint32_t rank)
{
	const struct profile *p = m->p;

	if (rank == PROFILE_ELSEWHERE)
		return ELSEWHERE;
	if (rank_is_far(rank))
		return FAR;
	if (m->unit == BY_NODE) {
		const struct profile_rank_range *at = places_find(p, rank);

		return at ? m->host[at - p->rank_ranges] / m->per : NOWHERE;
	}
	if (rank >= p->world_size) {
		const uint32_t *at =
			bsearch(&rank, m->extra, m->n_extra, sizeof(*m->extra), by_number);

		return (p->world_size + (uint64_t)(at - m->extra)) / m->per;
	}
	return rank / m->per;
}

static uint64_t groups_in(long long columns)
{
	const long long n = (columns - LABEL_WIDTH) / GROUP_WIDTH;

	return !columns || n > GROUPS_MAX ? GROUPS_MAX : n > 2 ? (uint64_t)n : 2;
}

static void matrix_init(struct matrix *m, const struct report *r)
{
	const struct profile *p = r->p;
	uint32_t hosts;

	*m = (struct matrix){.p = p, .unit = BY_RANK, .most = groups_in(r->c->output_max_columns)};
	find_extra_ranks(m);
	hosts = number_hosts(m);
	m->n = p->world_size + (uint64_t)m->n_extra;
	if (p->pair_ranks > 1) {
		m->unit = BY_RANKS;
	} else if (m->n > m->most) {
		m->unit = hosts > 1 ? BY_NODE : BY_RANKS;
		m->n = hosts > 1 ? hosts : m->n;
	}
	m->per = m->n > m->most ? (m->n + m->most - 1) / m->most : 1;
	if (p->pair_ranks > 1)
		m->per = (m->per + p->pair_ranks - 1) / p->pair_ranks * p->pair_ranks;
	for (uint64_t i = 0; i < m->n; i += m->per)
		m->used[i / m->per] = true;
	EACH(const struct profile_pair, q, p->pairs, p->n_pairs) {
		uint64_t from = group_of(m, q->from), to = group_of(m, q->to);

		m->used[from] = m->used[to] = true;
		m->messages[from][to] += MAX(q->sends, q->receives);
		m->bytes[from][to] += MAX(q->bytes_sent, q->bytes_received);
	}
}

static void matrix_done(struct matrix *m)
{
	free(m->extra);
	free(m->host);
}

static uint32_t rank_shown(const struct matrix *m, uint64_t index)
{
	if (index < m->p->world_size)
		return index;
	return profile_rank_shown(m->p, m->extra[index - m->p->world_size]);
}

static const char *host_name(const struct matrix *m, uint64_t host)
{
	for (size_t i = 0; i < m->p->n_rank_ranges; i++)
		if (m->host[i] == host)
			return m->p->rank_ranges[i].host;
	return "";
}

/* "3", "4 - 7", "node0", "node0 - node3"; the caller frees. */
static char *label(const struct matrix *m, size_t group)
{
	uint64_t first = group * m->per, last = first + m->per - 1;
	char *a, *b, *text;

	if (group == ELSEWHERE)
		return xstrdup("another job");
	if (group == FAR)
		return xstrdup("another node");
	if (group == NOWHERE)
		return xstrdup("unknown node");
	if (last >= m->n)
		last = m->n - 1;
	if (m->unit != BY_NODE && first == last)
		return xasprintf("%" PRIu32, rank_shown(m, first));
	if (m->unit != BY_NODE)
		return xasprintf(
			"%" PRIu32 " - %" PRIu32, rank_shown(m, first), rank_shown(m, last));
	a = text_short(host_name(m, first), HOST_COLUMNS);
	b = text_short(host_name(m, last), HOST_COLUMNS);
	text = first == last ? xstrdup(a) : xasprintf("%s - %s", a, b);
	free(a);
	free(b);
	return text;
}

static uint64_t ranks_of(const struct matrix *m, size_t group)
{
	uint64_t n = 0;

	for (size_t i = 0; i < m->p->n_rank_ranges; i++)
		if (m->host[i] / m->per == group)
			n += place_ranks(&m->p->rank_ranges[i]);
	return n;
}

/* Row i: of a group of ranks, with its number if that is not its name. */
static void add_matrix_row(struct table *t, const struct matrix *m, size_t i, const char *number,
	unsigned base, const uint64_t *value)
{
	char *name = label(m, i);

	if (m->unit != BY_RANK)
		table_text(t, number);
	table_text(t, name);
	if (m->unit == BY_NODE && i < GROUPS_MAX)
		table_uint(t, ranks_of(m, i));
	else if (m->unit == BY_NODE)
		table_text(t, "");
	for (size_t k = 0; k < N_GROUPS; k++)
		if (m->used[k])
			table_compact(t, base, value[k]);
	free(name);
}

/* Columns have the label of a rank, or the number of the row. */
static void print_matrix(FILE *f, const struct report *r, const struct matrix *m, const char *what,
	unsigned base, uint64_t (*value)[N_GROUPS])
{
	static const char *const units[] = {"rank", "ranks", "node"};
	struct table *t = columns_begin(r);
	char *title[N_GROUPS] = {NULL};
	size_t number = 0;

	if (m->unit != BY_RANK)
		table_column(t, "", TABLE_RIGHT);
	table_column(t, m->unit == BY_NODE ? "Node" : "Rank", TABLE_RIGHT);
	if (m->unit == BY_NODE)
		table_column(t, "Ranks", TABLE_RIGHT);
	for (size_t i = 0; i < N_GROUPS; i++) {
		if (!m->used[i])
			continue;
		title[i] = m->unit == BY_RANK ? label(m, i) : xasprintf("%zu", number++);
		table_column(t, title[i], TABLE_RIGHT);
	}
	for (size_t i = 0; i < N_GROUPS; i++)
		if (m->used[i])
			add_matrix_row(t, m, i, title[i], base, value[i]);
	fprintf(f, "\n%s from %s (row) to %s (column)\n", what, units[m->unit], units[m->unit]);
	columns_close(f, r, t);
	for (size_t i = 0; i < N_GROUPS; i++)
		free(title[i]);
}

void section_matrix(FILE *f, const struct report *r)
{
	struct matrix m;

	if (!r->p->n_pairs)
		return;
	matrix_init(&m, r);
	print_matrix(f, r, &m, "Messages", 1000, m.messages);
	print_matrix(f, r, &m, "Bytes", 1024, m.bytes);
	if (m.per > 1)
		fprintf(f,
			"A row or column stands for %" PRIu64 " %s, the last one for the rest.\n",
			m.per, m.unit == BY_NODE ? "nodes" : "ranks");
	matrix_done(&m);
}

/* What one rank sent to and received from another one. */
struct peer_sums {
	uint32_t rank;
	uint64_t sends, receives, bytes_sent, bytes_received;
};

ORDER_BY(by_rank, struct peer_sums, RISING(rank))

ORDER_BY(by_bytes, struct peer_sums,
	ORDER(y->bytes_sent + y->bytes_received, x->bytes_sent + x->bytes_received) ?: RISING(rank))

static size_t find_peers(const struct profile *p, uint32_t rank, struct peer_sums **peers)
{
	struct peer_sums *at = xcalloc(2 * p->n_pairs, sizeof(*at));
	size_t n = 0, kept = 0;

	EACH(const struct profile_pair, q, p->pairs, p->n_pairs) {
		if (q->from == rank && (q->sends || q->bytes_sent))
			at[n++] = (struct peer_sums){
				.rank = q->to, .sends = q->sends, .bytes_sent = q->bytes_sent};
		if (q->to == rank && (q->receives || q->bytes_received))
			at[n++] = (struct peer_sums){.rank = q->from,
				.receives = q->receives,
				.bytes_received = q->bytes_received};
	}
	if (n)
		qsort(at, n, sizeof(*at), by_rank);
	for (size_t i = 0; i < n; i++) {
		if (i && at[i].rank == at[kept - 1].rank) {
			at[kept - 1].sends += at[i].sends;
			at[kept - 1].receives += at[i].receives;
			at[kept - 1].bytes_sent += at[i].bytes_sent;
			at[kept - 1].bytes_received += at[i].bytes_received;
		} else {
			at[kept++] = at[i];
		}
	}
	*peers = at;
	return kept;
}

static char *peer_name(const struct row *row)
{
	const struct peer_sums *peer = row->at;

	if (peer->rank == PROFILE_ELSEWHERE)
		return xstrdup("another job");
	if (rank_is_far(peer->rank))
		return xstrdup("another node");
	return xasprintf("%" PRIu32, profile_rank_shown(row->r->p, peer->rank));
}

static const struct column peer_columns[] = {
	COLUMN_GET("Peer", NULL, MADE, made, peer_name),
	COLUMN("Sends", NULL, COUNT, struct peer_sums, sends),
	COLUMN("Receives", NULL, COUNT, struct peer_sums, receives),
	COLUMN("Sent[B]", NULL, COUNT, struct peer_sums, bytes_sent),
	COLUMN("Received[B]", NULL, COUNT, struct peer_sums, bytes_received),
};

static const struct list peer_list =
	LIST_OF(peer_columns, struct peer_sums, .title = "Messages by peer");

void section_peers(FILE *f, const struct report *r, uint32_t rank)
{
	struct peer_sums *peers;
	size_t n, shown;

	if (r->p->pair_ranks > 1) {
		fprintf(f,
			"\nMessages by peer: more than %u pairs of ranks; they are kept for groups "
			"of %" PRIu32 " ranks.\n",
			PROFILE_PAIRS_MAX, r->p->pair_ranks);
		return;
	}
	n = find_peers(r->p, rank, &peers);
	shown = n < PEERS_MAX ? n : PEERS_MAX;
	if (n > shown) {
		qsort(peers, n, sizeof(*peers), by_bytes);
		qsort(peers, shown, sizeof(*peers), by_rank);
	}
	columns_print_of(f, r, &peer_list, 0, peers, shown);
	if (n > shown)
		fprintf(f, "... and %zu %s more, with fewer bytes.\n", n - shown,
			one_or_many(n - shown, "peer", "peers"));
	free(peers);
}

/* ---- in JSON ------------------------------------------------------------------------------ */

#define PAIR(json, type, member) COLUMN(NULL, json, type, struct profile_pair, member)

static const struct column pair_columns[] = {
	PAIR("from", RANK, from),
	PAIR("to", RANK, to),
	PAIR("sends", COUNT, sends),
	PAIR("bytes_sent", COUNT, bytes_sent),
	PAIR("recvs", COUNT, receives),
	PAIR("bytes_received", COUNT, bytes_received),
};

const struct list mpi_pairs = LIST(pair_columns, pairs, .json = "communication_matrix");
