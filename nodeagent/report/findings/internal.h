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

/* A rank for which others wait; PROFILE_ELSEWHERE: there is none, or it is not told apart. */
struct late {
	uint32_t rank;
	uint64_t ns;	  /* of waits for it */
	uint64_t cost_ns; /* of those that go back to it: delays/delays.h */
};

/* The waits of ranks for ranks, and who was late most. */
struct latest {
	struct late at_end; /* the rank to which most waits go back */
	struct late direct; /* the one for which ranks wait longest */
	uint64_t all_ns;    /* of all waits */
};

/* What rules look at. */
struct facts {
	const struct report *r;
	const struct profile *p;
	struct digest d;
	bool has_efficiency; /* e is that of a job; else e is of no use */
	struct efficiency e;
	bool is_cut;  /* a rank was cut off: what others waited for says nothing of the program */
	double all_s; /* as in struct findings */
	struct latest latest;
	/* what earlier rules of the table have found */
	const struct finding *found;
	size_t n_found;
};

/*
 * A rule: a row of the table in rules.c. look() is its condition but for the threshold: it sets the
 * seconds that are to be won, the sentence and the evidence of *f, which it gets empty, and may set
 * another advice. It returns false if there is nothing of the kind in the profile; the caller drops
 * what it has set then.
 */
struct rule {
	const char *name;
	double share;  /* from this part of all time on it is worth a sentence; 0: always */
	bool is_doubt; /* it is about the numbers, not the program: two of these keep their place */
	bool (*look)(const struct facts *facts, struct finding *f);
	const char *advice;
	const char *section;
};

extern const struct rule finding_rules[];
extern const size_t n_finding_rules;

/* ---- words.c: sentences and evidence ------------------------------------------------------- */

/* Set the sentence, and the advice, in place of one that was set. */
#define SAYS __attribute__((format(printf, 2, 3)))
void finding_say(struct finding *f, const char *fmt, ...) SAYS;
void finding_advise(struct finding *f, const char *fmt, ...) SAYS;
void finding_drop(struct finding *f); /* frees what is in it */

/* Add evidence, up to FINDING_EVIDENCE; key: static, text: copied. */
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

/* "3.10 s (22 %)": seconds, and their part of all time. */
struct amount {
	char text[64];
};
struct amount amount_of(const struct facts *facts, double seconds);
/* The innermost functions of a path, "chem<step", for a sentence. The caller frees. */
char *short_path(const struct report *r, uint32_t stack);

/*
 * " in step<main", ", mostly in step<main", or ", 40 % of it in step<main", behind an amount of
 * which this part was there. The caller frees.
 */
char *part_in(double part, double of, const char *where);

/* What an earlier rule of this name has found, or NULL. */
const struct finding *found_by(const struct facts *facts, const char *rule);
/* The number of the evidence with this key, or UINT64_MAX. */
uint64_t proven_count(const struct finding *f, const char *key);

static inline double s_of(uint64_t ns)
{
	return 1e-9 * (double)ns;
}

/* ---- of several files ---------------------------------------------------------------------- */

#define CULPRIT_PART 0.1 /* a call path with this part of the excess, or more, is named */

/*
 * balance.c: of the call paths of the program in which a rank, as the profile has it, is the
 * slowest, the one in which it is most beyond the mean over so many ranks.
 */
struct culprit {
	uint32_t stack;	      /* PROFILE_NONE: there is none */
	double own_s, mean_s; /* exclusive time of the rank, and the mean */
};
struct culprit culprit_of(const struct facts *facts, uint32_t rank, uint32_t ranks);
/* Adds both times as evidence, and own_s / mean_s as "ratio". */
void prove_work(
	struct finding *f, const char *own_key, double own_s, const char *mean_key, double mean_s);

/* waits.c: the waits of others for a rank, or (WAITS_ALL of report/waits.h) for any rank. */
struct waited {
	double s;	  /* all of them */
	uint32_t stack;	  /* of the call with the greatest part, or PROFILE_NONE: none is known */
	double here_s;	  /* the part of s in that call */
	const char *kind; /* wait_kind_name() of that part */
};
struct waited waited_for(const struct facts *facts, uint32_t rank);
struct latest latest_of(const struct profile *p);
/* part_in() of this call; "": not known. The caller frees. */
char *waited_where(const struct facts *facts, const struct waited *w);
/*
 * What ranks have waited because of this one, if much more of it than for itself was for ranks that
 * waited for it; else 0.
 */
double waits_back_to(const struct facts *facts, uint32_t rank);
/* ", 0.40 s for it in MPI_Recv<step, and the rest for ranks that wait for it", behind that. w: the
 * waits for it. The caller frees. */
char *waited_by_chains(const struct facts *facts, const struct waited *w);
/* Adds both times, the kind and the path as evidence, if the call is known. */
void prove_waited(struct finding *f, const struct facts *facts, const struct waited *w);

/* ---- the conditions: rule.look() ----------------------------------------------------------- */

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
/* memory.c */
bool look_memory_leak(const struct facts *facts, struct finding *f);
bool look_memory_balance(const struct facts *facts, struct finding *f);
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
