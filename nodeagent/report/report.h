/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A profile prepared for printing: readable names, printed ids, recursion marks, orders of
 * tables; and numbers and words for several parts of report.
 */
#ifndef VFTR_NODEAGENT_REPORT_REPORT_H
#define VFTR_NODEAGENT_REPORT_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "nodeagent/profile/profile.h"

struct columns_late;
struct columns_once;
struct conf;
struct digest_once;
struct imbalance_formula;
struct names;
struct profile_number;
struct report_group;
struct result;

#define REPORT_NO_ID UINT64_MAX

enum report_log { REPORT_SUMMARY = 1, REPORT_NODE = 2, REPORT_RANK = 4 };

struct report {
	const struct profile *p;
	const struct conf *c;
	struct names *names;   /* of functions, kernels and what was switched off */
	const char *separator; /* between the names of a path */
	/* by name (index into p->names) */
	const char **shown; /* whole, for the stack list and JSON */
	const char **cell;  /* shortened, for tables */
	uint32_t *group;    /* the same number for names that are shown in the same way */
	uint32_t n_groups;
	uint8_t *part; /* enum digest_part of a stack with this name, unless it is a root */
	/* by stack */
	uint64_t *id;	     /* printed id, or REPORT_NO_ID */
	uint32_t *parent;    /* as in the profile, but PROFILE_NONE for roots and cycles */
	size_t *path_bytes;  /* without NUL */
	bool *outermost;     /* no caller on the path has the same group */
	bool *own_estimated; /* its exclusive time is an estimate in part, as some calls were
				counted */
	bool *listed;	     /* a table has shown its id */
	uint32_t *by_id;     /* all stacks by rising id */
	struct report_group *groups; /* those that have stacks */
	size_t n_groups_used;
	uint32_t *members;	    /* stacks of the groups */
	size_t path_limit;	    /* longer paths are cut when printed */
	double excl_s;		    /* sum over all stacks */
	struct hwprof *hwprof;	    /* hardware counters (observables.h), or NULL */
	struct columns_late *late;  /* (columns.h) */
	struct columns_once *once;  /* (columns.h) */
	struct digest_once *digest; /* (digest.h) */
	const struct imbalance_formula *imbalance;
	/* process of a rank log (output_rank()), or NULL */
	const struct profile_process *process;
	enum report_log log; /* kind of log; JSON is REPORT_SUMMARY, too */
	bool run;	     /* output.layout is run: for people, not for scripts of Vftrace */
	bool is_all;	     /* a node log of all that there is in the job */
	const char *folder;  /* of the files, or NULL */
};

/* numbers as in output_node(). p and c must outlive the report. */
void report_init(struct report *r, const struct profile *p, const struct conf *c,
	const struct profile_number *numbers, size_t n);
void report_done(struct report *r);

/*
 * The readable name of a raw name. report_cell(): shortened, for tables. report_full_name(): with
 * the parameters of C++, or NULL for a name that is none of C++.
 */
const char *report_name(const struct report *r, const char *raw);
const char *report_cell(const struct report *r, const char *raw);
char *report_full_name(const struct report *r, const char *raw); /* the caller frees */
/* True if the readable name differs from the raw one. */
bool report_name_differs(const struct report *r, const char *raw);
/* Where the function of that raw name begins, or NULL: not known. */
const struct profile_source *report_source(const struct report *r, const char *raw);
/* "foo<bar<main<init", cut to "foo<bar<..." where too long; the caller frees. */
char *report_path(const struct report *r, uint32_t stack);
/* Its innermost functions, "chem<step", at most so many, and columns; the caller frees. */
char *report_short_path(const struct report *r, uint32_t stack, unsigned functions, size_t columns);
/* Estimated time in hooks, summed over ranks. */
double report_overhead_s(const struct report *r, uint64_t calls);
/*
 * The estimated time in hooks and the waits for room in rings, as seconds of a run that took
 * runtime_s (log/overhead.c): sums over ranks and threads, divided by the number that ran side by
 * side.
 */
