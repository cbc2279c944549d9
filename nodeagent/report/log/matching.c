/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages whose sender and receiver are known, in the logs and in BASE_all.json. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "nodeagent/match/match.h"
#include "nodeagent/profile/places.h"
#include "nodeagent/report/log/internal.h"

#define ROWS_MAX 64

static uint64_t sum_of(const uint64_t *n, size_t from, size_t to)
{
	uint64_t all = 0;

	for (size_t i = from; i < to; i++)
		all += n[i];
	return all;
}

static bool has_matching(const struct profile *p)
{
	const struct profile_matching *m = &p->matching;

	return sum_of(m->pairs, 0, MATCH_LABELS) || sum_of(m->unmatched_sends, 0, MATCH_REASONS) ||
	       sum_of(m->unmatched_receives, 0, MATCH_REASONS) || m->not_shipped;
}

static const char *reason_text(int reason, bool of_receives)
{
	return of_receives && reason == MATCH_NOT_COMPLETED ? "they never completed"
							    : match_reason_names[reason];
}

/* ", as ..." if there is one reason; ": 3 as ..., 2 as ..." */
static void print_reasons(FILE *f, const uint64_t *n, uint64_t other_node, bool of_receives)
{
	const uint64_t all = sum_of(n, 0, MATCH_REASONS) + other_node;
	const char *comma = ": ";

	for (int i = 0; i < MATCH_REASONS; i++) {
		if (!n[i])
			continue;
		if (n[i] == all)
			fprintf(f, ", as %s", reason_text(i, of_receives));
		else
			fprintf(f, "%s%" PRIu64 " as %s", comma, n[i], reason_text(i, of_receives));
		comma = ", ";
	}
	if (other_node)
		fprintf(f, "%s%" PRIu64 " as another node's agent did not get them", comma,
			other_node);
	fputs(".\n", f);
}

/* Both ends of the worst message. */
static bool on_one_host(const struct profile *p)
{
	const char *from = places_host(p, p->matching.worst_from),
		   *to = places_host(p, p->matching.worst_to);

	return from && to && !strcmp(from, to);
}

static void print_rank(FILE *f, const struct profile *p, uint32_t rank)
{
	if (rank == PROFILE_ELSEWHERE)
		fputs("elsewhere", f);
	else
		fprintf(f, "%" PRIu32, profile_rank_shown(p, rank));
}

void section_matching(FILE *f, const struct report *r)
{
	const struct profile *p = r->p;
	const struct profile_matching *m = &p->matching;
	uint64_t pairs = sum_of(m->pairs, 0, MATCH_LABELS),
		 sends = sum_of(m->unmatched_sends, 0, MATCH_REASONS) + m->not_shipped,
		 receives = sum_of(m->unmatched_receives, 0, MATCH_REASONS);

	if (!has_matching(p))
		return;
	section_number(f, "Matched messages:", pairs);
	for (int i = 0; i < MATCH_LABELS && m->pairs[MATCH_EXACT] != pairs; i++) {
		char label[32];

		snprintf(label, sizeof(label), "   %s:", match_label_names[i]);
		if (m->pairs[i])
			section_number(f, label, m->pairs[i]);
	}
	if (sends)
		section_number(f, "Unmatched sends:", sends);
	if (receives)
		section_number(f, "Unmatched recvs:", receives);
	if (report_has_clocks(p)) /* beyond the bounds in the table of the clocks */
		section_number(f, "Clock violations:", m->violations);
}

void section_matching_faults(FILE *f, const struct profile *p)
{
	const struct profile_matching *m = &p->matching;
	uint64_t sends = sum_of(m->unmatched_sends, 0, MATCH_REASONS) + m->not_shipped,
		 receives = sum_of(m->unmatched_receives, 0, MATCH_REASONS);

	if (sends) {
		fprintf(f, "%" PRIu64 " %s no known receiver", sends,
			one_or_many(sends, "send has", "sends have"));
		print_reasons(f, m->unmatched_sends, m->not_shipped, false);
	}
	if (receives) {
		fprintf(f, "%" PRIu64 " %s no known sender", receives,
			one_or_many(receives, "receive has", "receives have"));
		print_reasons(f, m->unmatched_receives, 0, true);
	}
	if (m->too_long)
		fprintf(f, "%" PRIu64 " matched %s received more bytes than were sent.\n",
			m->too_long, one_or_many(m->too_long, "message", "messages"));
	if (m->violations) {
		fprintf(f, "%" PRIu64 " matched %s sent, by %.6f s at most (from rank ",
			m->violations,
			one_or_many(m->violations, "message was received before it was",
				"messages were received before they were"),
			1e-9 * (double)m->worst_ns);
		print_rank(f, p, m->worst_from);
		fputs(" to ", f);
		print_rank(f, p, m->worst_to);
		fputs(on_one_host(p) ? "): on one host, with one clock, the program has logged "
				       "them in that order.\n"
				     : "): the clocks are wrong.\n",
			f);
	}
}

/* ---- from thread to thread ------------------------------------------------------------ */

struct end {
	uint32_t rank, thread;
};

ORDER_BY(end_cmp, struct end, RISING(rank) ?: RISING(thread))

/* Does any process have several threads that communicate? */
static bool has_threads(const struct profile *p)
{
	struct end *ends = xcalloc(2 * p->n_thread_pairs + 1, sizeof(*ends));
	size_t n = 0;
	bool found = false;

	EACH(const struct profile_thread_pair, q, p->thread_pairs, p->n_thread_pairs) {
		ends[n++] = (struct end){q->from, q->from_thread};
		ends[n++] = (struct end){q->to, q->to_thread};
	}
	qsort(ends, n, sizeof(*ends), end_cmp);
	for (size_t i = 1; i < n && !found; i++)
		found = ends[i].rank == ends[i - 1].rank && ends[i].thread != ends[i - 1].thread;
	free(ends);
	return found;
}

