/* SPDX-License-Identifier: BSD-3-Clause */
/* The members of BASE_all.json about matched messages: only where there were any. */
#include "nodeagent/json.h"
#include "nodeagent/match.h"
#include "nodeagent/report.h"

static const char *const reasons[MATCH_REASONS] = {
	[MATCH_NOT_RECEIVED] = "not_received",
	[MATCH_NOT_COMPLETED] = "not_completed",
	[MATCH_NO_SEND] = "no_send",
	[MATCH_PARTNER_LOST] = "partner_lost",
	[MATCH_FROM_ELSEWHERE] = "from_elsewhere",
};

/* Which of them sends, and receives, can have. */
static const bool of_sends[MATCH_REASONS] = {
	[MATCH_NOT_RECEIVED] = true, [MATCH_PARTNER_LOST] = true};

static void write_rank(struct json *j, const char *key, const struct profile *p, uint32_t rank)
{
	if (rank == PROFILE_ELSEWHERE)
		json_string(j, key, NULL);
	else
		json_uint(j, key, profile_rank_shown(p, rank));
}

static void write_thread(struct json *j, const char *key, uint32_t thread)
{
	if (thread == PROFILE_NONE)
		json_string(j, key, NULL);
	else
		json_uint(j, key, thread);
}

static void write_matching(struct json *j, const struct profile *p)
{
	const struct profile_matching *m = &p->matching;

	json_object(j, "matching");
	json_object(j, "pairs");
	for (int i = 0; i < MATCH_LABELS; i++)
		json_uint(j, match_label_names[i], m->pairs[i]);
	json_close(j);
	json_object(j, "unmatched_sends");
	for (int i = 0; i < MATCH_REASONS; i++)
		if (of_sends[i])
			json_uint(j, reasons[i], m->unmatched_sends[i]);
	json_uint(j, "other_node", m->not_shipped);
	json_close(j);
	json_object(j, "unmatched_recvs");
	for (int i = 0; i < MATCH_REASONS; i++)
		if (i != MATCH_NOT_RECEIVED)
			json_uint(j, reasons[i], m->unmatched_receives[i]);
	json_close(j);
	json_uint(j, "lost_sends", m->lost_sends);
	json_uint(j, "lost_recvs", m->lost_receives);
	json_uint(j, "late", m->late);
	json_uint(j, "overflow", m->overflow);
	json_uint(j, "too_long", m->too_long);
	json_uint(j, "violations", m->violations);
	if (m->violations) {
		json_seconds(j, "worst_violation_s", m->worst_ns);
		write_rank(j, "worst_from", p, m->worst_from);
		write_rank(j, "worst_to", p, m->worst_to);
	}
	json_close(j);
}

static void write_thread_pairs(struct json *j, const struct profile *p)
{
	json_array(j, "thread_pairs");
	for (size_t i = 0; i < p->n_thread_pairs; i++) {
		const struct profile_thread_pair *q = &p->thread_pairs[i];

		json_object(j, NULL);
		write_rank(j, "from", p, q->from);
		write_thread(j, "from_thread", q->from_thread);
		write_rank(j, "to", p, q->to);
		write_thread(j, "to_thread", q->to_thread);
		json_uint(j, "messages", q->messages);
		json_uint(j, "bytes", q->bytes);
		json_close(j);
	}
	json_close(j);
}

void json_matching(struct json *j, const struct report *r)
{
	if (!report_has_matching(r->p))
		return;
	write_matching(j, r->p);
	write_thread_pairs(j, r->p);
}
