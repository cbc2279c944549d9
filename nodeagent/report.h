/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the output files share: a profile prepared for printing (names as
 * people read them, printed ids, recursion marks), the sections of the logs
 * and the writing of one file. Used by summary.c, nodelog.c, ranklog.c,
 * jsonout.c and the files named below only.
 */
#ifndef VFTR_NODEAGENT_REPORT_H
#define VFTR_NODEAGENT_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "nodeagent/profile.h"

struct conf;
struct json;
struct table;

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
	uint64_t *id;	       /* printed id, or REPORT_NO_ID */
	uint32_t *parent;      /* as in the profile, but PROFILE_NONE where that is no tree */
	size_t *path_bytes;    /* without NUL */
	bool *outermost;       /* no caller on the path has the same group */
	size_t path_limit;     /* longer paths are cut when printed */
	double excl_s;	       /* sum over all stacks */
	struct hwprof *hwprof; /* hardware counters (hwprof.h), or NULL */
	/* whose log it is (output_rank()), or NULL */
	const struct profile_process *process;
};

/* global_hashes as in output_node(). p and c must outlive the report. */
void report_init(struct report *r, const struct profile *p, const struct conf *c,
	const uint64_t *global_hashes, size_t n);
void report_done(struct report *r);

/* "foo<bar<main<init", cut to "foo<bar<..." where too long; the caller frees. */
char *report_path(const struct report *r, uint32_t stack);
/* Estimated time in hooks, summed over ranks. */
double report_overhead_s(const struct report *r, uint64_t calls);
/* Time in which threads waited for room in their rings, summed over ranks. */
double report_blocked_s(const struct report *r);
/* By the configured formula (imbalance.h), and the rank (as printed) that it is due to. */
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

/* What something is sorted by: key; if equal, id as it rises; then i, its index. */
struct sort_key {
	uint64_t key, id;
	uint32_t i;
};

/* The indices in order. Frees keys; the caller frees the result. */
uint32_t *sort_by_key(struct sort_key *keys, size_t n, bool ascending);

/* Stacks in the order of a configured column; ties by id. The caller frees. */
uint32_t *sort_stacks(const struct report *r, const char *column, bool ascending);
/* In place; without a known column by first stack id. */
void sort_groups(struct report_group *groups, size_t n, const struct report *r,
	const uint32_t *members, const char *column, bool ascending);

/* The same of messages[]: indices into it, by a value of mpi.sort_table.column. */
uint32_t *sort_messages(const struct report *r, const char *column, bool ascending);
/* 0 .. n-1 by falling key, ties in their order. The caller frees. */
uint32_t *sort_falling(
	const struct profile *p, size_t n, uint64_t (*key)(const struct profile *p, uint32_t i));

/* Communication (report-mpi.c). */
const char *report_function(const struct profile_function *f);
/* Of a function's time, over the processes of the MPI job, also those that never called it. */
double report_function_mean_s(const struct profile *p, const struct profile_function *f);
double report_function_imbalance(const struct report *r, const struct profile_function *f);
/* "split"; a word for each enum wire_comm_kind. */
const char *report_comm_kind(const struct profile_comm *c);
/* Name that MPI or the user gave it, or NULL. */
const char *report_comm_name(const struct profile *p, const struct profile_comm *c);
/* Of the busy times in its teams: average over greatest, in percent. */
double report_balance(const struct profile_openmp *o);
/* sum / n; 0 for n = 0. */
double report_mean(unsigned __int128 sum, uint64_t n);

/* Columns of the lines of text: label, then a number. */
#define SECTION_LABEL 22
#define SECTION_VALUE 8

