/* SPDX-License-Identifier: BSD-3-Clause */
/* The rows of the fields of all records: of struct profile here, of others from lists.def. */
#include "nodeagent/profile/schema.h"

#include "nodeagent/base/util.h"
#include "nodeagent/profile/fold.h"
#include "nodeagent/profile/profile.h"

/* clang-format off */
#define F(kind, type, member, role, ref) { kind, role, ref, offsetof(struct type, member) }
/* F() of 1 to 6 members. */
#define EACH_ROW(type, kind, role, ref, ...) \
	PICK(__VA_ARGS__, ROW_6, ROW_5, ROW_4, ROW_3, ROW_2, ROW_1) \
	(type, kind, role, ref, __VA_ARGS__)
#define PICK(a, b, c, d, e, f, which, ...) which
#define ROW_1(t, k, r, f, m) F(k, t, m, r, f),
#define ROW_2(t, k, r, f, m, ...) F(k, t, m, r, f), ROW_1(t, k, r, f, __VA_ARGS__)
#define ROW_3(t, k, r, f, m, ...) F(k, t, m, r, f), ROW_2(t, k, r, f, __VA_ARGS__)
#define ROW_4(t, k, r, f, m, ...) F(k, t, m, r, f), ROW_3(t, k, r, f, __VA_ARGS__)
#define ROW_5(t, k, r, f, m, ...) F(k, t, m, r, f), ROW_4(t, k, r, f, __VA_ARGS__)
#define ROW_6(t, k, r, f, m, ...) F(k, t, m, r, f), ROW_5(t, k, r, f, __VA_ARGS__)

static const struct profile_field text_fields[] = {{ TEXT, SELF, PLAIN, 0 }};

/* ---- what struct profile itself has -------------------------------------------------- */

static const struct profile_field job_fields[] = {
	EACH_ROW(profile, TEXT_OR_NULL, SELF, PLAIN, application, executable)
	EACH_ROW(profile, I64, SELF, PLAIN, start_s)
	EACH_ROW(profile, I64, MAX, PLAIN, end_s)
	EACH_ROW(profile, REAL, MAX, PLAIN, runtime_s)
	EACH_ROW(profile, COUNT, MAX, PLAIN, world_size)
	EACH_ROW(profile, COUNT, SIZE, PLAIN, ranks, unranked, threads)
	EACH_ROW(profile, U64, SUM, PLAIN, records, calls, lost_calls, blocked_ns, hook_ns_total)
	EACH_ROW(profile, U64, SUM, PLAIN, lost_messages, open_requests)
	EACH_ROW(profile, U64, SIZE, PLAIN, ring_bytes)
	EACH_ROW(profile, U64, SUM, PLAIN, ambiguous_sends, ambiguous_receives)
	EACH_ROW(profile, U64, SIZE, PLAIN, lost_processes)
	EACH_ROW(profile, U64, SUM, PLAIN, dropped_calls)
	EACH_ROW(profile, U64, SIZE, PLAIN, dead_more, ends_more)
};

#define EACH_OF_5(member) member[0], member[1], member[2], member[3], member[4]
static const struct profile_field matching_fields[] = {
	EACH_ROW(profile, U64, SUM, PLAIN, EACH_OF_5(matching.pairs))
	EACH_ROW(profile, U64, SUM, PLAIN, EACH_OF_5(matching.unmatched_sends))
	EACH_ROW(profile, U64, SUM, PLAIN, EACH_OF_5(matching.unmatched_receives))
	EACH_ROW(profile, U64, SUM, PLAIN, matching.not_shipped, matching.lost_sends)
	EACH_ROW(profile, U64, SUM, PLAIN, matching.lost_receives, matching.late)
	EACH_ROW(profile, U64, SUM, PLAIN, matching.overflow, matching.too_long)
	EACH_ROW(profile, U64, SUM, PLAIN, matching.violations)
	EACH_ROW(profile, U64, SELF, PLAIN, matching.worst_ns)
	EACH_ROW(profile, U32, SELF, ANY_RANK, matching.worst_from, matching.worst_to)
};
_Static_assert(PROFILE_MATCH_LABELS == 5 && PROFILE_MATCH_REASONS == 5, "EACH_OF_5");

static const struct profile_field begin_fields[] = {
	EACH_ROW(profile, FLAG, SELF, PLAIN, begin_known)
	EACH_ROW(profile, I64, SELF, PLAIN, begin_ns)
};

static const struct profile_field cpu_fields[] = {
	EACH_ROW(profile, U64, SUM, PLAIN, cpu.ns, cpu.queued_ns, cpu.wall_ns)
	EACH_ROW(profile, U32, SELF, ANY_RANK, cpu.least_rank)
	EACH_ROW(profile, U64, SELF, PLAIN, cpu.least_ns, cpu.least_wall_ns)
	EACH_ROW(profile, U32, SELF, ANY_RANK, cpu.queued_rank)
	EACH_ROW(profile, U64, SELF, PLAIN, cpu.most_queued_ns, cpu.queued_wall_ns)
};

static const struct profile_field pair_unit_fields[] = {
	EACH_ROW(profile, U32, SELF, PLAIN, pair_ranks)
};

/* ---- records ------------------------------------------------------------------------- */

#define PROFILE_FIELD(kind, record, member, role, ref) F(kind, profile_##record, member, role, ref),
#define PROFILE_FIELDS(kind, record, ...) EACH_ROW(profile_##record, kind, __VA_ARGS__)
#define PROFILE_MEMBER(...)
#define PROFILE_ROWS PROFILE_FIELDS
#define PROFILE_RECORD(record, ...) \
	static const struct profile_field record##_fields[] = { __VA_ARGS__ };
#include "nodeagent/profile/lists.def"

/* ---- lists --------------------------------------------------------------------------- */

#define PROFILE_PART(NAME, tag, record, presence, fold, check) \
	{ tag, record##_fields, ARRAY_SIZE(record##_fields), 0, 0, 0, presence, OWN, \
	  fold, check, NULL },
#define SCHEMA(tag, fields, type, member, presence, rest, fold, check, wrong) \
	{ tag, fields, ARRAY_SIZE(fields), sizeof(type), \
	  offsetof(struct profile, n_##member), offsetof(struct profile, member), \
	  presence, rest, fold, check, wrong },
#define PROFILE_TEXTS(NAME, tag, member) \
	SCHEMA(tag, text_fields, char *, member, ALWAYS, OWN, NULL, NULL, NULL)
#define PROFILE_LIST(NAME, tag, record, member, ...) \
	SCHEMA(tag, record##_fields, struct profile_##record, member, __VA_ARGS__)

const struct profile_schema profile_schema[PROFILE_LISTS] = {
#include "nodeagent/profile/lists.def"
};
/* clang-format on */
