/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is worth mending in a run: at most FINDINGS_MOST sentences, each with the numbers of the
 * profile that prove it. findings/rules.c has the table of rules, vftr-analysis(7) a section for
 * each.
 */
#ifndef VFTR_NODEAGENT_REPORT_FINDINGS_H
#define VFTR_NODEAGENT_REPORT_FINDINGS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct json;
struct report;

#define FINDINGS_MOST	 5
#define FINDING_EVIDENCE 24

enum evidence_kind { EVIDENCE_COUNT, EVIDENCE_SECONDS, EVIDENCE_RATIO, EVIDENCE_TEXT };

/* One number or name that proves a finding. The key, a static text, is that of the same value in
 * BASE_all.json. */
struct evidence {
	const char *key;
	enum evidence_kind kind;
	uint64_t count;
	double real; /* of seconds and ratios */
	char *text;  /* of EVIDENCE_TEXT, else NULL */
};

struct finding {
	const char *rule;    /* "load_balance": its name in the table */
	const char *section; /* of vftr-analysis(7) */
	/* what could be won, summed over ranks and threads; NAN: it is not known */
	double seconds;
	char *text;   /* a sentence */
	char *advice; /* another one: what to try */
	struct evidence evidence[FINDING_EVIDENCE];
	size_t n_evidence;
};

struct findings {
	struct finding at[FINDINGS_MOST]; /* by falling seconds, then those without */
	size_t n;
	size_t left;  /* further findings: those that matter less, by their seconds or as doubts */
	double all_s; /* the time of all ranks and threads: 100 % */
};

/* The findings of all rules about r, which may be freed before them. findings_free() frees what is
 * in it. */
struct findings findings_of(const struct report *r);
void findings_free(struct findings *f);

/* The sentence that is printed if there are no findings. */
extern const char *const findings_nothing;

/* The seconds of a finding in percent of all time; NAN if one of them is not known. */
double finding_percent(const struct findings *all, const struct finding *f);

/* Prints numbered sentences, each with its evidence and what to try; or findings_nothing. */
void findings_print(FILE *f, const struct findings *all);

/* "rank=5 t_max_s=1.200000": keys and values as plain text, in which a value may have blanks. The
 * caller frees. */
char *finding_evidence_text(const struct finding *f);

/* Writes the array "findings" as a member of the object that is open. */
void findings_json(struct json *j, const struct findings *all);

#endif
