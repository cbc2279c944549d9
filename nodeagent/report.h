/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the output files share: a profile prepared for printing (names as
 * people read them, printed ids, recursion marks), the sections of the logs
 * and the writing of one file. Used by summary.c, nodelog.c, ranklog.c and
 * jsonout.c only.
 */
#ifndef VFTR_NODEAGENT_REPORT_H
#define VFTR_NODEAGENT_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "nodeagent/profile.h"

struct conf;

#define REPORT_NO_ID UINT64_MAX

struct report {
	const struct profile *p;
	const struct conf *c;
	/* by name (index into p->names) */
	char **shown;	 /* whole, for the stack list and JSON */
	char **cell;	 /* shortened, for tables */
	uint32_t *group; /* names that are shown alike have the same number */
	uint32_t n_groups;
	/* by stack */
	uint64_t *id;	    /* printed id, or REPORT_NO_ID */
	uint32_t *parent;   /* as in the profile, but PROFILE_NONE where that is no tree */
	size_t *path_bytes; /* without NUL */
	bool *outermost;    /* no caller on the path has the same group */
	size_t path_limit;  /* longer paths are cut when printed */
	double excl_s;	    /* sum over all stacks */
};

/* global_hashes as in output_node(). p and c must outlive the report. */
void report_init(struct report *r, const struct profile *p, const struct conf *c,
	const uint64_t *global_hashes, size_t n);
void report_done(struct report *r);

/* "foo<bar<main<init", cut to "foo<bar<..." where too long; the caller frees. */
char *report_path(const struct report *r, uint32_t stack);
/* Estimated time in hooks, summed over ranks. */
double report_overhead_s(const struct report *r, uint64_t calls);
/* Largest deviation from the mean in percent and the rank (as printed) that has it. */
double report_imbalance(const struct report *r, uint32_t stack, uint32_t *rank);
/* How a process ended: "exited 0", "signal 9 (Killed)" ...; the caller frees. */
char *report_end(const struct profile_process *process);
/* Number that all logs and JSON print as the number of ranks. */
uint32_t report_ranks(const struct profile *p);

/* All functions of one shown name. */
struct report_group {
	uint32_t group;
	uint32_t name; /* one of its names */
	uint64_t calls, excl_ns;
	uint64_t incl_ns; /* recursion counted once */
	size_t first, n;  /* its stacks: members[first .. first + n), by id */
};

/* One entry per group that has stacks; the caller frees both arrays. */
size_t report_groups(const struct report *r, struct report_group **groups, uint32_t **members);

/* Stacks in the order of a configured column; ties by id. The caller frees. */
uint32_t *sort_stacks(const struct report *r, const char *column, bool ascending);
/* In place; without a known column by first stack id. */
void sort_groups(struct report_group *groups, size_t n, const struct report *r,
	const uint32_t *members, const char *column, bool ascending);

/* Sections of the logs (section.c). */
void section_head(FILE *f, const struct report *r);
void section_banner(FILE *f, const struct report *r);
void section_seconds(FILE *f, const char *label, double seconds);
void section_number(FILE *f, const char *label, uint64_t number);
void section_bytes(FILE *f, const char *label, double bytes);
void section_times(FILE *f, const struct report *r, double runtime_s);
/* Deaths, losses, warnings; whole_job: also what is missing of the job. */
void section_warnings(FILE *f, const struct report *r, bool whole_job);
void section_config(FILE *f, const struct report *r);

/* Tables of the logs (section-table.c). */
void section_profile(FILE *f, const struct report *r, bool over_ranks);
void section_lost(FILE *f, const struct report *r);
void section_minmax(FILE *f, const struct report *r);
void section_grouped(FILE *f, const struct report *r);
void section_stacks(FILE *f, const struct report *r);
void section_agents(FILE *f, const struct report *r);

/* BASE_all.json (jsonout.c). */
void json_report(FILE *f, const struct report *r);

/*
 * Writes the file DIR/BASE SUFFIX by fill(). The first error of several files
 * is the one that is kept: nothing is done to *error if it is set.
 */
int report_write(const char *dir, const char *base, const char *suffix,
	void (*fill)(FILE *f, const struct report *r, const void *ctx), const struct report *r,
	const void *ctx, char **error);

#endif
