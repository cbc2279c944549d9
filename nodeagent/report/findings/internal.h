/* SPDX-License-Identifier: BSD-3-Clause */
/* Declarations for the files of this folder only. */
#ifndef VFTR_NODEAGENT_REPORT_FINDINGS_INTERNAL_H
#define VFTR_NODEAGENT_REPORT_FINDINGS_INTERNAL_H

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>

#include "nodeagent/base/units.h"
#include "nodeagent/base/util.h"
#include "nodeagent/profile/profile.h"
#include "nodeagent/report/digest.h"
#include "nodeagent/report/efficiency.h"
#include "nodeagent/report/findings.h"
#include "nodeagent/report/report.h"

/* What rules look at. */
struct facts {
	const struct report *r;
	const struct profile *p;
	struct digest d;
	bool has_efficiency; /* then e is that of a job */
	struct efficiency e;
	bool is_cut; /* a rank was killed: then the others waited for nothing */
	double all_s;
	/* what earlier rules of the table have found */
	const struct finding *found;
	size_t n_found;
};

/*
 * A rule: a row of the table in rules.c. look() is its condition but for the threshold: it says
 * how many seconds are to be won, with sentence and evidence, and may set another advice. False:
 * there is nothing of the kind in the profile.
 */
struct rule {
	const char *name;
	double share;  /* the finding is worth a sentence from this part of all time on */
	bool is_doubt; /* it is about the numbers, not the program, and keeps its place */
	bool (*look)(const struct facts *facts, struct finding *f);
	const char *advice;
	const char *section;
};

extern const struct rule finding_rules[];
extern const size_t n_finding_rules;

/* ---- words.c: sentences and evidence ------------------------------------------------------- */

#define SAYS __attribute__((format(printf, 2, 3)))
void finding_say(struct finding *f, const char *fmt, ...) SAYS;
void finding_advise(struct finding *f, const char *fmt, ...) SAYS;
void finding_drop(struct finding *f); /* frees what is in it */

void prove_count(struct finding *f, const char *key, uint64_t count);
void prove_seconds(struct finding *f, const char *key, double seconds);
void prove_ratio(struct finding *f, const char *key, double ratio);
void prove_text(struct finding *f, const char *key, const char *text);
/* "id" and "path" of a stack. */
void prove_stack(struct finding *f, const struct report *r, uint32_t stack);
/* "rank" and, where it is known, "node"; rank: as the profile has it. */
void prove_rank(struct finding *f, const struct profile *p, uint32_t rank);

/* "estimated": why the numbers of facts->e are estimates, if they are. */
void prove_doubts(struct finding *f, const struct facts *facts);

/* "3.10 s (22 %)" */
struct amount {
	char text[64];
};
struct amount amount_of(const struct facts *facts, double seconds);
/* The innermost functions of a path, "chem<step", for a sentence. The caller frees. */
char *short_path(const struct report *r, uint32_t stack);

/* The finding of that rule, or NULL. */
const struct finding *found_by(const struct facts *facts, const char *rule);
/* The number of that evidence, or UINT64_MAX. */
uint64_t proven_count(const struct finding *f, const char *key);

static inline double s_of(uint64_t ns)
{
	return 1e-9 * (double)ns;
}

/* ---- of several files ---------------------------------------------------------------------- */

#define CULPRIT_PART 0.1 /* a call path with this part of the excess, or more, is named */

/* balance.c: the call path in which a rank, as the profile has it, has most beyond the mean. */
struct culprit {
	uint32_t stack; /* PROFILE_NONE: no call path has CULPRIT_PART of it */
	double own_s, mean_s;
};
struct culprit culprit_of(const struct facts *facts, uint32_t rank, uint32_t ranks);
/* Adds both times as evidence, and "ratio". */
void prove_work(
	struct finding *f, const char *own_key, double own_s, const char *mean_key, double mean_s);

/* waits.c: the waits of others for a rank, or (WAITS_ALL of report/waits.h) for any rank. */
struct waited {
	double s;
	uint32_t stack; /* of the call in which most of it was, or PROFILE_NONE: none is known */
	double here_s;	/* in it */
	const char *kind;
};
struct waited waited_for(const struct facts *facts, uint32_t rank);
/* " in MPI_Allreduce<residual<step", behind an amount; the caller frees. */
char *waited_where(const struct facts *facts, const struct waited *w);
void prove_waited(struct finding *f, const struct facts *facts, const struct waited *w);

/* ---- the conditions ------------------------------------------------------------------------ */

/* balance.c */
bool look_load_balance(const struct facts *facts, struct finding *f);
bool look_node_balance(const struct facts *facts, struct finding *f);
/* waits.c */
bool look_late_rank(const struct facts *facts, struct finding *f);
bool look_waits(const struct facts *facts, struct finding *f);
bool look_wrong_order(const struct facts *facts, struct finding *f);
/* iterations.c */
bool look_slow_iterations(const struct facts *facts, struct finding *f);
/* communication.c */
bool look_late_sender(const struct facts *facts, struct finding *f);
bool look_small_messages(const struct facts *facts, struct finding *f);
bool look_communication(const struct facts *facts, struct finding *f);
bool look_start_end(const struct facts *facts, struct finding *f);
/* files.c */
bool look_io(const struct facts *facts, struct finding *f);
bool look_mpi_io(const struct facts *facts, struct finding *f);
/* locks.c */
bool look_lock(const struct facts *facts, struct finding *f);
/* threads.c */
bool look_openmp_wait(const struct facts *facts, struct finding *f);
bool look_openmp_lock(const struct facts *facts, struct finding *f);
bool look_openmp_idle(const struct facts *facts, struct finding *f);
bool look_gpu_wait(const struct facts *facts, struct finding *f);
/* tracing.c */
bool look_short_functions(const struct facts *facts, struct finding *f);
bool look_agent_behind(const struct facts *facts, struct finding *f);
bool look_oversubscribed(const struct facts *facts, struct finding *f);
/* headers.c */
bool look_headers(const struct facts *facts, struct finding *f);
/* doubts.c */
bool look_nothing_traced(const struct facts *facts, struct finding *f);
bool look_bad_end(const struct facts *facts, struct finding *f);
bool look_missing(const struct facts *facts, struct finding *f);
bool look_lost(const struct facts *facts, struct finding *f);
bool look_clock(const struct facts *facts, struct finding *f);

#endif