/* Sections of the logs (section.c). */
void section_head(FILE *f, const struct report *r);
void section_banner(FILE *f, const struct report *r);
void section_seconds(FILE *f, const char *label, double seconds);
void section_number(FILE *f, const char *label, uint64_t number);
void section_bytes(FILE *f, const char *label, double bytes);
/* The overhead and what it consists of (section-overhead.c). */
void section_times(FILE *f, const struct report *r, double runtime_s);
/* A sentence, if tracing has taken much of the run. */
void section_overhead_warning(FILE *f, const struct report *r, double runtime_s);
/* Deaths, losses, warnings; whole_job: also what is missing of the job. */
void section_warnings(FILE *f, const struct report *r, bool whole_job);
void section_config(FILE *f, const struct report *r);
/* One sentence each, if there is something to say. */
void section_lost_messages(FILE *f, const struct profile *p);
/* Requests that were never seen to complete (section-requests.c), where there are any: how
 * many, in a sentence; a table of who has posted them; the same in JSON. */
void section_open_sentence(FILE *f, const struct profile *p);
void section_open_requests(FILE *f, const struct report *r);
void json_open_requests(struct json *j, const struct report *r);

/* Matched messages (section-matching.c): how many; what is wrong; from thread to thread. */
void section_matching(FILE *f, const struct report *r);
void section_matching_faults(FILE *f, const struct profile *p);
void section_thread_pairs(FILE *f, const struct report *r);

/* Tables of the logs (section-table.c). */
void section_profile(FILE *f, const struct report *r, bool over_ranks);
void section_lost(FILE *f, const struct report *r);
void section_minmax(FILE *f, const struct report *r);
void section_grouped(FILE *f, const struct report *r);
void section_stacks(FILE *f, const struct report *r);
void section_agents(FILE *f, const struct report *r);
/* The clocks of several nodes (section-clocks.c), where they were compared. */
void section_clocks(FILE *f, const struct report *r);
/* The tree of processes of a node (section-processes.c). */
void section_processes(FILE *f, const struct report *r);
/* The tree of threads (section-threads.c), if they are known one by one. */
void section_threads(FILE *f, const struct report *r, bool several_ranks);
/* A runtime profile of each thread, with profile_table.threads "all". */
void section_thread_profiles(FILE *f, const struct report *r);
/* OpenMP (section-openmp.c), where it was used: parallel regions; the tree of its threads. */
void section_openmp(FILE *f, const struct report *r);
void section_openmp_threads(FILE *f, const struct report *r, bool several_ranks);
/* Cells of a stack, as all tables show them. */
void section_cell_function(struct table *t, const struct report *r, uint32_t stack);
void section_cell_caller(struct table *t, const struct report *r, uint32_t stack);
void section_cell_id(struct table *t, const struct report *r, uint32_t stack);
void section_cell_path(struct table *t, const struct report *r, uint32_t stack);

/* GPUs (section-gpu.c): is there anything to be shown of them? */
bool report_has_gpu(const struct profile *p, const struct conf *c);
void section_gpu(FILE *f, const struct report *r);
/* The numbers of CUDA's functions in it (section-gpu-calls.c). */
void section_gpu_functions(FILE *f, const struct report *r);
/* Summary lines: the time of all activities, in Vftrace's three sorts. */
void section_gpu_times(FILE *f, const struct report *r);

/* OpenACC (section-openacc.c): is there anything to be shown of it? */
bool report_has_openacc(const struct profile *p, const struct conf *c);
void section_openacc(FILE *f, const struct report *r);
/* The numbers of the events in the detailed table. */
void section_openacc_numbers(FILE *f, const struct report *r);
/* Summary lines, where there was any: the time of all events. */
void section_openacc_times(FILE *f, const struct report *r);

/* Hardware counters and observables (section-hwprof.c): are there tables of them? */
bool report_has_hwprof(const struct profile *p, const struct conf *c);
void section_hwprof(FILE *f, const struct report *r);
/* Of each thread in each[]; and of one, whose stacks these n are, in their order. */
void section_hwprof_threads(FILE *f, const struct report *r, bool several_ranks);
void section_hwprof_thread(FILE *f, const struct report *r,
	const struct profile_thread_stack *const *stacks, size_t n);

/* What overhead.budget_percent has switched off, if anything; the same in JSON. */
void section_switched(FILE *f, const struct report *r);
void json_switched(struct json *j, const struct report *r);

