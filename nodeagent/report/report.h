/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A profile prepared for printing: readable names, printed ids, recursion marks, orders of tables;
 * and numbers and words for several parts of report. Some values are made when they are asked for,
 * so one thread at a time may use a report, though it is const. Texts that the caller does not free
 * belong to the report.
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

/* Bits of measures.def. */
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
	uint64_t *id;	     /* printed id, or REPORT_NO_ID: the numbers do not have it */
	uint32_t *parent;    /* as in the profile, but PROFILE_NONE for roots and cycles */
	size_t *path_bytes;  /* of report_path(), if it is not cut; without NUL */
	bool *outermost;     /* no caller on the path has the same group */
	bool *own_estimated; /* its exclusive time is an estimate in part: stack samples gave it,
				or its calls or calls that it makes were counted */
	bool *listed;	     /* a table has shown its id */
	uint32_t *by_id;     /* all stacks by rising id */
	struct report_group *groups; /* those that have stacks */
	size_t n_groups_used;
	uint32_t *members;	    /* stacks of the groups */
	size_t path_limit;	    /* bytes: report_path() cuts longer paths */
	double excl_s;		    /* sum of exclusive times over all stacks: all time */
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

/*
 * Prepares p, which with c must outlive the report. numbers as in output_node(). The caller sets
 * log and what a log needs, from `process' on, and ends with report_done().
 */
void report_init(struct report *r, const struct profile *p, const struct conf *c,
	const struct profile_number *numbers, size_t n);
void report_done(struct report *r);

/*
 * The readable name of a raw name; of one that is not in the profile, raw itself. report_cell():
 * shortened, for tables. report_full_name(): with the parameters of C++, or NULL for a name that is
 * none of C++.
 */
const char *report_name(const struct report *r, const char *raw);
const char *report_cell(const struct report *r, const char *raw);
char *report_full_name(const struct report *r, const char *raw); /* the caller frees */
/* True if the readable name differs from the raw one. */
bool report_name_differs(const struct report *r, const char *raw);
/* Where the function of that raw name begins; it belongs to the profile. NULL: not known. */
const struct profile_source *report_source(const struct report *r, const char *raw);
/* "foo<bar<main<init", cut to "foo<bar<..." if it is longer than path_limit; the caller frees. */
char *report_path(const struct report *r, uint32_t stack);
/*
 * The innermost functions of a path, "chem<step", without init: at most `functions' (>= 1), in at
 * most `columns' (>= 8) of a terminal; the caller frees.
 */
char *report_short_path(const struct report *r, uint32_t stack, unsigned functions, size_t columns);
/* Estimated time in the hooks of so many calls, s. */
double report_overhead_s(const struct report *r, uint64_t calls);
/*
 * The estimated time in hooks and the waits for room in rings, as seconds of a run that took
 * runtime_s (log/overhead.c): sums over ranks and threads, divided by the number that ran side by
 * side.
 */
void report_cost(const struct report *r, double runtime_s, double *hooks_s, double *blocked_s);
/* Time in which threads waited for room in their rings, s: of all; in a rank log of its process. */
double report_blocked_s(const struct report *r);
/*
 * True if the exclusive time of a stack is an estimate, as its calls, or calls that it makes, were
 * counted. False for stacks that only stack samples have seen. report_any_counted(): true if that
 * holds for one of n stacks.
 */
bool report_own_is_counted(const struct report *r, uint32_t stack);
bool report_any_counted(const struct report *r, const uint32_t *stacks, size_t n);
/* Percent by the configured formula (imbalance.h); *rank: the rank that causes it, as printed; rank
 * may be NULL. */
double report_imbalance(const struct report *r, uint32_t stack, uint32_t *rank);
uint32_t report_imbalance_rank(const struct report *r, uint32_t stack);
/* The end of a process: "exited 0", "signal 9 (Killed)" ...; the caller frees. */
char *report_end(const struct profile_process *process);
/* The size of the first MPI job, else the number of processes. */
uint32_t report_ranks(const struct profile *p);
/* With the ranks of other MPI jobs: sums are over so many, and means by it. */
uint32_t report_all_ranks(const struct profile *p);

/* All functions of one shown name. */
struct report_group {
	uint32_t name; /* one of its names */
	uint64_t calls, excl_ns;
	uint64_t incl_ns; /* recursion counted once */
	/* stack samples that have given times, and the part of excl_ns that is estimated */
	uint64_t samples, estimated_ns;
	size_t first, n; /* its stacks: members[first .. first + n), by id */
};

/*
 * A copy of the groups that have stacks; returns their number. The caller frees *groups; *members
 * belongs to the report.
 */
size_t report_groups(
	const struct report *r, struct report_group **groups, const uint32_t **members);
/* For report_init(): makes the groups. */
void report_prepare_groups(struct report *r);
/* For report_init(): stacks by rising id, REPORT_NO_ID last; the caller frees. */
uint32_t *report_sort_ids(const struct report *r);

/* An index i to be sorted by key; those of equal keys by rising id, then by rising i. */
struct sort_key {
	uint64_t key, id;
	uint32_t i;
};

/* The indices by rising or falling key. Frees keys; the caller frees the result. */
uint32_t *sort_by_key(struct sort_key *keys, size_t n, bool ascending);

/*
 * Stacks in the order of a column of profile_table.sort_table, "time_max" or "lost"; ties, and all
 * of another column, by rising id. The caller frees.
 */
uint32_t *sort_stacks(const struct report *r, const char *column, bool ascending);
/* Sorts groups in place; ties, and all of another column, by the id of their first stack. */
void sort_groups(struct report_group *groups, size_t n, const struct report *r,
	const uint32_t *members, const char *column, bool ascending);

/* Indices into messages[] in the order of a column of mpi.sort_table; ties by the id of the stack.
 * The caller frees. */
uint32_t *sort_messages(const struct report *r, const char *column, bool ascending);
/* The numbers from 0 to n - 1 by falling key; ties by rising number. The caller frees. */
uint32_t *sort_falling(
	const struct profile *p, size_t n, uint64_t (*key)(const struct profile *p, uint32_t i));

/* Communication (mpi.c). */
/* "MPI_Send"; static. */
const char *report_function(const struct profile_function *f);
/* Mean of a function's time over all processes of the MPI job, also those that never called it. */
double report_function_mean_s(const struct profile *p, const struct profile_function *f);
/* Percent by the configured formula, over the same processes. */
double report_function_imbalance(const struct report *r, const struct profile_function *f);
/* "split": a static word for each enum wire_comm_kind. */
const char *report_comm_kind(const struct profile_comm *c);
/* Name of a communicator from MPI or the user, of the profile or static. NULL: none. */
const char *report_comm_name(const struct profile *p, const struct profile_comm *c);
/* sum / n; 0 for n = 0. */
double report_mean(unsigned __int128 sum, uint64_t n);

/* Memory (libc/memory.c): half of the interval in which an estimate of this variance (bytes^2) lies
 * with 95 %, in bytes. */
uint64_t report_memory_error(unsigned __int128 variance);

/*
 * Writes the file of that result below dir by fill(f, r, ctx), in the layout of r->c. Returns 0, or
 * -errno and *error, one sentence (caller frees). If *error is set already, it is kept: so the
 * first error of several files is reported.
 */
int report_write(const char *dir, const struct result *file,
	void (*fill)(FILE *f, const struct report *r, const void *ctx), const struct report *r,
	const void *ctx, char **error);

#endif