static char *end_text(const struct profile *p, uint32_t rank, uint32_t thread)
{
	return rank == PROFILE_ELSEWHERE
		       ? xstrdup("others")
		       : xasprintf("%" PRIu32 ".%" PRIu32, profile_rank_shown(p, rank), thread);
}

ROW_VALUE(char *, pair_from, profile_thread_pair, end_text(row->r->p, at->from, at->from_thread))
ROW_VALUE(char *, pair_to, profile_thread_pair, end_text(row->r->p, at->to, at->to_thread))

#define PAIR(title, json, type, member)                                                            \
	COLUMN(title, json, type, struct profile_thread_pair, member)

static const struct column pair_columns[] = {
	COLUMN_GET("From", NULL, MADE, made, pair_from),
	COLUMN_GET("To", NULL, MADE, made, pair_to),
	PAIR(NULL, "from", RANK, from),
	PAIR(NULL, "from_thread", OPTIONAL, from_thread),
	PAIR(NULL, "to", RANK, to),
	PAIR(NULL, "to_thread", OPTIONAL, to_thread),
	PAIR("Messages", "messages", COUNT, messages),
	PAIR("Bytes", "bytes", COUNT, bytes),
	PAIR("Late[s]", "late_s", SECONDS, late_ns),
};

static const struct list pair_list = LIST(pair_columns, thread_pairs, .json = "thread_pairs");

static uint64_t messages_of(const struct profile *p, uint32_t i)
{
	return p->thread_pairs[i].messages;
}

void section_thread_pairs(FILE *f, const struct report *r)
{
	const struct profile *p = r->p;
	struct profile_thread_pair rest = {.from = PROFILE_ELSEWHERE, .to = PROFILE_ELSEWHERE};
	struct table *t;
	uint32_t *order;

	if (!has_threads(p))
		return;
	t = columns_table(r, &pair_list, 0);
	order = sort_falling(p, p->n_thread_pairs, messages_of);
	for (size_t i = 0; i <= p->n_thread_pairs; i++) {
		const struct profile_thread_pair *q =
			i < p->n_thread_pairs ? &p->thread_pairs[order[i]] : &rest;

		if (q != &rest && i >= ROWS_MAX - 1 && p->n_thread_pairs > ROWS_MAX) {
			rest.messages += q->messages;
			rest.bytes += q->bytes;
			rest.late_ns += q->late_ns;
			continue;
		}
		if (q->messages)
			columns_row(t, &pair_list, 0, &(struct row){.r = r, .at = q});
	}
	columns_end(f, r, t, "Messages from thread to thread (rank.thread)", false);
	free(order);
}

/* ---- in JSON ------------------------------------------------------------------------------ */

/* NULL: they cannot have it. */
static const char *const reasons_of_sends[MATCH_REASONS] = {
	[MATCH_NOT_RECEIVED] = "not_received",
	[MATCH_PARTNER_LOST] = "partner_lost",
	[MATCH_OF_ELSEWHERE] = "to_elsewhere",
};

static const char *const reasons_of_receives[MATCH_REASONS] = {
	[MATCH_NOT_COMPLETED] = "not_completed",
	[MATCH_NO_SEND] = "no_send",
	[MATCH_PARTNER_LOST] = "partner_lost",
	[MATCH_OF_ELSEWHERE] = "from_elsewhere",
};

ROW_VALUE(bool, has_violations, profile_matching, at->violations)

#define MATCHING(json, type, member, ...)                                                          \
	COLUMN(NULL, json, type, struct profile_matching, member, ##__VA_ARGS__)

static const struct column matching_columns[] = {
	MATCHING("lost_sends", COUNT, lost_sends),
	MATCHING("lost_recvs", COUNT, lost_receives),
	MATCHING("late", COUNT, late),
	MATCHING("overflow", COUNT, overflow),
	MATCHING("too_long", COUNT, too_long),
	MATCHING("violations", COUNT, violations),
	MATCHING("worst_violation_s", SECONDS, worst_ns, .where = has_violations),
	MATCHING("worst_from", RANK, worst_from, .where = has_violations),
	MATCHING("worst_to", RANK, worst_to, .where = has_violations),
};

static const struct list matching_list = LIST_OF(matching_columns, struct profile_matching);

static void write_reasons(struct json *j, const char *const *reasons, const uint64_t *n)
{
	for (int i = 0; i < MATCH_REASONS; i++)
		if (reasons[i])
			json_uint(j, reasons[i], n[i]);
}

static void write_matching(struct json *j, const struct report *r)
{
	const struct profile_matching *m = &r->p->matching;

	json_object(j, "matching");
	json_object(j, "pairs");
	for (int i = 0; i < MATCH_LABELS; i++)
		json_uint(j, match_label_names[i], m->pairs[i]);
	json_close(j);
	json_object(j, "unmatched_sends");
	write_reasons(j, reasons_of_sends, m->unmatched_sends);
	json_uint(j, "other_node", m->not_shipped);
	json_close(j);
	json_object(j, "unmatched_recvs");
	write_reasons(j, reasons_of_receives, m->unmatched_receives);
	json_close(j);
	columns_members(j, &matching_list, &(struct row){.r = r, .at = m});
	json_close(j);
}

void json_matching(struct json *j, const struct report *r)
{
	if (!has_matching(r->p))
		return;
	write_matching(j, r);
	columns_json(j, r, &pair_list);
}
