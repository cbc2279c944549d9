/* SPDX-License-Identifier: BSD-3-Clause */
/* Why waits may be missing in the tables of waits: a line above them, and in JSON. */
#include <inttypes.h>

#include "nodeagent/match/match.h"
#include "nodeagent/report/log/internal.h"

/* ---- how many there are ------------------------------------------------------------------ */

static uint64_t missing_ranks(const struct profile *p)
{
	const uint32_t ranked = p->ranks > p->unranked ? p->ranks - p->unranked : 0;

	return ranked < p->world_size ? p->world_size - ranked : 0;
}

/* Of what they were in when they were cut off, and of who waited for them then. */
static uint64_t killed_ranks(const struct profile *p)
{
	uint64_t n = 0;

	for (size_t i = 0; i < p->n_rank_times; i++)
		if (p->rank_times[i].rank < PROFILE_UNRANKED && profile_is_cut(&p->rank_times[i]))
			n += 1 + p->rank_times[i].others;
	return n;
}

static uint64_t lost_calls(const struct profile *p)
{
	return p->lost_calls;
}

static uint64_t dropped_calls(const struct profile *p)
{
	return p->dropped_calls;
}

/* Records that came when they had been given up. */
static uint64_t late_messages(const struct profile *p)
{
	return p->matching.late;
}

static uint64_t lost_messages(const struct profile *p)
{
	const uint64_t n = p->lost_messages + p->matching.lost_sends + p->matching.lost_receives;

	return n > late_messages(p) ? n - late_messages(p) : 0;
}

/* Pairs that are not exact: internode/late-senders.c. */
static uint64_t uncertain_messages(const struct profile *p)
{
	uint64_t n = 0;

	for (int i = MATCH_EXACT + 1; i < MATCH_LABELS; i++)
		n += p->matching.pairs[i];
	return n;
}

/* That were received. */
static uint64_t unmatched_receives(const struct profile *p)
{
	uint64_t n = 0;

	for (int i = 0; i < MATCH_REASONS; i++)
		n += i == MATCH_NOT_COMPLETED ? 0 : p->matching.unmatched_receives[i];
	return n;
}

static uint64_t paused_ranks(const struct profile *p)
{
	uint64_t n = 0;

	for (size_t i = 0; i < p->n_rank_times; i++)
		if (p->rank_times[i].rank < PROFILE_UNRANKED && p->rank_times[i].all_unknown_ns)
			n += 1 + p->rank_times[i].others;
	return n;
}

static uint64_t not_compared(const struct profile *p)
{
	uint64_t n = 0;

	for (size_t i = 0; i < p->n_compared; i++)
		n += p->compared[i].unknown;
	return n;
}

/* ---- telling ----------------------------------------------------------------------------- */

static const struct reason {
	const char *name; /* in JSON */
	uint64_t (*count)(const struct profile *p);
	const char *one, *many; /* behind the number; NULL: compared.c tells it */
} reasons[] = {
	{"missing_ranks", missing_ranks, "rank has left no data", "ranks have left no data"},
	{"killed_ranks", killed_ranks, "rank was cut off", "ranks were cut off"},
	{"lost_calls", lost_calls, "call was not recorded", "calls were not recorded"},
	{"dropped_calls", dropped_calls, "collective call was dropped before all ranks came to it",
		"collective calls were dropped before all ranks came to them"},
	{"lost_messages", lost_messages, "message was not recorded", "messages were not recorded"},
	{"late_messages", late_messages, "record of a message came too late",
		"records of messages came too late"},
	{"uncertain_messages", uncertain_messages, "message may be of another sender",
		"messages may be of other senders"},
	{"unmatched_receives", unmatched_receives, "receive has no known sender",
		"receives have no known sender"},
	{"paused_ranks", paused_ranks, "rank was not recorded all the time",
		"ranks were not recorded all the time"},
	{"not_compared", not_compared, NULL, NULL},
};

void print_waits_missing(FILE *f, const struct profile *p)
{
	const char *before = "Incomplete, as ";

	for (size_t i = 0; i < ARRAY_SIZE(reasons); i++) {
		const uint64_t n = reasons[i].count(p);

		if (!n || !reasons[i].one)
			continue;
		fprintf(f, "%s%" PRIu64 " %s", before, n,
			one_or_many(n, reasons[i].one, reasons[i].many));
		before = ", ";
	}
	if (*before == ',')
		fputs(": what these waited is not known\n", f);
}

void json_waits_missing(struct json *j, const struct profile *p)
{
	json_array(j, "waits_incomplete");
	for (size_t i = 0; i < ARRAY_SIZE(reasons); i++)
		if (reasons[i].count(p))
			json_string(j, NULL, reasons[i].name);
	json_close(j);
}