/* The user's counters (section-user-counters.c), where there are any; the same in JSON. */
void section_user_counters(FILE *f, const struct report *r);
void json_user_counters(struct json *j, const struct report *r);

/* Whether there is any table of communication to be shown (section-mpi.c). */
bool report_has_mpi(const struct profile *p, const struct conf *c);
/* All of them, none where nothing happened. */
void section_mpi(FILE *f, const struct report *r);
/* Those of one process: its peers instead of the matrix. */
void section_mpi_rank(FILE *f, const struct report *r, uint32_t rank);
/* The parts of these (section-mpi-matrix.c, section-mpi-objects.c). */
void section_matrix(FILE *f, const struct report *r);
void section_peers(FILE *f, const struct report *r, uint32_t rank);
void section_sizes(FILE *f, const struct report *r);
void section_comms(FILE *f, const struct report *r);
void section_files(FILE *f, const struct report *r);
/* "... and 3 communicators more", if there are more rows than a log shows. */
#define SECTION_ROWS 50
void section_more(FILE *f, size_t n, const char *things);

/* BASE_all.json (jsonout.c). */
void json_report(FILE *f, const struct report *r);
/* Its member about the clocks of several nodes (json-clocks.c), where they were compared. */
void json_clocks(struct json *j, const struct report *r);
/* The same for both: were they? And the rate of one in ppm, as its offset changes. */
/*
 * Which agents a table shows: all, or of very many those of the greatest weight, in their
 * sequence. The caller frees.
 */
size_t *report_agents(
	const struct profile *p, double (*weight)(const struct profile_agent *), size_t *n_shown);

bool report_has_clocks(const struct profile *p);
double report_drift_ppm(const struct profile_clock *c);
/* Its members about matched messages (json-matching.c), where there were any. */
void json_matching(struct json *j, const struct report *r);
bool report_has_matching(const struct profile *p);
/* Its member about single processes (json-processes.c). */
void json_processes(struct json *j, const struct report *r);
/* Its member about single threads (json-threads.c). */
void json_threads(struct json *j, const struct report *r);
/* Members of a stack: over how many threads, least and greatest exclusive time of one. */
void json_thread_range(struct json *j, const struct report *r, uint32_t stack);
/* Its members about OpenMP (json-openmp.c), where it was used. */
void json_openmp(struct json *j, const struct report *r);
/* Its members about GPUs (json-gpu.c), where there were any. */
void json_gpu(struct json *j, const struct report *r);
/* Its member about OpenACC (json-openacc.c), where it was used. */
void json_openacc(struct json *j, const struct report *r);
/* Its members about hardware counters (json-hwprof.c), and those of a stack. */
void json_hwprof(struct json *j, const struct report *r);
void json_hwprof_stack(struct json *j, const struct report *r, uint32_t stack);
/* Of a thread at a stack, or PROFILE_NONE: at all. */
void json_hwprof_thread(struct json *j, const struct report *r, uint32_t thread, uint32_t stack);
/* Its members about communication (json-mpi.c). */
void json_mpi(struct json *j, const struct report *r);

/*
 * Writes the file DIR/BASE SUFFIX by fill(). The first error of several files
 * is the one that is kept: nothing is done to *error if it is set.
 */
int report_write(const char *dir, const char *base, const char *suffix,
	void (*fill)(FILE *f, const struct report *r, const void *ctx), const struct report *r,
	const void *ctx, char **error);

/* A table that may have a file of its own (profile_table.separate). */
struct report_table {
	const char *name; /* "mpi": the file is DIR/BASE PREFIX_mpi.log */
	void (*section)(FILE *f, const struct report *r);
	bool wanted;
};

/*
 * Where tables are kept separate, the files of those that are wanted. Errors as above;
 * returns the first, or 0.
 */
int report_write_tables(const char *dir, const char *base, const char *prefix,
	const struct report_table *tables, size_t n, const struct report *r, char **error);

#endif