void report_cost(const struct report *r, double runtime_s, double *hooks_s, double *blocked_s);
/* Time in which threads waited for room in their rings, summed over ranks. */
double report_blocked_s(const struct report *r);
/*
 * True if the exclusive time of a stack is an estimate, as its calls, or calls that it makes, were
 * counted. False for stacks that only stack samples have seen. report_any_counted(): true if that
 * holds for one of n stacks.
 */
bool report_own_is_counted(const struct report *r, uint32_t stack);
bool report_any_counted(const struct report *r, const uint32_t *stacks, size_t n);
/* By the configured formula (imbalance.h); *rank: the rank that causes it, as printed. */
double report_imbalance(const struct report *r, uint32_t stack, uint32_t *rank);
uint32_t report_imbalance_rank(const struct report *r, uint32_t stack);
/* The end of a process: "exited 0", "signal 9 (Killed)" ...; the caller frees. */
char *report_end(const struct profile_process *process);
/* The number of ranks that all logs and JSON print. */
uint32_t report_ranks(const struct profile *p);

/* All functions of one shown name. */
struct report_group {
	uint32_t group;
	uint32_t name; /* one of its names */
	uint64_t calls, excl_ns;
	uint64_t incl_ns; /* recursion counted once */
	uint64_t samples,
		estimated_ns; /* of stack samples, and the part of excl_ns that is estimated */
	size_t first, n;      /* its stacks: members[first .. first + n), by id */
};

/* One entry per group that has stacks; the caller frees the groups, and not the members. */
size_t report_groups(
	const struct report *r, struct report_group **groups, const uint32_t **members);
/* Makes the groups; for report_init(). */
void report_prepare_groups(struct report *r);
/* Stacks by rising id; for report_init(). */
uint32_t *report_sort_ids(const struct report *r);

/* Sorts index i by key; equal ones by rising id, then by i. */
struct sort_key {
	uint64_t key, id;
	uint32_t i;
};

/* The indices in order. Frees keys; the caller frees the result. */
uint32_t *sort_by_key(struct sort_key *keys, size_t n, bool ascending);

/* Stacks in the order of a configured column; ties by id. The caller frees. */
uint32_t *sort_stacks(const struct report *r, const char *column, bool ascending);
/* Sorts groups in place; by the first stack id if the column is unknown. */
void sort_groups(struct report_group *groups, size_t n, const struct report *r,
	const uint32_t *members, const char *column, bool ascending);

/* Indices of messages[] in the order of a value of mpi.sort_table.column. The caller frees. */
uint32_t *sort_messages(const struct report *r, const char *column, bool ascending);
/* 0 .. n-1 by falling key, ties in their order. The caller frees. */
uint32_t *sort_falling(
	const struct profile *p, size_t n, uint64_t (*key)(const struct profile *p, uint32_t i));

/* Communication (mpi.c). */
const char *report_function(const struct profile_function *f);
/* Mean of a function's time over all processes of the MPI job, also those that never called it. */
double report_function_mean_s(const struct profile *p, const struct profile_function *f);
double report_function_imbalance(const struct report *r, const struct profile_function *f);
/* "split"; a word for each enum wire_comm_kind. */
const char *report_comm_kind(const struct profile_comm *c);
/* Name of a communicator from MPI or the user, or NULL. */
const char *report_comm_name(const struct profile *p, const struct profile_comm *c);
/* sum / n; 0 for n = 0. */
double report_mean(unsigned __int128 sum, uint64_t n);

/*
 * Writes the file of that result by fill(), in the layout of r->c. If *error is set already, it
 * is kept: so the first error of several files is reported.
 */
int report_write(const char *dir, const struct result *file,
	void (*fill)(FILE *f, const struct report *r, const void *ctx), const struct report *r,
	const void *ctx, char **error);

#endif
